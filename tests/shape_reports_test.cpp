// SPDX-License-Identifier: GPL-3.0-or-later
// What must be said of shapes met in public texts that the samples do not hold.
#include "tests/support/reported.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

using testing::IsNotSubstring;
using testing::IsSubstring;

Reported reportOf(const std::string& text)
{
    return reportOfTexts({{"mail.txt", text}});
}

TEST(ShapeReports, namesTheLockOfAStubWithUnderscores)
{
    // 3044 + 2340 of 23991 - 7679 busy ticks = 33.0 %
    const Reported reported = reportOf(" 23991 total                                      0.0257\n"
                                       "  7679 default_idle                             147.6731\n"
                                       "  3044 _text_lock_dcache                          8.7221\n"
                                       "  2340 _text_lock_swap                           43.3333\n"
                                       "  1160 do_anonymous_page                          3.4940\n"
                                       "   776 d_lookup                                   2.8116\n");
    EXPECT_EQ(reported.json.at("verdict").at("guilty"), "yes");
    const Json section = reported.json.at("sections")[0];
    EXPECT_NEAR(section.at("contention_share_of_busy_percent").get<double>(), 33.0, 0.05);
    ASSERT_FALSE(reported.lockRows().empty());
    EXPECT_EQ(reported.lockRows()[0].at("name"), "dcache_lock");
}

TEST(ShapeReports, callsNoProbeAnEventOfLocks)
{
    const Reported reported =
        reportOf("worker   18274 [001] 85214.162988:                probe:d_walk: (ffffffff88218580) "
                 "fs_type=\"tmpfs\"\n"
                 "        ffffffff88218581 d_walk+0x1 ([kernel.kallsyms])\n"
                 "        ffffffff8821a8e2 shrink_dcache_parent+0x52 ([kernel.kallsyms])\n");
    EXPECT_PRED_FORMAT2(IsSubstring, "neither of locks nor of the scheduler", reported.flatText());
    EXPECT_PRED_FORMAT2(IsNotSubstring, "Lock and scheduler events", reported.flatText());
}

TEST(ShapeReports, callsNoBlockEventAnEventOfLocks)
{
    const Reported reported =
        reportOf("worker   18274 [001] 85214.162988:                block:block_rq_issue: 8,0 R 4096\n"
                 "worker   18274 [001] 85214.262988:                block:block_rq_issue: 8,0 R 4096\n");
    EXPECT_PRED_FORMAT2(IsSubstring, "neither of locks nor of the scheduler", reported.flatText());
}

TEST(ShapeReports, stillSaysThatLockEventsWereOnlyCounted)
{
    const Reported reported =
        reportOf("worker   18274 [001] 85214.162988:                sched:sched_process_exec: pid=3\n"
                 "worker   18274 [001] 85214.262988:                sched:sched_process_exec: pid=4\n");
    EXPECT_PRED_FORMAT2(IsSubstring, "Lock and scheduler events were counted", reported.flatText());
}

TEST(ShapeReports, takesTheKernelFromTheTitleOfATable)
{
    const Reported reported = reportOf("12 CPUs 2.6.23-rc6 No private futex:\n\n"
                                       "samples  %        symbol name\n"
                                       "6908330  23.7520  __down_read\n"
                                       "4990895  17.1595  __up_read\n"
                                       "2165162   7.4442  find_vma\n"
                                       "1557829   5.3561  drop_futex_key_refs\n");
    EXPECT_EQ(reported.json.at("sections")[0].at("facts").at("era"), "2.6.23-rc6 (by title)");
}

TEST(ShapeReports, allowsAPreviewWhatTheVersionBeforeHad)
{
    // Spin locks went out of line during 2.6.9: 49865 of 2011318 - 1529155 busy ticks = 10.3 %
    const Reported reported = reportOf("2.6.9-rc1 without the patch:\n\n"
                                       "  9657 prio_tree_next                            76.0394\n"
                                       " 33810 system_call                              768.4091\n"
                                       " 49865 __preempt_spin_lock                      547.9670\n"
                                       "1529155 mwait_idle                               19604.5513\n"
                                       "2011318 total                                      0.7514\n");
    EXPECT_EQ(reported.json.at("verdict").at("guilty"), "yes");
    const Json section = reported.json.at("sections")[0];
    EXPECT_EQ(section.at("facts").at("era"), "2.6.9-rc1 (by title)");
    EXPECT_NEAR(section.at("contention_share_of_busy_percent").get<double>(), 10.3, 0.05);
}

TEST(ShapeReports, takesNoVersionOfOtherSoftwareForTheKernel)
{
    const Reported reported = reportOf("with libfoo 2.3.4:\n\n"
                                       "samples  %        symbol name\n"
                                       "6908330  23.7520  __foo\n"
                                       "4990895  17.1595  bar\n"
                                       "2165162   7.4442  baz\n");
    EXPECT_FALSE(reported.json.at("sections")[0].at("facts").contains("era"));
}

TEST(ShapeReports, writesAnEraWithinOneSeriesReadably)
{
    // __down_read of the spinlock-based kind is known for all of 2.6.
    const Reported reported = reportOf("samples  %        symbol name\n"
                                       "6908330  23.7520  __down_read\n"
                                       "2165162   7.4442  find_vma\n"
                                       "2069868   7.1166  foo_wait\n");
    EXPECT_EQ(reported.json.at("sections")[0].at("facts").at("era"), "2.6 (by symbols)");
}

} // namespace
} // namespace whichlock::test
