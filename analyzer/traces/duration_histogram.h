// SPDX-License-Identifier: GPL-3.0-or-later
// Durations in buckets of at most 1/32 of their value each: bounded memory, percentiles within 1.6 %. There
// are many histograms of few durations, and few of many: the first are lists, the others tables.
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
    using Bucket = std::pair<uint16_t, uint64_t>; ///< number and count

    static constexpr size_t kMostListed = 48;

    static uint16_t bucketOf(uint64_t ns);
    static uint64_t middleOf(uint16_t bucket);
    uint64_t& countOf(uint16_t bucket);
    void makeTable();
    void coverInTable(uint16_t bucket);
    /// Those that are not empty, in order.
    std::vector<Bucket> buckets() const;

    std::vector<Bucket> list_;    ///< in order; empty once there is a table
    std::vector<uint64_t> table_; ///< counts from the bucket `tableBegin_` on
    uint16_t tableBegin_ = 0;
    uint64_t count_ = 0;
    uint64_t sumNs_ = 0;
    uint64_t minNs_ = UINT64_MAX;
    uint64_t maxNs_ = 0;
};

} // namespace whichlock
