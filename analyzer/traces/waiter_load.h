// SPDX-License-Identifier: GPL-3.0-or-later
// How many waited for a lock over the time: with how many at most, for how long by the wall clock, and a
// strip of it for drawing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace whichlock {

/// Number of waiters over time in a fixed number of buckets, which get wider as time goes on.
/// MT: one thread.
class WaiterStrip {
public:
    static constexpr size_t kBuckets = 64;

    /// `waiters` waited from `fromNs` to `toNs`; both count from the start of the trace.
    void add(uint64_t fromNs, uint64_t toNs, uint64_t waiters);

    void add(const WaiterStrip& other);

    uint64_t bucketNs() const { return bucketNs_; }
    /// Sums of waiting (waiters times ns) by bucket; empty when nothing was added.
    const std::vector<uint64_t>& waitNs() const { return waitNs_; }

private:
    void widen();

    uint64_t bucketNs_ = 1U << 14U;
    std::vector<uint64_t> waitNs_;
};

/// MT: one thread.
class WaiterLoad {
public:
    explicit WaiterLoad(uint64_t beginNs = 0)
        : beginNs_(beginNs)
    {
    }

    void waitBegins(uint64_t timeNs);
    void waitEnds(uint64_t timeNs);
    /// Brings the figures up to this time.
    void advance(uint64_t timeNs);

    uint32_t waiters() const { return waiters_; }
    uint32_t maxWaiters() const { return maxWaiters_; }
    uint64_t contendedWallNs() const { return contendedWallNs_; }
    const WaiterStrip& strip() const { return strip_; }

private:
    uint64_t beginNs_ = 0;
    uint64_t changedNs_ = 0;
    uint32_t waiters_ = 0;
    uint32_t maxWaiters_ = 0;
    uint64_t contendedWallNs_ = 0;
    WaiterStrip strip_;
};

} // namespace whichlock
