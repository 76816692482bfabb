// SPDX-License-Identifier: GPL-3.0-or-later
// Random traces, sane and damaged: what must hold for all of them.
#include "tests/support/scripted_trace.h"

#include <random>

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

/// Any event at any time, whether it makes sense or not.
void randomEvent(ScriptedTrace& trace, std::mt19937& random, uint64_t timeNs,
    const std::vector<TraceStackId>& stacks, const std::vector<TraceStackId>& wakes)
{
    const auto pick = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
    const auto tid = static_cast<int32_t>(pick(6));
    trace.cpu = pick(2);
    const uint64_t word = 0x5000 + 8 * pick(3);
    const uint64_t kernel = 0xffff888100000000 + 64 * pick(3);
    const TraceStackId stack = stacks[pick(static_cast<uint32_t>(stacks.size()))];
    const TraceMoment at = trace.at(timeNs, tid, stack);
    const RecordedLock recorded{.address = 0xffff888200000000};
    switch (pick(16)) {
    case 0:
    case 1:
        return trace.wait(timeNs, tid, word, stack);
    case 2:
    case 3:
        return trace.waitEnds(timeNs, tid, pick(8) == 0 ? -110 : 0);
    case 4:
        return trace.wake(timeNs, tid, word, wakes[pick(static_cast<uint32_t>(wakes.size()))]);
    case 5:
        return trace.analyser.contentionBegin(at, kernel, pick(2) == 0 ? 1 : 33);
    case 6:
        return trace.analyser.contentionEnd(at, kernel, pick(9) == 0 ? -4 : 0);
    case 7:
        return trace.analyser.waking(at, static_cast<int32_t>(pick(6)));
    case 8:
    case 9:
        return trace.switchTask(timeNs, tid, static_cast<int32_t>(pick(6)), pick(3), stack);
    case 10:
        return trace.analyser.futexEnter(at,
            {.action = FutexAction::Requeue,
                .word = word,
                .secondWord = 0x5100,
                .value = 1,
                .moveCount = pick(4)});
    case 11:
        return trace.analyser.lockRequested(at, recorded);
    case 12:
        return trace.analyser.lockAcquired(at, recorded, pick(5) != 0);
    case 13:
        return trace.analyser.lockReleased(at, recorded);
    case 14:
        if (pick(20) == 0)
            trace.analyser.exit(timeNs, tid);
        else if (pick(20) == 0)
            trace.analyser.lost(pick(3));
        return;
    default:
        if (pick(20) == 0)
            trace.analyser.fork(timeNs, ScriptedTrace::kPid, tid, 1);
        return;
    }
}

/// The same trace for the same seed; checks the sums.
TraceAnalysis randomTrace(ScriptedTrace& trace, uint32_t seed)
{
    std::mt19937 random(seed);
    const std::vector<TraceStackId> stacks = {{}, trace.stack({"__lll_lock_wait", "pthread_mutex_lock", "a"}),
        trace.stack({"__lll_lock_wait", "pthread_mutex_lock", "b"}),
        trace.stack({"futex_wait", "pthread_cond_wait", "c"}),
        trace.stack({"k:try_to_wake_up", "k:rwsem_wake", "k:up_write", "k:d"})};
    const std::vector<TraceStackId> wakes = {
        {}, trace.stack({"__lll_lock_wake", "a"}), trace.stack({"pthread_cond_signal", "c"})};
    uint64_t time = 1000;
    for (int i = 0; i < 400; ++i) {
        time += random() % 50;
        randomEvent(trace, random, time, stacks, wakes);
    }
    return trace.finish(time + 100);
}

/// What parts of a trace have to share out among them.
struct TraceTotals {
    uint64_t waitNs = 0;
    uint64_t heldNs = 0;
    uint64_t handOffNs = 0;
    uint64_t unseenNs = 0;
    uint64_t contendedWallNs = 0;
    uint64_t accountNs = 0;
    uint64_t nestedNs = 0;
    uint64_t threadNs = 0;
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> holders{};

    bool operator==(const TraceTotals&) const = default;
};

void addTotals(const TraceAnalysis& analysis, TraceTotals& totals)
{
    for (const TraceLock& lock : analysis.locks) {
        totals.waitNs += lock.valueNs();
        totals.handOffNs += lock.handOffNs;
        totals.unseenNs += lock.unseenNs;
        totals.contendedWallNs += lock.contendedWallNs;
        for (const HolderSums& holder : lock.holders) {
            totals.heldNs += holder.waitNs;
            if (holder.waitNs != 0)
                totals.holders[{static_cast<uint32_t>(lock.key.address), holder.key.stack.v}] +=
                    holder.waitNs;
        }
    }
    for (const TraceSite& site : analysis.sites) {
        totals.accountNs += site.accountNs;
        totals.nestedNs += site.nestedNs;
        EXPECT_LE(site.nestedNs, site.waitNs + site.openNs);
    }
    for (const TraceGroup& group : analysis.groups) {
        if (group.counting != Counting::Yes)
            continue;
        for (const uint64_t ns : group.account)
            totals.threadNs += ns;
    }
}

TEST(TraceProperties, holdersHandOffAndUnseenAddUpToTheWaitInAnyTrace)
{
    for (uint32_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        ScriptedTrace trace;
        const TraceAnalysis analysis = randomTrace(trace, seed);
        for (const TraceLock& lock : analysis.locks) {
            EXPECT_LE(lock.contendedWallNs, analysis.endNs - analysis.beginNs);
            EXPECT_LE(lock.acquisitions, lock.waits + lock.openWaits);
        }
        for (const TraceGroup& group : analysis.groups) {
            uint64_t all = 0;
            for (const uint64_t ns : group.account)
                all += ns;
            EXPECT_LE(all, 8 * (analysis.endNs - analysis.beginNs));
        }
    }
}

TEST(TraceProperties, timesThatMeetShareAllWaitingAmongThem)
{
    for (uint32_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        ScriptedTrace all;
        TraceTotals whole;
        addTotals(randomTrace(all, seed), whole);
        TraceTotals parts;
        uint64_t leftOutNs = 0;
        uint64_t everNs = 0;
        const uint64_t edges[] = {0, 1000 + seed * 37, 6000, UINT64_MAX};
        for (size_t i = 0; i + 1 < std::size(edges); ++i) {
            ScriptedTrace part;
            part.analyser.setWindow({edges[i], edges[i + 1]});
            const TraceAnalysis analysis = randomTrace(part, seed);
            addTotals(analysis, parts);
            for (const TraceSite& site : analysis.sites)
                leftOutNs += site.leftOutNs;
            everNs += whole.waitNs;
        }
        EXPECT_EQ(parts, whole);
        EXPECT_EQ(parts.waitNs + leftOutNs, everNs);
    }
}

TEST(TraceProperties, threadsShareAllWaitingAmongThem)
{
    for (uint32_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        ScriptedTrace all;
        TraceTotals whole;
        addTotals(randomTrace(all, seed), whole);
        TraceTotals parts;
        for (int32_t counted = 0; counted < 2; ++counted) {
            ScriptedTrace part;
            for (int32_t tid = -4; tid < 6; ++tid) // idle tasks have negative numbers
                if ((tid > 2) != (counted == 1))
                    part.counting[tid] = Counting::LeftOut;
            addTotals(randomTrace(part, seed), parts);
        }
        parts.contendedWallNs = whole.contendedWallNs; // of waiters of both at the same time
        EXPECT_EQ(parts, whole);
    }
}

TEST(TraceProperties, damagedTimesDoNotHurt)
{
    ScriptedTrace trace;
    trace.wait(UINT64_MAX, 1);
    trace.waitEnds(5, 1);
    trace.wait(UINT64_MAX - 7, 2);
    trace.wake(3, 1);
    trace.waitEnds(UINT64_MAX, 2);
    trace.finish(UINT64_MAX);
}

TEST(TraceProperties, memoryDoesNotGrowWithTheEvents)
{
    ScriptedTrace trace;
    uint64_t time = 1;
    for (int i = 0; i < 200000; ++i) {
        trace.wait(time += 10, 1);
        trace.wake(time += 10, 2);
        trace.waitEnds(time += 10, 1);
        trace.switchTask(time += 10, 1, 2, 0);
        trace.switchTask(time += 10, 2, 1, 0);
    }
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(analysis.locks.size(), 1U);
    EXPECT_EQ(analysis.sites.size(), 2U); // before the thread had a name, and after
    EXPECT_EQ(lockAt(analysis, ScriptedTrace::kMutex).waits, 200000U);
}

} // namespace
} // namespace whichlock::test
