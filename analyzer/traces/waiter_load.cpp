// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/waiter_load.h"

#include <algorithm>

namespace whichlock {

/// Two neighbours become one, so that the strip covers twice the time.
void WaiterStrip::widen()
{
    for (size_t i = 0; i < kBuckets / 2; ++i)
        waitNs_[i] = waitNs_[2 * i] + waitNs_[2 * i + 1];
    std::fill(waitNs_.begin() + kBuckets / 2, waitNs_.end(), 0);
    bucketNs_ *= 2;
}

void WaiterStrip::add(uint64_t fromNs, uint64_t toNs, uint64_t waiters)
{
    if (toNs <= fromNs || waiters == 0)
        return;
    if (waitNs_.empty())
        waitNs_.resize(kBuckets);
    while ((toNs - 1) / bucketNs_ >= kBuckets)
        widen();
    for (uint64_t at = fromNs; at < toNs;) {
        const uint64_t bucket = at / bucketNs_;
        const uint64_t end = std::min(toNs, (bucket + 1) * bucketNs_);
        waitNs_[bucket] += (end - at) * waiters;
        at = end;
    }
}

void WaiterStrip::add(const WaiterStrip& other)
{
    if (other.waitNs_.empty())
        return;
    WaiterStrip wide = other;
    waitNs_.resize(kBuckets);
    while (bucketNs_ < wide.bucketNs_)
        widen();
    while (wide.bucketNs_ < bucketNs_)
        wide.widen();
    for (size_t i = 0; i < kBuckets; ++i)
        waitNs_[i] += wide.waitNs_[i];
}

void WaiterLoad::advance(uint64_t timeNs)
{
    if (waiters_ > 0 && timeNs > changedNs_) {
        maxWaiters_ = std::max(maxWaiters_, waiters_); // they did wait at the same time
        contendedWallNs_ += timeNs - changedNs_;
        strip_.add(
            changedNs_ - std::min(changedNs_, beginNs_), timeNs - std::min(timeNs, beginNs_), waiters_);
    }
    changedNs_ = std::max(changedNs_, timeNs);
}

void WaiterLoad::waitBegins(uint64_t timeNs)
{
    advance(timeNs);
    ++waiters_;
}

void WaiterLoad::waitEnds(uint64_t timeNs)
{
    advance(timeNs);
    if (waiters_ > 0)
        --waiters_;
}

} // namespace whichlock
