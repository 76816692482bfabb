// SPDX-License-Identifier: GPL-3.0-or-later
// How traces are shown: locks inside of others, the rung of each name, what is seen, counted events.
#include "analyzer/model/profile_builder.h"
#include "analyzer/report/document.h"
#include "analyzer/report/document_sections.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace whichlock::test {
namespace {

using Json = nlohmann::json;

TracedLock kernelLock(uint64_t address, const char* kind, uint64_t ms)
{
    TracedLock lock;
    lock.space = "kernel";
    lock.address = address;
    lock.kind = kind;
    lock.isLock = true;
    lock.valueNs = ms * 1'000'000;
    lock.accountNs = lock.valueNs;
    lock.unseenNs = lock.valueNs;
    lock.waits = 10;
    lock.acquisitions = 10;
    lock.sites = {{.at = {.function = "f"}, .side = "-", .valueNs = lock.valueNs, .waits = 10}};
    return lock;
}

/// A semaphore with 100 ms of waiting, a mutex with 50, and the semaphore's spinlock: 10, of which 4 inside
/// of waits for the semaphore.
LockTraceRecord innerLock()
{
    LockTraceRecord record;
    record.durationNs = 1'000'000'000;
    record.wholeNs = 1'000'000'000;
    record.hasContention = true;
    record.hasStacks = true;
    record.eventCounts = {{"lock:contention_begin", 30}};
    record.locks = {kernelLock(0xffff888100000000, "rwsem", 100), kernelLock(0xffff888100001000, "mutex", 50),
        kernelLock(0xffff888100000014, "spinlock", 10)};
    record.locks[0].called = "struct inode::i_rwsem";
    record.locks[1].symbol = "rtnl_mutex";
    record.locks[2].innerOf = 1;
    record.locks[2].nestedNs = 4'000'000;
    record.locks[2].sites[0].nestedNs = 4'000'000;
    TracedThreads threads{.name = "worker", .pid = 7, .threads = 4};
    threads.lockWaits = 30;
    threads.lockWaitNs = 156'000'000;
    record.threads = {threads};
    return record;
}

SectionRecord traceSection(const char* input)
{
    SectionRecord section;
    section.kind = SectionKind::LockTrace;
    section.quantity = QuantityKind::Wait;
    section.unit = Unit::Nanoseconds;
    section.format = "perf.data";
    section.position = {.chain = input};
    return section;
}

SectionRecord countedSection(const char* input, const char* event, uint64_t offset)
{
    SectionRecord section = traceSection(input);
    section.quantity = QuantityKind::Count;
    section.unit = Unit::Events;
    section.event = event;
    section.position.offset = offset;
    return section;
}

Report reportOf(const LockTraceRecord& record, GroupBy by = GroupBy::Lock)
{
    ProfileBuilder builder;
    builder.beginInput("trace.data");
    builder.lockTrace(builder.section(traceSection("trace.data")), record);
    builder.finishInput({});
    Query query;
    query.by = by;
    return buildReport(builder.freeze(), query, RoutineTable::builtIn());
}

std::vector<std::string> columnOf(const DocumentTable& table, const std::string& title)
{
    std::vector<std::string> cells;
    for (size_t i = 0; i < table.columns.size(); ++i) {
        for (const auto& row : table.rows)
            if (table.columns[i].title == title && i < row.size())
                cells.push_back(row[i].text);
    }
    return cells;
}

TEST(TraceViews, showALockInsideOfAnotherBelowIt)
{
    const DocumentTable table = traceLockTable(reportOf(innerLock()).sections.at(0), 0, 12);
    EXPECT_EQ(columnOf(table, "Lock"),
        (std::vector<std::string>{"1 inode::i_rwsem", "  3 ? at f", "2 rtnl_mutex"}));
    const std::string markdown = renderMarkdown({{table}});
    EXPECT_NE(markdown.find("| &nbsp;&nbsp;3 ? at f |"), std::string::npos) << markdown;
    EXPECT_NE(renderText({{table}}).find("\n  3 ? at f "), std::string::npos);
}

TEST(TraceViews, doNotShowItBelowWhatIsNotShown)
{
    Report report = reportOf(innerLock());
    report.sections[0].askedLock = "3";
    report.sections[0].trace->locks[2].selected = true;
    const DocumentTable table = traceLockTable(report.sections[0], 0, 12);
    EXPECT_EQ(columnOf(table, "Lock"), std::vector<std::string>{"3 ? at f"});
    const std::string text = renderText(buildDocument(report, {}));
    EXPECT_NE(text.find("lies inside of 1 struct inode::i_rwsem; 4.000 ms of its waiting"), std::string::npos)
        << text;
}

TEST(TraceViews, countWhatIsNestedOnce)
{
    const Json json = Json::parse(renderJson(reportOf(innerLock())));
    const Json& section = json.at("sections").at(0);
    EXPECT_EQ(section.at("contention_total"), 156'000'000);
    const Json& locks = section.at("locks");
    EXPECT_EQ(locks.at(0).at("value"), 100'000'000);
    EXPECT_EQ(locks.at(2).at("value"), 10'000'000); // of its address, all of it
    EXPECT_EQ(locks.at(2).at("nested_ns"), 4'000'000);
    EXPECT_EQ(locks.at(2).at("inner_of"), 1);
    EXPECT_NEAR(locks.at(0).at("share_of_lock_percent").get<double>(), 100 * 100 / 156.0, 1e-6);
    EXPECT_NEAR(locks.at(2).at("share_of_lock_percent").get<double>(), 100 * 6 / 156.0, 1e-6);
}

TEST(TraceViews, groupsAddUpToWhatIsCountedOnce)
{
    for (const GroupBy by : {GroupBy::Site, GroupBy::Comm, GroupBy::Holder}) {
        const Report report = reportOf(innerLock(), by);
        EXPECT_EQ(report.internalError, "");
        uint64_t sum = 0;
        int64_t shares = 0;
        for (const ReportTraceGroup& group : report.sections.at(0).trace->groups) {
            sum += group.valueNs;
            shares += group.ofLock.ppb;
        }
        EXPECT_EQ(sum, by == GroupBy::Holder ? 160'000'000U : 156'000'000U); // behind whom: every wait
        EXPECT_NEAR(static_cast<double>(shares), static_cast<double>(Share::kWhole), 3);
    }
}

TEST(TraceViews, showHowEachNameWasFound)
{
    const Report report = reportOf(innerLock());
    const DocumentTable table = traceLockTable(report.sections.at(0), 0, 12);
    EXPECT_EQ(columnOf(table, "named by"), (std::vector<std::string>{"type", "call-site", "symbol"}));
    const std::string text = renderText(buildDocument(report, {}));
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = text.find('\n', begin);
        EXPECT_LE(end - begin, 78U) << text.substr(begin, end - begin);
        begin = end + 1;
    }
    EXPECT_NE(text.find("named by\n"), std::string::npos) << text; // not left out for want of room
}

TEST(TraceViews, shortenNamesInTheTableOnly)
{
    LockTraceRecord record = innerLock();
    record.locks[0].called = "struct a::constructs or struct b::mu";
    const Report report = reportOf(record);
    const DocumentTable table = traceLockTable(report.sections.at(0), 0, 12);
    EXPECT_EQ(columnOf(table, "Lock").at(0), "1 a::constructs or b::mu");
    EXPECT_EQ(report.sections.at(0).trace->locks.at(0).name, "struct a::constructs or struct b::mu");
}

std::vector<std::string> seesLines(const Coverage& sees)
{
    ReportSection section;
    section.kind = SectionKind::CpuProfile;
    section.sees = sees;
    std::vector<std::string> lines;
    for (const std::string& line : headOf(section).lines)
        if (line.find("see") != std::string::npos)
            lines.push_back(line);
    return lines;
}

TEST(TraceViews, sayWhatIsSeenInOneLineWhereThatFits)
{
    EXPECT_EQ(seesLines({}), std::vector<std::string>{"sees: NOT spin, sleep, holders, callers"});
    EXPECT_EQ(seesLines({.kernelSpin = Sees::Partly, .userSpin = Sees::Partly, .callers = Sees::Yes}),
        std::vector<std::string>{"sees: callers; partly spin; NOT sleep, holders"});
    EXPECT_EQ(seesLines({.kernelSleep = Sees::Partly, .userSleep = Sees::Partly}),
        std::vector<std::string>{"sees: partly sleep; NOT spin, holders, callers"});
    EXPECT_EQ(seesLines({Sees::Yes, Sees::Yes, Sees::Yes, Sees::Yes, Sees::Yes, Sees::Yes}),
        std::vector<std::string>{"sees: spin, sleep, holders, callers"});
    EXPECT_EQ(seesLines({.kernelSpin = Sees::Partly, .userSleep = Sees::Yes, .holders = Sees::Yes}),
        (std::vector<std::string>{"sees: user sleep, holders; partly kernel spin",
            "does not see: user spin, kernel sleep, callers"}));
}

TEST(TraceViews, sayThatProbesOfAnyKindSeeLocksOfUserSpace)
{
    for (const char* event : {"sdt_libc:mutex_entry", "probe_libc:anything", "syscalls:sys_enter_futex"}) {
        LockTraceRecord record = innerLock();
        record.eventCounts = {{event, 30}};
        const Report report = reportOf(record);
        EXPECT_EQ(report.sections.at(0).sees.userSleep, Sees::Yes) << event;
        for (const std::string& next : report.recordNext)
            EXPECT_EQ(next.find("sys_enter_futex"), std::string::npos) << event;
    }
}

/// A trace whose switches are timed, with three events that are not.
Profile withCountedEvents(bool timed)
{
    ProfileBuilder builder;
    builder.beginInput("x.data");
    const auto add = [&](const char* event, uint64_t offset, uint64_t count) {
        const SectionHandle section = builder.section(countedSection("x.data", event, offset));
        builder.sample(section, {.comm = "a", .count = count, .weight = count, .frames = {}});
    };
    add("sched:sched_stat_runtime", 100, 115);
    if (timed) {
        LockTraceRecord record = innerLock();
        record.eventCounts = {{"sched:sched_switch", 63}};
        builder.lockTrace(builder.section(traceSection("x.data")), record);
    }
    add("sched:sched_switch", 200, 63);
    add("sched:sched_migrate_task", 300, 4);
    builder.finishInput({});
    return builder.freeze();
}

std::vector<DocumentTable> tablesOf(const Document& document, const std::string& id)
{
    std::vector<DocumentTable> tables;
    for (const DocumentBlock& block : document.blocks) {
        const auto* table = std::get_if<DocumentTable>(&block);
        if (table != nullptr && table->id == id)
            tables.push_back(*table);
    }
    return tables;
}

TEST(CountedEvents, shareOneTableAndKeepTheirSections)
{
    for (const bool timed : {false, true}) {
        const Report report = buildReport(withCountedEvents(timed), {}, RoutineTable::builtIn());
        const Json json = Json::parse(renderJson(report));
        const std::vector<DocumentTable> tables = tablesOf(buildDocument(report, {}), "events");
        ASSERT_EQ(tables.size(), 1U);
        const size_t counted = timed ? 2 : 3; // what the trace is made of is in no other table
        ASSERT_EQ(tables[0].rows.size(), counted);
        EXPECT_EQ(report.sections.size(), 3U);
        EXPECT_EQ(shownSections(report).size(), timed ? 2U : 1U);
        uint64_t sum = 0;
        for (const auto& row : tables[0].rows)
            sum += json.at(Json::json_pointer(row.at(1).pointer)).get<uint64_t>();
        EXPECT_EQ(sum, timed ? 119U : 182U);
    }
}

TEST(CountedEvents, ofTwoInputsStandApart)
{
    ProfileBuilder builder;
    for (const char* input : {"a.data", "b.data"}) {
        builder.beginInput(input);
        for (const char* event : {"e:one", "e:two"})
            builder.sample(builder.section(countedSection(input, event, 0)),
                {.comm = "a", .count = 1, .weight = 1, .frames = {}});
        builder.finishInput({});
    }
    const Report report = buildReport(builder.freeze(), {}, RoutineTable::builtIn());
    const std::vector<DocumentTable> tables = tablesOf(buildDocument(report, {}), "events");
    ASSERT_EQ(tables.size(), 2U);
    EXPECT_EQ(tables[0].rows.size(), 2U);
    EXPECT_EQ(tables[1].rows.at(0).at(1).pointer, "/sections/2/total");
}

TEST(Comparisons, belongToSectionsOfTheReport)
{
    ProfileBuilder builder;
    builder.beginInput("mixed");
    builder.section(countedSection("mixed", "sched:sched_switch", 0)); // timed by the trace: not shown
    LockTraceRecord record = innerLock();
    record.eventCounts = {{"sched:sched_switch", 63}};
    builder.lockTrace(builder.section(traceSection("mixed")), record);
    const std::string_view columns[] = {"r", "b", "cs"};
    for (const int64_t switches : {100, 150}) {
        SectionRecord vmstat;
        vmstat.kind = SectionKind::Counters;
        vmstat.format = "vmstat";
        vmstat.position = {.chain = "mixed", .line = static_cast<uint64_t>(switches)};
        const SectionHandle section = builder.section(vmstat);
        builder.counterColumns(section, columns);
        const int64_t row[] = {1, 0, switches};
        builder.counterRow(section, row);
        builder.counterRow(section, row);
    }
    builder.finishInput({});
    const Report report = buildReport(builder.freeze(), {}, RoutineTable::builtIn());
    ASSERT_EQ(report.sections.size(), 3U);
    ASSERT_EQ(report.comparisons.size(), 1U);
    const ReportComparison& comparison = report.comparisons[0];
    EXPECT_EQ(comparison.section, 2U);
    EXPECT_EQ(report.sections[2].position.line, 150U);
    EXPECT_EQ(comparison.rows.at(2).what, "cs");
    EXPECT_EQ(comparison.rows.at(2).changePercent->millionths, 50 * FixedPoint::kScale);
}

} // namespace
} // namespace whichlock::test
