// SPDX-License-Identifier: GPL-3.0-or-later
// What of a recording is kept, and by what its samples are told apart.
#pragma once

#include "parsers/perf_data/sample.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace whichlock {

/// Which samples count. What a sample does not tell cannot pass a list of it.
struct SampleFilter {
    uint64_t fromNs = 0;           ///< in the clock of the recording
    uint64_t untilNs = UINT64_MAX; ///< the last moment that still counts
    std::vector<uint32_t> pids{};  ///< empty: all; so for the other lists
    std::vector<uint32_t> tids{};
    std::vector<uint32_t> cpus{};

    bool passes(const PerfSample& sample) const
    {
        return sample.time >= fromNs && sample.time <= untilNs
            && in(pids, sample.has(sample_bit::kTid), sample.pid)
            && in(tids, sample.has(sample_bit::kTid), sample.tid)
            && in(cpus, sample.has(sample_bit::kCpu), sample.cpu);
    }

private:
    static bool in(const std::vector<uint32_t>& wanted, bool known, uint32_t value)
    {
        return wanted.empty() || (known && std::find(wanted.begin(), wanted.end(), value) != wanted.end());
    }
};

/// The default keeps everything, and tells samples apart by event, stack, comm and process.
struct RecordingOptions {
    SampleFilter filter{};
    bool byThread = false; ///< tells samples apart by thread, too: more memory
    bool byCpu = false;
};

} // namespace whichlock
