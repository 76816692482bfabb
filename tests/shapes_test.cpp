// SPDX-License-Identifier: GPL-3.0-or-later
// Shapes met in public texts that the samples do not hold: what is a table there, and what is none.
#include "tests/support/recording_sink.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

TEST(Shapes, takesNoKernelLogForSamplesOfPerf)
{
    RecordingSink sink;
    loadText("Aug 26 09:07:59 box kernel: [    3.337473] lenovo 0003:17EF:\n"
             "6009.0001: input,hidraw0: USB HID v1.10 Keyboard\n"
             "Aug 26 09:07:59 box kernel: [    3.404251] lenovo 0003:17EF:\n"
             "6009.0002: input,hiddev0,hidraw1: USB HID v1.10 Mouse\n",
        sink);
    EXPECT_TRUE(sink.sections.empty());
}

TEST(Shapes, takesTheKernelsOwnTraceForCountsAndNotForCpuTime)
{
    RecordingSink sink;
    loadText("     worker-19863 [005] 13469.350152: xfs_file_read: dev 252:0 ino 0x43 size 0x2800\n"
             "     worker-19863 [005] 13469.351960: xfs_file_read: dev 252:0 ino 0x43 size 0x2800\n"
             "     worker-19863 [005] 13469.352705: function: io_submit_sqes\n"
             "     worker-19863 [005] 13469.353473: xfs_file_read: dev 252:0 ino 0x43 size 0x2800\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 2U);
    for (const KeptSection& section : sink.sections) {
        EXPECT_EQ(section.record.kind, SectionKind::LockTrace);
        EXPECT_EQ(section.record.quantity, QuantityKind::Count);
    }
    EXPECT_EQ(sink.sections[0].samples.size(), 3U);
    EXPECT_EQ(sink.sections[0].samples[0].comm, "worker");
    EXPECT_EQ(sink.sections[0].samples[0].tid, 19863);
}

TEST(Shapes, readsTheStateThatTheKernelsTracerPrintsBehindTheCpu)
{
    RecordingSink sink;
    loadText("sync-1014  [001] ....   534.272310: finish_commit: Discarding 194-207 (len: 134)\n"
             "sync-1014  [001] d..3.  534.272315: finish_commit: Discarding 194-207 (len: 134)\n"
             "sync-1014  [001] ....   534.272325: finish_commit: Discarding 217-235 (len: 180)\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.kind, SectionKind::LockTrace);
    ASSERT_EQ(sink.sections[0].samples.size(), 3U);
    EXPECT_EQ(sink.sections[0].samples[1].comm, "sync");
    EXPECT_EQ(sink.sections[0].samples[1].tid, 1014);
    EXPECT_EQ(sink.sections[0].samples[1].cpu, 1);
}

TEST(Shapes, takesNoListOfDisksForASampleWithAFrame)
{
    RecordingSink sink;
    loadText("- raid1c3 with 3 HDDs:\n  3 x Maker Model AB2000 (2TB)\n  * pid policy\n"
             "- raid1c3 with 4 HDDs:\n  4 x Maker Model AB2000 (2TB)\n  * pid policy\n",
        sink);
    EXPECT_TRUE(sink.sections.empty());
}

TEST(Shapes, takesNoLogLinesWithTimesForSamplesOfPerf)
{
    RecordingSink sink;
    loadText("  399.829437:  logd: last item 0x11002dd000 count 101\n"
             "  400.099622:  logd: target 0x11002f3600, prev 0x11002f3600\n"
             "  400.099623:  logd: first item 0x11002f3600\n",
        sink);
    EXPECT_TRUE(sink.sections.empty());
}

TEST(Shapes, readsRowsOfReadprofileThatARemarkStandsBehind)
{
    RecordingSink sink;
    loadText(" 106201 total                                      0.0081\n"
             "  50053 default_idle                              89.4040\n"
             "   1312 vmap                                       0.2297  <- vmap\n"
             "    300 _spin_lock                                 3.1250\n"
             "    252 sn_send_IPI_phys                           0.4375  <- tlb flushing\n"
             "    238 vunmap                                     0.8264 <- vmap\n"
             "    216 find_lock_page                             0.5192\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].rows.size(), 6U);
    EXPECT_EQ(sink.sections[0].rows[1].symbol, "vmap");
    EXPECT_EQ(sink.sections[0].rows[3].value, 252U);
    ASSERT_EQ(sink.diagnostics.size(), 1U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::RemarkInTable);
}

TEST(Shapes, takesNoAttributionOfAQuoteForATitle)
{
    RecordingSink sink;
    loadText("On Mon, Jan 06, 2003 at 04:35:17PM -0700, N wrote:\n"
             ">   6383 .text.lock.swap                          110.0517\n"
             ">   4689 .text.lock.vmscan                         28.2470\n"
             ">   4486 shrink_cache                               4.6729\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.title, "");
}

TEST(Shapes, takesNoWordLeftOverFromASentenceForATitle)
{
    RecordingSink sink;
    loadText("For the workload described above the kernel profile looks like\nthis:\n\n"
             "  74453 total                                      0.0121\n"
             "  25839 update_atime                              44.8594\n"
             "  19595 _read_unlock_irq                         306.1719\n\nafter:\n\n"
             "  54453 total                                      0.0121\n"
             "   5839 update_atime                              44.8594\n"
             "   9595 _read_unlock_irq                         306.1719\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[0].record.title, "");
    EXPECT_EQ(sink.sections[1].record.title, "after");
}

TEST(Shapes, readsVmstatWithTheTimeInFrontOfEachRow)
{
    RecordingSink sink;
    loadText(
        "--time-- procs -----------memory---------- ---swap-- -----io---- --system-- -----cpu-----\n"
        "          r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
        "21:21:49  2  0    376 14100062 945216 846464    0    0     2   806 31414 37894  2  1 97  0  0\t\n"
        "21:21:54  5  0    376 14098438 945232 846516    0    0     3   283 36567 40997  2  1 98  0  0\t\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    const KeptSection& section = sink.sections[0];
    ASSERT_EQ(section.counterColumns.size(), 17U);
    EXPECT_EQ(section.counterColumns.front(), "r");
    ASSERT_EQ(section.counterRows.size(), 2U);
    EXPECT_EQ(section.counterRows[1].front(), 5);
    EXPECT_EQ(section.counterRows[1][11], 40997);
}

} // namespace
} // namespace whichlock::test
