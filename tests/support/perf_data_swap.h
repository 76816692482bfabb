// SPDX-License-Identifier: GPL-3.0-or-later
// Makes a recording of a little endian machine into what a big endian one would have written.
#pragma once

#include <string>
#include <string_view>

namespace whichlock::test {

/// A file with feature sections, not compressed, whose events skid freely (precise 0). Throws
/// std::out_of_range for what is no such file.
std::string bigEndianCopy(std::string_view littleEndian);

} // namespace whichlock::test
