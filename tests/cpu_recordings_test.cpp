// SPDX-License-Identifier: GPL-3.0-or-later
// CPU samples of programs whose lock contention was measured by the programs themselves: what the report may
// say of it, and what it must not.
#include "analyzer/report/report.h"
#include "tests/support/recordings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace whichlock::test {
namespace {

using Counts = std::map<std::string, uint64_t>;

/// Samples of the first event by comm.
Counts samplesByComm(const Section& section, const Profile& profile)
{
    Counts counts;
    for (const Cell& cell : section.cells)
        counts[std::string(profile.string(profile.group(cell.group).comm))] += cell.samples;
    return counts;
}

const Section& cpuClock(const Profile& profile)
{
    const auto found = std::find_if(profile.sections.begin(), profile.sections.end(),
        [](const Section& section) { return section.record.event == "cpu-clock"; });
    if (found == profile.sections.end())
        throw std::runtime_error("no cpu-clock samples");
    return *found;
}

double percent(const std::optional<Share>& share)
{
    return static_cast<double>(share.value_or(Share{}).ppb) / static_cast<double>(Share::kPercent);
}

struct CpuRecording {
    const char* name;
    Counts comms; ///< as perf script counts them
};

class CpuRecordings : public testing::TestWithParam<CpuRecording> { };

TEST_P(CpuRecordings, giveTheSamplesOfEachThreadAndClaimNoWait)
{
    if (!hasRecordings())
        GTEST_SKIP() << "no recordings beside the source tree";
    const Profile profile = recordedProfile(GetParam().name);
    EXPECT_EQ(samplesByComm(cpuClock(profile), profile), GetParam().comms);
    const Report report = buildReport(profile, {}, RoutineTable::builtIn());
    EXPECT_EQ(report.internalError, "");
    for (const ReportSection& section : report.sections) {
        EXPECT_NE(section.kind, SectionKind::WaitProfile);
        if (section.kind != SectionKind::CpuProfile)
            continue;
        EXPECT_EQ(section.facts.scope, "process");
        // Functions that were inlined are no callers. Copies of stacks are to be unwound first.
        const std::string name = GetParam().name;
        if (name != "a.cpu-dwarf") {
            EXPECT_EQ(section.sees.callers == Sees::No, name == "a.cpu-nog");
        }
        EXPECT_EQ(section.sees.userSleep, Sees::No);
        EXPECT_EQ(section.sees.kernelSleep, Sees::No);
        // These locks are waited for asleep: at most a trickle of spinning in the kernel may be seen.
        if (section.event == "cpu-clock") {
            EXPECT_LT(percent(section.contention.ofTotal), 3.0);
        }
    }
    EXPECT_EQ(report.verdict.guilty, Guilty::Unknown);
    EXPECT_NE(report.verdict.text.find("blocked waiting is not visible here"), std::string::npos)
        << report.verdict.text;
}

INSTANTIATE_TEST_SUITE_P(Samples, CpuRecordings,
    testing::Values(CpuRecording{"a.cpu-dwarf", {{"slow", 83}, {"fast", 41}, {"a_mutex.nofp", 7}}},
        CpuRecording{"a.cpu-fp", {{"slow", 280}, {"fast", 126}, {"a_mutex.fp", 44}}},
        CpuRecording{"a.cpu-nog", {{"slow", 222}, {"fast", 101}, {"a_mutex.fp", 19}}},
        CpuRecording{"a.group", {{"slow", 72}, {"fast", 39}, {"a_mutex.fp", 5}}},
        CpuRecording{"a.misc", {{"slow", 64}, {"fast", 23}, {"a_mutex.fp", 4}}},
        CpuRecording{"a.regs", {{"slow", 66}, {"fast", 29}, {"a_mutex.fp", 4}}},
        CpuRecording{"b.cpu-fp", {{"shard-worker", 230}, {"b_shards.fp", 25}}},
        CpuRecording{
            "e.cpu-fp", {{"client", 55}, {"e_chain.fp", 40}, {"pager", 40}, {"indexer", 29}, {"flusher", 5}}},
        CpuRecording{"g.mmap.cpu-fp",
            {{"mmap-3", 77}, {"mmap-2", 73}, {"mmap-1", 70}, {"mmap-0", 57}, {"g_kernel.fp", 3}, {"rm", 2},
                {"sh", 1}}}),
    [](const auto& one) {
        std::string name = one.param.name;
        std::replace_if(
            name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
        return name;
    });

TEST(SpinRecording, tellsWaitingForAPthreadSpinLockFromItsCalls)
{
    if (!hasRecordings())
        GTEST_SKIP() << "no recordings beside the source tree";
    const Profile profile = recordedProfile("f.cpu-dwarf");
    EXPECT_EQ(samplesByComm(cpuClock(profile), profile),
        (Counts{{"ttas", 249}, {"spinner", 247}, {"f_spin.nofp", 4}}));
    const Report report = buildReport(profile, {}, RoutineTable::builtIn());
    const ReportSection& section = report.sections.at(0);
    // perf script prints 90 of 500 samples in pthread_spin_lock, all of them in its loop. The program
    // measured 165.3 ms of waiting in the 1002 ms that were sampled.
    EXPECT_EQ(section.contention.samples, 90U);
    EXPECT_TRUE(section.contentionDecided);
    EXPECT_NEAR(percent(section.contention.ofTotal), 100 * 165.299 / 1002.0, 5.0);
    EXPECT_EQ(report.verdict.guilty, Guilty::Yes);
    // Where callers are found, all of them are this one.
    for (const ReportLock& lock : section.locks) {
        for (const ReportSite& site : lock.sites)
            EXPECT_TRUE(lock.rung == Rung::Unnamed || site.name.starts_with("spin_update")) << site.name;
    }
    // 92 samples are in the program's own spin lock.
    ASSERT_EQ(section.pauseLoops.size(), 1U);
    EXPECT_EQ(section.pauseLoops[0].symbol, "Ttas::lock");
    EXPECT_EQ(section.pauseLoops[0].part.samples, 92U);
}

TEST(SpinRecording, countsAProgramsOwnSpinLockOnceItsTableNamesIt)
{
    if (!hasRecordings())
        GTEST_SKIP() << "no recordings beside the source tree";
    const auto table =
        RoutineTable::builtIn().withUserFile("own.tsv", "symbol\trole\nTtas::lock\tslowpath-spin\n");
    ASSERT_TRUE(table);
    const Report report = buildReport(recordedProfile("f.cpu-dwarf"), {}, *table);
    const ReportSection& section = report.sections.at(0);
    EXPECT_EQ(section.contention.samples, 182U);
    // 183.3 ms for this lock and 165.3 ms for the other one.
    EXPECT_NEAR(percent(section.contention.ofTotal), 100 * (183.280 + 165.299) / 1002.0, 5.0);
    EXPECT_TRUE(section.pauseLoops.empty());
}

/// Samples by `innermost < recovered`, of chains that lacked a caller.
Counts recoveredCallers(const Profile& profile)
{
    Counts counts;
    for (const Section& section : profile.sections) {
        for (const Cell& cell : section.cells) {
            std::string inner;
            for (StackId at = cell.stack; at; at = profile.stack(at).parent) {
                const Frame& frame = profile.frame(profile.stack(at).frame);
                const std::string name(profile.string(frame.symbol));
                if (frame.recovered)
                    counts[inner + " < " + name] += cell.samples;
                inner = name.substr(std::min(name.find_first_not_of('_'), name.size()));
            }
        }
    }
    return counts;
}

TEST(LostCallers, areRecoveredInRecordingsByFramePointers)
{
    if (!hasRecordings())
        GTEST_SKIP() << "no recordings beside the source tree";
    // The probes stand at pthread_mutex_lock and pthread_mutex_unlock; the program took its lock 220 times,
    // in slow_path 60 times and in fast_path 160 times. No chain has the function that called.
    const Counts probes = recoveredCallers(recordedProfile("x.uprobe-a_mutex", false));
    EXPECT_EQ(probes.at("pthread_mutex_lock < fast_path"), 160U);
    EXPECT_EQ(probes.at("pthread_mutex_lock < slow_path"), 60U);
    EXPECT_EQ(probes.at("pthread_mutex_unlock < fast_path"), 160U);
    EXPECT_EQ(probes.at("pthread_mutex_unlock < slow_path"), 60U);
    // All three callers are called by worker(): only the call before each return address tells them apart.
    const Counts shards = recoveredCallers(recordedProfile("b.sf-fp", false));
    for (const char* caller : {"Table::insert", "Table::lookup", "Table::evict"})
        EXPECT_GT(shards.at(std::string("GI___lll_lock_wait < ") + caller), 0U);
    for (const auto& [pair, samples] : shards)
        EXPECT_EQ(pair.find("lll_lock_wait < worker"), std::string::npos) << pair;
}

TEST(LostCallers, areNotInventedWhereStacksWereCopiedOrNothingIsKnown)
{
    if (!hasRecordings())
        GTEST_SKIP() << "no recordings beside the source tree";
    EXPECT_TRUE(recoveredCallers(recordedProfile("a.cpu-dwarf", false)).empty());
    // A program without frame pointers: chains of one frame, and the waiting functions are in none.
    for (const auto& [pair, samples] : recoveredCallers(recordedProfile("a.sf-nofp-fpmode", false)))
        EXPECT_EQ(pair.find("lll_lock"), std::string::npos) << pair;
}

} // namespace
} // namespace whichlock::test
