// SPDX-License-Identifier: GPL-3.0-or-later
// What kind of trouble a lock is, by criteria whose figures come along. A lock may fit none of them.
#pragma once

#include "analyzer/traces/trace_analysis.h"

namespace whichlock {

enum class LockPattern : uint8_t {
    LongHold,        ///< holders ran with the lock for most of the wait
    PreemptedHolder, ///< holders were runnable and had no processor
    ThrottledHolder, ///< their processor went idle meanwhile
    IoUnderLock,     ///< holders waited for a disk or a page
    SleepUnderLock,  ///< holders slept
    WaitsForLock,    ///< holders waited for another lock
    Convoy,          ///< the lock is mostly being handed over
    HerdAfterSignal, ///< waiters come out of a condition wait, many at once
    WritersBehindReaders,
    ReadersBehindWriters,
    Deadlock, ///< its waiters wait in a circle
};

/// As JSON and texts spell it: `preempted-holder`.
std::string_view patternName(LockPattern pattern);

/// A pattern that a lock fits, and the figure that decided.
struct PatternMatch {
    LockPattern pattern{};
    uint64_t partNs = 0; ///< of the wait, that fits
    uint64_t wholeNs = 0;
};

/// The patterns that a lock fits, in the order of the enumerators.
std::vector<PatternMatch> patternsOf(const TraceLock& lock, const TraceAnalysis& analysis);

} // namespace whichlock
