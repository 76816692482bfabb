// SPDX-License-Identifier: GPL-3.0-or-later
// What a user may ask, as options are read: each form, each mistake, and the same words back.
#include "analyzer/cli/options.h"
#include "analyzer/report/query.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

using Base = TimeRange::Base;
using Bound = std::optional<uint64_t>;

TEST(Query, readsEachFormOfATimeRange)
{
    struct Case {
        const char* text;
        TimeRange range;
    };
    const Case kCases[] = {
        {"1.5-2.25", {Base::FirstSample, 1'500'000'000U, 2'250'000'000U}},
        {"-2.0", {Base::FirstSample, {}, 2'000'000'000U}},
        {"3-", {Base::FirstSample, 3'000'000'000U, {}}},
        {"0.000000001-.5", {Base::FirstSample, 1U, 500'000'000U}},
        {"0-1", {Base::FirstSample, 0U, 1'000'000'000U}},
        {"10%-20%", {Base::Percent, 100'000'000U, 200'000'000U}},
        {"-12.5%", {Base::Percent, {}, 125'000'000U}},
        {"50%-100%", {Base::Percent, 500'000'000U, 1'000'000'000U}},
        {"794.866542027,794.9", {Base::Clock, 794'866'542'027U, 794'900'000'000U}},
        {"794.9,", {Base::Clock, 794'900'000'000U, {}}},
        {",795", {Base::Clock, {}, 795'000'000'000U}},
    };
    for (const auto& [text, expected] : kCases) {
        const auto range = parseTimeRange(text);
        ASSERT_TRUE(range) << text << ' ' << range.error();
        EXPECT_EQ(*range, expected) << text;
        EXPECT_EQ(*parseTimeRange(toText(*range)), expected) << toText(*range);
    }
}

TEST(Query, refusesWhatIsNoTimeRange)
{
    for (const char* text : {"", "-", ",", "1", "1.5", "a-b", "1-2-3", "2-1", "1-1", "1.2.3-4", ".-1", "-.",
             "10%-20", "10-20%", "10%", "%-%", "0%-101%", "10%,20%", "1e3-2e3", " 1-2", "-1-2",
             "0.0000000001-1", "20000000000-", "99999999999999999999-"})
        EXPECT_FALSE(parseTimeRange(text)) << text;
    EXPECT_NE(parseTimeRange("2-1").error().find("ends before it begins"), std::string::npos);
    EXPECT_NE(parseTimeRange("0%-101%").error().find("100 %"), std::string::npos);
    EXPECT_NE(parseTimeRange("soon").error().find("'soon'"), std::string::npos);
}

TEST(Query, readsListsOfProcessors)
{
    const auto cpus = parseCpus("0,2-5,4095");
    ASSERT_TRUE(cpus);
    EXPECT_EQ(*cpus, (std::vector<CpuRange>{{0, 0}, {2, 5}, {4095, 4095}}));
    EXPECT_EQ(toText(*cpus), "0,2-5,4095");
    for (const char* text : {"", ",", "1,", "a", "1.5", "5-2", "1-", "-1", "1-2-3", "2147483648", "0 1"})
        EXPECT_FALSE(parseCpus(text)) << text;
}

cli::Options parsed(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), {"report", "perf.data"});
    const auto options = cli::parseOptions(arguments);
    EXPECT_TRUE(options) << options.error();
    return options.value_or(cli::Options());
}

std::string refused(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), {"report", "perf.data"});
    const auto options = cli::parseOptions(arguments);
    EXPECT_FALSE(options) << arguments.back();
    return options ? std::string() : options.error();
}

TEST(Query, isReadFromTheCommandLine)
{
    const Query query =
        parsed({"--by", "thread", "--time", "1-2", "--thread", "slow,17253", "--thread", "fast", "--process",
                   "mysqld", "--cpu", "0", "--cpu", "2-3", "--focus", "^do_.*"})
            .query;
    EXPECT_EQ(query.by, GroupBy::Thread);
    EXPECT_EQ(query.filter.threads, (std::vector<std::string>{"slow", "17253", "fast"}));
    EXPECT_EQ(query.filter.processes, (std::vector<std::string>{"mysqld"}));
    EXPECT_EQ(query.filter.cpus, (std::vector<CpuRange>{{0, 0}, {2, 3}}));
    EXPECT_EQ(query.focus, "^do_.*");
    EXPECT_TRUE(query.narrows());
    const Query nothing = parsed({}).query;
    EXPECT_EQ(nothing.by, GroupBy::Lock);
    EXPECT_FALSE(nothing.narrows());
    EXPECT_FALSE(parsed({"--by", "cpu"}).query.narrows());
}

TEST(Query, givesTheArgumentsThatAskTheSame)
{
    const std::vector<std::string> arguments = {"--by", "process", "--time", "10%-20%", "--thread",
        "slow,17253", "--process", "mysqld", "--cpu", "0,2-3", "--focus", "a|b c"};
    EXPECT_EQ(argumentsOf(parsed(arguments).query), arguments);
    EXPECT_TRUE(argumentsOf(Query()).empty());
    EXPECT_EQ(shellQuoted("a|b c"), "'a|b c'");
    EXPECT_EQ(shellQuoted("it's"), "'it'\\''s'");
    EXPECT_EQ(shellQuoted("10%-20%"), "10%-20%");
    EXPECT_EQ(shellQuoted(""), "''");
}

TEST(Query, saysWhatIsWrongWithAnOption)
{
    EXPECT_NE(
        refused({"--by", "day"}).find("lock, site, holder, thread, comm, process, cpu or symbol, not 'day'"),
        std::string::npos);
    EXPECT_NE(refused({"--focus", "a("}).find("missing )"), std::string::npos);
    EXPECT_NE(refused({"--thread", "a,,b"}).find("--thread"), std::string::npos);
    EXPECT_NE(refused({"--process", ""}).find("--process"), std::string::npos);
    EXPECT_NE(refused({"--cpu", "x"}).find("--cpu"), std::string::npos);
    EXPECT_NE(refused({"--time", "x"}).find("--time"), std::string::npos);
    EXPECT_NE(refused({"--time", ""}).find("--time"), std::string::npos);
    EXPECT_NE(refused({"--by", ""}).find("--by"), std::string::npos);
}

TEST(Query, tellsSamplesApartOnlyWhereItNeedsTo)
{
    const auto told = [](GroupBy by) {
        Query query;
        query.by = by;
        const RecordingOptions selection = selectionOf(query);
        return std::pair(selection.byThread, selection.byCpu);
    };
    EXPECT_EQ(told(GroupBy::Lock), std::pair(false, false));
    EXPECT_EQ(told(GroupBy::Comm), std::pair(false, false));
    EXPECT_EQ(told(GroupBy::Symbol), std::pair(false, false));
    EXPECT_EQ(told(GroupBy::Thread), std::pair(true, false));
    EXPECT_EQ(told(GroupBy::Process), std::pair(true, false));
    EXPECT_EQ(told(GroupBy::Cpu), std::pair(false, true));
}

Kept judge(const SampleFilter& filter, const SampleOrigin& sample)
{
    return SampleGate(filter).judge(sample);
}

TEST(SampleGate, rangesThatMeetShareNoSampleAndMissNone)
{
    SampleGate front({.time = *parseTimeRange("-0.5")});
    SampleGate back({.time = *parseTimeRange("0.5-")});
    for (uint64_t ns = 0; ns <= 1'000'000'000; ns += 125'000'000) {
        const SampleOrigin sample{.timeNs = 7'000'000'000 + ns};
        const bool isFront = ns < 500'000'000;
        EXPECT_EQ(front.judge(sample), isFront ? Kept::Yes : Kept::No) << ns;
        EXPECT_EQ(back.judge(sample), isFront ? Kept::No : Kept::Yes) << ns;
    }
}

TEST(SampleGate, percentagesNeedTheSpanAndTheLastSampleBelongsToAllOfIt)
{
    SampleGate gate({.time = *parseTimeRange("50%-100%")});
    EXPECT_EQ(gate.judge({.timeNs = 1000}), Kept::Untold);
    gate.setSpan(1000, 3000);
    EXPECT_EQ(gate.judge({.timeNs = 1999}), Kept::No);
    EXPECT_EQ(gate.judge({.timeNs = 2000}), Kept::Yes);
    EXPECT_EQ(gate.judge({.timeNs = 3000}), Kept::Yes);
    SampleGate half({.time = *parseTimeRange("-50%")});
    half.setSpan(1000, 3000);
    EXPECT_EQ(half.judge({.timeNs = 1999}), Kept::Yes);
    EXPECT_EQ(half.judge({.timeNs = 2000}), Kept::No);
    SampleGate huge({.time = *parseTimeRange("99.9999999%-")});
    huge.setSpan(0, UINT64_MAX);
    EXPECT_EQ(huge.judge({.timeNs = UINT64_MAX}), Kept::Yes);
    EXPECT_EQ(huge.judge({.timeNs = UINT64_MAX / 2}), Kept::No);
}

TEST(SampleGate, takesTheClockAsItIs)
{
    const SampleFilter filter{.time = *parseTimeRange("794.9,795")};
    EXPECT_EQ(judge(filter, {.timeNs = 794'900'000'000}), Kept::Yes);
    EXPECT_EQ(judge(filter, {.timeNs = 795'000'000'000}), Kept::No);
    EXPECT_EQ(judge(filter, {.timeNs = 1}), Kept::No);
    EXPECT_EQ(judge(filter, {}), Kept::Untold);
}

TEST(SampleGate, boundsThatDoNotFitStayAtTheEnd)
{
    SampleGate gate({.time = *parseTimeRange("18446744073-")});
    EXPECT_EQ(gate.judge({.timeNs = UINT64_MAX - 5}), Kept::No);
    EXPECT_EQ(gate.judge({.timeNs = UINT64_MAX}), Kept::Yes);
}

TEST(SampleGate, comparesNamesAndNumbersAsAWhole)
{
    const SampleOrigin sample{.pid = 17, .tid = 18, .cpu = 3, .comm = "ib_io_rd-1", .processComm = "mysqld"};
    EXPECT_EQ(judge({.threads = {"ib_io_rd-1"}}, sample), Kept::Yes);
    EXPECT_EQ(judge({.threads = {"ib_io"}}, sample), Kept::No);
    EXPECT_EQ(judge({.threads = {"18"}}, sample), Kept::Yes);
    EXPECT_EQ(judge({.threads = {"17"}}, sample), Kept::No);
    EXPECT_EQ(judge({.threads = {"1", "018", "18"}}, sample), Kept::Yes);
    EXPECT_EQ(judge({.processes = {"mysqld"}}, sample), Kept::Yes);
    EXPECT_EQ(judge({.processes = {"ib_io_rd-1"}}, sample), Kept::No);
    EXPECT_EQ(judge({.processes = {"17"}}, sample), Kept::Yes);
    EXPECT_EQ(judge({.cpus = {{0, 2}, {3, 3}}}, sample), Kept::Yes);
    EXPECT_EQ(judge({.cpus = {{0, 2}}}, sample), Kept::No);
    EXPECT_EQ(judge({.processes = {"mysqld"}, .cpus = {{0, 2}}}, sample), Kept::No);
}

TEST(SampleGate, doesNotGuessWhatASampleDoesNotTell)
{
    const SampleOrigin sample{.tid = 18, .comm = "slow"};
    EXPECT_EQ(judge({.cpus = {{0, 2}}}, sample), Kept::Untold);
    EXPECT_EQ(judge({.processes = {"17"}}, sample), Kept::Untold);
    EXPECT_EQ(judge({.threads = {"fast"}, .cpus = {{0, 2}}}, sample), Kept::No);
    EXPECT_EQ(judge({.threads = {"slow"}, .cpus = {{0, 2}}}, sample), Kept::Untold);
}

} // namespace
} // namespace whichlock::test
