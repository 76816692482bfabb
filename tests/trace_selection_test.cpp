// SPDX-License-Identifier: GPL-3.0-or-later
// Questions about a part of a trace: all events are followed, and the part is counted.
#include "tests/support/scripted_trace.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

constexpr uint64_t kMutex = ScriptedTrace::kMutex;

/// Threads 1 and 2 wait for the mutex that 3 holds: 1 from 100 to 310, 2 from 200 to 320; 3 gives it back at
/// 300.
void twoWaiters(ScriptedTrace& trace)
{
    const TraceStackId wait = trace.stack({"__lll_lock_wait", "pthread_mutex_lock", "site"});
    const TraceStackId wake = trace.stack({"__lll_lock_wake", "pthread_mutex_unlock", "holder"});
    trace.analyser.name(1, ScriptedTrace::kPid, 1, "one");
    trace.analyser.name(1, ScriptedTrace::kPid, 2, "two");
    trace.analyser.name(1, ScriptedTrace::kPid, 3, "three");
    trace.wait(100, 1, kMutex, wait);
    trace.cpu = 1;
    trace.wait(200, 2, kMutex, wait);
    trace.cpu = 0;
    trace.wake(300, 3, kMutex, wake);
    trace.waitEnds(310, 1);
    trace.wake(312, 1, kMutex, wake);
    trace.waitEnds(320, 2);
}

uint64_t heldNs(const TraceLock& lock)
{
    uint64_t sum = 0;
    for (const HolderSums& holder : lock.holders)
        sum += holder.waitNs;
    return sum;
}

TEST(TraceSelection, chargesTheWaitsOfOneThreadToHoldersOfAllThreads)
{
    ScriptedTrace trace;
    trace.counting[2] = Counting::LeftOut;
    trace.counting[3] = Counting::LeftOut;
    twoWaiters(trace);
    const TraceAnalysis analysis = trace.finish(400);
    const TraceLock& lock = lockAt(analysis, kMutex);
    EXPECT_EQ(lock.waits, 1U);
    EXPECT_EQ(lock.waitNs, 210U);
    EXPECT_EQ(lock.acquisitions, 1U);
    EXPECT_EQ(heldNs(lock), 200U); // by thread 3, from 100 to 300
    EXPECT_EQ(lock.handOffNs, 10U);
    EXPECT_EQ(lock.maxWaiters, 1U);
    EXPECT_EQ(lock.contendedWallNs, 210U);
    uint64_t leftOut = 0;
    for (const TraceSite& site : analysis.sites)
        leftOut += site.leftOutNs;
    EXPECT_EQ(leftOut, 120U);
}

TEST(TraceSelection, cutsWaitsAtTheEdgesOfTheTime)
{
    ScriptedTrace trace;
    trace.analyser.setWindow({150, 305});
    twoWaiters(trace);
    const TraceAnalysis analysis = trace.finish(400);
    const TraceLock& lock = lockAt(analysis, kMutex);
    EXPECT_EQ(lock.waits, 0U); // neither lies in it as a whole
    EXPECT_EQ(lock.openWaits, 2U);
    EXPECT_EQ(lock.openAtEnd, 2U);
    EXPECT_EQ(lock.valueNs(), 155U + 105U);
    EXPECT_EQ(heldNs(lock), 150U + 100U);
    EXPECT_EQ(lock.handOffNs, 10U); // from 300 to 305, of two
    EXPECT_EQ(lock.contendedWallNs, 155U);
    EXPECT_EQ(lock.maxWaiters, 2U);
}

TEST(TraceSelection, countsNothingOfWaitsOutsideOfTheTime)
{
    ScriptedTrace trace;
    trace.analyser.setWindow({330, 390});
    twoWaiters(trace);
    const TraceAnalysis analysis = trace.finish(400);
    const TraceLock& lock = lockAt(analysis, kMutex);
    EXPECT_EQ(lock.waits + lock.openWaits, 0U);
    EXPECT_EQ(lock.acquisitions, 0U);
    EXPECT_EQ(lock.valueNs(), 0U);
    EXPECT_EQ(lock.maxWaiters, 0U);
}

TEST(TraceSelection, countsThreadTimeInTheWindowAlone)
{
    ScriptedTrace trace;
    trace.analyser.schedulerRecorded();
    trace.analyser.setWindow({150, 250});
    trace.switchTask(100, 0, 1);
    trace.switchTask(110, 2, 1, 1); // 1 is known from now on
    trace.wake(120, 1);             // it runs
    trace.switchTask(200, 1, 0, 1); // and sleeps
    trace.switchTask(300, 0, 1);
    const TraceAnalysis analysis = trace.finish(400);
    uint64_t ran = 0;
    uint64_t all = 0;
    for (const TraceGroup& group : analysis.groups) {
        if (group.name != "t1")
            continue;
        ran += group.account[static_cast<size_t>(Activity::Ran)];
        for (const uint64_t ns : group.account)
            all += ns;
    }
    EXPECT_EQ(ran, 50U);
    EXPECT_EQ(all, 100U);
}

TEST(TraceSelection, countsWaitsByTheProcessorWhereTheyBegan)
{
    ScriptedTrace apart({.byThread = false, .byProcessor = true});
    twoWaiters(apart);
    const TraceAnalysis both = apart.finish(400);
    std::map<int32_t, uint64_t> byCpu;
    for (const TraceSite& site : both.sites)
        byCpu[site.cpu] += site.waitNs;
    EXPECT_EQ(byCpu, (std::map<int32_t, uint64_t>{{0, 210}, {1, 120}}));

    ScriptedTrace one;
    one.leftOutCpus = {0};
    twoWaiters(one);
    const TraceAnalysis analysis = one.finish(400);
    EXPECT_EQ(lockAt(analysis, kMutex).waitNs, 120U);
    EXPECT_EQ(heldNs(lockAt(analysis, kMutex)), 100U + 2U); // thread 3 to 300, thread 1 from 310 to 312
}

TEST(TraceSelection, followsChainsThroughThreadsThatAreNotAskedFor)
{
    // 1 waits for A, which 2 holds; 2 waits for B, which 3 holds.
    constexpr uint64_t kA = 0x5000;
    constexpr uint64_t kB = 0x6000;
    ScriptedTrace trace;
    trace.counting[2] = Counting::LeftOut;
    trace.counting[3] = Counting::LeftOut;
    const TraceStackId wake = trace.stack({"__lll_lock_wake", "pthread_mutex_unlock", "holder"});
    trace.wait(100, 1, kA);
    trace.wait(100, 2, kB);
    trace.wake(200, 3, kB, wake);
    trace.waitEnds(200, 2);
    trace.wake(210, 2, kA, wake);
    trace.waitEnds(210, 1);
    const TraceAnalysis analysis = trace.finish(300);
    const TraceLock& outer = lockAt(analysis, kA);
    uint64_t rootedInB = 0;
    for (const auto& [root, ns] : outer.roots)
        rootedInB += analysis.lock(root.lock).key.address == kB ? ns : 0;
    EXPECT_EQ(rootedInB, 100U);
    EXPECT_EQ(lockAt(analysis, kB).valueNs(), 0U);
}

TEST(TraceSelection, tellsThreadsOfOneNameApartWhenAskedTo)
{
    ScriptedTrace trace({.byThread = true, .byProcessor = false});
    for (const int32_t tid : {1, 2}) {
        trace.analyser.name(1, ScriptedTrace::kPid, tid, "worker");
        trace.wait(10, tid);
    }
    trace.waitEnds(30, 1);
    trace.waitEnds(60, 2);
    const TraceAnalysis analysis = trace.finish(100);
    std::map<int32_t, uint64_t> byThread;
    for (const TraceSite& site : analysis.sites)
        byThread[analysis.group(site.group).tid] += site.waitNs;
    EXPECT_EQ(byThread, (std::map<int32_t, uint64_t>{{1, 20}, {2, 50}}));
}

TEST(TraceSelection, keepsTheRecorderApart)
{
    ScriptedTrace trace;
    trace.counting[1] = Counting::Recorder;
    twoWaiters(trace);
    const TraceAnalysis analysis = trace.finish(400);
    EXPECT_EQ(lockAt(analysis, kMutex).waits, 1U);
    uint64_t ofRecorder = 0;
    for (const TraceSite& site : analysis.sites)
        if (analysis.group(site.group).counting == Counting::Recorder)
            ofRecorder += site.leftOutNs;
    EXPECT_EQ(ofRecorder, 210U);
}

} // namespace
} // namespace whichlock::test
