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
    EXPECT_EQ(patterns(heldWhile(Activity::LockWait)), Patterns{LockPattern::WaitsForLock});
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
    EXPECT_EQ(patterns(lock, analysis), Patterns{LockPattern::WritersBehindReaders});
    std::swap(analysis.sites[0].waitNs, analysis.sites[1].waitNs);
    EXPECT_EQ(patterns(lock, analysis), Patterns{LockPattern::ReadersBehindWriters});
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
