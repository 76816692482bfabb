// SPDX-License-Identifier: GPL-3.0-or-later
// Locks that belong together: the copies of one lock that each process or each processor has, and the lock
// inside of another one that guards its list of waiters.
#pragma once

#include "analyzer/traces/trace_record.h"

namespace whichlock {

/// Rows in TraceAnalysis::locks that are instances of one lock.
using LockFamily = std::vector<uint32_t>;

/// Global variables of one program that several of its processes wait for, each for its own.
std::vector<LockFamily> copiesInProcesses(const TraceAnalysis& analysis, TraceNames& names);
/// Spinlocks of the kernel that each processor has one of, as their equal distance shows, and that are taken
/// in the same functions.
std::vector<LockFamily> copiesOnProcessors(const TraceAnalysis& analysis, TraceNames& names);
/// Makes each family one lock, the first of its rows; the others become empty. Sums stay as they are.
void foldLocks(TraceAnalysis& analysis, const std::vector<LockFamily>& families);

/// Finds the spinlocks inside of mutexes and semaphores of the kernel (TraceLock::innerOf).
void findInnerLocks(TraceAnalysis& analysis);

} // namespace whichlock
