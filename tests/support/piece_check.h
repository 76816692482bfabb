// SPDX-License-Identifier: GPL-3.0-or-later
// The differential check of the fuzz targets: the size of the pieces that a text comes in changes nothing.
#pragma once

#include <string_view>

namespace whichlock::test {

/// Reads the text whole and in small pieces, with one format or (name empty) all; true if both give the same.
/// False also when there is no format of that name.
bool readsAlikeInPieces(std::string_view text, std::string_view format);

} // namespace whichlock::test
