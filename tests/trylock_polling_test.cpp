// SPDX-License-Identifier: GPL-3.0-or-later
// Locks that are polled by trylocks, as probes at the calls and at their returns tell.
#include "analyzer/traces/lock_patterns.h"
#include "tests/support/scripted_trace.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

constexpr uint32_t kBusy = 16; // EBUSY
constexpr uint64_t kOther = 0x6000;

/// Calls of mutexes that are probed.
class ProbedCalls {
public:
    void take(uint64_t timeNs, int32_t tid)
    {
        trace.analyser.probe(trace.at(timeNs, tid, lockCall_), ScriptedTrace::kMutex);
        trace.analyser.probeReturn(trace.at(timeNs, tid));
    }

    void giveBack(uint64_t timeNs, int32_t tid)
    {
        trace.analyser.probe(trace.at(timeNs, tid, unlockCall_), ScriptedTrace::kMutex);
    }

    void tries(
        uint64_t timeNs, int32_t tid, std::optional<uint32_t> result, uint64_t lock = ScriptedTrace::kMutex)
    {
        trace.analyser.probe(trace.at(timeNs - 1, tid, tryCall_), lock);
        trace.analyser.probeReturn(trace.at(timeNs, tid), result);
    }

    ScriptedTrace trace;

private:
    TraceStackId lockCall_ = trace.stack({"pthread_mutex_lock", "hold"});
    TraceStackId unlockCall_ = trace.stack({"pthread_mutex_unlock", "hold"});
    TraceStackId tryCall_ = trace.stack({"pthread_mutex_trylock", "poll"});
};

TEST(TrylockPolling, isAWaitFromTheSecondTryInVainOn)
{
    ProbedCalls calls;
    calls.take(100, 1);
    for (uint64_t timeNs = 210; timeNs < 1000; timeNs += 100)
        calls.tries(timeNs, 2, kBusy);
    calls.giveBack(1000, 1);
    calls.tries(1060, 2, 0);
    calls.giveBack(1100, 2);
    const TraceAnalysis analysis = calls.trace.finish();
    const TraceLock& lock = lockAt(analysis, ScriptedTrace::kMutex);
    EXPECT_TRUE(lock.isLock);
    EXPECT_EQ(lock.waitNs, 1060U - 310U);
    EXPECT_EQ(lock.waits, 1U + 7U); // the call of the holder, and each try that was not the last
    EXPECT_EQ(lock.acquisitions, 2U);
    EXPECT_EQ(lock.notAcquired, 0U);
    ASSERT_EQ(lock.holders.size(), 2U); // the poller as well, behind which nobody waited
    EXPECT_EQ(lock.holders[0].waitNs, 1000U - 310U);
    EXPECT_EQ(lock.handOffNs, 60U);
    const std::vector<PatternMatch> patterns = patternsOf(lock, analysis);
    EXPECT_TRUE(std::ranges::any_of(
        patterns, [](const PatternMatch& match) { return match.pattern == LockPattern::TrylockPolling; }));
}

TEST(TrylockPolling, isNoneWhereOneTryFailsAndTheThreadWaitsThen)
{
    ProbedCalls calls;
    calls.take(100, 1);
    calls.tries(200, 2, kBusy);
    calls.trace.analyser.probe(
        calls.trace.at(250, 2, calls.trace.stack({"pthread_mutex_lock", "wait"})), ScriptedTrace::kMutex);
    calls.giveBack(300, 1);
    calls.trace.analyser.probeReturn(calls.trace.at(320, 2));
    const TraceAnalysis analysis = calls.trace.finish();
    EXPECT_EQ(lockAt(analysis, ScriptedTrace::kMutex).waitNs, 70U);
    EXPECT_TRUE(patternsOf(lockAt(analysis, ScriptedTrace::kMutex), analysis).empty());
}

TEST(TrylockPolling, endsAtAnUnknownTimeWhereTheThreadGivesUp)
{
    ProbedCalls calls;
    calls.take(100, 1);
    calls.tries(210, 2, kBusy);
    calls.tries(310, 2, kBusy);
    calls.giveBack(500, 1);
    constexpr uint64_t kLater = 50'000'000;
    calls.take(kLater, 1);
    calls.giveBack(kLater + 40, 1);
    const TraceAnalysis analysis = calls.trace.finish(2 * kLater);
    const TraceLock& lock = lockAt(analysis, ScriptedTrace::kMutex);
    EXPECT_EQ(lock.openWaits, 1U);
    EXPECT_EQ(lock.openNs, 500U - 310U); // up to there it may have waited; not for the 50 ms after
    EXPECT_EQ(analysis.gaps.beginsWithoutEnd, 0U);
}

TEST(TrylockPolling, goesOnWhileTheThreadHasNoProcessor)
{
    ProbedCalls calls;
    calls.trace.analyser.schedulerRecorded();
    calls.take(100, 1);
    calls.tries(210, 2, kBusy);
    calls.tries(310, 2, kBusy);
    constexpr uint64_t kLater = 50'000'000;
    calls.trace.switchTask(400, 2, 3, 0); // it is still runnable
    calls.giveBack(500, 1);
    calls.take(kLater, 1);
    calls.trace.switchTask(kLater + 100, 3, 2, 1);
    calls.tries(kLater + 200, 2, kBusy);
    calls.giveBack(kLater + 300, 1);
    calls.tries(kLater + 310, 2, 0);
    const TraceAnalysis analysis = calls.trace.finish();
    const TraceLock& lock = lockAt(analysis, ScriptedTrace::kMutex);
    EXPECT_EQ(lock.openWaits, 0U);
    EXPECT_EQ(lock.waitNs, kLater + 310 - 310);
    EXPECT_EQ(lock.acquisitions, 3U); // those of the holder wait for no time
    EXPECT_EQ(lock.maxAcquisitionNs, kLater);
}

TEST(TrylockPolling, ofManyLocksInTurnIsLookingForAFreeOne)
{
    ProbedCalls calls;
    for (uint64_t timeNs = 100; timeNs < 1000; timeNs += 100) {
        calls.tries(timeNs, 2, kBusy);
        calls.tries(timeNs + 50, 2, kBusy, kOther);
    }
    const TraceAnalysis analysis = calls.trace.finish();
    EXPECT_EQ(lockAt(analysis, ScriptedTrace::kMutex).valueNs(), 0U);
    EXPECT_EQ(lockAt(analysis, kOther).valueNs(), 0U);
}

TEST(TrylockPolling, isNotKnownWithoutTheResults)
{
    ProbedCalls calls;
    calls.take(100, 1);
    for (uint64_t timeNs = 200; timeNs < 1000; timeNs += 100)
        calls.tries(timeNs, 2, std::nullopt);
    calls.trace.analyser.probe(
        calls.trace.at(1000, 3, calls.trace.stack({"pthread_mutex_lock", "wait"})), ScriptedTrace::kMutex);
    calls.giveBack(1100, 1);
    calls.trace.analyser.probeReturn(calls.trace.at(1110, 3));
    const TraceAnalysis analysis = calls.trace.finish();
    const TraceLock& lock = lockAt(analysis, ScriptedTrace::kMutex);
    EXPECT_EQ(lock.waitNs, 110U);
    ASSERT_EQ(lock.holders.size(), 1U); // nobody who only tried had it
    EXPECT_EQ(lock.holders[0].waitNs, 100U);
}

} // namespace
} // namespace whichlock::test
