// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/recording_sink.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

TEST(Readprofile, takesTotalAndRowsFromPlainText)
{
    RecordingSink sink;
    const LoadedInput loaded = loadText("2328901 total                                      1.4552\n"
                                        "1335226 default_idle                             20862.9062\n"
                                        "415966 .text.lock.libfs                         2298.1547\n",
        sink);
    EXPECT_EQ(loaded.format, "readprofile");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].total, 2328901U);
    ASSERT_EQ(sink.sections[0].rows.size(), 2U);
    EXPECT_EQ(sink.sections[0].rows[1].symbol, ".text.lock.libfs");
    EXPECT_EQ(sink.sections[0].rows[1].value, 415966U);
}

TEST(Readprofile, leavesTheCountOfHeadAloneWhenLineEndsAreLost)
{
    RecordingSink sink;
    loadText("[root@h root]# readprofile -m System.map | sort -nr | head -30 208218076 total 30.1677 "
             "90036167 ia64_pal_call_static 468938.3698 88140492 default_idle 229532.5312 "
             "8723555 ia64_spinlock_contention 90870.3646\nmore words\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].total, 208218076U);
    ASSERT_EQ(sink.sections[0].rows.size(), 3U);
    EXPECT_EQ(sink.sections[0].rows[0].symbol, "ia64_pal_call_static");
}

TEST(Readprofile, countsABinListedTwiceOnce)
{
    RecordingSink sink;
    loadText("__wake_up_common:\n          c011f1d8              47\t\t(*)\n"
             "__wake_up:\n          c011f1d8              47\t\t(*)\n          c011f1dc               2\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    uint64_t sum = 0;
    for (const KeptRow& row : sink.sections[0].rows)
        sum += row.value.value_or(0);
    EXPECT_EQ(sum, 49U); // 47 + 2
    ASSERT_EQ(sink.diagnostics.size(), 1U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::BinCountedTwice);
    EXPECT_EQ(sink.diagnostics[0].position.line, 4U);
}

TEST(Readprofile, skipsALastRowThatIsCutWithinItsSymbol)
{
    RecordingSink sink;
    loadText("100 total 1.0000\n 60 default_idle 2.0000\n 30 dput 1.5000\n 10 dp", sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].rows.size(), 2U);
    ASSERT_EQ(sink.diagnostics.size(), 1U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::RowUnreadable);
    EXPECT_EQ(sink.diagnostics[0].position.line, 4U);
}

TEST(Readprofile, keepsTicksOutsideOfTheKernelTextInTheTotal)
{
    // readprofile's total counts the text only; `*unknown*` has no load.
    RecordingSink sink;
    loadText(" 60 default_idle 2.0000\n 30 dput 1.5000\n 7 *unknown*\n90 total 1.0000\n", sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].rows.size(), 3U);
    EXPECT_EQ(sink.sections[0].total, 97U);
}

TEST(Load, tellsAKnownTextThatIsNotReadYetFromOneThatIsUnknown)
{
    RecordingSink sink;
    const LoadedInput known = loadText("=====\n     Shared Data Cache Line Table     \n=====\n", sink);
    ASSERT_EQ(known.diagnostics.size(), 1U);
    EXPECT_EQ(known.diagnostics[0].code, DiagnosticCode::KnownButUnread);
    EXPECT_NE(known.diagnostics[0].message.find("perf c2c"), std::string::npos);
    const LoadedInput unknown = loadText("nothing to be seen here\n", sink);
    ASSERT_EQ(unknown.diagnostics.size(), 1U);
    EXPECT_EQ(unknown.diagnostics[0].code, DiagnosticCode::NoProfileFound);
}

} // namespace
} // namespace whichlock::test
