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

uint64_t sumOf(const KeptSection& section)
{
    uint64_t sum = 0;
    for (const KeptRow& row : section.rows)
        sum += row.value.value_or(0);
    return sum;
}

constexpr std::string_view kCounts = "                                Base    dcache_rcu\n"
                                     "                                ------------------\n"
                                     ".text.lock.dcache               19586    1569\n"
                                     ".text.lock.namei                12892     984\n"
                                     "link_path_walk                  15017   13256\n"
                                     "follow_mount                     1851   11027\n"
                                     "__d_lookup                      10084    --- \n"
                                     "d_lookup                         2885   30067\n"
                                     "path_lookup                      6934    9283\n"
                                     ".text.lock.dec_and_lock         3994     1568\n"
                                     "                            -------------------\n"
                                     "                                73243   67754\n\n";

TEST(BeforeAfter, takesCountsOfFunctionsAsOneProfileAColumn)
{
    RecordingSink sink;
    loadText("pass over such lines and go on to the rows.\n" + std::string(kCounts) + "More words.\n", sink);
    ASSERT_EQ(sink.sections.size(), 2U);
    const KeptSection& base = sink.sections[0];
    EXPECT_EQ(base.record.title, "Base");
    EXPECT_EQ(base.record.kind, SectionKind::CpuProfile);
    EXPECT_EQ(base.record.unit, Unit::Samples);
    EXPECT_EQ(base.total, 73243U);
    EXPECT_EQ(base.rows.size(), 8U);
    EXPECT_EQ(sumOf(base), 73243U);
    const KeptSection& rcu = sink.sections[1];
    EXPECT_EQ(rcu.record.title, "dcache_rcu");
    EXPECT_EQ(rcu.total, 67754U);
    EXPECT_EQ(rcu.rows.size(), 7U); // `---` is no row
    EXPECT_EQ(sumOf(rcu), 67754U);
    EXPECT_TRUE(sink.diagnostics.empty());
}

TEST(BeforeAfter, saysWhenSumsDoNotAgreeWithTheRows)
{
    RecordingSink sink;
    loadText("base new\n--------\nd_lookup 10 20\npath_lookup 5 6\n--------\n14 30\n", sink);
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::TotalBelowRows), 1U);       // 14 < 15
    EXPECT_EQ(countOf(sink, DiagnosticCode::PrintedFigureDiffers), 1U); // 30 > 26: the list may be cut
}

constexpr std::string_view kSpeedups = "Test base rtrcu speedup\n---- ---- ----- -------\n"
                                       "8-1-32 2358 1655 29.8%\n8-1-32-gc 4486 2176 51.4%\n"
                                       "8-1-32-u2000 2990 1942 35.0%\n8-1-32-u2000-gc 4047 2029 49.8%\n"
                                       "8-4-8 2870 1965 31.5%\n8-4-8-gc 3389 2083 38.5%\n"
                                       "8-4-8-u2000 3459 2373 31.3%\n8-4-8-u2000-gc 4686 2603 44.4%\n";
constexpr std::string_view kSaysWhat = "The figures are profile counts in ip_route_output_key() on 8 CPUs.";

void expectSpeedups(const RecordingSink& sink)
{
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.kind, SectionKind::Measurements);
    const TableRecord& table = sink.sections[0].tables.at(0);
    EXPECT_EQ(table.shape, TableShape::ColumnsAreVariants);
    EXPECT_EQ(table.rowName, "test");
    EXPECT_EQ(table.about, "profile counts in ip_route_output_key()");
    EXPECT_EQ(table.columns, (std::vector<std::string>{"base", "rtrcu"}));
    ASSERT_EQ(table.rows.size(), 8U);
    EXPECT_EQ(table.rows[0].label, "8-1-32");
    EXPECT_EQ(table.rows[7].label, "8-4-8-u2000-gc");
    EXPECT_EQ(table.rows[7].values[0], FixedPoint::fromInteger(4686));
    EXPECT_EQ(table.rows[7].values[1], FixedPoint::fromInteger(2603));
    ASSERT_EQ(countOf(sink, DiagnosticCode::PrintedFigureDiffers), 1U);
    for (const Diagnostic& diagnostic : sink.diagnostics) {
        if (diagnostic.code == DiagnosticCode::PrintedFigureDiffers) {
            EXPECT_EQ(diagnostic.message,
                "the printed speedup figures are cut and not rounded: 8-1-32-gc 51.49 printed 51.4, "
                "8-1-32-u2000 35.05 printed 35.0, 8-1-32-u2000-gc 49.86 printed 49.8, "
                "8-4-8-u2000 31.40 printed 31.3, 8-4-8-u2000-gc 44.45 printed 44.4");
        }
    }
}

TEST(BeforeAfter, takesTestsWithPrintedSpeedupsFromLines)
{
    RecordingSink sink;
    loadText(std::string(kSaysWhat) + "\n\n" + std::string(kSpeedups) + "\n-- \nuser\n", sink);
    expectSpeedups(sink);
}

TEST(BeforeAfter, takesTheSameFromAMailOnOneLine)
{
    std::string mail = "From mboxrd@z Thu Jan 1 00:00:00 1970 Return-Path: Received: (user@example.org) by "
                       "mail.example.org id ; Tue, 28 May 2002 07:37:43 -0400 Hello, "
        + std::string(kSaysWhat) + " " + std::string(kSpeedups) + "-- user";
    std::replace(mail.begin(), mail.end(), '\n', ' ');
    RecordingSink sink;
    loadText(mail, sink);
    expectSpeedups(sink);
    EXPECT_EQ(countOf(sink, DiagnosticCode::LineEndsLost), 1U);
    EXPECT_EQ(sink.sections[0].record.position.column, mail.find("Test base") + 1);
}

TEST(BeforeAfter, takesTheSameFromAReFilledParagraph)
{
    std::string mail = std::string(kSaysWhat) + " " + std::string(kSpeedups);
    std::replace(mail.begin(), mail.end(), '\n', ' ');
    for (size_t at = mail.find(' ', 60); at != std::string::npos; at = mail.find(' ', at + 60))
        mail[at] = '\n';
    RecordingSink sink;
    loadText(mail, sink);
    expectSpeedups(sink);
}

TEST(BeforeAfter, reportsASpeedupThatDoesNotFollowFromItsRow)
{
    RecordingSink sink;
    loadText("test base new speedup\n---- ---- --- -------\na-1 100 50 50.0%\nb-1 100 80 40.0%\n", sink);
    ASSERT_EQ(countOf(sink, DiagnosticCode::PrintedFigureDiffers), 1U);
    EXPECT_EQ(sink.diagnostics[0].message,
        "the printed speedup figures do not follow from the columns: b-1 20.00 printed 40.0");
}

TEST(BeforeAfter, keepsNoChangeAsAVariantWhenTheTextIsCutInIt)
{
    RecordingSink sink;
    loadText("test base new speedup\n---- ---- --- -------\na-1 100 50 50.0%\nb-1 100 80 2", sink);
    EXPECT_EQ(sink.sections.at(0).tables.at(0).columns, (std::vector<std::string>{"base", "new"}));
    EXPECT_EQ(sink.sections[0].tables[0].rows.size(), 2U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::PrintedFigureDiffers), 1U); // 20.00 printed 2
}

TEST(BeforeAfter, takesGrowthAsSpeedupWhereMoreIsBetter)
{
    RecordingSink sink;
    loadText("test base new change\n---- ---- --- ------\na-1 100 150 50%\nb-1 100 180 +80%\n", sink);
    EXPECT_EQ(sink.sections.size(), 1U);
    EXPECT_TRUE(sink.diagnostics.empty());
}

TEST(BeforeAfter, takesNamesOfBenchmarksForNoProfile)
{
    RecordingSink sink;
    loadText("2.5.30 2.5.30-rcu\n----------------\nfork_test 100 110\npage_test 200 190\n", sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.kind, SectionKind::Measurements);
}

TEST(BeforeAfter, skipsARowThatCannotBeReadAndSaysSo)
{
    RecordingSink sink;
    loadText(
        "base new\n--------\nd_lookup 10 20\npath_lookup 5 6\nlink_path_walk 5 99999999999999999999999\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[1].rows.size(), 2U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::RowUnreadable), 1U);
}

TEST(BeforeAfter, leavesOtherTablesAlone)
{
    RecordingSink sink;
    loadText("name mean max\n---- ---- ----\nopen 10 20\nread 5 6\n\n"     // no variants
             "the new text\n------------\nhas only words\nand no rows\n\n" // no figures
             "base new\n--------\nd_lookup 10 20\n\n"                      // one row
             "% time seconds usecs/call calls\n------ ----------- ----------- ---------\n"
             "50.00 0.1 10 100\n25.00 0.2 20 200\n",
        sink);
    EXPECT_TRUE(sink.sections.empty());
}

} // namespace
} // namespace whichlock::test
