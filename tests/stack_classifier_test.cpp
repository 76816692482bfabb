// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/stack_classifier.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

/// Functions innermost first; those of the kernel begin with `k:`.
std::vector<NamedFrame> framesOf(std::initializer_list<std::string_view> functions)
{
    std::vector<NamedFrame> frames;
    for (const std::string_view one : functions) {
        const bool kernel = one.starts_with("k:");
        frames.push_back({one.substr(kernel ? 2 : 0), kernel});
    }
    return frames;
}

class StackClassifierTest : public testing::Test {
protected:
    TraceStackClass classOf(std::initializer_list<std::string_view> functions)
    {
        return classifier.classify(framesOf(functions));
    }
    std::string_view siteIn(std::initializer_list<std::string_view> functions)
    {
        const std::vector<NamedFrame> frames = framesOf(functions);
        const size_t site = classifier.siteOf(frames);
        return site < frames.size() ? frames[site].function : "";
    }

    StackClassifier classifier{RoutineTable::builtIn(), Context{}};
};

TEST_F(StackClassifierTest, tellsWhatAFutexSleepsFor)
{
    EXPECT_EQ(classOf({"__GI___lll_lock_wait", "work"}).wait, WaitReason::Mutex);
    EXPECT_EQ(classOf({"__lll_lock_wait", "___pthread_mutex_lock", "work"}).wait, WaitReason::Mutex);
    EXPECT_EQ(
        classOf({"__futex_abstimed_wait_common", "___pthread_cond_wait", "pop"}).wait, WaitReason::Condition);
    EXPECT_EQ(
        classOf({"__futex_abstimed_wait_common", "__pthread_clockjoin_ex", "main"}).wait, WaitReason::Join);
    EXPECT_EQ(classOf({"__futex_abstimed_wait_common", "__pthread_rwlock_wrlock_full64", "reload"}).wait,
        WaitReason::RwlockWrite);
    EXPECT_EQ(classOf({"__futex_abstimed_wait_common", "__pthread_rwlock_rdlock_full64", "read"}).wait,
        WaitReason::RwlockRead);
    EXPECT_EQ(classOf({"__futex_abstimed_wait_common", "work"}).wait, WaitReason::Unknown);
    EXPECT_EQ(classOf({"work", "main"}).wait, WaitReason::Unknown);
    EXPECT_EQ(classOf({}).wait, WaitReason::Unknown);
}

TEST_F(StackClassifierTest, takesTheMutexOfAConditionForALock)
{
    const TraceStackClass known = classOf({"__lll_lock_wait", "__pthread_mutex_cond_lock",
        "__pthread_cond_wait_common", "___pthread_cond_wait", "queue_pop"});
    EXPECT_EQ(known.wait, WaitReason::Mutex);
    EXPECT_TRUE(known.insideCondition);
    EXPECT_FALSE(known.parks);
    EXPECT_EQ(siteIn({"__lll_lock_wait", "__pthread_mutex_cond_lock", "__pthread_cond_wait_common",
                  "___pthread_cond_wait", "queue_pop"}),
        "queue_pop");
}

TEST_F(StackClassifierTest, letsTheOutermostLockRoutineDecideWhereALockParks)
{
    const TraceStackClass known = classOf({"__futex_abstimed_wait_common", "pthread_cond_wait",
        "absl::Mutex::LockSlow", "absl::Mutex::Lock", "work"});
    EXPECT_EQ(known.wait, WaitReason::Mutex);
    EXPECT_TRUE(known.parks);
}

TEST_F(StackClassifierTest, tellsWhoGivesALockBack)
{
    EXPECT_TRUE(classOf({"__GI___lll_lock_wake", "work"}).releasesLock);
    EXPECT_TRUE(classOf({"__lll_lock_wake", "__pthread_mutex_unlock", "work"}).releasesLock);
    EXPECT_FALSE(classOf({"__lll_lock_wake", "__pthread_mutex_unlock", "work"}).signalsCondition);
    EXPECT_TRUE(classOf({"___pthread_cond_broadcast", "push"}).signalsCondition);
    EXPECT_FALSE(classOf({"___pthread_cond_broadcast", "push"}).releasesLock);
    EXPECT_TRUE(classOf({"pthread_rwlock_unlock", "read"}).releasesRwlock);
    EXPECT_TRUE(classOf({"k:try_to_wake_up", "k:wake_up_q", "k:rwsem_wake", "k:up_write", "k:vm_mmap_pgoff"})
                    .releasesKernelLock);
    // The code that an interrupt came into has nothing to do with the wake-up.
    EXPECT_FALSE(classOf({"k:try_to_wake_up", "k:hrtimer_wakeup", "k:asm_sysvec_apic_timer_interrupt",
                             "k:mutex_unlock", "k:vfs_write"})
                     .releasesKernelLock);
}

TEST_F(StackClassifierTest, tellsWhyARunnableThreadLeft)
{
    EXPECT_EQ(classOf({"k:__schedule", "k:schedule", "k:irqentry_exit_to_user_mode",
                          "k:asm_sysvec_apic_timer_interrupt", "work"})
                  .leave,
        LeaveReason::Preempted);
    EXPECT_EQ(
        classOf({"k:__schedule", "k:__cond_resched", "k:unmap_page_range"}).leave, LeaveReason::Voluntary);
    EXPECT_EQ(
        classOf({"k:__schedule", "k:schedule", "k:do_sched_yield", "k:do_syscall_64", "sched_yield"}).leave,
        LeaveReason::Yield);
}

TEST_F(StackClassifierTest, tellsWhatASleepInTheKernelIsFor)
{
    EXPECT_EQ(classOf({"k:__schedule", "k:schedule", "k:io_schedule", "k:folio_wait_bit_common"}).wait,
        WaitReason::Io);
    EXPECT_EQ(classOf({"k:__schedule", "k:schedule", "k:do_nanosleep", "k:hrtimer_nanosleep"}).wait,
        WaitReason::Sleep);
    EXPECT_EQ(classOf({"k:__schedule", "k:schedule", "k:schedule_hrtimeout_range", "k:ep_poll"}).wait,
        WaitReason::Poll);
}

TEST_F(StackClassifierTest, tellsGracePeriodsAndThrottling)
{
    EXPECT_EQ(classOf({"k:__schedule", "k:schedule", "k:schedule_timeout", "k:wait_for_completion",
                          "k:synchronize_rcu_normal", "k:rcu_sync_enter", "k:percpu_down_write"})
                  .wait,
        WaitReason::GracePeriod);
    EXPECT_EQ(classOf({"k:__schedule", "k:__cond_resched", "k:task_work_run", "k:irqentry_exit_to_user_mode",
                          "k:asm_sysvec_apic_timer_interrupt", "work"})
                  .leave,
        LeaveReason::Throttled);
    EXPECT_EQ(classOf({"k:__schedule", "k:__cond_resched", "k:unmap_page_range", "k:task_work_run"}).leave,
        LeaveReason::Voluntary); // some work that takes long
}

TEST_F(StackClassifierTest, takesNoAnnouncementForALock)
{
    EXPECT_EQ(classOf({"syscall", "absl::CondVar::Wait", "pop"}).wait, WaitReason::Condition);
    EXPECT_EQ(
        classOf({"syscall", "absl::Mutex::Block", "absl::Mutex::Await", "pop"}).wait, WaitReason::Condition);
    EXPECT_EQ(classOf({"syscall", "gomp_team_barrier_wait_end", "compute"}).wait, WaitReason::Barrier);
    EXPECT_EQ(classOf({"syscall", "__cxa_guard_acquire", "instance"}).wait, WaitReason::Once);
}

TEST_F(StackClassifierTest, believesAMethodThatIsCalledLock)
{
    const TraceStackClass interpreter = classOf({"__futex_abstimed_wait_common", "pthread_cond_wait",
        "std::condition_variable::wait", "InterpreterLock::lock", "run"});
    EXPECT_EQ(interpreter.wait, WaitReason::Mutex);
    EXPECT_TRUE(interpreter.parks && interpreter.onCondition);
    const TraceStackClass parker = classOf({"syscall", "ParkingLock::lock_shared", "read"});
    EXPECT_EQ(parker.wait, WaitReason::RwlockRead);
    EXPECT_TRUE(parker.parks && !parker.onCondition);
    EXPECT_EQ(siteIn({"syscall", "ParkingLock::lock_shared", "read"}), "read");
    // What releases, and what only has a lock in its name.
    EXPECT_FALSE(classOf({"syscall", "ParkingLock::unlock", "read"}).parks);
    EXPECT_FALSE(classOf({"syscall", "LockManager::start", "main"}).parks);
    EXPECT_FALSE(classOf({"syscall", "lock", "main"}).parks);
}

TEST_F(StackClassifierTest, findsTheCallSiteOfAYieldInUserSpace)
{
    EXPECT_EQ(siteIn({"k:__schedule", "k:schedule", "k:__x64_sys_sched_yield", "k:do_syscall_64",
                  "__sched_yield", "YieldLock::lock", "takeFromPool"}),
        "takeFromPool");
    EXPECT_TRUE(classOf({"k:__schedule", "k:schedule", "k:__x64_sys_sched_yield", "k:do_syscall_64",
                            "__sched_yield", "YieldLock::lock", "takeFromPool"})
                    .parks);
}

TEST_F(StackClassifierTest, knowsTheLockOfMallocByItsCallers)
{
    EXPECT_TRUE(classOf({"__lll_lock_wait_private", "malloc", "newBlock"}).ofAllocator);
    EXPECT_TRUE(classOf({"__lll_lock_wait_private", "_int_free", "free", "drop"}).ofAllocator);
    EXPECT_FALSE(classOf({"__lll_lock_wait_private", "fputs", "print"}).ofAllocator);
}

TEST_F(StackClassifierTest, goesThroughTheRuntimeOfCxxWithoutNames)
{
    std::vector<NamedFrame> frames = framesOf({"__futex_abstimed_wait_common", "pthread_cond_wait"});
    frames.push_back({{}, false, true});
    frames.push_back({"InterpreterLock::lock", false});
    frames.push_back({"run", false});
    EXPECT_TRUE(classifier.classify(frames).parks);
    frames[2].runtime = false; // of any other library
    EXPECT_FALSE(classifier.classify(frames).parks);
}

TEST_F(StackClassifierTest, passesOverTheProgramsOwnLockClassesForTheCallSite)
{
    EXPECT_EQ(siteIn({"__lll_lock_wait", "pthread_mutex_lock", "oracle::PMutex::lock",
                  "oracle::Guard<oracle::PMutex>::Guard", "Table::insert", "worker"}),
        "Table::insert");
    EXPECT_EQ(siteIn({"__lll_lock_wait", "pthread_mutex_lock", "std::mutex::lock",
                  "std::lock_guard<std::mutex>::lock_guard", "work"}),
        "work");
    EXPECT_EQ(siteIn({"k:rwsem_down_write_slowpath", "k:down_write", "k:path_openat"}), "path_openat");
    // A lock inside of the routine that gives another one back is taken there.
    EXPECT_EQ(siteIn({"k:_raw_spin_lock_irqsave", "k:rwsem_wake", "k:up_write"}), "rwsem_wake");
    EXPECT_EQ(siteIn({"__lll_lock_wait"}), "");
}

} // namespace
} // namespace whichlock::test
