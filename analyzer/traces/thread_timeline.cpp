// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/thread_timeline.h"

namespace whichlock {

void ThreadTimeline::enter(uint64_t timeNs, Activity activity, uint32_t detail, uint64_t neededFromNs)
{
    if (!stretches_.empty()) {
        Stretch& last = stretches_.back();
        if (last.activity == activity && last.detail == detail)
            return;
        const uint64_t from = std::min(last.fromNs, timeNs);
        sums_[static_cast<size_t>(last.activity)] += timeNs - from;
        if (last.fromNs >= timeNs) { // it lasted no time
            last = {timeNs, activity, detail};
            return;
        }
    }
    if (stretches_.size() >= forgetAt_)
        forget(neededFromNs);
    stretches_.push_back({timeNs, activity, detail});
}

void ThreadTimeline::split(uint64_t timeNs)
{
    if (stretches_.empty() || stretches_.back().fromNs >= timeNs)
        return;
    if (stretches_.size() >= kMostStretches)
        forget(0);
    Stretch next = stretches_.back();
    sums_[static_cast<size_t>(next.activity)] += timeNs - next.fromNs;
    next.fromNs = timeNs;
    stretches_.push_back(next);
}

void ThreadTimeline::relabel(Activity activity)
{
    if (!stretches_.empty())
        stretches_.back().activity = activity;
}

ActivitySums ThreadTimeline::sumsAt(uint64_t timeNs) const
{
    ActivitySums sums = sums_;
    if (!stretches_.empty() && timeNs > stretches_.back().fromNs)
        sums[static_cast<size_t>(stretches_.back().activity)] += timeNs - stretches_.back().fromNs;
    return sums;
}

/// Drops what nobody asks for any more; the limit doubles while all of it is still needed.
void ThreadTimeline::forget(uint64_t neededFromNs)
{
    auto first = std::upper_bound(stretches_.begin(), stretches_.end(), neededFromNs,
        [](uint64_t time, const Stretch& stretch) { return time < stretch.fromNs; });
    if (first != stretches_.begin())
        --first; // covers that time
    if (stretches_.size() >= kMostStretches)
        first = std::max(first, stretches_.begin() + kMostStretches / 2);
    stretches_.erase(stretches_.begin(), first);
    forgetAt_ = std::clamp<size_t>(stretches_.size() * 2, 32, kMostStretches);
}

} // namespace whichlock
