// SPDX-License-Identifier: GPL-3.0-or-later
// Waits, one rule a test; all figures by hand.
#include "tests/support/scripted_trace.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

constexpr uint64_t kMutex = ScriptedTrace::kMutex;
constexpr uint64_t kKernelLock = 0xffff888100000000;
constexpr uint32_t kSpin = 1;
constexpr uint32_t kMutexFlag = 32;

TEST(TraceWaits, countOneWaitFromTheFirstBeginToTheEnd)
{
    ScriptedTrace trace;
    trace.analyser.contentionBegin(trace.at(100, 1), kKernelLock, kSpin | kMutexFlag);
    trace.analyser.contentionBegin(trace.at(120, 1), kKernelLock, kMutexFlag); // spun in vain, sleeps
    trace.analyser.contentionEnd(trace.at(150, 1), kKernelLock, 0);
    const TraceAnalysis analysis = trace.finish();
    const TraceLock& lock = lockAt(analysis, kKernelLock);
    EXPECT_EQ(lock.waits, 1U);
    EXPECT_EQ(lock.waitNs, 50U);
    EXPECT_EQ(lock.kind, LockKind::KernelMutex);
    EXPECT_TRUE(lock.isLock);
}

TEST(TraceWaits, pairEachLockForItselfWhenAnInterruptComesBetween)
{
    ScriptedTrace trace;
    trace.analyser.contentionBegin(trace.at(100, 1), kKernelLock, kSpin);
    trace.analyser.contentionBegin(trace.at(110, 1), kKernelLock + 64, kSpin);
    trace.analyser.contentionEnd(trace.at(115, 1), kKernelLock + 64, 0);
    trace.analyser.contentionEnd(trace.at(130, 1), kKernelLock, 0);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kKernelLock).waitNs, 30U);
    EXPECT_EQ(lockAt(analysis, kKernelLock + 64).waitNs, 5U);
    // The thread's own time is spent once.
    EXPECT_EQ(analysis.sites[lockAt(analysis, kKernelLock).sites[0]].accountNs, 30U);
    EXPECT_EQ(analysis.sites[lockAt(analysis, kKernelLock + 64).sites[0]].accountNs, 0U);
}

TEST(TraceWaits, keepIdleTasksApartByProcessor)
{
    ScriptedTrace trace;
    trace.analyser.contentionBegin(trace.at(100, 0), kKernelLock, kSpin);
    trace.cpu = 1;
    trace.analyser.contentionBegin(trace.at(110, 0), kKernelLock, kSpin);
    trace.analyser.contentionEnd(trace.at(140, 0), kKernelLock, 0);
    trace.cpu = 0;
    trace.analyser.contentionEnd(trace.at(150, 0), kKernelLock, 0);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kKernelLock).waits, 2U);
    EXPECT_EQ(lockAt(analysis, kKernelLock).waitNs, 50U + 30U);
    EXPECT_EQ(lockAt(analysis, kKernelLock).maxWaiters, 2U);
}

TEST(TraceWaits, ofTheIdleTaskOfTheFirstProcessorAreThoseOfNoHolder)
{
    ScriptedTrace trace;
    trace.analyser.contentionBegin(trace.at(100, 1), kKernelLock, kSpin);
    trace.analyser.contentionBegin(trace.at(120, 0), kKernelLock, kSpin);
    trace.analyser.contentionEnd(trace.at(150, 0), kKernelLock, 0);
    const TraceAnalysis analysis = trace.finish(150);
    EXPECT_EQ(lockAt(analysis, kKernelLock).unseenNs, 30U + 50U);
    for (const HolderSums& holder : lockAt(analysis, kKernelLock).holders)
        EXPECT_EQ(holder.waitNs, 0U);
}

TEST(TraceWaits, takeAWaitThatWasOnAtTheBeginForALowerBound)
{
    ScriptedTrace trace;
    trace.analyser.beginsAt(1000);
    trace.analyser.contentionEnd(trace.at(1300, 1), kKernelLock, 0);
    const TraceAnalysis analysis = trace.finish();
    const TraceLock& lock = lockAt(analysis, kKernelLock);
    EXPECT_EQ(lock.waits, 0U);
    EXPECT_EQ(lock.openWaits, 1U);
    EXPECT_EQ(lock.openNs, 300U);
    EXPECT_EQ(lock.openAtEnd, 0U);
}

TEST(TraceWaits, takeAWaitThatDoesNotEndForALowerBound)
{
    ScriptedTrace trace;
    trace.wait(100, 1);
    const TraceAnalysis analysis = trace.finish(700);
    const TraceLock& lock = lockAt(analysis, kMutex);
    EXPECT_EQ(lock.waits, 0U);
    EXPECT_EQ(lock.openAtEnd, 1U);
    EXPECT_EQ(lock.valueNs(), 600U);
    ASSERT_EQ(lock.worst.size(), 1U);
    EXPECT_TRUE(lock.worst[0].open);
}

TEST(TraceWaits, neverPairAnEndWithABeginAfterWhichAnotherCallBegan)
{
    ScriptedTrace trace;
    trace.wait(100, 1); // its end is lost
    trace.wait(500, 1);
    trace.waitEnds(520, 1);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kMutex).waits, 1U);
    EXPECT_EQ(lockAt(analysis, kMutex).waitNs, 20U);
    EXPECT_EQ(analysis.gaps.beginsWithoutEnd, 1U);
}

TEST(TraceWaits, refuseTheEndOfACallThatWakes)
{
    ScriptedTrace trace;
    trace.wait(100, 1);
    trace.waitEnds(500, 1, 3); // three were woken: the begin of that call is lost, and the end of the wait
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kMutex).waits, 0U);
    EXPECT_EQ(analysis.gaps.unlikelyPairs, 1U);
}

TEST(TraceWaits, refuseAnEndWithAnotherStackWhenEventsWereLost)
{
    ScriptedTrace trace;
    const TraceStackId mine = trace.stack({"__lll_lock_wait", "mine"});
    const TraceStackId other = trace.stack({"__lll_lock_wait", "other"});
    trace.wait(100, 1, kMutex, mine);
    trace.analyser.futexExit(trace.at(110, 1, other), 0); // nothing was lost: believed
    trace.wait(200, 1, kMutex, mine);
    trace.analyser.lost(5);
    trace.analyser.futexExit(trace.at(300, 1, other), 0);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kMutex).waits, 1U);
    EXPECT_EQ(lockAt(analysis, kMutex).waitNs, 10U);
    EXPECT_EQ(analysis.gaps.unlikelyPairs, 1U);
    EXPECT_EQ(analysis.gaps.lostEvents, 5U);
}

TEST(TraceWaits, countWaitsInARowAsOneAcquisition)
{
    ScriptedTrace trace;
    trace.wait(100, 1);
    trace.waitEnds(120, 1);
    trace.wait(121, 1); // too late: somebody else has it
    trace.waitEnds(150, 1);
    trace.wake(160, 1); // it had the lock
    trace.wait(170, 1);
    trace.waitEnds(180, 1);
    const TraceAnalysis analysis = trace.finish();
    const TraceLock& lock = lockAt(analysis, kMutex);
    EXPECT_EQ(lock.waits, 3U);
    EXPECT_EQ(lock.acquisitions, 2U);
    EXPECT_EQ(lock.maxAcquisitionNs, 50U);
    EXPECT_EQ(lock.waitTimes.maxNs(), 29U);
}

TEST(TraceWaits, endWithTheThread)
{
    ScriptedTrace trace;
    trace.wait(100, 1);
    trace.analyser.exit(160, 1);
    trace.wait(200, 2);
    trace.waitEnds(210, 2);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kMutex).openNs, 60U);
    EXPECT_EQ(lockAt(analysis, kMutex).waitNs, 10U);
    EXPECT_EQ(lockAt(analysis, kMutex).maxWaiters, 1U);
}

TEST(TraceWaits, areOneWhenTwoKindsOfEventsShowThem)
{
    ScriptedTrace trace;
    const TraceStackId entry = trace.stack({"pthread_mutex_lock", "work"});
    trace.analyser.probe(trace.at(100, 1, entry), kMutex);
    trace.wait(105, 1);
    trace.waitEnds(150, 1);
    trace.analyser.probeReturn(trace.at(155, 1));
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kMutex).waits, 1U);
    EXPECT_EQ(lockAt(analysis, kMutex).waitNs, 55U);
}

TEST(TraceWaits, meetAtOneLockInASharedMapping)
{
    ScriptedTrace trace;
    trace.places[0x7000] = {.module = {4}, .offset = 0x40, .shared = true};
    trace.places[0x9000] = {.module = {4}, .offset = 0x40, .shared = true};
    const FutexCall first{.action = FutexAction::Wait, .shared = true, .word = 0x7000, .value = 2};
    FutexCall second = first;
    second.word = 0x9000;
    TraceMoment other = trace.at(110, 2);
    other.pid = 200;
    trace.analyser.futexEnter(trace.at(100, 1), first);
    trace.analyser.futexEnter(other, second);
    trace.waitEnds(150, 1);
    other.timeNs = 160;
    trace.analyser.futexExit(other, 0);
    const TraceAnalysis analysis = trace.finish();
    ASSERT_EQ(analysis.locks.size(), 1U);
    EXPECT_EQ(analysis.locks[0].key, (LockKey{LockSpace::Shared, 4, 0x40}));
    EXPECT_EQ(analysis.locks[0].waitNs, 100U);
}

TEST(TraceWaits, endByAProcessThatHasTheLockElsewhereAndNeverWaited)
{
    ScriptedTrace trace;
    trace.places[0x7000] = {.module = {4}, .offset = 0x40, .shared = true};
    trace.places[0x9000] = {.module = {4}, .offset = 0x40, .shared = true};
    trace.analyser.futexEnter(
        trace.at(100, 1), {.action = FutexAction::Wait, .shared = true, .word = 0x7000, .value = 2});
    TraceMoment other = trace.at(140, 2);
    other.pid = 200;
    trace.analyser.futexEnter(
        other, {.action = FutexAction::Wake, .shared = true, .word = 0x9000, .value = 1});
    trace.waitEnds(150, 1);
    const TraceAnalysis analysis = trace.finish();
    ASSERT_EQ(analysis.locks.size(), 1U);
    ASSERT_EQ(analysis.locks[0].holders.size(), 1U);
    EXPECT_EQ(analysis.locks[0].holders[0].waitNs, 40U);
}

// What a word is.

FutexCall bitsetWait(uint64_t word, uint32_t value, bool shared = false)
{
    return {.action = FutexAction::WaitBitset, .shared = shared, .word = word, .value = value};
}

TEST(TraceWords, areNoLockWhenTheyHoldTheNumberOfAThread)
{
    ScriptedTrace trace;
    trace.wait(90, 2, 0x9000);
    trace.waitEnds(91, 2);
    trace.analyser.futexEnter(trace.at(100, 1), bitsetWait(kMutex, 2, true));
    trace.waitEnds(200, 1);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kMutex).kind, LockKind::Join);
    EXPECT_FALSE(lockAt(analysis, kMutex).isLock);
}

TEST(TraceWords, areUnknownWhenNothingTellsWhatABitsetWaitIs)
{
    ScriptedTrace trace;
    trace.analyser.futexEnter(trace.at(100, 1), bitsetWait(kMutex, 0));
    trace.waitEnds(200, 1);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kMutex).kind, LockKind::Unknown);
    EXPECT_FALSE(lockAt(analysis, kMutex).isLock);
}

TEST(TraceWords, areConditionsWhenARoutineSignalsThem)
{
    ScriptedTrace trace;
    trace.analyser.futexEnter(trace.at(100, 1), bitsetWait(kMutex, 0));
    trace.wake(150, 2, kMutex, trace.stack({"___pthread_cond_signal", "push"}));
    trace.waitEnds(160, 1);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kMutex).kind, LockKind::Condition);
    EXPECT_FALSE(lockAt(analysis, kMutex).isLock);
}

TEST(TraceWords, areParkersWhenOnlyOneThreadSleepsOnThem)
{
    ScriptedTrace trace;
    trace.analyser.futexEnter(trace.at(100, 1), {.action = FutexAction::Wait, .word = kMutex, .value = 0});
    trace.wake(150, 2);
    trace.waitEnds(160, 1);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kMutex).kind, LockKind::Parker);
    EXPECT_FALSE(lockAt(analysis, kMutex).isLock);
}

TEST(TraceWords, areLocksWhereALockRoutineParks)
{
    ScriptedTrace trace;
    trace.analyser.futexEnter(trace.at(100, 1,
                                  trace.stack({"syscall", "pthread_cond_wait", "absl::Mutex::LockSlow",
                                      "absl::Mutex::Lock", "work"})),
        {.action = FutexAction::Wait, .word = kMutex, .value = 0});
    trace.waitEnds(160, 1);
    const TraceAnalysis analysis = trace.finish();
    ASSERT_EQ(analysis.locks.size(), 1U);
    EXPECT_EQ(analysis.locks[0].key.space, LockSpace::CallSite);
    EXPECT_EQ(analysis.locks[0].kind, LockKind::Parker);
    EXPECT_TRUE(analysis.locks[0].isLock);
}

TEST(TraceWords, ofPriorityInheritanceAreReleasedByTheirOwnCall)
{
    ScriptedTrace trace;
    trace.analyser.futexEnter(trace.at(100, 1), {.action = FutexAction::LockPi, .word = kMutex});
    trace.analyser.futexEnter(trace.at(180, 2), {.action = FutexAction::UnlockPi, .word = kMutex});
    trace.analyser.futexExit(trace.at(182, 2), 0);
    trace.waitEnds(190, 1);
    const TraceAnalysis analysis = trace.finish();
    const TraceLock& lock = lockAt(analysis, kMutex);
    EXPECT_EQ(lock.kind, LockKind::PiMutex);
    ASSERT_EQ(lock.holders.size(), 1U);
    EXPECT_EQ(lock.holders[0].waitNs, 80U);
    EXPECT_EQ(lock.handOffNs, 10U);
}

TEST(TraceWords, changeWhenAWaiterIsMovedFromTheConditionToTheMutex)
{
    constexpr uint64_t kCondition = 0x6000;
    ScriptedTrace trace;
    const TraceStackId pop = trace.stack({"__futex_abstimed_wait_common", "pthread_cond_wait", "pop"});
    for (int32_t tid = 1; tid <= 3; ++tid)
        trace.analyser.futexEnter(trace.at(static_cast<uint64_t>(100 + tid), tid, pop),
            {.action = FutexAction::Wait, .word = kCondition, .value = 7});
    // Wakes one and moves two.
    trace.analyser.futexEnter(trace.at(200, 9),
        {.action = FutexAction::Requeue,
            .word = kCondition,
            .secondWord = kMutex,
            .value = 1,
            .moveCount = 5});
    trace.analyser.futexExit(trace.at(201, 9), 3);
    trace.waitEnds(210, 1);
    trace.wake(250, 9);
    trace.waitEnds(260, 2);
    trace.wake(290, 2);
    trace.waitEnds(300, 3);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kCondition).waitNs, 109U + 98U + 97U);
    EXPECT_FALSE(lockAt(analysis, kCondition).isLock);
    const TraceLock& mutex = lockAt(analysis, kMutex);
    EXPECT_TRUE(mutex.isLock);
    EXPECT_EQ(mutex.waitNs, 60U + 100U);
}

} // namespace
} // namespace whichlock::test
