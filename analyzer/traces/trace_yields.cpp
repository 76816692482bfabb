// SPDX-License-Identifier: GPL-3.0-or-later
// Threads that leave their processor although they could go on: why, and for a lock that is polled that way.
#include "analyzer/traces/trace_analyser.h"

namespace whichlock {

/// `detail`: see Stretch.
Activity TraceAnalyser::leaves(const TaskSwitch& change, LeaveReason reason, uint32_t& detail)
{
    switch (reason) {
    case LeaveReason::Yield:
        return Activity::Yielded;
    case LeaveReason::Voluntary:
        return Activity::Voluntary;
    case LeaveReason::Throttled:
        detail = kThrottledDetail;
        return Activity::Throttled;
    case LeaveReason::Unknown:
    case LeaveReason::Preempted:
        break;
    }
    if (change.next == 0) { // throttled, or on its way to another processor
        detail = kThrottledDetail;
        return Activity::Throttled;
    }
    detail = preemptors_
                 .intern({.name = threads_.nameId(change.nextName).v,
                     .priority = change.nextPriority,
                     .preemptedPriority = change.previousPriority})
                 .v;
    return Activity::Preempted;
}

/// What a task waits for while it is off the processor is known when it leaves, and so is its priority.
void TraceAnalyser::notePriority(LiveThread& thread, int32_t priority)
{
    thread.priority = priority;
    for (const OpenWait& wait : thread.waits) {
        int32_t& most = locks_[wait.lock].facts.waiterPriority;
        most = std::min(most, priority);
    }
}

/// It tried to take a lock and gives its processor away before it tries again. How often it tried without
/// that is not seen.
void TraceAnalyser::yields(LiveThread& thread, TraceStackId stack)
{
    beginWait(thread,
        {.lock = parkedLock(thread, stack), .channel = WaitChannel::Yield, .beganNs = nowNs_, .stack = stack},
        classOf(stack).wait);
}

/// `seen`: it got the processor back right now; else at some time since it left.
void TraceAnalyser::endYield(LiveThread& thread, bool seen)
{
    if (thread.waits.empty() || thread.waits.back().channel != WaitChannel::Yield)
        return;
    const TraceLockId lock = thread.waits.back().lock;
    if (seen) {
        endWait(thread, thread.waits.size() - 1, true, true);
        locks_[lock].ledger.forgetOwner(); // it may try in vain
        return;
    }
    dropWait(thread, thread.waits.size() - 1);
    --gaps_.beginsWithoutEnd; // counted as a switch that was not seen
}

} // namespace whichlock
