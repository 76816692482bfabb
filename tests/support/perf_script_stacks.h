// SPDX-License-Identifier: GPL-3.0-or-later
// The stacks that perf script printed, frame by frame, read apart from the program's own reader of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock::test {

struct PrintedFrame {
    uint64_t address =
        0; ///< as printed: of the kernel and where nothing is mapped the address, else in the file
    std::string symbol{}; ///< `[unknown]` if there is none
    uint64_t offset = 0;  ///< from the start of the symbol
    std::string object{};
    bool hasPlace = false; ///< offset and object were printed
};

struct PrintedSample {
    uint64_t time = 0;
    int32_t tid = 0;
    std::vector<PrintedFrame> frames{}; ///< innermost first, without inlined ones
};

/// Samples in the order of the text, which has the columns of `perf script --ns`.
std::vector<PrintedSample> printedSamples(std::string_view script);

} // namespace whichlock::test
