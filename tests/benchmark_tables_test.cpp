// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/recording_sink.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace whichlock::test {
namespace {

size_t countOf(const RecordingSink& sink, DiagnosticCode code)
{
    size_t count = 0;
    for (const Diagnostic& diagnostic : sink.diagnostics)
        count += diagnostic.code == code ? 1 : 0;
    return count;
}

// --- kprobes_scaling --------------------------------------------------------------------------------------

constexpr std::string_view kTwoSeries = "words\n"
                                        "-----\n-\n"
                                        "Scalable results for 2.6.9-22.EL kernel ( RHEL4 U2)\n"
                                        "-----\n-\n"
                                        "Scalability total CPUs is 1,    Total probe hit is 65536\n"
                                        "Total time in usec is 29705,    Per Probe Hit in nsec is 453\n"
                                        "-----\n"
                                        "Scalability total CPUs is 2,    Total probe hit is 131072\n"
                                        "Total time in usec is 82849,    Per Probe Hit in nsec is 632\n"
                                        "-----\n\n-----\n--\n"
                                        "Scalable results for 2.6.9-34.13.EL kernel (RHEL4 U3 and above)\n"
                                        "-----\n"
                                        "Scalability total CPUs is 1,\tTotal probe hit is 65536\n"
                                        "Total time in usec is 29600,\tPer Probe Hit in nsec is 451\n"
                                        "-----\n\nmore words\n";

TEST(KprobesScaling, takesOneSectionPerTitledSeries)
{
    RecordingSink sink;
    loadText(kTwoSeries, sink);
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[0].record.title, "2.6.9-22.EL");
    EXPECT_EQ(sink.sections[0].record.kind, SectionKind::Measurements);
    EXPECT_EQ(sink.sections[1].record.title, "2.6.9-34.13.EL");
    ASSERT_EQ(sink.sections[0].tables.size(), 1U);
    const TableRecord& table = sink.sections[0].tables[0];
    EXPECT_EQ(table.shape, TableShape::Scaling);
    EXPECT_EQ(table.rowName, "CPUs");
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[1].label, "2");
    EXPECT_EQ(table.rows[1].values[0], FixedPoint::fromInteger(131072));
    EXPECT_EQ(table.rows[1].values[1], FixedPoint::fromInteger(82849));
    EXPECT_EQ(table.rows[1].values[2], FixedPoint::fromInteger(632));
    EXPECT_TRUE(sink.diagnostics.empty());
}

TEST(KprobesScaling, readsTheSameWhenAllLineEndsAreLost)
{
    std::string flat(kTwoSeries);
    std::replace(flat.begin(), flat.end(), '\n', ' ');
    RecordingSink sink;
    loadText(flat, sink);
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[1].record.title, "2.6.9-34.13.EL");
    EXPECT_EQ(sink.sections[0].tables[0].rows.size(), 2U);
    EXPECT_EQ(sink.sections[1].tables[0].rows.size(), 1U);
}

TEST(KprobesScaling, reportsFiguresThatDoNotFitTogether)
{
    RecordingSink sink;
    loadText("Scalability total CPUs is 3, Total probe hit is 65536\n"
             "Total time in usec is 29705, Per Probe Hit in nsec is 454\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::PrintedFigureDiffers), 2U); // 3 * 65536 hits; 453 ns
}

TEST(KprobesScaling, leavesOutABrokenPointAndKeepsTheOthers)
{
    RecordingSink sink;
    loadText("Scalability total CPUs is 1, Total probe hit is 65536\n"
             "Total time in usec is 29705, Per Probe Hit in nsec is 453\n"
             "Scalability total CPUs is 2, Total probe hit is 99999999999999999999999\n"
             "Total time in usec is 82849, Per Probe Hit in nsec is 632\n"
             "Scalability total CPUs is 3, Total probe hit is 196608\n"
             "Total time in usec is 526614, Per Probe Hit in nsec is 2678\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].tables[0].rows.size(), 2U);
    EXPECT_EQ(sink.sections[0].tables[0].rows[1].label, "3");
    EXPECT_EQ(countOf(sink, DiagnosticCode::RowUnreadable), 1U);
}

// --- kernbench --------------------------------------------------------------------------------------------

TEST(Kernbench, takesRowsBelowTheirHeader)
{
    RecordingSink sink;
    loadText("the shape of the message.\n\n"
             "                      time     user   system   %cpu    ctx    sleeps\n"
             "2.6.8.1-mm1+nodespan  108.622  1588   10536    11158  31193   397966\n"
             "2.6.8.1-mm1+ns+rr     105.614  1163    8631     9302  27774   420888\n"
             "\nstays what it was, with 3 long lines.\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    const TableRecord& table = sink.sections[0].tables.at(0);
    EXPECT_EQ(table.shape, TableShape::RowsAreVariants);
    EXPECT_EQ(table.columns, (std::vector<std::string>{"time", "user", "system", "%cpu", "ctx", "sleeps"}));
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[0].label, "2.6.8.1-mm1+nodespan");
    EXPECT_EQ(table.rows[0].values[0], FixedPoint{108'622'000});
    EXPECT_EQ(table.rows[1].values[5], FixedPoint::fromInteger(420888));
    EXPECT_TRUE(sink.diagnostics.empty()); // 100 * 12124 / 108.622 = 11161.6, 0.03 % from 11158
}

TEST(Kernbench, takesRowsFromOneLineWithProseAroundThem)
{
    RecordingSink sink;
    loadText("Results follow. time user system %cpu ctx sleeps 2.6.8.1-mm1+nodespan 108.622 1588 10536 11158 "
             "31193 397966 2.6.8.1-mm1+ns+rr 105.614 1163 8631 9302 27774 420888 so 9302 is less.\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.position.column, 17U);
    const TableRecord& table = sink.sections[0].tables.at(0);
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[1].label, "2.6.8.1-mm1+ns+rr");
    EXPECT_EQ(table.rows[1].values[3], FixedPoint::fromInteger(9302));
    EXPECT_EQ(countOf(sink, DiagnosticCode::LineEndsLost), 1U);
}

TEST(Kernbench, joinsRowsThatAMailerWrapped)
{
    RecordingSink sink;
    loadText("kernel   Elapsed User System CPU% CtxSw Sleeps\n"
             "2.5.40   100.00 300.00 50.00 350\n4000 5000\n"
             "2.5.41   200.00 300.00 50.00 175\n4001 5001\n",
        sink);
    const TableRecord& table = sink.sections.at(0).tables.at(0);
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[1].label, "2.5.41");
    EXPECT_EQ(table.rows[1].values[5], FixedPoint::fromInteger(5001));
    EXPECT_EQ(countOf(sink, DiagnosticCode::RowsRejoined), 2U);
}

TEST(Kernbench, reportsAPercentageThatDoesNotFit)
{
    RecordingSink sink;
    loadText("time user system %cpu\nbase 100 300 50 360\nnew 100 300 50 351\n", sink);
    EXPECT_EQ(sink.sections.at(0).tables.at(0).rows.size(), 2U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::PrintedFigureDiffers), 1U); // 350; 351 is within 0.5 %
}

TEST(Kernbench, takesLoadBlocksAsOneSeries)
{
    RecordingSink sink;
    loadText("2.6.10-rc1:\n\n"
             "Average Half Load -j 4 Run (std deviation):\n"
             "Elapsed Time 226.15 (1.06)\nUser Time 808.98 (1.1)\nSystem Time 44.9 (0.3)\n"
             "Percent CPU 377 (1.2)\nContext Switches 12345 (123)\nSleeps 5555 (55)\n\n"
             "Average Optimal load -j 16 Run:\n"
             "Elapsed Time 220\nUser Time 818.98\nSystem Time 46\nPercent CPU 393\n"
             "Context Switches 22345\nSleeps 6666\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.title, "2.6.10-rc1");
    const TableRecord& table = sink.sections[0].tables.at(0);
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[0].label, "4");
    EXPECT_EQ(table.rows[0].values[0], FixedPoint{226'150'000});
    EXPECT_EQ(table.rows[1].label, "16");
    EXPECT_EQ(table.rows[1].values[5], FixedPoint::fromInteger(6666));
}

TEST(Kernbench, leavesProseAndOtherTablesAlone)
{
    RecordingSink sink;
    loadText("The time user system %cpu columns come from time(1) and say little.\n\n"
             "real user sys\n1.0 2.0 3.0\n\n"
             "us sy id wa\n1 2 97 0\n",
        sink, SIZE_MAX, {.onlyFormat = "kernbench"});
    EXPECT_TRUE(sink.sections.empty());
}

// --- lat_ctx ----------------------------------------------------------------------------------------------

constexpr std::string_view kLatCtx = "Test Data:\n\n"
                                     "Test case: lat_ctx -s 16 2 4\n"
                                     "                Base O(1)J9 aa2\n"
                                     "# of processes 2.4.17 2.4.17 2.4.18pre7\n"
                                     "\xc2\xa0 \xc2\xa0 2 16.15 13.93 16.25\n"
                                     "      4 16.13 16.51 16.19\n"
                                     "\nmore words\n";

TEST(LatCtx, joinsTwoHeaderLinesByPosition)
{
    RecordingSink sink;
    loadText(kLatCtx, sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.title, "lat_ctx -s 16");
    EXPECT_EQ(sink.sections[0].record.command, "lat_ctx -s 16 2 4");
    const TableRecord& table = sink.sections[0].tables.at(0);
    EXPECT_EQ(table.shape, TableShape::ColumnsAreVariants);
    EXPECT_EQ(table.rowName, "processes");
    EXPECT_EQ(table.unit, "us");
    EXPECT_EQ(table.columns, (std::vector<std::string>{"Base 2.4.17", "O(1)J9 2.4.17", "aa2 2.4.18pre7"}));
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[0].label, "2");
    EXPECT_EQ(table.rows[1].values[1], FixedPoint{16'510'000});
    EXPECT_TRUE(sink.diagnostics.empty());
}

TEST(LatCtx, saysWhenRowsAreNotThoseOfTheCommand)
{
    RecordingSink cut;
    loadText("lat_ctx -s 0 2 4 8\nbase new\n2 1.0 2.0\n4 1.0 2.0\n", cut);
    EXPECT_EQ(cut.sections.at(0).tables.at(0).rows.size(), 2U);
    EXPECT_EQ(countOf(cut, DiagnosticCode::TableTruncated), 1U);
    RecordingSink other;
    loadText("lat_ctx -s 0 2 4\nbase new\n2 1.0 2.0\n8 1.0 2.0\n", other);
    EXPECT_EQ(countOf(other, DiagnosticCode::PrintedFigureDiffers), 1U);
}

TEST(LatCtx, takesRawOutput)
{
    RecordingSink sink;
    loadText("\n\"size=0k ovr=1.23\n2 0.97\n4 4.97\n\n\"size=16k ovr=2.50\n2 13.93\n", sink);
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[1].record.title, "lat_ctx size=16k");
    EXPECT_EQ(sink.sections[0].tables.at(0).rows.at(1).values.at(0), FixedPoint{4'970'000});
}

TEST(LatCtx, leavesProseAboutItAlone)
{
    RecordingSink sink;
    loadText(
        "I ran lat_ctx -s 16 with 2 and 4 processes.\n2 3\n\nlat_ctx -s 16 2 4\n\nand it crashed.\n", sink);
    EXPECT_TRUE(sink.sections.empty());
}

// --- aim7 -------------------------------------------------------------------------------------------------

TEST(Aim7, takesASeriesPerTableWithItsUnderlinedTitle)
{
    RecordingSink sink;
    loadText("Linux 2.4.9\n-----------\nBenchmark\tVersion\tMachine\tRun Date\n"
             "AIM Multiuser Benchmark - Suite VII\t\"1.0\"\tmachine1\tOct  2 07:47:40 2001\n\n"
             "Tasks\tJobs/Min\tJTI\tReal\tCPU\tJ/S/T\n"
             "1\t11.8\t\t100\t492.0\t10.9\t0.1972\n"
             "500\t2801.9\t\t97\t1038.6\t7724.7\t0.0934\n"
             "1000\t1584.9\t\t97\t3672.2\n\n"
             "Linux 2.4.10\n------------\n\n"
             "Tasks\tJobs/Min\tJTI\tReal\tCPU\tJ/S/T\n"
             "1\t45.3\t\t100\t128.3\t4.2\t0.7558\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[0].record.title, "Linux 2.4.9");
    EXPECT_EQ(sink.sections[1].record.title, "Linux 2.4.10");
    const TableRecord& table = sink.sections[0].tables.at(0);
    EXPECT_EQ(table.shape, TableShape::Scaling);
    EXPECT_EQ(table.rowName, "tasks");
    EXPECT_EQ(table.columns, (std::vector<std::string>{"Jobs/Min", "JTI", "Real", "CPU", "J/S/T"}));
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[1].label, "500");
    EXPECT_EQ(table.rows[1].values[0], FixedPoint{2'801'900'000});
    EXPECT_EQ(countOf(sink, DiagnosticCode::RowUnreadable), 1U); // the row of 1000 tasks is cut
}

} // namespace
} // namespace whichlock::test
