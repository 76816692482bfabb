// SPDX-License-Identifier: GPL-3.0-or-later
// Large recordings out of small ones: the records again and again, each time later.
#pragma once

#include <cstdint>
#include <string>

namespace whichlock::bench {

/// Writes a recording of at least `bytes` that repeats the records of `from`; their times go on, so that it
/// is in order as a real one is. False for what perf record of 64-bit little endian machines did not write.
bool growRecording(const std::string& from, const std::string& to, uint64_t bytes);

} // namespace whichlock::bench
