// SPDX-License-Identifier: GPL-3.0-or-later
// Traces in a report: shares, account, verdict and JSON, with figures by hand; and recordings beside the
// source tree from their bytes to the report.
#include "analyzer/model/profile_builder.h"
#include "analyzer/report/document.h"
#include "analyzer/session/session.h"

#include <filesystem>
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
    lock.sites = {{.function = "match", .side = "-", .valueNs = 300'000'000, .waits = 60},
        {.function = "quote", .side = "-", .valueNs = 100'000'000, .waits = 40}};
    TracedHolder holder{
        .function = "snapshot", .thread = "snap", .waitNs = 300'000'000, .provenNs = 300'000'000};
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

// From recordings.

Json reportedJson(const std::string& name)
{
    SymbolizerOptions symbols;
    symbols.debugDirs = {kRecordings / "bin", kRecordings / "syms"};
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(std::move(*Source::openFile(kRecordings / (name + ".data"))));
    const Report report =
        buildReport(loadSession(std::move(sources), {}, symbols), {}, RoutineTable::builtIn());
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
