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

} // namespace
} // namespace whichlock::test
