// SPDX-License-Identifier: GPL-3.0-or-later
// What one thread did, stretch after stretch: sums for ever, single stretches as far back as anyone who
// waits for it may ask.
#pragma once

#include "analyzer/traces/trace_types.h"

#include <algorithm>
#include <vector>

namespace whichlock {

/// A stretch of one activity; it lasts until the next one begins.
struct Stretch {
    uint64_t fromNs = 0;
    Activity activity = Activity::Unknown;
    uint32_t detail = 0; ///< Preempted: who got the processor; LockWait: the lock; Blocked: the stack
};

/// MT: one thread.
class ThreadTimeline {
public:
    /// Most stretches that are kept; older ones become Unknown.
    static constexpr size_t kMostStretches = 1024;

    /// From `timeNs` on the thread does this. Stretches that ended before `neededFromNs` may be forgotten.
    void enter(uint64_t timeNs, Activity activity, uint32_t detail, uint64_t neededFromNs);
    /// The current stretch goes on as one of its own, so that what was before is not relabelled.
    void split(uint64_t timeNs);
    /// The current stretch turns out to be something else; its detail stays.
    void relabel(Activity activity);
    /// Time by activity up to `timeNs`, which is not before the last enter().
    ActivitySums sumsAt(uint64_t timeNs) const;
    const Stretch* current() const { return stretches_.empty() ? nullptr : &stretches_.back(); }

    /// Calls `visit(activity, detail, fromNs, toNs)` for all of [fromNs, toNs), in the order of time.
    template <class Visit> void visit(uint64_t fromNs, uint64_t toNs, Visit&& visit) const
    {
        if (fromNs >= toNs)
            return;
        auto at = std::upper_bound(stretches_.begin(), stretches_.end(), fromNs,
            [](uint64_t time, const Stretch& stretch) { return time < stretch.fromNs; });
        uint64_t done = fromNs;
        if (at == stretches_.begin()) {
            done = at == stretches_.end() ? toNs : std::min(toNs, at->fromNs);
            visit(Activity::Unknown, 0U, fromNs, done);
        } else {
            --at;
        }
        for (; at != stretches_.end() && done < toNs; ++at) {
            const auto next = at + 1;
            const uint64_t end = next == stretches_.end() ? toNs : std::min(toNs, next->fromNs);
            if (end > done) {
                visit(at->activity, at->detail, done, end);
                done = end;
            }
        }
    }

private:
    void forget(uint64_t neededFromNs);

    std::vector<Stretch> stretches_;
    size_t forgetAt_ = 32;
    ActivitySums sums_{};
};

} // namespace whichlock
