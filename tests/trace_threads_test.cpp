// SPDX-License-Identifier: GPL-3.0-or-later
// What threads spend their time on, by their switches; all figures by hand.
#include "tests/support/scripted_trace.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

constexpr uint64_t kRunnable = 0;
constexpr uint64_t kSleeping = 1;

uint64_t spent(const TraceAnalysis& analysis, const std::string& group, Activity activity)
{
    uint64_t ns = 0;
    for (const TraceGroup& one : analysis.groups)
        ns += one.name == group ? one.account[static_cast<size_t>(activity)] : 0;
    return ns;
}

OffCpuSums offCpu(const TraceAnalysis& analysis, const std::string& group)
{
    for (const TraceGroup& one : analysis.groups) {
        if (one.name == group)
            return one.offCpu;
    }
    return {};
}

TEST(TraceThreads, tellPreemptionFromYieldingAndFromThrottling)
{
    ScriptedTrace trace;
    trace.analyser.schedulerRecorded();
    const TraceStackId interrupt = trace.stack({"k:__schedule", "k:irqentry_exit_to_user_mode", "work"});
    const TraceStackId yield = trace.stack({"k:__schedule", "k:do_sched_yield", "sched_yield"});
    const TraceStackId offered = trace.stack({"k:__schedule", "k:__cond_resched", "k:copy_page_range"});
    trace.switchTask(100, 1, 2, kRunnable, interrupt);
    trace.switchTask(130, 2, 1, kRunnable, yield);
    trace.switchTask(150, 1, 2, kRunnable, offered);
    trace.switchTask(160, 2, 1, kRunnable, interrupt);
    trace.switchTask(165, 1, 0, kRunnable, interrupt); // the processor goes idle
    trace.switchTask(185, 0, 1);
    const TraceAnalysis analysis = trace.finish(200);
    EXPECT_EQ(spent(analysis, "t1", Activity::Preempted), 30U);
    EXPECT_EQ(spent(analysis, "t1", Activity::Voluntary), 10U);
    EXPECT_EQ(spent(analysis, "t1", Activity::Throttled), 20U);
    EXPECT_EQ(spent(analysis, "t1", Activity::Ran), 20U + 5U + 15U);
    EXPECT_EQ(spent(analysis, "t2", Activity::Ran), 30U + 10U);
    EXPECT_EQ(spent(analysis, "t2", Activity::Yielded), 20U);
    EXPECT_EQ(offCpu(analysis, "t1").runnableNs, 60U);
}

TEST(TraceThreads, tellSleepFromWaitingForAProcessorAfterTheWakeUp)
{
    ScriptedTrace trace;
    trace.analyser.schedulerRecorded();
    const TraceStackId disk =
        trace.stack({"k:__schedule", "k:io_schedule", "k:folio_wait_bit_common", "read"});
    trace.switchTask(100, 1, 2, kSleeping, disk);
    trace.analyser.waking(trace.at(140, 2), 1);
    trace.analyser.wakeup(trace.at(141, 2), 1);
    trace.switchTask(150, 2, 1, kRunnable);
    const TraceAnalysis analysis = trace.finish(160);
    EXPECT_EQ(spent(analysis, "t1", Activity::Io), 40U);
    EXPECT_EQ(spent(analysis, "t1", Activity::Woken), 10U);
    EXPECT_EQ(spent(analysis, "t1", Activity::Ran), 10U);
    EXPECT_EQ(offCpu(analysis, "t1").blockedNs, 50U);
    EXPECT_EQ(offCpu(analysis, "t1").wokenNs, 10U);
}

TEST(TraceThreads, listStacksOfSleepForUnknownReasons)
{
    ScriptedTrace trace;
    trace.analyser.schedulerRecorded();
    const TraceStackId odd = trace.stack({"k:__schedule", "k:some_driver_wait", "ioctl"});
    trace.switchTask(100, 1, 2, kSleeping, odd);
    trace.switchTask(170, 2, 1, kSleeping, odd);
    const TraceAnalysis analysis = trace.finish(200);
    EXPECT_EQ(analysis.blockedAt.at(odd.v), 70U);
    EXPECT_EQ(spent(analysis, "t1", Activity::Blocked), 70U);
}

TEST(TraceThreads, countAWaitAsSuchOnAndOffTheProcessor)
{
    ScriptedTrace trace;
    trace.analyser.schedulerRecorded();
    trace.switchTask(90, 2, 1);
    trace.wait(100, 1);
    trace.switchTask(105, 1, 2, kSleeping);
    trace.wake(140, 2);
    trace.analyser.waking(trace.at(141, 2), 1);
    trace.switchTask(150, 2, 1, kSleeping);
    trace.waitEnds(155, 1);
    const TraceAnalysis analysis = trace.finish(160);
    EXPECT_EQ(spent(analysis, "t1", Activity::LockWait), 55U);
    EXPECT_EQ(spent(analysis, "t1", Activity::Ran), 10U + 5U);
    EXPECT_EQ(analysis.sites[lockAt(analysis, ScriptedTrace::kMutex).sites[0]].offCpuNs, 45U);
}

TEST(TraceThreads, sayHowLittleIsKnownWhenNobodySawThemComeBack)
{
    ScriptedTrace trace;
    trace.analyser.schedulerRecorded();
    trace.switchTask(100, 1, 7, kRunnable); // to a task that is not recorded
    trace.wait(180, 1);                     // runs again, since when is not known
    trace.waitEnds(190, 1);
    const TraceAnalysis analysis = trace.finish(200);
    EXPECT_EQ(spent(analysis, "t1", Activity::Uncertain), 80U);
    EXPECT_EQ(spent(analysis, "t1", Activity::Preempted), 0U);
    EXPECT_EQ(analysis.gaps.unseenSwitches, 1U);
    EXPECT_EQ(offCpu(analysis, "t1").runnableNs, 0U);
    EXPECT_EQ(offCpu(analysis, "t1").upToNs, 80U);
}

TEST(TraceThreads, countFromTheSwitchThatBroughtThem)
{
    ScriptedTrace trace;
    trace.analyser.schedulerRecorded();
    trace.switchTask(100, 1, 2, kSleeping);
    trace.switchTask(150, 2, 0, kSleeping);
    const TraceAnalysis analysis = trace.finish(200);
    EXPECT_EQ(spent(analysis, "t2", Activity::Ran), 50U);
    EXPECT_EQ(spent(analysis, "t2", Activity::Blocked), 50U);
}

TEST(TraceThreads, areNotSaidToRunWhereSwitchesWereAnnouncedAndNoneCame)
{
    ScriptedTrace trace;
    trace.analyser.schedulerRecorded();
    trace.wait(100, 1);
    trace.wake(180, 2);
    trace.waitEnds(190, 1);
    const TraceAnalysis analysis = trace.finish(1000);
    EXPECT_FALSE(analysis.hasSwitches);
    EXPECT_EQ(spent(analysis, "", Activity::Ran), 0U);
    const HolderSums& holder = lockAt(analysis, ScriptedTrace::kMutex).holders.at(0);
    EXPECT_EQ(holder.meanwhile[static_cast<size_t>(Activity::Ran)], 0U);
    EXPECT_EQ(holder.meanwhile[static_cast<size_t>(Activity::Unknown)], 80U);
}

TEST(TraceThreads, changeNothingWhenTwoHundredMoreSleep)
{
    const auto lockWait = [](int32_t sleepers) {
        ScriptedTrace trace;
        trace.analyser.schedulerRecorded();
        const TraceStackId poll = trace.stack({"k:__schedule", "k:ep_poll", "epoll_wait"});
        for (int32_t i = 0; i < sleepers; ++i)
            trace.switchTask(10, 1000 + i, 1, kSleeping, poll);
        trace.wait(100, 1);
        trace.wake(180, 2);
        trace.waitEnds(190, 1);
        const TraceAnalysis analysis = trace.finish(1000);
        uint64_t active = 0;
        for (const TraceGroup& group : analysis.groups) {
            for (const Activity activity :
                {Activity::Ran, Activity::Preempted, Activity::Woken, Activity::Io, Activity::LockWait})
                active += group.account[static_cast<size_t>(activity)];
        }
        return std::pair(
            spent(analysis, "", Activity::LockWait) + spent(analysis, "t1", Activity::LockWait), active);
    };
    EXPECT_EQ(lockWait(0).first, lockWait(200).first);
    // The switches make thread 1 known 90 ns earlier; the sleepers themselves add nothing.
    EXPECT_EQ(lockWait(200).second, lockWait(1).second);
}

} // namespace
} // namespace whichlock::test
