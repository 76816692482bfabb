// SPDX-License-Identifier: GPL-3.0-or-later
// Five public documents that the project was begun for, and what must be said of each. All figures were
// computed by hand from the tables in the documents.
#include "tests/support/reported.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace whichlock::test {
namespace {

using testing::IsNotSubstring;
using testing::IsSubstring;

using Strings = std::vector<std::string>;
using Numbers = std::vector<double>;

bool anyContains(const Json& texts, const std::string& part)
{
    return std::any_of(texts.begin(), texts.end(),
        [&](const Json& text) { return text.get<std::string>().find(part) != std::string::npos; });
}

Strings rowLabels(const Json& table)
{
    Strings labels;
    for (const Json& row : table.at("rows"))
        labels.push_back(row.at("label"));
    return labels;
}

/// All comparison rows between two names.
std::vector<Json> comparisonRows(const Json& json, const std::string& before, const std::string& after)
{
    std::vector<Json> rows;
    for (const Json& comparison : json.at("comparisons")) {
        if (comparison.at("before") != before || comparison.at("after") != after)
            continue;
        rows.insert(rows.end(), comparison.at("rows").begin(), comparison.at("rows").end());
    }
    return rows;
}

/// The first comparison row of that name, or null.
Json comparisonRow(const Json& json, const std::string& what)
{
    for (const Json& comparison : json.at("comparisons")) {
        for (const Json& row : comparison.at("rows")) {
            if (row.at("what") == what)
                return row;
        }
    }
    return {};
}

Json candidate(const Json& section, const std::string& name)
{
    for (const Json& one : section.at("candidates")) {
        if (one.at("name") == name)
            return one;
    }
    return {};
}

TEST(FoundingDocuments, routeCacheCountsAreReadFromOneLineAndBlameNothing)
{
    const Reported reported = reportOfSample({"benchmarks/route-cache-flat/input.txt"});
    ASSERT_EQ(reported.json.at("sections").size(), 1U);
    const Json& section = reported.json.at("sections")[0];
    EXPECT_EQ(section.at("kind"), "measurements");
    EXPECT_EQ(section.at("position").at("line"), 1);
    ASSERT_EQ(section.at("tables").size(), 1U);
    const Json& table = section.at("tables")[0];
    EXPECT_EQ(rowLabels(table),
        Strings({"8-1-32", "8-1-32-gc", "8-1-32-u2000", "8-1-32-u2000-gc", "8-4-8", "8-4-8-gc", "8-4-8-u2000",
            "8-4-8-u2000-gc"}));

    ASSERT_EQ(reported.json.at("comparisons").size(), 1U);
    const Json& rows = reported.json.at("comparisons")[0].at("rows");
    ASSERT_EQ(rows.size(), 8U);
    const double reductions[] = {29.81, 51.49, 35.05, 49.86, 31.53, 38.54, 31.40, 44.45};
    for (size_t i = 0; i < 8; ++i)
        EXPECT_NEAR(rows[i].at("change_percent").get<double>(), -reductions[i], 0.01) << rows[i];

    EXPECT_TRUE(reported.lockRows().empty());
    EXPECT_NE(reported.json.at("verdict").at("guilty"), "yes");
    EXPECT_PRED_FORMAT2(IsSubstring, "values are counts of one symbol per variant", reported.flatText());
}

TEST(FoundingDocuments, kernbenchOn512CpusIsReadFromFlattenedText)
{
    const Reported reported = reportOfSample({"readprofile/ia64-512p-flat/input.txt"});
    const auto tables = reported.sections("measurements");
    ASSERT_EQ(tables.size(), 1U);
    ASSERT_EQ(tables[0].at("tables").size(), 1U);
    const Json& kernbench = tables[0].at("tables")[0];
    EXPECT_EQ(rowLabels(kernbench), Strings({"2.6.8.1-mm1+nodespan", "2.6.8.1-mm1+ns+rr"}));
    EXPECT_EQ(
        kernbench.at("columns").get<Strings>(), Strings({"time", "user", "system", "%cpu", "ctx", "sleeps"}));
    EXPECT_EQ(kernbench.at("rows")[0].at("values").get<Numbers>(),
        Numbers({108.622, 1588, 10536, 11158, 31193, 397966}));
    EXPECT_EQ(kernbench.at("rows")[1].at("values").get<Numbers>(),
        Numbers({105.614, 1163, 8631, 9302, 27774, 420888}));

    const auto profiles = reported.sections("cpu-profile");
    ASSERT_EQ(profiles.size(), 1U);
    EXPECT_EQ(profiles[0].at("rows"), 29);
    EXPECT_EQ(profiles[0].at("total"), 208218076U);
    // `head -30` stands right before the total: neither may eat the other.
    EXPECT_EQ(profiles[0].at("total_basis"), "printed");
}

TEST(FoundingDocuments, kernbenchOn512CpusSpinsForALockThatTheProfileCannotName)
{
    const Reported reported = reportOfSample({"readprofile/ia64-512p-flat/input.txt"});
    const auto profiles = reported.sections("cpu-profile");
    ASSERT_EQ(profiles.size(), 1U);
    const Json& profile = profiles[0];
    // 8723555 of 208218076; of 208218076 - 90036167 - 88140492; and that without 10312592 and 10306777.
    EXPECT_EQ(profile.at("contention_total"), 8723555U);
    EXPECT_NEAR(profile.at("contention_share_of_total_percent").get<double>(), 4.1896, 0.0001);
    EXPECT_NEAR(profile.at("contention_share_of_busy_percent").get<double>(), 29.0384, 0.0001);
    EXPECT_NEAR(
        profile.at("contention_share_of_busy_if_probable_idle_percent").get<double>(), 92.5866, 0.0001);
    EXPECT_PRED_FORMAT2(IsSubstring, "92.6 %", reported.flatText());
    EXPECT_EQ(reported.json.at("verdict").at("guilty"), "yes");

    const auto locks = reported.lockRows();
    ASSERT_FALSE(locks.empty());
    for (const Json& lock : locks)
        EXPECT_TRUE(lock.at("rung") == "call-site" || lock.at("rung") == "unnamed") << lock;
}

TEST(FoundingDocuments, kernbenchOn512CpusHasCandidatesThatTheirTicksDoNotRank)
{
    const Reported reported = reportOfSample({"readprofile/ia64-512p-flat/input.txt"});
    const auto profiles = reported.sections("cpu-profile");
    ASSERT_EQ(profiles.size(), 1U);
    // A lock meter run of the same day proved dcache_lock; the ticks of the functions say files_lock or RCU.
    const Json dcache = candidate(profiles[0], "dcache_lock");
    ASSERT_FALSE(dcache.is_null());
    EXPECT_TRUE(anyContains(dcache.at("reasons"), "atomic_dec_and_lock"));
    const Json files = candidate(profiles[0], "files_lock");
    ASSERT_FALSE(files.is_null());
    EXPECT_TRUE(anyContains(files.at("reasons"), "file_move"));
    bool rcu = false;
    for (const Json& one : profiles[0].at("candidates")) {
        const std::string name = one.at("name");
        rcu = rcu || name.starts_with("rcu_state.") || name.starts_with("rcu_ctrlblk.");
        EXPECT_FALSE(one.at("reasons").empty()) << name;
    }
    EXPECT_TRUE(rcu);
    for (const char* lock : {"dcache_lock", "files_lock", "do not rank the locks"})
        EXPECT_PRED_FORMAT2(IsSubstring, lock, reported.flatText());
    EXPECT_FALSE(reported.json.at("record_next").empty());
}

TEST(FoundingDocuments, returnProbesHaveTwoProfilesTwoVmstatsAndTwoScores)
{
    const Reported reported = reportOfSample({"opreport/kretprobe-vmstat/input.txt"});
    const auto profiles = reported.sections("cpu-profile");
    ASSERT_EQ(profiles.size(), 2U);
    EXPECT_NEAR(profiles[0].at("contention_share_of_total_percent").get<double>(), 0, 1e-9);
    EXPECT_NEAR(profiles[0].at("lock_functions_share_of_total_percent").get<double>(), 0, 1e-9);
    // 15.1450 + 6.9543
    EXPECT_NEAR(profiles[1].at("contention_share_of_total_percent").get<double>(), 22.0993, 0.0001);
    EXPECT_NEAR(profiles[1].at("lock_functions_share_of_total_percent").get<double>(), 22.0993, 0.0001);

    const auto counters = reported.sections("counters");
    ASSERT_EQ(counters.size(), 2U);
    // 17 18 19 20 19 and 41 43 43; without r and b nothing says that the first row is since boot.
    EXPECT_NEAR(counters[0].at("counters").at("sy_mean_percent").get<double>(), 18.6, 0.0001);
    EXPECT_NEAR(counters[1].at("counters").at("sy_mean_percent").get<double>(), 42.3333, 0.0001);
    EXPECT_FALSE(counters[0].at("counters").contains("sy_mean_without_first_percent"));

    Numbers scores;
    for (const Json& section : reported.json.at("sections")) {
        for (const Json& score : section.value("scores", Json::array()))
            scores.push_back(score.at("value"));
    }
    EXPECT_EQ(scores, Numbers({2218, 1673}));
    const Json row = comparisonRow(reported.json, "specjbb score");
    ASSERT_FALSE(row.is_null());
    EXPECT_EQ(row.at("before"), 2218);
    EXPECT_EQ(row.at("after"), 1673);
    EXPECT_NEAR(row.at("change_percent").get<double>(), -24.5717, 0.0001);
    EXPECT_PRED_FORMAT2(IsSubstring, "-24.6 %", reported.flatText());
}

TEST(FoundingDocuments, returnProbesSpinForALockThatTheTextNames)
{
    const Reported reported = reportOfSample({"opreport/kretprobe-vmstat/input.txt"});
    const auto profiles = reported.sections("cpu-profile");
    ASSERT_EQ(profiles.size(), 2U);
    EXPECT_TRUE(profiles[0].at("locks").empty());
    for (const Json& lock : reported.lockRows()) {
        EXPECT_PRED_FORMAT2(IsNotSubstring, "kretprobe_lock", lock.at("name").get<std::string>());
        EXPECT_EQ(lock.at("rung"), "unnamed");
    }
    ASSERT_FALSE(profiles[1].at("candidates").empty());
    const Json& first = profiles[1].at("candidates")[0];
    EXPECT_EQ(first.at("name"), "kretprobe_lock");
    // `(The kretprobe_lock is what serialises ...` is line 28 of the document.
    EXPECT_TRUE(anyContains(first.at("reasons"), "the text names it (line 28)"));
    EXPECT_PRED_FORMAT2(IsSubstring, "kretprobe_lock", reported.flatText());
    EXPECT_PRED_FORMAT2(IsSubstring, "22.1 of 42.3 points of system time", reported.flatText());
}

TEST(FoundingDocuments, kprobesSeriesAreOfFifteenPoints)
{
    const Reported reported = reportOfSample({"benchmarks/kprobes-scaling/input.txt"});
    const auto sections = reported.sections("measurements");
    ASSERT_EQ(sections.size(), 2U);
    for (const Json& section : sections) {
        ASSERT_EQ(section.at("tables").size(), 1U);
        const auto labels = rowLabels(section.at("tables")[0]);
        ASSERT_EQ(labels.size(), 15U);
        for (size_t i = 0; i < labels.size(); ++i)
            EXPECT_EQ(labels[i], std::to_string(i + 1));
        for (const Json& series : section.at("series"))
            EXPECT_EQ(series.at("points").size(), 15U) << series.at("label");
    }
}

TEST(FoundingDocuments, kprobesBeforeScaleNegativelyAndAfterALittle)
{
    const Reported reported = reportOfSample({"benchmarks/kprobes-scaling/input.txt"});
    const auto sections = reported.sections("measurements");
    ASSERT_EQ(sections.size(), 2U);
    const Json& before = sections[0].at("scaling");
    EXPECT_NEAR(before.at("cost_factor").get<double>(), 29947.0 / 453, 0.001);
    EXPECT_NEAR(before.at("throughput_first").get<double>(), 65536 / 0.029705, 1);
    EXPECT_NEAR(before.at("throughput_last").get<double>(), 983040 / 29.439282, 1);
    const Json& after = sections[1].at("scaling");
    EXPECT_NEAR(after.at("speedup_last").get<double>(), 4.7319, 0.0001);
    EXPECT_NEAR(after.at("efficiency_last_percent").get<double>(), 31.546, 0.001);

    const std::string text = reported.flatText();
    for (const char* words : {"66.1", "2.21 M", "33.4 k", "4.73", "31.5 %", "313.7", "315.2",
             "a serialised path, as one lock would make it", "not identifiable"})
        EXPECT_PRED_FORMAT2(IsSubstring, words, text);
    EXPECT_NE(reported.json.at("verdict").at("guilty"), "yes");
    EXPECT_TRUE(reported.lockRows().empty());

    const Json total = comparisonRow(reported.json, "total time us at 15 CPUs");
    ASSERT_FALSE(total.is_null());
    EXPECT_NEAR(total.at("before").get<double>() / total.at("after").get<double>(), 313.745, 0.001);
    const Json cost = comparisonRow(reported.json, "ns per hit at 15 CPUs");
    ASSERT_FALSE(cost.is_null());
    EXPECT_NEAR(cost.at("before").get<double>() / cost.at("after").get<double>(), 315.232, 0.001);
}

TEST(FoundingDocuments, contextSwitchTablesHaveFiveKernelsEach)
{
    const Reported reported = reportOfSample({"benchmarks/context-switch-columns/input.txt"});
    const auto sections = reported.sections("measurements");
    ASSERT_EQ(sections.size(), 4U);
    for (const Json& section : sections) {
        ASSERT_EQ(section.at("tables").size(), 1U);
        const Json& table = section.at("tables")[0];
        // The scheduler stands in one header line, the version in the next.
        EXPECT_EQ(table.at("columns").get<Strings>(),
            Strings(
                {"Base 2.4.17", "O(1)J9 2.4.17", "Base 2.4.18pre7", "O(1)J9 2.4.18pre7", "aa2 2.4.18pre7"}));
        EXPECT_EQ(rowLabels(table), Strings({"2", "4", "8", "16", "32", "64"}));
        for (const Json& row : table.at("rows"))
            EXPECT_EQ(row.at("values").size(), 5U);
    }
    const Json& first = sections[0].at("tables")[0].at("rows");
    EXPECT_EQ(first[0].at("values").get<Numbers>(), Numbers({3.03, 0.97, 3.27, 0.93, 3.07}));
    const Json& last = sections[3].at("tables")[0].at("rows");
    EXPECT_EQ(last[5].at("values").get<Numbers>(), Numbers({184.46, 178.63, 188.30, 184.97, 189.13}));
}

TEST(FoundingDocuments, contextSwitchTablesShowChangesAndBlameNoLock)
{
    const Reported reported = reportOfSample({"benchmarks/context-switch-columns/input.txt"});
    const auto rows = comparisonRows(reported.json, "Base 2.4.17", "O(1)J9 2.4.17");
    ASSERT_EQ(rows.size(), 24U); // 4 tables of 6 rows; those without data come first
    EXPECT_EQ(rows[0].at("what"), "2 processes");
    EXPECT_NEAR(rows[0].at("change_percent").get<double>(), -67.9868, 0.0001);
    EXPECT_EQ(rows[1].at("what"), "4 processes");
    EXPECT_NEAR(rows[1].at("change_percent").get<double>(), 40.0, 0.0001);
    EXPECT_PRED_FORMAT2(IsSubstring, "-68.0 %", reported.flatText());
    EXPECT_PRED_FORMAT2(IsSubstring, "+40.0 %", reported.flatText());
    EXPECT_NE(reported.json.at("verdict").at("guilty"), "yes");
    EXPECT_TRUE(reported.lockRows().empty());
}

} // namespace
} // namespace whichlock::test
