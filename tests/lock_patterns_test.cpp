// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/lock_patterns.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

/// A mutex of 1000 ns of waiting, all of it behind one holder that did this.
TraceLock heldWhile(Activity activity, uint64_t ns = 1000)
{
    TraceLock lock;
    lock.kind = LockKind::UserMutex;
    lock.isLock = true;
    lock.waitNs = 1000;
    HolderSums holder;
    holder.waitNs = 1000;
    holder.meanwhile[static_cast<size_t>(activity)] = ns;
    if (activity == Activity::LockWait)
        holder.waitedFor[1] = ns;
    lock.holders.push_back(holder);
    return lock;
}

std::vector<LockPattern> patterns(const TraceLock& lock, const TraceAnalysis& analysis = {})
{
    std::vector<LockPattern> found;
    for (const PatternMatch& match : patternsOf(lock, analysis))
        found.push_back(match.pattern);
    return found;
}

using Patterns = std::vector<LockPattern>;

TEST(LockPatterns, followFromWhatTheHolderDid)
{
    EXPECT_EQ(patterns(heldWhile(Activity::Ran)), Patterns{LockPattern::LongHold});
    EXPECT_EQ(patterns(heldWhile(Activity::Preempted, 200)), Patterns{LockPattern::PreemptedHolder});
    EXPECT_EQ(patterns(heldWhile(Activity::Throttled)), Patterns{LockPattern::ThrottledHolder});
    EXPECT_EQ(patterns(heldWhile(Activity::Io)), Patterns{LockPattern::IoUnderLock});
    EXPECT_EQ(patterns(heldWhile(Activity::Sleep)), Patterns{LockPattern::SleepUnderLock});
    EXPECT_EQ(patterns(heldWhile(Activity::GracePeriod)), Patterns{LockPattern::GracePeriodUnderLock});
}

TEST(LockPatterns, areNotMadeOfWaitsForWhatIsNoLock)
{
    TraceAnalysis analysis;
    analysis.locks.resize(1);
    EXPECT_EQ(patterns(heldWhile(Activity::LockWait), analysis), Patterns{});
    analysis.locks[0].isLock = true;
    EXPECT_EQ(patterns(heldWhile(Activity::LockWait), analysis), Patterns{LockPattern::WaitsForLock});
}

TEST(LockPatterns, takeTheHoldersPriorityAgainstThatOfTheWaiter)
{
    TraceAnalysis analysis;
    analysis.preemptors = {{.name = 1, .priority = 98, .preemptedPriority = 120}};
    TraceLock lock = heldWhile(Activity::Preempted, 600);
    lock.holders[0].preemptedBy[1] = 600;
    EXPECT_EQ(patterns(lock, analysis), Patterns{LockPattern::PreemptedHolder});
    lock.waiterPriority = 120; // as important as the holder
    EXPECT_EQ(patterns(lock, analysis), Patterns{LockPattern::PreemptedHolder});
    lock.waiterPriority = 97; // more important than who keeps the holder from going on
    EXPECT_EQ(
        patterns(lock, analysis), (Patterns{LockPattern::PreemptedHolder, LockPattern::PriorityInversion}));
}

TEST(LockPatterns, callThrottledWhatWasSeveralTimes)
{
    TraceLock lock = heldWhile(Activity::Uncertain);
    lock.holders[0].throttledAtMostNs = 900;
    lock.holders[0].throttles = 2;
    EXPECT_EQ(patterns(lock), Patterns{}); // each of them may have been short
    lock.holders[0].throttles = 3;
    EXPECT_EQ(patterns(lock), Patterns{LockPattern::ThrottledHolder});
    EXPECT_TRUE(patternsOf(lock, {})[0].atMost);
}

TEST(LockPatterns, suspectADeadlockOnlyWhereNoneIsProven)
{
    TraceLock lock;
    lock.openNs = 1000;
    lock.stuck = true;
    EXPECT_EQ(patterns(lock), Patterns{LockPattern::SuspectedDeadlock});
    lock.deadlock = true;
    EXPECT_EQ(patterns(lock), Patterns{LockPattern::Deadlock});
}

TEST(LockPatterns, mayBeNone)
{
    EXPECT_EQ(patterns(heldWhile(Activity::Preempted, 199)), Patterns{});
    EXPECT_EQ(patterns(heldWhile(Activity::Ran, 499)), Patterns{});
    EXPECT_EQ(patterns(heldWhile(Activity::Unknown)), Patterns{});
    EXPECT_EQ(patterns(heldWhile(Activity::Uncertain)), Patterns{}); // may have run all the time
    EXPECT_EQ(patterns(TraceLock()), Patterns{});
}

TEST(LockPatterns, callAConvoyWhatIsMostlyHandedOver)
{
    TraceLock lock = heldWhile(Activity::Ran, 400);
    lock.holders[0].waitNs = 400;
    lock.handOffNs = 600;
    lock.maxWaiters = 2;
    lock.acquisitions = 10;
    lock.releases = 11;
    lock.holders[0].holds.add(20); // below 60, the hand-off of each
    EXPECT_EQ(patterns(lock), Patterns{LockPattern::Convoy});
    lock.releases = 30; // most acquisitions did not wait
    EXPECT_EQ(patterns(lock), Patterns{});
    lock.releases = 11;
    lock.freeAcquisitions = 5; // nor did these, though each took a moment
    EXPECT_EQ(patterns(lock), Patterns{});
}

TEST(LockPatterns, tellTheSidesOfReaderWriterLocks)
{
    TraceAnalysis analysis;
    analysis.sites.resize(2);
    analysis.sites[0].reason = WaitReason::RwlockRead;
    analysis.sites[0].waitNs = 100;
    analysis.sites[1].reason = WaitReason::RwlockWrite;
    analysis.sites[1].waitNs = 900;
    TraceLock lock;
    lock.kind = LockKind::UserRwlock;
    lock.waitNs = 1000;
    lock.sites = {0, 1};
    lock.key.space = LockSpace::Process;
    EXPECT_EQ(patterns(lock, analysis), Patterns{}); // behind whom is not known
    analysis.sites[0].side = WordSide::ReadBehindWriter;
    analysis.sites[1].side = WordSide::WriteBehindWriter;
    EXPECT_EQ(patterns(lock, analysis), Patterns{});
    analysis.sites[1].side = WordSide::WriteBehindReaders;
    EXPECT_EQ(patterns(lock, analysis), Patterns{LockPattern::WritersBehindReaders});
    std::swap(analysis.sites[0].waitNs, analysis.sites[1].waitNs);
    EXPECT_EQ(patterns(lock, analysis), Patterns{LockPattern::ReadersBehindWriters});
}

TEST(LockPatterns, tellTheSidesOfAKernelLockByThoseOfItsHolders)
{
    TraceAnalysis analysis;
    analysis.sites.resize(2);
    analysis.sites[0].reason = WaitReason::RwlockRead;
    analysis.sites[0].stack = {1};
    analysis.sites[1].reason = WaitReason::RwlockWrite;
    analysis.sites[1].stack = {2};
    analysis.sites[1].waitNs = 1000;
    TraceLock lock = heldWhile(Activity::Unknown);
    lock.kind = LockKind::RwSemaphore;
    lock.sites = {0, 1};
    lock.holders[0].key.stack = {2};
    EXPECT_EQ(patterns(lock, analysis), Patterns{}); // writers behind writers
    lock.holders[0].key.stack = {1};
    EXPECT_EQ(patterns(lock, analysis), Patterns{LockPattern::WritersBehindReaders});
}

TEST(LockPatterns, seeAHerdThatComesOutOfAConditionWait)
{
    TraceAnalysis analysis;
    analysis.sites.resize(1);
    analysis.sites[0].insideCondition = true;
    analysis.sites[0].waitNs = 1000;
    TraceLock lock;
    lock.kind = LockKind::UserMutex;
    lock.waitNs = 1000;
    lock.sites = {0};
    lock.maxWaiters = 4;
    EXPECT_EQ(patterns(lock, analysis), Patterns{LockPattern::HerdAfterSignal});
    lock.maxWaiters = 2;
    EXPECT_EQ(patterns(lock, analysis), Patterns{});
}

} // namespace
} // namespace whichlock::test
