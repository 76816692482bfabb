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

/// Makes the table reach as far as a bucket, by whole powers of two.
void DurationHistogram::coverInTable(uint16_t bucket)
{
    constexpr auto kStep = static_cast<uint16_t>(kSubBuckets);
    const auto begin = static_cast<uint16_t>(bucket / kStep * kStep);
    if (table_.empty())
        tableBegin_ = begin;
    if (begin < tableBegin_) {
        table_.insert(table_.begin(), tableBegin_ - size_t{begin}, 0);
        tableBegin_ = begin;
    }
    const size_t needed = size_t{begin} + kStep - tableBegin_;
    if (needed > table_.size())
        table_.resize(needed);
}

void DurationHistogram::makeTable()
{
    for (const auto& [bucket, count] : list_) {
        coverInTable(bucket);
        table_[bucket - size_t{tableBegin_}] = count;
    }
    std::vector<Bucket>().swap(list_);
}

uint64_t& DurationHistogram::countOf(uint16_t bucket)
{
    if (table_.empty()) {
        const auto at = std::lower_bound(list_.begin(), list_.end(), Bucket(bucket, 0));
        if (at != list_.end() && at->first == bucket)
            return at->second;
        if (list_.size() < kMostListed)
            return list_.insert(at, {bucket, 0})->second;
        makeTable();
    }
    if (bucket < tableBegin_ || bucket - size_t{tableBegin_} >= table_.size())
        coverInTable(bucket);
    return table_[bucket - size_t{tableBegin_}];
}

std::vector<DurationHistogram::Bucket> DurationHistogram::buckets() const
{
    std::vector<Bucket> found = list_;
    for (size_t i = 0; i < table_.size(); ++i) {
        if (table_[i] != 0)
            found.emplace_back(static_cast<uint16_t>(tableBegin_ + i), table_[i]);
    }
    return found;
}

void DurationHistogram::add(uint64_t ns)
{
    ++countOf(bucketOf(ns));
    ++count_;
    sumNs_ += ns;
    minNs_ = std::min(minNs_, ns);
    maxNs_ = std::max(maxNs_, ns);
}

void DurationHistogram::add(const DurationHistogram& other)
{
    for (const auto& [bucket, count] : other.buckets())
        countOf(bucket) += count;
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
    for (const auto& [bucket, count] : buckets()) {
        seen += count;
        if (seen >= std::max<uint64_t>(rank, 1))
            return std::clamp(middleOf(bucket), minNs_, maxNs_);
    }
    return maxNs_;
}

} // namespace whichlock
