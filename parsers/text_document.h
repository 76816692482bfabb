// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a text of any kind: finds the blocks of all text formats in it and hands each to its reader.
#pragma once

#include "parsers/format.h"

#include <string>
#include <vector>

namespace whichlock {

/// What one format made of an input.
struct FormatScore {
    std::string_view format;
    Yields yields = Yields::Tables;
    Claim best{}; ///< the strongest claim of a block that was read
    uint64_t blocks = 0;
    uint64_t lines = 0; ///< lines that its blocks took
    uint64_t firstLine = 0;
};

/// Reads the whole text. `formats` are asked at each line that no block has taken; the strongest claim wins,
/// the earlier format on a tie. Returns one score a format, in the order of `formats`.
std::vector<FormatScore> readTextDocument(
    TextCursor& cursor, RecordSink& sink, std::span<const TextFormat* const> formats);

} // namespace whichlock
