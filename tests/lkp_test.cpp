// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/lkp_profile.h"
#include "parsers/formats/lkp_rows.h"
#include "tests/support/recording_sink.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

constexpr std::string_view kHead = "7758e567e303a552 e3588283e94f85ef79c2f5529c4\n"
                                   "---------------- ---------------------------\n"
                                   "         %stddev     %change         %stddev\n"
                                   "             \\          |                \\\n";

std::string withHead(std::string_view rows)
{
    return std::string(kHead) + std::string(rows);
}

int64_t millionths(const std::optional<FixedPoint>& value)
{
    return value ? value->millionths : -1;
}

TEST(LkpRows, takesValuesDeviationsAndTheKindOfChange)
{
    const auto row =
        lkp::rowOf("     95.59           -47.7       47.87 \xC2\xB1  4%  perf-profile.self.cycles.f");
    ASSERT_TRUE(row);
    ASSERT_EQ(row->cells.size(), 2U);
    EXPECT_EQ(millionths(row->cells[0].value), 95'590'000);
    EXPECT_FALSE(row->cells[0].spread);
    EXPECT_EQ(millionths(row->cells[1].spread), 4'000'000);
    EXPECT_TRUE(row->points);
    EXPECT_EQ(row->metric, "perf-profile.self.cycles.f");
    EXPECT_FALSE(lkp::rowOf("     31234           -12.0%      27501 \xC2\xB1  5%  fxmark.works/sec")->points);
}

TEST(LkpRows, knowsTheSignOfDeviationsInEveryEncoding)
{
    for (const std::string_view sign : {"\xC2\xB1", "\xB1", "\xEF\xBF\xBD", "+-", "?"}) {
        for (const std::string_view gap : {" ", ""}) {
            const std::string line = "  1.323e+10 " + std::string(sign) + std::string(gap)
                + "12%     +48.0%  1.957e+10        cpuidle..time";
            const auto row = lkp::rowOf(line);
            ASSERT_TRUE(row) << line;
            EXPECT_EQ(millionths(row->cells[0].spread), 12'000'000) << line;
            EXPECT_EQ(millionths(row->cells[0].value), 13'230'000'000'000'000) << line;
        }
    }
}

TEST(LkpRows, takesAnyNumberOfCommits)
{
    const auto row = lkp::rowOf("   100 ±  2%   +5.0%   105 ±  3%   -7.0%    93   x.ops");
    ASSERT_TRUE(row);
    ASSERT_EQ(row->cells.size(), 3U);
    EXPECT_EQ(millionths(row->cells[2].value), 93'000'000);
}

TEST(LkpRows, refusesWhatIsNoRow)
{
    for (const std::string_view line : {"", "  100  x.ops", "1 2 3 4", "  100   +5.0%   105   two words.here",
             "  100   5.0%   105   x.ops", "  100 ± 2   +5.0%  105  x.ops"})
        EXPECT_FALSE(lkp::rowOf(line)) << line;
    EXPECT_TRUE(lkp::isFailureRow("           :6           33%           2:6     dmesg.WARNING:at_f"));
    EXPECT_FALSE(lkp::isFailureRow("  100   +5.0%   105  x.ops"));
}

TEST(LkpRows, keepsPointsThatBelongToNames)
{
    const auto functions = lkp::functionsOf("f.isra.0.g.constprop.12.h.cold.i");
    ASSERT_EQ(functions.size(), 4U);
    EXPECT_EQ(functions[0], "f.isra.0");
    EXPECT_EQ(functions[1], "g.constprop.12");
    EXPECT_EQ(functions[2], "h.cold");
    EXPECT_EQ(functions[3], "i");
}

std::vector<int64_t> ownPercentOf(std::vector<std::pair<std::string, int64_t>> printed)
{
    std::vector<lkp::CallPath> paths;
    for (auto& [path, percent] : printed)
        paths.push_back({.path = path, .shares = {Share{percent * Share::kPercent}}});
    lkp::takeApart(paths);
    std::vector<int64_t> own;
    for (const lkp::CallPath& path : paths)
        own.push_back(path.own[0].ppb / Share::kPercent);
    return own;
}

TEST(LkpProfile, neverAddsAFunctionToWhatItCalls)
{
    // main 90 = a 60 + b 20 + 10 of its own; a 60 = x 25 + 35 of its own.
    EXPECT_EQ(ownPercentOf({{"main", 90}, {"a.main", 60}, {"x.a.main", 25}, {"b.main", 20}}),
        (std::vector<int64_t>{10, 35, 25, 20}));
}

TEST(LkpProfile, findsTheNearestPrintedPathAboveALongOne)
{
    // g.f is not printed; the path is cut at five functions.
    EXPECT_EQ(ownPercentOf({{"f.e.d.c.b", 50}, {"h.g.f.e.d", 30}}), (std::vector<int64_t>{20, 30}));
}

TEST(LkpProfile, givesNothingToPathsThatCannotBeToldApart)
{
    // What is below may be of either: both might hold it.
    EXPECT_EQ(ownPercentOf({{"f.e.d.c.b", 50}, {"f.e.d.c.x", 40}, {"g.f.e.d.c", 30}}),
        (std::vector<int64_t>{0, 0, 30}));
}

TEST(LkpProfile, tellsAWholePathFromALongerOne)
{
    // `f.main` ends at the root: it is not the outer part of `f.main.start`.
    EXPECT_EQ(ownPercentOf({{"f.main.start", 50}, {"g.f.main", 30}}), (std::vector<int64_t>{50, 30}));
}

TEST(Lkp, makesOneTableAndAProfileForEachCommit)
{
    RecordingSink sink;
    const LoadedInput loaded = loadText(
        withHead(
            "    100616           +11.4%     112091        aim7.jobs-per-min\n"
            "      9.83 \xB1  2%      +4.2       14.04 \xB1  4%  "
            "perf-profile.calltrace.cycles-pp.osq_lock.f.g\n"
            "     12.00           +3.0       15.00        perf-profile.calltrace.cycles-pp.f.g\n"
            "     50.00           +1.0       51.00        perf-profile.children.cycles-pp.f\n\nThanks\n"),
        sink);
    EXPECT_EQ(loaded.format, "lkp");
    ASSERT_EQ(sink.sections.size(), 3U);
    EXPECT_EQ(sink.sections[0].record.kind, SectionKind::Measurements);
    ASSERT_EQ(sink.sections[0].tables.size(), 3U);
    EXPECT_EQ(sink.sections[0].tables[0].columns[0], "7758e567e303a552");
    const TableRow& path = sink.sections[0].tables[1].rows.at(0);
    EXPECT_TRUE(path.percent);
    EXPECT_EQ(millionths(path.spreads.at(1)), 4'000'000);
    // After: f has 15.00 with osq_lock's 14.04, so 0.96 of its own. The row of children is no part of it.
    ASSERT_EQ(sink.sections[2].rows.size(), 2U);
    EXPECT_EQ(sink.sections[2].rows[0].symbol, "osq_lock");
    EXPECT_EQ(sink.sections[2].rows[0].share, Share{140'400'000});
    EXPECT_EQ(sink.sections[2].rows[1].share, Share{9'600'000});
}

TEST(Lkp, joinsAMetricThatWasWrapped)
{
    RecordingSink sink;
    loadText(
        withHead("      9.83 \xC2\xB1  2%      +4.2       14.04 \xC2\xB1  4%\nperf-profile.self.cycles-pp.f\n"
                 "      1.00           +1.0        2.00        perf-profile.self.cycles-pp.g\n"),
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].tables.at(0).rows.size(), 2U);
    EXPECT_EQ(sink.sections[0].tables[0].rows[0].label, "f");
}

TEST(Lkp, saysWhichRowsHoldNoFigures)
{
    RecordingSink sink;
    loadText(withHead("           :6           33%           2:6     dmesg.WARNING:at_f\n"
                      "       5.00          +10.0%       5.50        x.ops\n"
                      "  garbage in between\n"
                      "       6.00          +10.0%       6.60        y.ops\n"),
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].tables.at(0).rows.size(), 2U);
    ASSERT_EQ(sink.diagnostics.size(), 2U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::RowUnreadable);
    EXPECT_EQ(sink.diagnostics[1].code, DiagnosticCode::RemarkInTable);
}

TEST(Lkp, skipsALastRowThatIsCutWithinItsKindOfProfile)
{
    RecordingSink sink;
    loadText(withHead("       5.00          +10.0%       5.50        x.ops\n"
                      "       6.00           +1.0        7.00        perf-profile.calltrace.cyc"),
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].tables.size(), 1U);
    EXPECT_EQ(sink.sections[0].tables[0].rows.size(), 1U);
    ASSERT_EQ(sink.diagnostics.size(), 1U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::RowUnreadable);
}

TEST(Lkp, usesNoCallPathsThatAreMoreThanTheWhole)
{
    RecordingSink sink;
    loadText(withHead("      60.00           +1.0       61.00        perf-profile.calltrace.cycles.a.b\n"
                      "      60.00           +1.0       61.00        perf-profile.calltrace.cycles.c.d\n"),
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.diagnostics.size(), 2U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::GraphNotUsed);
}

} // namespace
} // namespace whichlock::test
