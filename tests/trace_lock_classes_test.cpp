// SPDX-License-Identifier: GPL-3.0-or-later
// Locks that sleep elsewhere than at their own address, one rule a test; all figures by hand.
#include "tests/support/scripted_trace.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

constexpr uint64_t kLock = 0x5000; // of a reader-writer lock or condition variable
constexpr uint64_t kThreadWord = 0x9100;

FutexCall bitset(uint64_t word, uint32_t value)
{
    return {.action = FutexAction::WaitBitset, .word = word, .value = value};
}

TEST(LibraryWords, tellTheSideAndTheLockByPlaceAndValue)
{
    const auto is = [](const FutexCall& call, uint64_t address, WordSide side) {
        const LibraryWord word = libraryWordOf(call, WaitReason::Unknown);
        EXPECT_EQ(word.address, address);
        EXPECT_EQ(word.side, side);
    };
    is(bitset(kLock + 8, 3), kLock, WordSide::ReadBehindWriter);
    is(bitset(kLock, 0x1e), kLock, WordSide::ReadBehindWaitingWriter); // three readers, one waits, one writes
    is(bitset(kLock + 8, 2), kLock, WordSide::WriteBehindReaders);
    is(bitset(kLock + 12, 3), kLock, WordSide::WriteBehindWriter);
    is(bitset(kLock + 4, 0), kLock, WordSide::None); // the second word of a condition variable
    is(bitset(kLock + 4, 5), kLock + 4, WordSide::None);
    is({.action = FutexAction::Wait, .word = kLock + 8, .value = 2}, kLock + 8, WordSide::None); // a mutex
    is(bitset(8, 2), 0, WordSide::WriteBehindReaders);
    is(bitset(0, 2), 0, WordSide::None); // nothing lies before it
}

TEST(LibraryWords, ofOneReaderWriterLockAreOneLockWithTwoSides)
{
    ScriptedTrace trace;
    const TraceStackId unlock = trace.stack({"pthread_rwlock_unlock", "read"});
    trace.analyser.futexEnter(trace.at(100, 1), bitset(kLock + 8, 2)); // writer, behind readers
    trace.analyser.futexEnter(trace.at(110, 2), bitset(kLock, 0x0e));  // reader, behind that writer
    trace.wake(150, 3, kLock + 8, unlock);
    trace.waitEnds(160, 1);
    trace.wake(180, 1, kLock, unlock);
    trace.waitEnds(190, 2);
    const TraceAnalysis analysis = trace.finish();
    ASSERT_EQ(analysis.locks.size(), 1U);
    const TraceLock& lock = analysis.locks[0];
    EXPECT_EQ(lock.key.address, kLock);
    EXPECT_EQ(lock.kind, LockKind::UserRwlock);
    EXPECT_TRUE(lock.isLock);
    EXPECT_EQ(lock.waitNs, 60U + 80U);
    EXPECT_EQ(lock.words.at(kLock).waitNs, 80U);
    EXPECT_EQ(lock.words.at(kLock + 8).waitNs, 60U);
    uint64_t readNs = 0;
    for (const uint32_t row : lock.sites)
        readNs += analysis.sites[row].reason == WaitReason::RwlockRead ? analysis.sites[row].waitNs : 0;
    EXPECT_EQ(readNs, 80U);
}

TEST(LibraryWords, standForThemselvesWhereTheyTurnOutToBeNoPart)
{
    ScriptedTrace trace;
    trace.analyser.futexEnter(trace.at(100, 1), bitset(kLock + 8, 2));
    trace.wake(150, 2, kLock + 8, trace.stack({"pthread_mutex_unlock", "work"})); // a mutex after all
    trace.waitEnds(160, 1);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kLock + 8).kind, LockKind::UserMutex);
}

TEST(LibraryWords, ofOneConditionVariableAreOneWord)
{
    ScriptedTrace trace;
    const TraceStackId pop = trace.stack({"__futex_abstimed_wait_common", "pthread_cond_wait", "pop"});
    trace.analyser.futexEnter(trace.at(100, 1, pop), bitset(kLock, 0));
    trace.analyser.futexEnter(trace.at(100, 2, pop), bitset(kLock + 4, 0));
    trace.waitEnds(150, 1);
    trace.waitEnds(160, 2);
    const TraceAnalysis analysis = trace.finish();
    ASSERT_EQ(analysis.locks.size(), 1U);
    EXPECT_EQ(analysis.locks[0].kind, LockKind::Condition);
    EXPECT_FALSE(analysis.locks[0].isLock);
    EXPECT_EQ(analysis.locks[0].waitNs, 110U);
}

TEST(ParkingLocks, areTheObjectThatTheirWaitersCall)
{
    ScriptedTrace trace;
    const TraceStackId first = trace.stack({"syscall", "ParkingLock::lock", "refill"});
    const TraceStackId second = trace.stack({"syscall", "ParkingLock::lock", "fetch"});
    const TraceStackId unlock = trace.stack({"syscall", "ParkingLock::unlock", "fetch"});
    trace.parked[first.v] = {true, kLock};
    trace.parked[second.v] = {true, kLock};
    const auto sleep = [&](uint64_t timeNs, int32_t tid, uint64_t word, TraceStackId stack) {
        trace.analyser.futexEnter(
            trace.at(timeNs, tid, stack), {.action = FutexAction::Wait, .word = word, .value = 0});
    };
    sleep(100, 1, kThreadWord, first);
    sleep(120, 2, kThreadWord + 64, second);
    trace.wake(150, 3, kThreadWord, unlock); // hands over to 1
    trace.waitEnds(155, 1);
    trace.wake(170, 1, kThreadWord + 64, unlock);
    trace.waitEnds(180, 2);
    const TraceAnalysis analysis = trace.finish();
    ASSERT_EQ(analysis.locks.size(), 1U);
    const TraceLock& lock = lockAt(analysis, kLock);
    EXPECT_EQ(lock.kind, LockKind::Parker);
    EXPECT_TRUE(lock.isLock);
    EXPECT_EQ(lock.waitNs, 55U + 60U);
    EXPECT_EQ(lock.maxWaiters, 2U);
    uint64_t held = 0;
    for (const HolderSums& holder : lock.holders)
        held += holder.waitNs;
    EXPECT_EQ(held, 50U + 30U + 15U); // 3 up to 150, for both; 1 from 155 on, for 2
    EXPECT_EQ(lock.handOffNs, 5U + 5U + 10U);
}

TEST(ParkingLocks, leaveAThreadsWordForOtherWaits)
{
    ScriptedTrace trace;
    const TraceStackId locks = trace.stack({"syscall", "ParkingLock::lock", "refill"});
    const TraceStackId waits = trace.stack({"pthread_cond_wait", "absl::CondVar::Wait", "pop"});
    trace.analyser.futexEnter(trace.at(100, 1, locks), {.action = FutexAction::Wait, .word = kThreadWord});
    trace.waitEnds(150, 1);
    trace.analyser.futexEnter(trace.at(200, 1, waits), {.action = FutexAction::Wait, .word = kThreadWord});
    trace.wake(280, 2, kThreadWord);
    trace.waitEnds(290, 1);
    const TraceAnalysis analysis = trace.finish();
    ASSERT_EQ(analysis.locks.size(), 2U);
    EXPECT_EQ(analysis.locks[0].waitNs, 50U);
    EXPECT_TRUE(analysis.locks[0].isLock);
    EXPECT_EQ(lockAt(analysis, kThreadWord).waitNs, 90U);
    EXPECT_FALSE(lockAt(analysis, kThreadWord).isLock);
}

TEST(ConditionLocks, areLocksWhereTheMethodThatWaitsTakesOne)
{
    ScriptedTrace trace;
    const TraceStackId take = trace.stack({"__futex_abstimed_wait_common", "pthread_cond_wait",
        "std::condition_variable::wait", "InterpreterLock::lock", "runBytecode"});
    const TraceStackId drop = trace.stack({"pthread_cond_signal", "InterpreterLock::unlock", "finishIo"});
    trace.analyser.futexEnter(trace.at(100, 1, take), bitset(kLock + 4, 0));
    trace.wake(150, 2, kLock + 4, drop);
    trace.waitEnds(160, 1);
    const TraceAnalysis analysis = trace.finish();
    const TraceLock& lock = lockAt(analysis, kLock);
    EXPECT_EQ(lock.kind, LockKind::ConditionLock);
    EXPECT_TRUE(lock.isLock);
    ASSERT_EQ(lock.holders.size(), 1U);
    EXPECT_EQ(lock.holders[0].waitNs, 50U);
    EXPECT_EQ(lock.handOffNs, 10U);
}

TEST(ConditionLocks, areNotMadeOfWorkQueues)
{
    ScriptedTrace trace;
    const TraceStackId pop = trace.stack({"__futex_abstimed_wait_common", "pthread_cond_wait", "Queue::pop"});
    trace.analyser.futexEnter(trace.at(100, 1, pop), bitset(kLock, 0));
    trace.waitEnds(160, 1);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_FALSE(lockAt(analysis, kLock).isLock);
}

TEST(YieldLocks, areWaitedForOffTheProcessor)
{
    ScriptedTrace trace;
    const TraceStackId yield = trace.stack({"k:__schedule", "k:schedule", "k:do_sched_yield",
        "k:do_syscall_64", "sched_yield", "YieldLock::lock", "takeFromPool"});
    const TraceStackId politely = trace.stack(
        {"k:__schedule", "k:schedule", "k:do_sched_yield", "k:do_syscall_64", "sched_yield", "compute"});
    trace.parked[yield.v] = {true, kLock};
    trace.switchTask(100, 0, 1);
    trace.switchTask(110, 1, 2, 0, yield);
    trace.switchTask(140, 2, 1, 0, politely); // no lock
    trace.switchTask(150, 1, 2, 0, yield);
    trace.switchTask(170, 2, 1);
    const TraceAnalysis analysis = trace.finish(200);
    ASSERT_EQ(analysis.locks.size(), 1U);
    const TraceLock& lock = lockAt(analysis, kLock);
    EXPECT_EQ(lock.kind, LockKind::YieldLock);
    EXPECT_TRUE(lock.isLock);
    EXPECT_EQ(lock.waits, 2U);
    EXPECT_EQ(lock.waitNs, 30U + 20U);
    EXPECT_EQ(lock.unseenNs, 50U); // who has it is not seen
}

TEST(Herds, areThoseThatABroadcastWakesAndThatThenWaitForOneLock)
{
    ScriptedTrace trace;
    constexpr uint64_t kMutex = 0x7000;
    for (int32_t tid = 1; tid <= 3; ++tid)
        trace.analyser.futexEnter(trace.at(100, tid), bitset(kLock, 0));
    trace.analyser.futexEnter(
        trace.at(200, 9), {.action = FutexAction::Wake, .word = kLock, .value = INT32_MAX});
    trace.analyser.futexExit(trace.at(201, 9), 3);
    for (int32_t tid = 1; tid <= 3; ++tid)
        trace.waitEnds(210, tid);
    trace.wait(215, 1, kMutex);
    trace.wait(216, 2, kMutex);
    trace.waitEnds(245, 1);
    trace.waitEnds(266, 2);
    trace.wait(300, 2, kMutex); // an ordinary wait
    trace.waitEnds(307, 2);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kMutex).afterBroadcastNs, 30U + 50U);
    EXPECT_EQ(lockAt(analysis, kMutex).waitNs, 87U);
}

TEST(ConditionMutexes, areNotHeldByWhoWaitsForTheCondition)
{
    ScriptedTrace trace;
    constexpr uint64_t kMutex = 0x7000;
    const auto conditionWait = [&](uint64_t fromNs, uint64_t toNs, int32_t tid) {
        trace.analyser.futexEnter(trace.at(fromNs, tid), bitset(kLock, 0));
        trace.waitEnds(toNs, tid);
    };
    conditionWait(100, 150, 1);
    trace.wait(155, 1, kMutex); // so that is the mutex of the condition
    trace.wake(160, 2, kMutex);
    trace.waitEnds(162, 1);
    trace.wait(170, 3, kMutex);
    conditionWait(180, 300, 1); // its unlock inside is not seen
    trace.wake(310, 1, kMutex);
    trace.waitEnds(312, 3);
    const TraceAnalysis analysis = trace.finish();
    uint64_t held = 0;
    for (const HolderSums& holder : lockAt(analysis, kMutex).holders)
        held += holder.waitNs;
    EXPECT_EQ(held, 5U + 10U); // up to 160; from 300 to 310
}

TEST(InterruptedWaits, goOnWithTheSameCall)
{
    ScriptedTrace trace;
    trace.wait(100, 1);
    trace.waitEnds(150, 1, -512); // ERESTARTSYS: a signal
    trace.wait(155, 1);
    trace.waitEnds(180, 1);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, ScriptedTrace::kMutex).waits, 1U);
    EXPECT_EQ(lockAt(analysis, ScriptedTrace::kMutex).waitNs, 80U);
    EXPECT_EQ(analysis.gaps.beginsWithoutEnd, 0U);
}

TEST(InterruptedWaits, doNotEndWhereTheSignalEndsTheThread)
{
    ScriptedTrace trace;
    trace.wait(100, 1);
    trace.waitEnds(150, 1, -512);
    trace.analyser.exit(160, 1);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, ScriptedTrace::kMutex).openNs, 60U);
    EXPECT_EQ(lockAt(analysis, ScriptedTrace::kMutex).openAtEnd, 1U);
}

TEST(SuspectedDeadlocks, needTwoLocksThatNobodyGivesBackForLong)
{
    constexpr uint64_t kMs = 1'000'000;
    constexpr uint64_t kOther = 0x6000;
    const auto isStuck = [&](uint64_t earlierWaitNs, uint64_t endNs, bool both) {
        ScriptedTrace trace;
        trace.wait(kMs, 1, kLock);
        trace.waitEnds(kMs + earlierWaitNs, 1);
        trace.wait(100 * kMs, 1, kLock);
        if (both)
            trace.wait(110 * kMs, 2, kOther);
        trace.wait(120 * kMs, 3, 0x7000);
        trace.wake(130 * kMs, 4, 0x7000); // its waiter is only late
        const TraceAnalysis analysis = trace.finish(endNs);
        EXPECT_FALSE(lockAt(analysis, 0x7000).stuck);
        return lockAt(analysis, kLock).stuck && (!both || lockAt(analysis, kOther).stuck);
    };
    EXPECT_TRUE(isStuck(5 * kMs, 900 * kMs, true));
    EXPECT_FALSE(isStuck(5 * kMs, 900 * kMs, false));
    EXPECT_FALSE(isStuck(5 * kMs, 130 * kMs, true));  // the recording only ends there
    EXPECT_FALSE(isStuck(95 * kMs, 900 * kMs, true)); // such waits are usual
}

TEST(Deadlocks, areSeenThoughTheThreadsEndBeforeTheTrace)
{
    ScriptedTrace trace;
    const TraceStackId lockCall = trace.stack({"pthread_mutex_lock", "work"});
    const auto take = [&](uint64_t timeNs, int32_t tid, uint64_t address) {
        trace.analyser.probe(trace.at(timeNs, tid, lockCall), address);
        trace.analyser.probeReturn(trace.at(timeNs + 1, tid));
    };
    take(100, 1, 0x5000);
    take(110, 2, 0x6000);
    trace.analyser.probe(trace.at(120, 1, lockCall), 0x6000);
    trace.analyser.probe(trace.at(130, 2, lockCall), 0x5000);
    trace.analyser.exit(500, 1);
    trace.analyser.exit(510, 2);
    const TraceAnalysis analysis = trace.finish(1000);
    EXPECT_TRUE(lockAt(analysis, 0x5000).deadlock);
    EXPECT_TRUE(lockAt(analysis, 0x6000).deadlock);
}

TEST(Spinlocks, areNotHeldByWhoSleeps)
{
    ScriptedTrace trace;
    constexpr uint64_t kSpinlock = 0xffff888100000000;
    trace.analyser.contentionBegin(trace.at(100, 1), kSpinlock, 1);
    trace.analyser.contentionEnd(trace.at(110, 1), kSpinlock, 0); // has it from now on
    trace.analyser.contentionBegin(trace.at(115, 2), kSpinlock, 1);
    trace.switchTask(130, 1, 3);
    trace.analyser.contentionEnd(trace.at(190, 2), kSpinlock, 0);
    const TraceAnalysis analysis = trace.finish();
    const TraceLock& lock = lockAt(analysis, kSpinlock);
    ASSERT_EQ(lock.holders.size(), 1U);
    EXPECT_EQ(lock.holders[0].waitNs, 15U);
    EXPECT_EQ(lock.unseenNs, 10U + 60U);
}

} // namespace
} // namespace whichlock::test
