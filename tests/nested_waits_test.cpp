// SPDX-License-Identifier: GPL-3.0-or-later
// Waits inside of other waits of the same thread: no time of a thread counts twice. The truth is counted
// nanosecond by nanosecond.
#include "analyzer/traces/lock_families.h"
#include "tests/support/scripted_trace.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

constexpr uint64_t kSemaphore = 0xffff888100000000;
constexpr uint64_t kWaitLock = kSemaphore + 0x14;
constexpr uint64_t kCondition = 0x9000;
constexpr uint32_t kSpin = 1;
constexpr uint32_t kWrite = 4;
constexpr uint64_t kLength = 3000;

/// A wait that one thread began and has not ended.
struct RandomWait {
    uint64_t lock = 0;
    bool isLock = true;
};

/// Threads that wait in a nested way: for a condition, inside of that for a semaphore, inside of that for
/// spinlocks, and what is told of it.
class NestedWaits {
public:
    explicit NestedWaits(uint32_t seed)
        : random_(seed)
        , condition_(trace_.stack({"futex_wait", "pthread_cond_wait", "c"}))
    {
    }

    TraceAnalysis run()
    {
        for (uint64_t now = 1; now < kLength; ++now) {
            for (int32_t tid = 1; tid <= kThreads; ++tid)
                step(now, tid);
        }
        for (int32_t tid = 1; tid <= kThreads; ++tid) {
            count(tid);
            while (!open_[static_cast<size_t>(tid)].empty())
                end(kLength, tid);
        }
        TraceAnalysis analysis = trace_.finish();
        findInnerLocks(analysis);
        return analysis;
    }

    uint64_t waitingNs = 0;              ///< of threads that waited for any lock
    std::map<uint64_t, uint64_t> byLock; ///< of waits for each

private:
    static constexpr int32_t kThreads = 4;

    /// What was on in the nanosecond that is over.
    void count(int32_t tid)
    {
        const std::vector<RandomWait>& open = open_[static_cast<size_t>(tid)];
        waitingNs += std::ranges::any_of(open, &RandomWait::isLock) ? 1 : 0;
        for (const RandomWait& wait : open)
            byLock[wait.lock] += 1;
    }

    void step(uint64_t now, int32_t tid)
    {
        std::vector<RandomWait>& open = open_[static_cast<size_t>(tid)];
        count(tid);
        const auto dice = random_() % 40;
        if (dice == 0 && open.size() < 3)
            begin(now, tid, open);
        else if (dice == 1 && !open.empty())
            end(now, tid);
    }

    void begin(uint64_t now, int32_t tid, std::vector<RandomWait>& open)
    {
        const auto isOpen = [&](uint64_t lock) {
            return std::ranges::any_of(open, [&](const RandomWait& wait) { return wait.lock == lock; });
        };
        const uint64_t spinlock = random_() % 2 == 0 ? kWaitLock : kSemaphore + 0x4000;
        if (open.empty() && random_() % 2 == 0) {
            trace_.wait(now, tid, kCondition, condition_);
            open.push_back({kCondition, false});
        } else if (random_() % 2 == 0 && !isOpen(kSemaphore) && (open.empty() || !open.back().isLock)) {
            trace_.analyser.contentionBegin(trace_.at(now, tid), kSemaphore, kWrite);
            open.push_back({kSemaphore});
        } else if (!isOpen(spinlock)) {
            trace_.analyser.contentionBegin(trace_.at(now, tid), spinlock, kSpin);
            open.push_back({spinlock});
        }
    }

    void end(uint64_t now, int32_t tid)
    {
        std::vector<RandomWait>& open = open_[static_cast<size_t>(tid)];
        if (open.back().isLock)
            trace_.analyser.contentionEnd(trace_.at(now, tid), open.back().lock, 0);
        else
            trace_.waitEnds(now, tid);
        open.pop_back();
    }

    std::mt19937 random_;
    ScriptedTrace trace_;
    TraceStackId condition_;
    std::array<std::vector<RandomWait>, kThreads + 1> open_;
};

TEST(NestedWaits, countOnceInTheSumAndWholeInEachLock)
{
    uint64_t nested = 0;
    for (uint32_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        NestedWaits waits(seed);
        const TraceAnalysis analysis = waits.run();
        EXPECT_EQ(analysis.check(), "");
        uint64_t once = 0;
        for (const TraceLock& lock : analysis.locks) {
            EXPECT_EQ(lock.valueNs(), waits.byLock[lock.key.address]) << std::hex << lock.key.address;
            once += lock.isLock ? lock.valueNs() : 0;
        }
        for (const TraceSite& site : analysis.sites) {
            EXPECT_LE(site.nestedNs, site.waitNs + site.openNs);
            once -= analysis.lock(site.lock).isLock ? site.nestedNs : 0;
            nested += site.nestedNs;
        }
        EXPECT_EQ(once, waits.waitingNs);
        EXPECT_NE(lockAt(analysis, kWaitLock).innerOf, 0U);
    }
    EXPECT_GT(nested, 10'000U); // else the test shows nothing
}

TEST(NestedWaits, ofConditionsAreNoneOfLocks)
{
    ScriptedTrace trace;
    trace.wait(100, 1, kCondition, trace.stack({"futex_wait", "pthread_cond_wait", "c"}));
    trace.analyser.contentionBegin(trace.at(110, 1), kWaitLock, kSpin);
    trace.analyser.contentionEnd(trace.at(115, 1), kWaitLock, 0);
    trace.waitEnds(200, 1);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_FALSE(lockAt(analysis, kCondition).isLock);
    const TraceSite& spin = analysis.sites[lockAt(analysis, kWaitLock).sites.at(0)];
    EXPECT_EQ(spin.waitNs, 5U);
    EXPECT_EQ(
        spin.nestedNs, 0U); // the thread waits for a lock for 5 ns, and that is in no other lock's figures
}

TEST(NestedWaits, thatOutliveTheirOuterOneAreNestedForThatLongOnly)
{
    ScriptedTrace trace;
    trace.analyser.contentionBegin(trace.at(100, 1), kSemaphore, kWrite);
    trace.analyser.contentionBegin(trace.at(150, 1), kWaitLock, kSpin);
    trace.analyser.contentionEnd(trace.at(180, 1), kSemaphore, 0);
    trace.analyser.contentionEnd(trace.at(200, 1), kWaitLock, 0);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kSemaphore).waitNs, 80U);
    const TraceSite& spin = analysis.sites[lockAt(analysis, kWaitLock).sites.at(0)];
    EXPECT_EQ(spin.waitNs, 50U);
    EXPECT_EQ(spin.nestedNs, 30U); // together 100
}

} // namespace
} // namespace whichlock::test
