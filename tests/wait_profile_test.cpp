// SPDX-License-Identifier: GPL-3.0-or-later
// What reports say of stacks with the time that threads were off their processors, or waited for locks.
#include "tests/support/reported.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

using testing::IsSubstring;

constexpr const char* kStacks =
    "# offcputime -df 5\n"
    "dd;main;read;-;do_syscall_64;vfs_read;down_read;rwsem_down_read_slowpath;schedule 100\n"
    "dd;main;write;-;do_syscall_64;vfs_write;mutex_lock;__mutex_lock.constprop.0;schedule 30\n"
    "srv;main;work;pthread_mutex_lock;__lll_lock_wait;-;do_syscall_64;do_futex;futex_wait;schedule 50\n"
    "srv;main;loop;pthread_cond_wait;-;do_syscall_64;do_futex;futex_wait;schedule 400\n"
    "srv;main;spin;-;asm_sysvec_reschedule_ipi;irqentry_exit_to_user_mode;schedule 20\n"
    "srv;main;poll;-;do_syscall_64;do_sys_poll;do_poll;schedule 900\n"
    "srv;main;odd;-;do_syscall_64;somewhere;schedule 7\n";

uint64_t partOf(const Json& section, std::string_view key)
{
    for (const Json& line : section.at("account")) {
        if (line.at("key") == key)
            return line.at("value").get<uint64_t>();
    }
    return 0;
}

const Json* lockOf(const Json& section, std::string_view name)
{
    for (const Json& lock : section.at("locks")) {
        if (lock.at("name") == name)
            return &lock;
    }
    return nullptr;
}

TEST(WaitProfile, tellsWhatThreadsWaitedForAndAddsUp)
{
    const Reported reported = reportOfTexts({{"mail.txt", kStacks}});
    EXPECT_EQ(reported.report.internalError, "");
    ASSERT_EQ(reported.json.at("sections").size(), 1U);
    const Json& section = reported.json.at("sections")[0];
    EXPECT_EQ(section.at("total"), 1'507'000U);
    EXPECT_EQ(partOf(section, "lock"), 180'000U) << "100 + 30 + 50 us";
    EXPECT_EQ(partOf(section, "condition"), 400'000U) << "a condition is no lock";
    EXPECT_EQ(partOf(section, "runnable"), 20'000U);
    EXPECT_EQ(partOf(section, "sleep"), 900'000U);
    EXPECT_EQ(partOf(section, "untold"), 7'000U);
}

TEST(WaitProfile, showsLocksAtThePlacesThatTakeThem)
{
    const Reported reported = reportOfTexts({{"mail.txt", kStacks}});
    const Json& section = reported.json.at("sections")[0];
    EXPECT_EQ(section.at("contention_total"), 180'000U);
    for (const auto& [name, ns] : {std::pair("lock taken at vfs_read", 100'000U),
             std::pair("lock taken at vfs_write", 30'000U), std::pair("lock taken at work", 50'000U)}) {
        const Json* lock = lockOf(section, name);
        ASSERT_NE(lock, nullptr) << name;
        EXPECT_EQ(lock->at("value"), ns);
        EXPECT_EQ(lock->at("rung"), "call-site");
    }
    EXPECT_EQ(reported.json.at("verdict").at("guilty"), "unknown")
        << "no share of time off the processor is a share of active time";
}

TEST(WaitProfile, hasRowsByThreadThatAddUp)
{
    Query query;
    query.by = GroupBy::Comm;
    const Reported reported = reportOfTexts({{"mail.txt", kStacks}}, query);
    EXPECT_EQ(reported.report.internalError, "");
    const Json& groups = reported.json.at("sections")[0].at("groups");
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].at("name"), "srv");
    EXPECT_EQ(groups[0].at("value"), 1'377'000U);
    EXPECT_EQ(groups[1].at("value"), 130'000U);
}

TEST(WaitProfile, callsPlacesThatGiveALockBackHolders)
{
    const Reported reported = reportOfTexts({{"mutex.txt",
        "--- mutex:\ncycles/second=1000000000\nsampling period=1\n5000 2 @ 0x4a9b0f 0x4b1234\n"
        "#\t0x4a9b0e\tsync.(*Mutex).Unlock+0x4e\t/src/sync/mutex.go:223\n"
        "#\t0x4b1233\tmain.(*pool).put+0x33\t/app/pool.go:17\n\n"}});
    EXPECT_EQ(reported.report.internalError, "");
    const Json& section = reported.json.at("sections")[0];
    const Json* lock = lockOf(section, "lock given back at main.(*pool).put");
    ASSERT_NE(lock, nullptr);
    EXPECT_EQ(lock->at("contentions"), 2U);
    EXPECT_EQ(lock->at("sites")[0].at("holder"), true);
    EXPECT_EQ(section.at("sees").at("holders"), "yes");
    EXPECT_PRED_FORMAT2(IsSubstring, "places of holders", reported.flatText());
}

TEST(WaitProfile, saysThatCountsAreTakenAsSamples)
{
    const Reported reported = reportOfTexts({{"out.folded", "a;b;schedule 5\na;c;schedule 7\n"}});
    EXPECT_PRED_FORMAT2(IsSubstring, "The text does not say what its counts are", reported.flatText());
    EXPECT_PRED_FORMAT2(IsSubstring, "end in the scheduler", reported.flatText());
}

TEST(WaitProfile, blamesSpinningInFoldedStacks)
{
    const Reported reported = reportOfTexts({{"out.folded",
        "a;main;f;_raw_spin_lock;native_queued_spin_lock_slowpath 40\n"
        "a;main;g 60\n"}});
    EXPECT_EQ(reported.json.at("verdict").at("guilty"), "yes");
    EXPECT_NEAR(reported.json.at("verdict").at("share_percent").get<double>(), 40.0, 1e-6);
}

} // namespace
} // namespace whichlock::test
