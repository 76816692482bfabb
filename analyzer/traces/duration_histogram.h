// SPDX-License-Identifier: GPL-3.0-or-later
// Durations in buckets of at most 1/32 of their value each: bounded memory, percentiles within 1.6 %.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace whichlock {

/// MT: one thread.
class DurationHistogram {
public:
    void add(uint64_t ns);
    void add(const DurationHistogram& other);

    uint64_t count() const { return count_; }
    uint64_t sumNs() const { return sumNs_; }
    uint64_t minNs() const { return count_ == 0 ? 0 : minNs_; } ///< exact
    uint64_t maxNs() const { return maxNs_; }                   ///< exact
    /// The duration below or at which `percent` of 100 of them lie; 0 when there is none.
    uint64_t percentileNs(unsigned percent) const;

private:
    static uint16_t bucketOf(uint64_t ns);
    static uint64_t middleOf(uint16_t bucket);

    std::vector<std::pair<uint16_t, uint64_t>> buckets_; ///< that are not empty, in order
    uint64_t count_ = 0;
    uint64_t sumNs_ = 0;
    uint64_t minNs_ = UINT64_MAX;
    uint64_t maxNs_ = 0;
};

} // namespace whichlock
