// SPDX-License-Identifier: GPL-3.0-or-later
// The stacks of a recording with names, sample by sample: parsers and symbols put together without the
// session, which adds samples up.
#pragma once

#include "analyzer/symbols/address_space.h"
#include "analyzer/symbols/symbolizer.h"

#include <string>
#include <vector>

namespace whichlock::test {

struct RecordedFrame {
    uint64_t address = 0;
    ModuleId module{};
    uint64_t offset = 0; ///< in the module
    bool isReturnAddress = false;
    std::string object{};    ///< as perf script calls it; `[unknown]` if nothing is mapped there
    ResolvedAddress name{};  ///< of the call, for a return address
    ResolvedAddress there{}; ///< of the address itself
};

struct RecordedSample {
    uint64_t time = 0;
    int32_t tid = 0;
    std::vector<RecordedFrame> frames{}; ///< innermost first
};

/// All samples in the order of time. Empty if the file cannot be read.
std::vector<RecordedSample> recordedSamples(const std::string& path, const SymbolizerOptions& symbols);

} // namespace whichlock::test
