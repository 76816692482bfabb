// SPDX-License-Identifier: GPL-3.0-or-later
// Copies of a lock as one, and locks inside of others; all figures by hand.
#include "analyzer/traces/lock_families.h"
#include "tests/support/scripted_trace.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

constexpr uint64_t kRunQueue = 0xffff888627c2ba40;
constexpr uint64_t kUnit = 0x100000;
constexpr uint32_t kSpin = 1;
constexpr uint32_t kWrite = 4;
constexpr uint32_t kMutex = 32;

/// Sites by number, and one variable that every process has at another address.
class SomeNames final : public TraceNames {
public:
    TracedPlace siteOf(TraceStackId stack) override { return {.function = "f" + std::to_string(stack.v)}; }
    TracedPlace holderSiteOf(TraceStackId stack) override { return siteOf(stack); }
    std::string sleepOf(TraceStackId stack) override { return siteOf(stack).function; }
    TracedVariable variableOf(const TraceProcess& process, uint64_t address) override
    {
        const bool here = address == 0x5000 + static_cast<uint64_t>(process.pid) * 0x10000;
        return here ? TracedVariable{.name = "g_pool", .object = "/bin/server"} : TracedVariable();
    }
};

void contend(ScriptedTrace& trace, uint64_t timeNs, uint64_t ns, uint64_t lock, uint32_t flags,
    TraceStackId stack = {1})
{
    trace.analyser.contentionBegin(trace.at(timeNs, 1, stack), lock, flags);
    trace.analyser.contentionEnd(trace.at(timeNs + ns, 1), lock, 0);
}

/// A trace of two processors with stacks that are only numbers.
struct KernelTrace : ScriptedTrace {
    KernelTrace()
    {
        stack({"k:one"});
        stack({"k:two"});
        cpu = 1;
    }
};

std::vector<LockFamily> onProcessors(const TraceAnalysis& analysis)
{
    SomeNames names;
    return copiesOnProcessors(analysis, names);
}

TEST(LockFamilies, areOneLockOfEachProcessor)
{
    KernelTrace trace;
    contend(trace, 100, 10, kRunQueue, kSpin);
    contend(trace, 200, 30, kRunQueue + kUnit, kSpin);
    TraceAnalysis analysis = trace.finish();
    foldLocks(analysis, onProcessors(analysis));
    EXPECT_EQ(analysis.check(), "");
    const TraceLock& lock = lockAt(analysis, kRunQueue);
    EXPECT_EQ(lock.waitNs, 40U);
    EXPECT_EQ(lock.waits, 2U);
    EXPECT_EQ(lock.waitTimes.maxNs(), 30U);
    ASSERT_EQ(lock.instances.size(), 2U);
    EXPECT_EQ(lock.instances[1].valueNs, 30U);
    EXPECT_EQ(lockAt(analysis, kRunQueue + kUnit).waits, 0U);
}

TEST(LockFamilies, areNoneAtOtherDistancesOrPlaces)
{
    const auto familiesWith = [](uint64_t second, TraceStackId stack, uint32_t cpu) {
        KernelTrace trace;
        trace.cpu = cpu;
        contend(trace, 100, 10, kRunQueue, kSpin);
        contend(trace, 200, 30, second, kSpin, stack);
        return onProcessors(trace.finish()).size();
    };
    EXPECT_EQ(familiesWith(kRunQueue + kUnit, {1}, 1), 1U);
    EXPECT_EQ(familiesWith(kRunQueue + kUnit + 64, {1}, 1), 0U);
    EXPECT_EQ(familiesWith(kRunQueue + 3 * kUnit, {1}, 3), 0U);  // no unit has that size
    EXPECT_EQ(familiesWith(kRunQueue + 64 * kUnit, {1}, 3), 0U); // nor that
    EXPECT_EQ(familiesWith(kRunQueue + kUnit, {2}, 1), 0U);      // of another function
    EXPECT_EQ(familiesWith(kRunQueue + kUnit, {1}, 0), 0U);      // there is one processor only
}

TEST(LockFamilies, areOneVariableOfSeveralProcesses)
{
    ScriptedTrace trace;
    const auto wait = [&](uint64_t timeNs, uint64_t ns, int32_t pid, int32_t tid) {
        TraceMoment at = trace.at(timeNs, tid);
        at.pid = pid;
        const uint64_t word = 0x5000 + static_cast<uint64_t>(pid) * 0x10000;
        trace.analyser.futexEnter(at, {.action = FutexAction::Wait, .word = word, .value = 2});
        at.timeNs += ns;
        trace.analyser.futexExit(at, 0);
    };
    wait(100, 20, 7, 1);
    wait(200, 30, 8, 2);
    trace.wait(300, 3, 0x9000);
    trace.waitEnds(310, 3);
    TraceAnalysis analysis = trace.finish();
    SomeNames names;
    foldLocks(analysis, copiesInProcesses(analysis, names));
    EXPECT_EQ(analysis.check(), "");
    const LockTraceRecord record = traceRecord(analysis, names);
    ASSERT_EQ(record.locks.size(), 2U);
    EXPECT_EQ(record.locks[0].symbol, "g_pool");
    EXPECT_EQ(record.locks[0].valueNs, 50U);
    ASSERT_EQ(record.locks[0].instances.size(), 2U);
    EXPECT_EQ(record.locks[0].instances[0].pid, 8);
    EXPECT_EQ(record.locks[0].instances[0].valueNs, 30U);
    EXPECT_TRUE(record.locks[1].instances.empty());
}

TEST(LockFamilies, keepWhoHeldWhatThroughChains)
{
    KernelTrace trace;
    // 3 waits for a mutex that 2 has; 2 waits for the lock of the second processor, which 1 has.
    const auto at = [&](uint64_t timeNs, int32_t tid) { return trace.at(timeNs, tid, {1}); };
    constexpr uint64_t kOuter = 0xffff888100000000;
    contend(trace, 10, 5, kRunQueue, kSpin);
    trace.analyser.contentionBegin(at(100, 1), kRunQueue + kUnit, kSpin);
    trace.analyser.contentionEnd(at(105, 1), kRunQueue + kUnit, 0);
    trace.analyser.contentionBegin(at(110, 2), kOuter, kMutex);
    trace.analyser.contentionEnd(at(115, 2), kOuter, 0);
    trace.analyser.contentionBegin(at(120, 3), kOuter, kMutex);
    trace.analyser.contentionBegin(at(130, 2), kRunQueue + kUnit, kSpin);
    trace.analyser.contentionEnd(at(170, 2), kRunQueue + kUnit, 0);
    trace.analyser.contentionEnd(at(180, 3), kOuter, 0);
    TraceAnalysis analysis = trace.finish();
    foldLocks(analysis, onProcessors(analysis));
    EXPECT_EQ(analysis.check(), "");
    const TraceLock& folded = lockAt(analysis, kRunQueue);
    EXPECT_EQ(folded.waitNs, 5U + 5U + 40U);
    const TraceLockId foldedId{static_cast<uint32_t>(&folded - analysis.locks.data()) + 1};
    uint64_t behindFolded = 0;
    for (const auto& [root, ns] : lockAt(analysis, kOuter).roots) {
        if (root.lock == foldedId && root.holder) {
            EXPECT_LE(root.holder.v, folded.holders.size());
            behindFolded += ns;
        }
    }
    EXPECT_EQ(behindFolded, 40U);
    EXPECT_EQ(lockAt(analysis, kOuter).holders.at(0).waitedFor.at(foldedId.v), 40U);
}

TEST(InnerLocks, areTheSpinlocksInsideOfSleepingOnes)
{
    KernelTrace trace;
    constexpr uint64_t kSemaphore = 0xffff88813224bf38;
    trace.analyser.contentionBegin(trace.at(100, 1), kSemaphore, kWrite);
    contend(trace, 110, 20, kSemaphore + 0x14, kSpin); // inside of the wait for the semaphore
    trace.analyser.contentionEnd(trace.at(200, 1), kSemaphore, 0);
    contend(trace, 300, 7, kSemaphore + 0x14, kSpin); // when it gave it back
    contend(trace, 400, 9, kSemaphore + 0x18, kSpin);
    TraceAnalysis analysis = trace.finish();
    findInnerLocks(analysis);
    const TraceLock& outer = lockAt(analysis, kSemaphore);
    EXPECT_EQ(outer.waitNs, 100U);
    EXPECT_EQ(outer.innerNs, 7U); // together 107: no time counts twice
    const TraceLock& inner = lockAt(analysis, kSemaphore + 0x14);
    EXPECT_EQ(inner.waitNs, 27U);
    ASSERT_NE(inner.innerOf, 0U);
    EXPECT_EQ(&analysis.locks[inner.innerOf - 1], &outer);
    EXPECT_EQ(lockAt(analysis, kSemaphore + 0x18).innerOf, 0U);
}

} // namespace
} // namespace whichlock::test
