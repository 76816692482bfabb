// SPDX-License-Identifier: GPL-3.0-or-later
// The way in: one input, whatever it is, goes through here into a record sink.
#pragma once

#include "parsers/text_document.h"

namespace whichlock {

/// What became of an input.
struct LoadedInput {
    std::string name;
    std::string format; ///< the format with most of the blocks' lines, empty if none was found
    Confidence confidence = Confidence::No;
    std::string_view why;
    uint64_t bytes = 0;
    std::vector<FormatScore> scores;     ///< all formats, also those that found nothing
    bool failed = false;                 ///< nothing could be read from it; `diagnostics` says why
    std::vector<Diagnostic> diagnostics; ///< about the input as a whole and its lines
};

struct LoadOptions {
    std::string onlyFormat; ///< ask this format alone; empty = all
};

/// Reads one input to its end. Never throws for bad input: what is wrong stands in the result.
LoadedInput load(Source& source, RecordSink& sink, const LoadOptions& options = {});

} // namespace whichlock
