// SPDX-License-Identifier: GPL-3.0-or-later
// Traces in a report: shares, account, verdict and JSON, with figures by hand; and recordings beside the
// source tree from their bytes to the report.
#include "analyzer/model/profile_builder.h"
#include "analyzer/report/document.h"
#include "analyzer/report/redact.h"
#include "analyzer/session/session.h"

#include <filesystem>
#include <fmt/format.h>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace whichlock::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kRecordings = WHICHLOCK_RECORDINGS;

/// One second: a mutex of 400 ms of waiting; threads ran for 500 ms, were runnable for 100 ms, slept for 9 s.
LockTraceRecord oneMutex()
{
    LockTraceRecord record;
    record.durationNs = 1'000'000'000;
    record.wholeNs = 1'000'000'000;
    record.events = 1000;
    record.hasSwitches = true;
    record.hasFutexes = true;
    record.hasStacks = true;
    record.eventCounts = {{"sched:sched_switch", 600}, {"syscalls:sys_enter_futex", 400}};
    TracedThreads threads{.name = "worker", .pid = 7, .threads = 4};
    threads.times.ranNs = 500'000'000;
    threads.times.preemptedNs = 100'000'000;
    threads.times.lockNs = 400'000'000;
    threads.times.sleepNs = 9'000'000'000;
    record.threads = {threads};
    TracedLock lock;
    lock.space = "process";
    lock.address = 0x5000;
    lock.pid = 7;
    lock.kind = "user-mutex";
    lock.isLock = true;
    lock.symbol = "g_book";
    lock.symbolOffset = 0x28;
    lock.object = "/bin/quoted";
    lock.valueNs = 400'000'000;
    lock.accountNs = 400'000'000;
    lock.waits = 100;
    lock.acquisitions = 80;
    lock.meanNs = 4'000'000;
    lock.maxNs = 30'000'000;
    lock.contendedWallNs = 200'000'000;
    lock.maxWaiters = 3;
    lock.handOffNs = 100'000'000;
    lock.sites = {{.at = {.function = "match"}, .side = "-", .valueNs = 300'000'000, .waits = 60},
        {.at = {.function = "quote"}, .side = "-", .valueNs = 100'000'000, .waits = 40}};
    TracedHolder holder{
        .at = {.function = "snapshot"}, .thread = "snap", .waitNs = 300'000'000, .provenNs = 300'000'000};
    holder.meanwhile.ranNs = 100'000'000;
    holder.meanwhile.preemptedNs = 200'000'000;
    holder.preemptedBy = {{"gzip", 200'000'000}};
    lock.holders = {holder};
    lock.roots = {{.lock = 0, .function = "snapshot", .nobody = false, .ns = 300'000'000},
        {.lock = 0, .function = {}, .nobody = true, .ns = 100'000'000}};
    lock.patterns = {{"preempted-holder", 200'000'000}};
    record.locks = {lock};
    return record;
}

Profile profileOf(const LockTraceRecord& record)
{
    ProfileBuilder builder;
    builder.beginInput("trace.data");
    SectionRecord section;
    section.kind = SectionKind::LockTrace;
    section.quantity = QuantityKind::Wait;
    section.unit = Unit::Nanoseconds;
    section.format = "perf.data";
    section.position = {.chain = "trace.data"};
    builder.lockTrace(builder.section(section), record);
    builder.finishInput({});
    return builder.freeze();
}

Report reportOf(const LockTraceRecord& record)
{
    return buildReport(profileOf(record), {}, RoutineTable::builtIn());
}

TEST(TraceReports, takeSharesOfTheTimeThatThreadsWereActive)
{
    const Report report = reportOf(oneMutex());
    EXPECT_EQ(report.internalError, "");
    ASSERT_EQ(report.sections.size(), 1U);
    const ReportTrace& trace = *report.sections[0].trace;
    EXPECT_EQ(trace.activeNs, 1'000'000'000U); // without the nine seconds of sleep
    EXPECT_EQ(trace.lockShare->ppb, 40 * Share::kPercent);
    const ReportTraceLock& lock = trace.locks.at(0);
    EXPECT_EQ(lock.name, "g_book+0x28");
    EXPECT_EQ(lock.rung, Rung::UserSymbol);
    EXPECT_EQ(lock.meanWaiters->millionths, 2 * FixedPoint::kScale);
    EXPECT_EQ(lock.contendedOfWall->ppb, 20 * Share::kPercent);
    EXPECT_EQ(lock.sites.at(0).ofThisLock.ppb, 75 * Share::kPercent);
    EXPECT_EQ(lock.holders.at(0).ofHeld->ppb, Share::kWhole);
    EXPECT_EQ(lock.holders.at(0).ofThisLock.ppb, 75 * Share::kPercent);
}

TEST(TraceReports, blameALockFromFivePercentOfActiveTimeOn)
{
    LockTraceRecord record = oneMutex();
    EXPECT_EQ(reportOf(record).verdict.guilty, Guilty::Yes);
    record.threads[0].times.ranNs = 7'499'000'000; // 400 of 7999 ms: 5.0006 %
    EXPECT_EQ(reportOf(record).verdict.guilty, Guilty::Yes);
    record.threads[0].times.ranNs = 7'600'000'000; // 4.9 %
    EXPECT_EQ(reportOf(record).verdict.guilty, Guilty::Unknown);
    record.threads[0].times.ranNs = 70'000'000'000; // 0.6 %, but spinning would not be seen
    EXPECT_EQ(reportOf(record).verdict.guilty, Guilty::Unknown);
}

TEST(TraceReports, giveNoShareOfActiveTimeWithoutSwitches)
{
    LockTraceRecord record = oneMutex();
    record.hasSwitches = false;
    record.threads[0].times = {.unknownNs = 600'000'000, .lockNs = 400'000'000};
    const Json json = Json::parse(renderJson(reportOf(record)));
    const Json& section = json.at("sections").at(0);
    EXPECT_FALSE(section.contains("contention_share_of_active_percent"));
    EXPECT_EQ(section.at("contention_share_of_thread_time_percent"), 40.0);
    EXPECT_FALSE(section.contains("off_cpu"));
    EXPECT_NE(json.at("verdict").at("text").get<std::string>().find("At least 40.0 %"), std::string::npos);
}

TEST(TraceReports, giveNoShareOfTimeForSampledEvents)
{
    LockTraceRecord record = oneMutex();
    record.sampled = true;
    const Report report = reportOf(record);
    EXPECT_EQ(report.verdict.guilty, Guilty::Unknown);
    EXPECT_FALSE(report.verdict.share.has_value());
    const Json json = Json::parse(renderJson(report));
    EXPECT_TRUE(json.at("sections").at(0).at("lower_bound").get<bool>());
    EXPECT_TRUE(json.at("sections").at(0).at("locks").at(0).at("lower_bound").get<bool>());
}

TEST(TraceReports, areAnInternalErrorWhereSumsDoNotAgree)
{
    LockTraceRecord record = oneMutex();
    record.problem = "lock 1 has other sums";
    EXPECT_EQ(reportOf(record).internalError, "lock 1 has other sums");
}

TEST(TraceReports, haveTheFieldsOfTheContract)
{
    const Json json = Json::parse(renderJson(reportOf(oneMutex())));
    const Json& section = json.at("sections").at(0);
    EXPECT_EQ(section.at("kind"), "lock-trace");
    EXPECT_EQ(section.at("quantity"), Json({{"unit", "ns"}, {"kind", "wait"}}));
    EXPECT_EQ(section.at("facts").at("duration_ns"), 1'000'000'000);
    EXPECT_EQ(section.at("sees").at("user_sleep"), "yes");
    EXPECT_EQ(section.at("sees").at("user_spin"), "no");
    const Json& lock = section.at("locks").at(0);
    EXPECT_EQ(lock.at("value"), 400'000'000);
    EXPECT_EQ(lock.at("share_of_active_percent"), 40.0);
    EXPECT_EQ(lock.at("acquisitions_contended"), 80);
    EXPECT_EQ(lock.at("contended_wall_ns"), 200'000'000);
    EXPECT_EQ(lock.at("mean_waiters"), 2.0);
    EXPECT_EQ(lock.at("pattern"), Json({"preempted-holder"}));
    EXPECT_EQ(lock.at("holders").at(0).at("preempted"), 200'000'000);
    EXPECT_EQ(lock.at("holders").at(0).at("share_of_held_wait_percent"), 100.0);
    EXPECT_EQ(lock.at("chain_root").at(0).at("function"), "snapshot");
    EXPECT_EQ(lock.at("handoff_ns"), 100'000'000);
}

TEST(TraceReports, areReadAtAGlance)
{
    const std::string text = renderText(buildDocument(reportOf(oneMutex()), {}));
    for (const char* part : {"YES, a lock. 40.0 % of active thread time", "g_book+0x28", "snapshot  snap",
             "nobody: hand-off", "preempted-holder (50.0 % of the wait)", "gzip", "contended 200.000 ms"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = text.find('\n', begin);
        EXPECT_LE(end - begin, 78U) << text.substr(begin, end - begin);
        begin = end + 1;
    }
}

TEST(TraceReports, tellThatALockMayBeMadeOfAConditionVariable)
{
    LockTraceRecord record = oneMutex();
    TracedLock& word = record.locks[0];
    word.isLock = false;
    word.kind = "condition";
    const auto doubts = [&] {
        const Report report = reportOf(record);
        return std::pair(report.verdict.text.find("made of a condition variable") != std::string::npos,
            fmt::format("{}", fmt::join(report.sections.at(0).trace->leftOut, " "))
                    .find("100.000 ms of waiting for condition variables")
                != std::string::npos);
    };
    EXPECT_EQ(doubts(), std::pair(false, false)); // the stacks say who waits for work
    word.sites[1].at.function.clear();
    EXPECT_EQ(doubts(), std::pair(true, true));
    word.kind = "join";
    EXPECT_EQ(doubts(), std::pair(false, false));
}

TEST(TraceReports, tellInTheVerdictWhereMostlyNobodyHadTheLock)
{
    LockTraceRecord record = oneMutex(); // 300 of 400 ms behind snapshot, 100 of hand-off
    EXPECT_NE(reportOf(record).verdict.text.find(". 75.0 % of that is behind snapshot."), std::string::npos);
    TracedLock& lock = record.locks[0];
    std::swap(lock.handOffNs, lock.holders[0].waitNs);
    lock.holders[0].provenNs = lock.holders[0].waitNs;
    EXPECT_NE(reportOf(record).verdict.text.find(". At most 75.0 % of that is hand-off, when nobody has it; "
                                                 "25.0 % is behind snapshot."),
        std::string::npos)
        << reportOf(record).verdict.text;
    lock.holdsRecorded = true; // then nothing is unseen
    EXPECT_NE(reportOf(record).verdict.text.find(". 75.0 % of that is hand-off"), std::string::npos);
}

TEST(TraceReports, surviveMergingAndAreEqualByteForByte)
{
    const Profile profile = profileOf(oneMutex());
    ProfileBuilder merged;
    merged.merge(profile);
    merged.merge(profile);
    EXPECT_EQ(merged.freeze().canonicalBytes(), profile.canonicalBytes());
    LockTraceRecord other = oneMutex();
    other.locks[0].holders[0].meanwhile.ranNs += 1;
    EXPECT_NE(profileOf(other).canonicalBytes(), profile.canonicalBytes());
}

TEST(TraceReports, groupWaitingByHolderSoThatTheRowsAddUp)
{
    Query query;
    query.by = GroupBy::Holder;
    const Report report = buildReport(profileOf(oneMutex()), query, RoutineTable::builtIn());
    EXPECT_EQ(report.internalError, "");
    const std::vector<ReportTraceGroup>& groups = report.sections.at(0).trace->groups;
    ASSERT_EQ(groups.size(), 3U);
    EXPECT_EQ(groups[0].at.function, "snapshot");
    EXPECT_EQ(groups[0].valueNs, 300'000'000U);
    EXPECT_EQ(groups[0].ofLock.ppb, 75 * Share::kPercent);
    EXPECT_EQ(groups[0].did->ranNs, 100'000'000U);
    EXPECT_EQ(groups[0].did->noCpuNs, 200'000'000U);
    EXPECT_EQ(groups[1].key, "handoff");
    EXPECT_EQ(groups[1].valueNs, 100'000'000U);
    EXPECT_EQ(groups[2].key, "unseen");
}

TEST(TraceReports, groupWaitingByThreadWithTheThreadsOwnTime)
{
    LockTraceRecord record = oneMutex();
    record.threads[0].tid = 8;
    record.threads[0].lockWaits = 100;
    record.threads[0].lockWaitNs = 400'000'000;
    record.threads[0].lockTimeNs = 400'000'000;
    Query query;
    query.by = GroupBy::Thread;
    const Report report = buildReport(profileOf(record), query, RoutineTable::builtIn());
    EXPECT_EQ(report.internalError, "");
    const ReportTraceGroup& row = report.sections.at(0).trace->groups.at(0);
    EXPECT_EQ(row.tid, 8);
    EXPECT_EQ(row.timeNs, 1'000'000'000U); // without the nine seconds of sleep
    EXPECT_EQ(row.ofOwnTime->ppb, 40 * Share::kPercent);
}

TEST(TraceReports, areAnInternalErrorWhereGroupsDoNotAddUp)
{
    LockTraceRecord record = oneMutex(); // its threads wait for nothing
    Query query;
    query.by = GroupBy::Comm;
    EXPECT_NE(buildReport(profileOf(record), query, RoutineTable::builtIn()).internalError, "");
}

std::string textOf(const LockTraceRecord& record, const Query& query)
{
    return renderText(buildDocument(buildReport(profileOf(record), query, RoutineTable::builtIn()), {}));
}

TEST(TraceReports, showOneLockInDepth)
{
    LockTraceRecord record = oneMutex();
    record.locks[0].worst = {
        {.fromNs = 5'000'000, .ns = 30'000'000, .tid = 9, .thread = "worker", .at = {.function = "match"}}};
    Query query;
    query.lock = "g_book";
    const std::string text = textOf(record, query);
    for (const char* part : {"Longest waits", "In the end behind", "Evidence", "worker/9", "address 0x5000"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    query.lock = "no_such";
    const Report report = buildReport(profileOf(record), query, RoutineTable::builtIn());
    ASSERT_EQ(report.diagnostics.size(), 1U);
    EXPECT_EQ(report.diagnostics[0].code, DiagnosticCode::LockNotFound);
    EXPECT_EQ(renderText(buildDocument(report, {})).find("Lock  kind"), std::string::npos);
    EXPECT_NE(report.diagnostics[0].message.find("g_book+0x28"), std::string::npos);
}

TEST(TraceReports, showHoldTimesWhereTheyWereRecorded)
{
    LockTraceRecord record = oneMutex();
    Query query;
    query.holds = true;
    EXPECT_NE(textOf(record, query).find("no hold times"), std::string::npos);
    TracedLock& lock = record.locks[0];
    lock.holdsRecorded = true;
    lock.holdTimes = {
        .holds = 10, .sumNs = 20'000'000, .meanNs = 2'000'000, .p50Ns = 1'500'000, .maxNs = 9'000'000};
    lock.holds = {lock.holdTimes};
    lock.holds[0].at.function = "snapshot";
    const std::string text = textOf(record, query);
    EXPECT_NE(text.find("Held by, waited for or not"), std::string::npos) << text;
    EXPECT_NE(text.find("9.000"), std::string::npos);
    const Json json = Json::parse(renderJson(buildReport(profileOf(record), query, RoutineTable::builtIn())));
    const Json& holds = json.at("sections").at(0).at("locks").at(0).at("hold_times");
    EXPECT_EQ(holds.at("mean_ns"), 2'000'000);
    EXPECT_EQ(holds.at("by").at(0).at("name"), "snapshot");
}

TEST(TraceReports, showNoFigureThatTheInputCannotKnow)
{
    LockTraceRecord record = oneMutex();
    record.hasSwitches = false;
    record.threads[0].times = {.unknownNs = 600'000'000, .lockNs = 400'000'000};
    record.locks[0].holders[0].meanwhile = {.unknownNs = 300'000'000};
    const Json json = Json::parse(renderJson(reportOf(record)));
    const Json& holder = json.at("sections").at(0).at("locks").at(0).at("holders").at(0);
    for (const char* field : {"ran", "preempted", "blocked", "no_cpu", "unclear"})
        EXPECT_FALSE(holder.contains(field)) << field;
    EXPECT_EQ(textOf(record, {}).find(" ran"), std::string::npos);
    record.locks[0].waits = 0; // all of them are open
    record.locks[0].open = 100;
    record.locks[0].sites[0].waits = record.locks[0].sites[1].waits = 0;
    const Json open = Json::parse(renderJson(reportOf(record)));
    for (const char* field : {"mean_ns", "max_ns", "p50_ns", "p99_ns"})
        EXPECT_FALSE(open.at("sections").at(0).at("locks").at(0).contains(field)) << field;
}

TEST(TraceReports, tellWhatOfTheQuestionAndOfTheRecorderIsLeftOut)
{
    LockTraceRecord record = oneMutex();
    record.leftOut = {.waits = 12, .ns = 5'000'000};
    record.recorderThreads = 1;
    record.ofRecorder = {.waits = 3, .ns = 2'000'000};
    const Report report = reportOf(record);
    const std::string text = fmt::format("{}", fmt::join(report.sections.at(0).trace->leftOut, " "));
    EXPECT_NE(text.find("12 waits for locks are left out, 5.000 ms"), std::string::npos) << text;
    EXPECT_NE(text.find("A thread of the recorder itself is left out, with 0.000 ms on a CPU, with 3 waits "
                        "for locks of 2.000 ms."),
        std::string::npos)
        << text;
}

TEST(TraceReports, tellNoNamesOfThreadsAndFilesWhenRedacted)
{
    LockTraceRecord record = oneMutex();
    record.locks[0].worst = {{.fromNs = 5,
        .ns = 30,
        .tid = 9,
        .thread = "worker",
        .at = {.function = "match", .file = "/home/me/a.cc"}}};
    Query query;
    query.by = GroupBy::Holder;
    query.lock = "g_book";
    Report report = buildReport(profileOf(record), query, RoutineTable::builtIn());
    redact(report);
    const std::string all = renderText(buildDocument(report, {})) + renderJson(report);
    for (const char* secret : {"worker", "snap\"", "snap ", "gzip", "quoted", "/home/me"})
        EXPECT_EQ(all.find(secret), std::string::npos) << secret << all;
    EXPECT_NE(all.find("snapshot"), std::string::npos); // a function
}

TEST(TraceReports, nameTheLockOfItsOwnEvents)
{
    LockTraceRecord record = oneMutex();
    record.locks[0].kind = "mmap-lock";
    record.locks[0].space = "kernel";
    record.locks[0].symbol.clear();
    const ReportTraceLock lock = reportOf(record).sections.at(0).trace->locks.at(0);
    EXPECT_EQ(lock.name, "mm_struct::mmap_lock");
    EXPECT_EQ(lock.rung, Rung::NamedInData);
}

TEST(TraceReports, sayWhereOnlyTheCallerIsKnown)
{
    LockTraceRecord record = oneMutex();
    record.locks[0].holders[0].at.calledFrom = true;
    record.locks[0].sites[0].at.calledFrom = true;
    const std::string text = textOf(record, {});
    EXPECT_NE(text.find("behind what was called from snapshot"), std::string::npos) << text;
    EXPECT_NE(text.find("called from match"), std::string::npos);
}

TEST(TraceReports, proposeNothingThatIsRecordedAlready)
{
    const Report whole = reportOf(oneMutex());
    for (const std::string& next : whole.recordNext)
        EXPECT_EQ(next.find("sched"), std::string::npos) << next;
    LockTraceRecord record = oneMutex();
    record.hasSwitches = false;
    record.eventCounts = {{"syscalls:sys_enter_futex", 400}};
    const Report part = reportOf(record);
    ASSERT_FALSE(part.recordNext.empty());
    EXPECT_NE(part.recordNext[0].find("-e sched:sched_switch"), std::string::npos);
    EXPECT_EQ(part.recordNext[0].find("futex"), std::string::npos);
}

TEST(TraceReports, numberTheLocksOfOneClass)
{
    LockTraceRecord record = oneMutex();
    TracedLock& first = record.locks[0];
    first.symbol.clear();
    first.called = "Shard::mu";
    first.expression = "shard->mu";
    first.calledVerified = true;
    first.valueNs = 300'000'000;
    first.roots.clear();
    TracedLock second = first;
    second.address = 0x6000;
    second.valueNs = 100'000'000;
    record.locks.push_back(second);
    TracedLock third = second;
    third.called = "Pool::mu";
    third.valueNs = 1;
    record.locks.push_back(third);
    const Report report = reportOf(record);
    const ReportTrace& trace = *report.sections[0].trace;
    EXPECT_EQ(trace.locks.at(0).name, "Shard::mu #1");
    EXPECT_EQ(trace.locks.at(1).name, "Shard::mu #2");
    EXPECT_EQ(trace.locks.at(2).name, "Pool::mu");
    EXPECT_EQ(trace.locks.at(0).rung, Rung::Type);
    EXPECT_EQ(trace.locks.at(1).ofClass.ppb, 25 * Share::kPercent);
    ASSERT_EQ(trace.classes.size(), 1U);
    EXPECT_EQ(trace.classes[0].valueNs, 400'000'000U);
    EXPECT_EQ(trace.classes[0].heaviest.ppb, 75 * Share::kPercent);
    const Json json = Json::parse(renderJson(report));
    const Json& lock = json.at("sections").at(0).at("locks").at(1);
    EXPECT_EQ(lock.at("class"), "Shard::mu");
    EXPECT_EQ(lock.at("instance"), 2);
    EXPECT_EQ(lock.at("instances"), 2);
    EXPECT_EQ(lock.at("rung"), "type");
    EXPECT_EQ(lock.at("verified"), true);
    EXPECT_EQ(lock.at("share_of_class_percent"), 25.0);
}

// From recordings.

Json reportedJson(const std::string& name, const Query& query = {})
{
    SymbolizerOptions symbols;
    symbols.debugDirs = {kRecordings / "bin", kRecordings / "syms"};
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(std::move(*Source::openFile(kRecordings / (name + ".data"))));
    const Report report = buildReport(
        loadSession(std::move(sources), {}, symbols, selectionOf(query)), query, RoutineTable::builtIn());
    EXPECT_EQ(report.internalError, "");
    return Json::parse(renderJson(report));
}

const Json& traceSection(const Json& json)
{
    for (const Json& section : json.at("sections")) {
        if (section.contains("lower_bound"))
            return section;
    }
    return json.at("sections").at(0);
}

TEST(TraceReports, nameGlobalLocksOfRecordingsByTheBiasOfTheirCode)
{
    if (!fs::is_directory(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    const auto names = [](const std::string& recording) {
        std::set<std::string> found;
        const Json json = reportedJson(recording);
        for (const Json& lock : traceSection(json).at("locks"))
            found.insert(lock.at("name"));
        return found;
    };
    EXPECT_EQ(names("a.sf-fp"), (std::set<std::string>{"g_hot"}));
    EXPECT_EQ(names("a.data-d"), (std::set<std::string>{"g_hot"}));
    EXPECT_EQ(names("a.pi"), (std::set<std::string>{"g_pi"}));
    EXPECT_EQ(names("d.sf-fp"), (std::set<std::string>{"q_mu"}));
    EXPECT_EQ(names("e.sf-fp"), (std::set<std::string>{"index_lock_A", "log_lock_C", "page_lock_B"}));
}

uint64_t waitOf(const Json& json)
{
    return traceSection(json).at("contention_total").get<uint64_t>();
}

TEST(TraceReports, cutARecordingIntoPartsThatAddUp)
{
    if (!fs::is_directory(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    const uint64_t all = waitOf(reportedJson("a.sf-fp"));
    const auto sumOf = [](const std::vector<QueryTexts>& questions) {
        uint64_t sum = 0;
        for (const QueryTexts& texts : questions)
            sum += waitOf(reportedJson("a.sf-fp", *parseQuery(texts)));
        return sum;
    };
    EXPECT_EQ(sumOf({{.threads = {"slow"}}, {.threads = {"fast"}}}), all);
    EXPECT_EQ(sumOf({{.cpus = {"0"}}, {.cpus = {"1"}}}), all);
    EXPECT_EQ(sumOf({{.time = "-0.03"}, {.time = "0.03-0.05"}, {.time = "0.05-"}}), all);
    EXPECT_EQ(sumOf({{.processes = {"a_mutex.fp"}}}), all);
    EXPECT_EQ(sumOf({{.processes = {"nobody"}}}), 0U);
}

TEST(TraceReports, findTheSameHoldersForAPartOfTheWaiters)
{
    if (!fs::is_directory(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    const Json fast = reportedJson("a.sf-fp", *parseQuery({.threads = {"fast"}}));
    const Json& section = traceSection(fast);
    EXPECT_EQ(section.at("locks").at(0).at("holders").at(0).at("thread"), "slow"); // which is not asked for
    // As expect.json has them: 46 waits of 114.313 ms in all.
    EXPECT_EQ(
        section.at("locks").at(0).at("waits").get<uint64_t>() + section.at("left_out_waits").get<uint64_t>(),
        46U);
    EXPECT_NEAR(
        static_cast<double>(waitOf(fast) + section.at("left_out_wait_ns").get<uint64_t>()), 114.313e6, 1e3);
}

TEST(TraceReports, addUpByWhateverTheyAreGrouped)
{
    if (!fs::is_directory(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    for (const char* name : {"b.sf-dwarf", "e.sf-fp", "g.mmap.con-fp", "x.uprobe-a_mutex"}) {
        for (const char* by : {"holder", "site", "thread", "comm", "process", "cpu"}) {
            SCOPED_TRACE(fmt::format("{} by {}", name, by));
            const Json json = reportedJson(name, *parseQuery({.by = by}));
            uint64_t sum = 0;
            for (const Json& group : traceSection(json).at("groups"))
                sum += group.at("value").get<uint64_t>();
            EXPECT_EQ(sum, waitOf(json));
        }
    }
}

TEST(TraceReports, tellHoldTimesOfProbes)
{
    if (!fs::is_directory(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    Query query;
    query.holds = true;
    const Json json = reportedJson("x.uprobe-a_mutex", query);
    const Json* hot = nullptr;
    for (const Json& lock : traceSection(json).at("locks"))
        if (lock.at("name") == "g_hot")
            hot = &lock;
    ASSERT_NE(hot, nullptr);
    // Beside the program's own measurement (oracle.json): its acquisitions, and the time that it held it.
    const Json& times = hot->at("hold_times");
    EXPECT_EQ(times.at("holds"), 220);
    std::map<std::string, uint64_t> count;
    std::map<std::string, double> sum;
    for (const Json& row : times.at("by")) {
        count[row.at("name")] += row.at("holds").get<uint64_t>();
        sum[row.at("name")] += row.at("value").get<double>();
    }
    EXPECT_EQ(count, (std::map<std::string, uint64_t>{{"slow_path", 60}, {"fast_path", 160}}));
    EXPECT_NEAR(sum["slow_path"], 58.099e6, 0.05 * 58.099e6);
    EXPECT_NEAR(sum["fast_path"], 9.001e6, 0.2 * 9.001e6); // holds of 50 us, and a probe takes 2
}

TEST(TraceReports, nameLocksOnTheHeapByTheCodeOfTheirCalls)
{
    if (!fs::is_directory(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    for (const char* recording : {"b.sf-fp", "b.sf-dwarf"}) {
        const Json lock = traceSection(reportedJson(recording)).at("locks").at(0);
        EXPECT_EQ(lock.at("name"), "Shard::mu") << recording;
        EXPECT_EQ(lock.at("rung"), "type") << recording;
        EXPECT_EQ(lock.at("verified"), false) << recording; // no build id of the program was recorded
    }
    const Json lost = traceSection(reportedJson("x.lost"));
    EXPECT_EQ(lost.at("locks").at(0).at("name"), "Account::balance_mu");
    EXPECT_EQ(lost.at("locks").at(1).at("name"), "Account::history_mu");
    EXPECT_EQ(traceSection(reportedJson("c.sf-dwarf")).at("locks").at(0).at("name"), "g_cfg_lock");
}

TEST(TraceReports, blameNothingInARecordingWithoutContention)
{
    if (!fs::is_directory(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    const Json json = reportedJson("i.sf-fp");
    EXPECT_EQ(json.at("verdict").at("guilty"), "unknown");
    EXPECT_EQ(traceSection(json).at("locks"), Json::array());
    EXPECT_EQ(traceSection(json).at("contention_total"), 0);
}

TEST(TraceReports, markWhatIsIncompleteInARecording)
{
    if (!fs::is_directory(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    for (const char* name : {"h.multi-F999-trap", "x.lost"}) {
        SCOPED_TRACE(name);
        const Json json = reportedJson(name);
        EXPECT_TRUE(traceSection(json).at("lower_bound").get<bool>());
        EXPECT_GT(traceSection(json).at("left_out").size(), 0U);
    }
    const Json whole = reportedJson("a.sf-fp");
    EXPECT_FALSE(traceSection(whole).at("lower_bound").get<bool>());
}

} // namespace
} // namespace whichlock::test
