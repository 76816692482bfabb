// SPDX-License-Identifier: GPL-3.0-or-later
// Who held what others waited for; all figures by hand.
#include "tests/support/scripted_trace.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

constexpr uint64_t kMutex = ScriptedTrace::kMutex;
constexpr uint64_t kKernelLock = 0xffff888100000000;

TEST(TraceHolders, ofAKernelLockReleaseItInTheStackThatWakesTheWaiter)
{
    ScriptedTrace trace;
    const TraceStackId unlock =
        trace.stack({"k:try_to_wake_up", "k:wake_up_q", "k:mutex_unlock", "k:vfs_write"});
    trace.analyser.contentionBegin(trace.at(100, 1), kKernelLock, 32);
    trace.analyser.waking(trace.at(170, 2, unlock), 1);
    trace.analyser.contentionEnd(trace.at(180, 1), kKernelLock, 0);
    const TraceAnalysis analysis = trace.finish();
    const TraceLock& lock = lockAt(analysis, kKernelLock);
    ASSERT_EQ(lock.holders.size(), 1U);
    EXPECT_EQ(lock.holders[0].key.stack, unlock);
    EXPECT_EQ(lock.holders[0].waitNs, 70U);
    EXPECT_EQ(lock.holders[0].provenNs, 70U);
    EXPECT_EQ(lock.handOffNs, 10U);
}

TEST(TraceHolders, ofASpinLockFollowFromTheOrderOfAcquisitions)
{
    ScriptedTrace trace;
    const TraceStackId first = trace.stack({"k:native_queued_spin_lock_slowpath", "k:first"});
    const TraceStackId second = trace.stack({"k:native_queued_spin_lock_slowpath", "k:second"});
    trace.analyser.contentionBegin(trace.at(100, 1, first), kKernelLock, 1);
    trace.analyser.contentionBegin(trace.at(110, 2, second), kKernelLock, 1);
    trace.analyser.contentionEnd(trace.at(120, 1, first), kKernelLock, 0); // whoever had it is not recorded
    trace.analyser.contentionEnd(trace.at(150, 2, second), kKernelLock, 0);
    const TraceAnalysis analysis = trace.finish();
    const TraceLock& lock = lockAt(analysis, kKernelLock);
    EXPECT_EQ(lock.waitNs, 20U + 40U);
    EXPECT_EQ(lock.unseenNs, 20U + 10U);
    EXPECT_EQ(lock.handOffNs, 0U);
    ASSERT_EQ(lock.holders.size(), 1U);
    EXPECT_EQ(lock.holders[0].key.stack, first);
    EXPECT_EQ(lock.holders[0].waitNs, 30U);
    EXPECT_EQ(lock.holders[0].provenNs, 0U);
}

TEST(TraceHolders, areNotTakenFromWakeUpsOfOtherKinds)
{
    ScriptedTrace trace;
    const TraceStackId timer = trace.stack(
        {"k:try_to_wake_up", "k:hrtimer_wakeup", "k:asm_sysvec_apic_timer_interrupt", "k:mutex_unlock"});
    trace.analyser.contentionBegin(trace.at(100, 1), kKernelLock, 32);
    trace.analyser.waking(trace.at(170, 2, timer), 1);
    trace.analyser.contentionEnd(trace.at(180, 1), kKernelLock, 0);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kKernelLock).unseenNs, 80U);
}

TEST(TraceHolders, areKnownExactlyWhereHoldsAreRecorded)
{
    ScriptedTrace trace;
    const RecordedLock lock{.address = kKernelLock, .kind = LockKind::MmapLock};
    const TraceStackId mine = trace.stack({"k:vm_mmap_pgoff"});
    trace.analyser.lockRequested(trace.at(100, 1, mine), lock);
    trace.analyser.lockAcquired(trace.at(101, 1, mine), lock, true);
    trace.analyser.lockRequested(trace.at(120, 2), lock);
    trace.analyser.lockReleased(trace.at(160, 1), lock);
    trace.analyser.lockAcquired(trace.at(165, 2), lock, true);
    trace.analyser.lockReleased(trace.at(170, 2), lock);
    const TraceAnalysis analysis = trace.finish();
    const TraceLock& found = lockAt(analysis, kKernelLock);
    EXPECT_EQ(found.kind, LockKind::MmapLock);
    EXPECT_EQ(found.waitNs, 1U + 45U);
    EXPECT_EQ(found.handOffNs, 5U);
    const auto holder =
        std::ranges::find_if(found.holders, [&](const HolderSums& one) { return one.key.stack == mine; });
    ASSERT_NE(holder, found.holders.end());
    EXPECT_EQ(holder->waitNs, 40U);
    EXPECT_EQ(holder->holds.maxNs(), 59U);
}

TEST(TraceHolders, thatBecomeReadersKeepTheLock)
{
    ScriptedTrace trace;
    const RecordedLock write{.address = kKernelLock, .reason = WaitReason::RwlockWrite};
    const RecordedLock read{.address = kKernelLock, .reason = WaitReason::RwlockRead};
    trace.analyser.lockAcquired(trace.at(100, 1), write, true);
    trace.analyser.lockAcquired(trace.at(120, 1), read, true); // downgrade_write
    trace.analyser.lockReleased(trace.at(140, 1), read);
    trace.analyser.lockRequested(trace.at(150, 1), read);
    trace.analyser.lockAcquired(trace.at(155, 1), read, true);
    const TraceAnalysis analysis = trace.finish();
    const TraceLock& lock = lockAt(analysis, kKernelLock);
    EXPECT_EQ(lock.holders.at(0).waitNs, 0U); // nobody waits behind itself
    EXPECT_EQ(lock.handOffNs, 5U);
}

TEST(TraceHolders, ofAWaitThatDoesNotEndAreThoseThatGotTheLockLast)
{
    ScriptedTrace trace;
    trace.wait(50, 2);
    trace.wake(60, 3);
    trace.waitEnds(65, 2); // has it from now on
    trace.wait(100, 1);
    const TraceAnalysis analysis = trace.finish(400);
    const TraceLock& lock = lockAt(analysis, kMutex);
    EXPECT_EQ(lock.openNs, 300U);
    uint64_t charged = 0;
    for (const HolderSums& holder : lock.holders)
        charged += holder.waitNs;
    EXPECT_EQ(charged, 10U + 300U);
    EXPECT_FALSE(lock.deadlock);
}

TEST(TraceHolders, thatWaitForEachOtherAreADeadlock)
{
    ScriptedTrace trace;
    const TraceStackId lockCall = trace.stack({"pthread_mutex_lock", "work"});
    const auto take = [&](uint64_t timeNs, int32_t tid, uint64_t address) {
        trace.analyser.probe(trace.at(timeNs, tid, lockCall), address);
        trace.analyser.probeReturn(trace.at(timeNs + 1, tid));
    };
    take(100, 1, 0x5000);
    take(110, 2, 0x6000);
    take(115, 3, 0x7000);
    trace.analyser.probe(trace.at(120, 1, lockCall), 0x6000);
    trace.analyser.probe(trace.at(130, 2, lockCall), 0x5000);
    trace.analyser.probe(trace.at(140, 3, lockCall), 0x5000); // waits behind the circle, is not in it
    trace.analyser.probe(trace.at(150, 4, lockCall), 0x7000);
    const TraceAnalysis analysis = trace.finish(1000);
    EXPECT_TRUE(lockAt(analysis, 0x5000).deadlock);
    EXPECT_TRUE(lockAt(analysis, 0x6000).deadlock);
    EXPECT_FALSE(lockAt(analysis, 0x7000).deadlock);
    EXPECT_EQ(lockAt(analysis, 0x5000).openAtEnd, 2U);
}

TEST(TraceHolders, waitForOthersAllTheWayToTheRoot)
{
    // 3 waits for A, which 2 has; 2 waits for B, which 1 has and sleeps with.
    ScriptedTrace trace;
    trace.analyser.schedulerRecorded();
    const TraceStackId nap = trace.stack({"k:__schedule", "k:hrtimer_nanosleep", "flush"});
    const TraceStackId rootStack = trace.stack({"__lll_lock_wake", "flush"});
    const TraceStackId middleStack = trace.stack({"__lll_lock_wake", "write"});
    constexpr uint64_t kA = 0x5000;
    constexpr uint64_t kB = 0x6000;
    trace.switchTask(100, 1, 2, 1, nap);
    trace.wait(110, 2, kB);
    trace.wait(120, 3, kA);
    trace.switchTask(125, 2, 0);
    trace.switchTask(200, 0, 1);
    trace.wake(210, 1, kB, rootStack);
    trace.waitEnds(215, 2);
    trace.wake(230, 2, kA, middleStack);
    trace.waitEnds(240, 3);
    const TraceAnalysis analysis = trace.finish();
    const TraceLock& a = lockAt(analysis, kA);
    const TraceLock& b = lockAt(analysis, kB);
    ASSERT_EQ(b.holders.size(), 1U);
    EXPECT_EQ(b.holders[0].meanwhile[static_cast<size_t>(Activity::Sleep)], 90U);
    EXPECT_EQ(b.holders[0].meanwhile[static_cast<size_t>(Activity::Ran)], 10U);
    ASSERT_EQ(a.holders.size(), 1U);
    EXPECT_EQ(a.holders[0].key.stack, middleStack);
    EXPECT_EQ(a.holders[0].waitNs, 110U);
    EXPECT_EQ(a.holders[0].meanwhile[static_cast<size_t>(Activity::LockWait)], 95U);
    const TraceLockId bId{a.holders[0].waitedFor.begin()->first};
    EXPECT_EQ(&analysis.lock(bId), &b);
    EXPECT_EQ(a.roots.at({bId, {1}}), 90U); // flush
    EXPECT_EQ(a.roots.at({bId, {}}), 5U);   // B was being handed over
}

} // namespace
} // namespace whichlock::test
