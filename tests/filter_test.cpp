// SPDX-License-Identifier: GPL-3.0-or-later
// Filters and groupings from a text to its report, with sums worked out by hand.
#include "analyzer/report/redact.h"
#include "tests/support/reported.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

constexpr const char* kSpin = "\tffffffff81001010 native_queued_spin_lock_slowpath+0x10 ([kernel.kallsyms])\n"
                              "\tffffffff81002020 _raw_spin_lock+0x20 ([kernel.kallsyms])\n"
                              "\tffffffff81003031 dput+0x31 ([kernel.kallsyms])\n";
constexpr const char* kWork = "\tffffffff81004005 ext4_do_writepages+0x5 ([kernel.kallsyms])\n"
                              "\tffffffff81005005 do_writepages+0x5 ([kernel.kallsyms])\n";
constexpr const char* kIdle = "\tffffffff81006005 default_idle+0x5 ([kernel.kallsyms])\n";

std::string samples(int count, const std::string& task, int cpu, double from, double step, const char* frames)
{
    std::string text;
    for (int i = 0; i < count; ++i)
        text += fmt::format("{} [{:03}] {:.6f}: 250000 cpu-clock:\n{}\n", task, cpu, from + i * step, frames);
    return text;
}

/// 200 samples in 4 s: the server's first thread 20 (work), its workers 60 (40 spin) and 40 (all spin), a
/// backup 30 (work) and 50 idle. CPU 0: 20 + 60 + 30, CPU 1: 40 + 50.
std::string server()
{
    return samples(20, "mysqld 100/100", 0, 1000, 0.01, kWork)
        + samples(40, "ib_worker 100/101", 0, 1001, 0.01, kSpin)
        + samples(20, "ib_worker 100/101", 0, 1001.5, 0.01, kWork)
        + samples(40, "ib_worker 100/102", 1, 1002, 0.01, kSpin)
        + samples(30, "backup 200/200", 0, 1003, 0.01, kWork)
        + samples(50, "swapper 0/0", 1, 1003.5, 0.01, kIdle);
}

Reported ask(const std::string& text, const QueryTexts& texts)
{
    const auto query = parseQuery(texts);
    EXPECT_TRUE(query) << query.error();
    return reportOfTexts({{"script.txt", text}}, *query);
}

Json onlySection(const Reported& reported)
{
    EXPECT_EQ(reported.report.internalError, "");
    EXPECT_EQ(reported.json.at("sections").size(), 1U) << reported.text;
    return reported.json.at("sections").at(0);
}

/// `name pid tid cpu value contention` of each group; what a row is not about is left out.
std::vector<std::string> groups(const Json& section)
{
    std::vector<std::string> rows;
    for (const Json& group : section.at("groups")) {
        std::string row = group.value("name", "");
        for (const char* key : {"pid", "tid", "cpu"})
            row += group.contains(key) ? fmt::format(" {} {}", key, group.at(key).get<int>()) : "";
        row += fmt::format(": {}", group.at("value").get<uint64_t>() / 250'000);
        row += fmt::format(", {} waiting", group.at("contention").get<uint64_t>() / 250'000);
        rows.push_back(row);
    }
    return rows;
}

uint64_t left(const Json& section)
{
    EXPECT_EQ(section.at("samples").get<uint64_t>() + section.at("left_out_samples").get<uint64_t>(), 200U);
    EXPECT_EQ(
        section.at("total").get<uint64_t>() + section.at("left_out_value").get<uint64_t>(), 200U * 250'000);
    return section.at("samples");
}

using Rows = std::vector<std::string>;

TEST(Grouping, givesARowAThreadWithItsShares)
{
    const Reported reported = ask(server(), {.by = "thread"});
    const Json section = onlySection(reported);
    EXPECT_EQ(groups(section),
        (Rows{"ib_worker pid 100 tid 101: 60, 40 waiting", "swapper pid 0 tid 0: 50, 0 waiting",
            "ib_worker pid 100 tid 102: 40, 40 waiting", "backup pid 200 tid 200: 30, 0 waiting",
            "mysqld pid 100 tid 100: 20, 0 waiting"}));
    const Json& worker = section.at("groups").at(0);
    EXPECT_DOUBLE_EQ(worker.at("share_of_total_percent").get<double>(), 30); // 60 of 200
    EXPECT_DOUBLE_EQ(worker.at("share_of_busy_percent").get<double>(), 40);  // 60 of 150
    EXPECT_NEAR(worker.at("contention_share_of_row_busy_percent").get<double>(), 100.0 * 40 / 60, 1e-6);
    const Json& idle = section.at("groups").at(1);
    EXPECT_DOUBLE_EQ(idle.at("share_of_busy_percent").get<double>(), 0);
    EXPECT_FALSE(idle.contains("contention_share_of_row_busy_percent"));
    EXPECT_EQ(section.at("grouped_by"), "thread");
    EXPECT_EQ(reported.json.at("arguments"), Json({"--by", "thread"}));
}

TEST(Grouping, addsThreadsUpByNameProcessAndProcessor)
{
    EXPECT_EQ(groups(onlySection(ask(server(), {.by = "comm"}))),
        (Rows{"ib_worker: 100, 80 waiting", "swapper: 50, 0 waiting", "backup: 30, 0 waiting",
            "mysqld: 20, 0 waiting"}));
    EXPECT_EQ(groups(onlySection(ask(server(), {.by = "process"}))),
        (Rows{"mysqld pid 100: 120, 80 waiting", "swapper pid 0: 50, 0 waiting",
            "backup pid 200: 30, 0 waiting"}));
    EXPECT_EQ(groups(onlySection(ask(server(), {.by = "cpu"}))),
        (Rows{" cpu 0: 110, 40 waiting", " cpu 1: 90, 40 waiting"}));
    EXPECT_EQ(groups(onlySection(ask(server(), {.by = "symbol"}))),
        (Rows{"native_queued_spin_lock_slowpath: 80, 80 waiting", "ext4_do_writepages: 70, 0 waiting",
            "default_idle: 50, 0 waiting"}));
    EXPECT_EQ(groups(onlySection(ask(server(), {.by = "site"}))), (Rows{"dput+0x31: 80, 80 waiting"}));
    EXPECT_FALSE(onlySection(ask(server(), {.by = "lock"})).contains("groups"));
}

TEST(Grouping, keepsWhatIsNotRecordedAsARowOfItsOwn)
{
    const std::string text = server() + "stray 300 1004.500000: 250000 cpu-clock:\n" + kWork + "\n";
    const Reported reported = ask(text, {.by = "cpu"});
    const Json rows = onlySection(reported).at("groups");
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows.at(2).at("recorded"), false);
    EXPECT_EQ(rows.at(2).at("value"), 250'000U);
    EXPECT_NE(reported.text.find("(not recorded)"), std::string::npos);
}

TEST(Grouping, saysThatThereIsNoneWhereSamplesDoNotTell)
{
    const Reported reported =
        ask("slow 17 1000.000000: 250000 cpu-clock:\n" + std::string(kWork), {.by = "process"});
    EXPECT_FALSE(onlySection(reported).contains("groups"));
    ASSERT_EQ(reported.report.diagnostics.size(), 1U);
    EXPECT_EQ(reported.report.diagnostics[0].code, DiagnosticCode::GroupingUntold);
}

TEST(Filter, keepsThreadsProcessesAndProcessors)
{
    EXPECT_EQ(left(onlySection(ask(server(), {.threads = {"ib_worker"}}))), 100U);
    EXPECT_EQ(left(onlySection(ask(server(), {.threads = {"101"}}))), 60U);
    EXPECT_EQ(left(onlySection(ask(server(), {.threads = {"backup,102"}}))), 70U);
    EXPECT_EQ(left(onlySection(ask(server(), {.processes = {"100"}}))), 120U);
    EXPECT_EQ(left(onlySection(ask(server(), {.processes = {"mysqld"}}))), 120U);
    EXPECT_EQ(left(onlySection(ask(server(), {.cpus = {"1"}}))), 90U);
    EXPECT_EQ(left(onlySection(ask(server(), {.cpus = {"0-1"}}))), 200U);
    EXPECT_EQ(left(onlySection(ask(server(), {.processes = {"mysqld"}, .cpus = {"1"}}))), 40U);
}

TEST(Filter, sharesAreOfWhatIsLeftAndTheReportSaysSo)
{
    const Reported reported = ask(server(), {.processes = {"mysqld"}});
    const Json section = onlySection(reported);
    EXPECT_NEAR(section.at("contention_share_of_total_percent").get<double>(), 100.0 * 80 / 120, 1e-6);
    EXPECT_EQ(section.at("filter"), "process mysqld");
    EXPECT_NE(reported.flatText().find(
                  "filter: process mysqld; 120 of 200 samples left (the rest is in no figure)"),
        std::string::npos)
        << reported.text;
    EXPECT_NE(reported.flatText().find("Only this was looked at: process mysqld."), std::string::npos);
    EXPECT_NE(reported.flatText().find("`whichlock report --process mysqld script.txt`"), std::string::npos);
}

TEST(Filter, halvesOfTheTimeAddUpToTheWhole)
{
    EXPECT_EQ(left(onlySection(ask(server(), {.time = "-1.5"}))), 60U);
    EXPECT_EQ(left(onlySection(ask(server(), {.time = "1.5-"}))), 140U);
    EXPECT_EQ(left(onlySection(ask(server(), {.time = "1-2"}))), 60U);
    EXPECT_EQ(left(onlySection(ask(server(), {.time = "1001,1002"}))), 60U);
}

TEST(Filter, focusKeepsStacksWithAMatchAnywhereInThem)
{
    EXPECT_EQ(left(onlySection(ask(server(), {.focus = "^dput$"}))), 80U);
    EXPECT_EQ(left(onlySection(ask(server(), {.focus = "writepages"}))), 70U);
    EXPECT_EQ(left(onlySection(ask(server(), {.focus = "dput|default_idle"}))), 130U);
    EXPECT_EQ(left(onlySection(ask(server(), {.threads = {"101"}, .focus = "dput"}))), 40U);
    const Json focused = onlySection(ask(server(), {.focus = "^dput$"}));
    EXPECT_EQ(focused.at("rows"), 80U * 3);
}

TEST(Filter, leavesOutWhatItCannotBeAppliedToAndSaysSo)
{
    const std::string table = "  1000 total                                      0.1000\n"
                              "   500 default_idle                               7.8125\n"
                              "   500 .text.lock.dcache                          1.5000\n";
    for (const QueryTexts& texts : {QueryTexts{.time = "0-1"}, QueryTexts{.threads = {"a"}},
             QueryTexts{.processes = {"a"}}, QueryTexts{.cpus = {"0"}}, QueryTexts{.focus = "idle"}}) {
        const Reported reported = ask(table, texts);
        EXPECT_TRUE(reported.report.sections.empty());
        EXPECT_NE(reported.report.verdict.text.find("No sample is left"), std::string::npos);
        ASSERT_FALSE(reported.report.diagnostics.empty());
        EXPECT_EQ(reported.report.diagnostics.back().code, DiagnosticCode::FilterNotApplicable);
    }
    const Reported percent = ask(server(), {.time = "10%-20%"});
    EXPECT_TRUE(percent.report.sections.empty());
    ASSERT_EQ(percent.report.diagnostics.size(), 1U);
    EXPECT_EQ(percent.report.diagnostics[0].code, DiagnosticCode::FilterUntold);
    const Reported nobody = ask(server(), {.threads = {"nobody"}});
    EXPECT_TRUE(nobody.report.sections.empty());
    ASSERT_EQ(nobody.report.diagnostics.size(), 1U);
    EXPECT_EQ(nobody.report.diagnostics[0].code, DiagnosticCode::FilterKeepsNothing);
    EXPECT_NE(nobody.report.diagnostics[0].message.find("none of its 200 samples"), std::string::npos);
}

TEST(Filter, saysHowManySamplesDoNotTell)
{
    const std::string text = server() + "stray 300 1004.500000: 250000 cpu-clock:\n" + kWork + "\n";
    const Reported reported = ask(text, {.cpus = {"1"}});
    EXPECT_EQ(onlySection(reported).at("left_out_samples"), 111U);
    ASSERT_EQ(reported.report.diagnostics.size(), 1U);
    EXPECT_EQ(reported.report.diagnostics[0].code, DiagnosticCode::FilterUntold);
    EXPECT_NE(reported.report.diagnostics[0].message.find("1 samples"), std::string::npos);
}

TEST(Grouping, costsNothingWhereItIsNotAsked)
{
    EXPECT_EQ(ask(server(), {}).profile.sections.at(0).cells.size(), 5U);
    EXPECT_EQ(ask(server(), {.by = "comm"}).profile.sections.at(0).cells.size(), 5U);
    EXPECT_EQ(ask(server(), {.by = "thread"}).profile.sections.at(0).cells.size(), 6U);
}

TEST(Grouping, tokensStandForNamesOfThreadsWhenRedacted)
{
    Reported reported = ask(server(), {.by = "thread", .processes = {"mysqld"}});
    redact(reported.report);
    const std::string json = renderJson(reported.report);
    EXPECT_EQ(json.find("mysqld"), std::string::npos) << json;
    EXPECT_EQ(json.find("ib_worker"), std::string::npos);
    EXPECT_NE(json.find("comm-1"), std::string::npos);
}

} // namespace
} // namespace whichlock::test
