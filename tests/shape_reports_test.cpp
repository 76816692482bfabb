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

} // namespace
} // namespace whichlock::test
