// SPDX-License-Identifier: GPL-3.0-or-later
// What kind of trouble a lock is, by criteria whose figures come along. A lock may fit none of them.
#pragma once

#include "analyzer/traces/trace_analysis.h"

namespace whichlock {

enum class LockPattern : uint8_t {
    LongHold,          ///< holders ran with the lock for most of the wait
    PreemptedHolder,   ///< holders were runnable and had no processor
    PriorityInversion, ///< of these: behind a task that a waiter is more important than
    ThrottledHolder,   ///< holders had used up the time of their control group, or their processor went idle
    IoUnderLock,       ///< holders waited for a disk or a page
    GracePeriodUnderLock, ///< holders waited for all readers of RCU
    SleepUnderLock,       ///< holders slept
    WaitsForLock,         ///< holders waited for another lock
    Convoy,               ///< the lock is mostly being handed over
    HerdAfterSignal,      ///< waiters come out of a condition wait, many at once
    WritersBehindReaders,
    ReadersBehindWriters,
    AllocatorArena,    ///< it guards the memory that malloc() hands out
    YieldPolling,      ///< waiters poll it, and give their processor away in between
    TrylockPolling,    ///< waiters try to take it again and again
    Deadlock,          ///< its waiters wait in a circle
    SuspectedDeadlock, ///< several locks of a process are waited for to the end, and nobody gave one back
};

/// As JSON and texts spell it: `preempted-holder`.
std::string_view patternName(LockPattern pattern);

/// A pattern that a lock fits, and the figure that decided.
struct PatternMatch {
    LockPattern pattern{};
    uint64_t partNs = 0; ///< of the wait, that fits
    uint64_t wholeNs = 0;
    bool atMost = false; ///< partNs is an upper bound: when the cause ended was not recorded
};

/// The patterns that a lock fits, in the order of the enumerators.
std::vector<PatternMatch> patternsOf(const TraceLock& lock, const TraceAnalysis& analysis);

} // namespace whichlock
