// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/duration_histogram.h"

#include <algorithm>
#include <bit>

namespace whichlock {
namespace {

constexpr unsigned kSubBits = 5; // 32 buckets between a power of two and the next
constexpr uint64_t kSubBuckets = 1U << kSubBits;

} // namespace

/// Values below 32 have a bucket of their own.
uint16_t DurationHistogram::bucketOf(uint64_t ns)
{
    if (ns < kSubBuckets)
        return static_cast<uint16_t>(ns);
    const auto shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - kSubBits;
    return static_cast<uint16_t>((shift + 1) * kSubBuckets + ((ns >> shift) - kSubBuckets));
}

uint64_t DurationHistogram::middleOf(uint16_t bucket)
{
    if (bucket < kSubBuckets)
        return bucket;
    const auto shift = static_cast<unsigned>(bucket / kSubBuckets) - 1;
    const uint64_t low = (kSubBuckets + bucket % kSubBuckets) << shift;
    return low + ((uint64_t{1} << shift) >> 1U);
}

void DurationHistogram::add(uint64_t ns)
{
    const uint16_t bucket = bucketOf(ns);
    auto at = std::lower_bound(buckets_.begin(), buckets_.end(), std::pair(bucket, uint64_t{0}));
    if (at == buckets_.end() || at->first != bucket)
        at = buckets_.insert(at, {bucket, 0});
    ++at->second;
    ++count_;
    sumNs_ += ns;
    minNs_ = std::min(minNs_, ns);
    maxNs_ = std::max(maxNs_, ns);
}

void DurationHistogram::add(const DurationHistogram& other)
{
    std::vector<std::pair<uint16_t, uint64_t>> merged;
    merged.reserve(buckets_.size() + other.buckets_.size());
    std::merge(buckets_.begin(), buckets_.end(), other.buckets_.begin(), other.buckets_.end(),
        std::back_inserter(merged), [](const auto& a, const auto& b) { return a.first < b.first; });
    buckets_.clear();
    for (const auto& [bucket, count] : merged) {
        if (!buckets_.empty() && buckets_.back().first == bucket)
            buckets_.back().second += count;
        else
            buckets_.emplace_back(bucket, count);
    }
    count_ += other.count_;
    sumNs_ += other.sumNs_;
    minNs_ = std::min(minNs_, other.minNs_);
    maxNs_ = std::max(maxNs_, other.maxNs_);
}

uint64_t DurationHistogram::percentileNs(unsigned percent) const
{
    if (count_ == 0)
        return 0;
    // The rank is rounded up; count / 100 first, for the product may not fit.
    const uint64_t rank = count_ / 100 * percent + (count_ % 100 * percent + 99) / 100;
    uint64_t seen = 0;
    for (const auto& [bucket, count] : buckets_) {
        seen += count;
        if (seen >= std::max<uint64_t>(rank, 1))
            return std::clamp(middleOf(bucket), minNs_, maxNs_);
    }
    return maxNs_;
}

} // namespace whichlock
