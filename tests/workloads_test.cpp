// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of the workload programs of testdata: what is read from them is what perf script lists, and what
// the programs measured about themselves in that very run.
#include "analyzer/report/report.h"
#include "tests/support/perf_data_swap.h"
#include "tests/support/workloads.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace whichlock::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kTestdata = WHICHLOCK_TESTDATA;

using Counts = std::map<std::string, uint64_t>; ///< by event and name, with a tab in between

/// What perf script lists: `samples` by thread name, or `leaves` by innermost function.
Counts printedCounts(const Workload& workload, const std::string& kind)
{
    Counts counts;
    std::ifstream in(workload.folder / "perf-counts.txt");
    for (std::string line; std::getline(in, line);) {
        const size_t first = line.find('\t');
        const size_t last = line.rfind('\t');
        if (line.substr(0, first) == kind)
            counts[line.substr(first + 1, last - first - 1)] += std::stoull(line.substr(last + 1));
    }
    return counts;
}

/// A name as it stands for all names of its address: without parameters, version and underscores in front.
std::string plain(const std::string& name)
{
    const size_t begin = std::min(name.find_first_not_of('_'), name.size());
    return name.substr(begin, name.find_first_of("(@", begin) - begin);
}

Counts commsOf(const Profile& profile)
{
    Counts counts;
    for (const Section& section : profile.sections) {
        for (const Cell& cell : section.cells)
            counts[section.record.event + '\t'
                + std::string(profile.string(profile.group(cell.group).comm))] += cell.samples;
    }
    return counts;
}

/// Names of which there are some beside the recordings; others depend on the machine that the test runs on.
bool hasNamesHere(std::string_view object)
{
    return object == "[kernel.kallsyms]" || object.starts_with("/opt/workloads/")
        || object.ends_with("/libc.so.6");
}

Counts leavesOf(const Profile& profile)
{
    Counts counts;
    for (const Section& section : profile.sections) {
        for (const Cell& cell : section.cells) {
            const bool any = cell.stack
                && hasNamesHere(profile.string(profile.frame(profile.stack(cell.stack).frame).object));
            const std::string name = any ? plain(std::string(profile.leafSymbol(cell.stack))) : "[unknown]";
            counts[section.record.event + '\t' + name] += cell.samples;
        }
    }
    return counts;
}

/// Samples whose innermost function is of an object that has names here.
uint64_t nameableSamples(const Profile& profile)
{
    uint64_t sum = 0;
    for (const Section& section : profile.sections) {
        for (const Cell& cell : section.cells)
            sum += cell.stack
                    && hasNamesHere(profile.string(profile.frame(profile.stack(cell.stack).frame).object))
                ? cell.samples
                : 0;
    }
    return sum;
}

uint64_t sumOf(const Counts& counts)
{
    uint64_t sum = 0;
    for (const auto& [name, count] : counts)
        sum += count;
    return sum;
}

std::string caseName(const testing::TestParamInfo<Workload>& info)
{
    std::string name = info.param.name;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class Workloads : public testing::TestWithParam<Workload> { };

INSTANTIATE_TEST_SUITE_P(Recordings, Workloads, testing::ValuesIn(workloads()), caseName);

TEST_P(Workloads, haveTheSamplesOfPerfScriptByEventAndThread)
{
    const Counts printed = printedCounts(GetParam(), "samples");
    ASSERT_FALSE(printed.empty());
    EXPECT_EQ(commsOf(profileOf(GetParam())), printed);
}

TEST_P(Workloads, haveTheInnermostFunctionsOfPerfScript)
{
    const Profile profile = profileOf(GetParam());
    const Counts found = leavesOf(profile);
    Counts printed;
    for (const auto& [key, count] : printedCounts(GetParam(), "leaves")) {
        const size_t tab = key.find('\t');
        printed[key.substr(0, tab + 1) + plain(key.substr(tab + 1))] += count;
    }
    // Of libraries only some names are beside the recording: what has none here may have one in perf's list.
    uint64_t named = 0;
    for (const auto& [leaf, count] : found) {
        if (leaf.ends_with("\t[unknown]"))
            continue;
        const auto right = printed.find(leaf);
        EXPECT_TRUE(right != printed.end() && count <= right->second) << leaf << ' ' << count;
        named += count;
    }
    EXPECT_GE(named * 100, nameableSamples(profile) * 95);
    EXPECT_GE(named * 100, sumOf(printed) * 85);
    EXPECT_EQ(sumOf(found), sumOf(printed));
}

TEST_P(Workloads, readAlikeWhenABigEndianMachineHadWrittenThem)
{
    const std::string bytes = bytesOf(GetParam().recording);
    const std::string little = profileOf(GetParam(), bytes).canonicalBytes();
    EXPECT_TRUE(little == profileOf(GetParam(), bigEndianCopy(bytes)).canonicalBytes());
}

TEST_P(Workloads, measuredWaitsThatAddUp)
{
    const Json truth = truthOf(GetParam());
    for (const Json& lock : truth.at("locks")) {
        SCOPED_TRACE(lock.at("name").get<std::string>());
        int64_t bySite = 0;
        for (const Json& site : lock.at("sites"))
            bySite += site.at("wait_ns").get<int64_t>();
        EXPECT_EQ(bySite, lock.at("wait_ns").get<int64_t>());
        int64_t byHolder = 0;
        for (const auto& item : lock.at("waits_held_by").items())
            byHolder += item.value().get<int64_t>();
        // Readers hold together with each other, so that one wait can be because of both functions.
        if (lock.at("type") == "pthread_rwlock_t")
            EXPECT_GE(byHolder, bySite);
        else
            EXPECT_EQ(byHolder, bySite);
    }
}

TEST_P(Workloads, areOfProgramsThatAreHere)
{
    const std::string program = truthOf(GetParam()).at("program");
    EXPECT_TRUE(fs::exists(kTestdata / "programs" / (program + ".cpp")));
    EXPECT_TRUE(fs::exists(GetParam().folder / "ORIGIN"));
}

/// The share of the processor time, as the program measured it, against the share of the samples; percent.
class CpuWorkloads : public testing::Test {
protected:
    static constexpr double kPoints = 5;

    void read(const std::string& name)
    {
        const Workload workload = workloadOf(name);
        ASSERT_FALSE(workload.name.empty());
        truth = truthOf(workload);
        profile = profileOf(workload);
        comms = commsOf(profile);
        leaves = leavesOf(profile);
        report = buildReport(profile, {}, RoutineTable::builtIn());
        EXPECT_EQ(report.internalError, "");
    }
    double samplesPercent(const Counts& counts, const std::string& name) const
    {
        const auto found = counts.find("cpu-clock\t" + name);
        const uint64_t count = found == counts.end() ? 0 : found->second;
        return 100.0 * static_cast<double>(count) / static_cast<double>(sumOf(counts));
    }
    double cpuPercent(double ns) const { return 100 * ns / truth.at("cpu_ns").get<double>(); }
    double spunPercent(const std::string& lock) const
    {
        for (const Json& one : truth.at("locks")) {
            if (one.at("name") == lock)
                return cpuPercent(one.at("wait_cpu_ns").get<double>());
        }
        return NAN;
    }
    void checkThreads() const
    {
        std::map<std::string, double> byName;
        for (const Json& thread : truth.at("threads"))
            byName[thread.at("name")] += thread.at("cpu_ns").get<double>();
        for (const auto& [name, ns] : byName)
            EXPECT_NEAR(samplesPercent(comms, name), cpuPercent(ns), kPoints) << name;
    }

    Json truth;
    Profile profile;
    Counts comms;
    Counts leaves;
    Report report;
};

TEST_F(CpuWorkloads, spinningHasTheShareThatWasMeasured)
{
    for (const char* name : {"spin-and-ttas-cpu-fp", "spin-and-ttas-cpu-dwarf"}) {
        SCOPED_TRACE(name);
        read(name);
        checkThreads();
        EXPECT_GT(spunPercent("g_slots"), 2.0);
        EXPECT_GT(spunPercent("g_ring"), 2.0);
        EXPECT_NEAR(samplesPercent(leaves, "pthread_spin_lock"), spunPercent("g_slots"), kPoints);
        EXPECT_NEAR(samplesPercent(leaves, "TtasLock::lock"), spunPercent("g_ring"), kPoints);
    }
}

TEST_F(CpuWorkloads, waitersOfAMutexAreNotOnAProcessor)
{
    for (const char* name : {"mutex-two-sites-cpu", "sharded-heap-mutexes-cpu"}) {
        SCOPED_TRACE(name);
        read(name);
        checkThreads();
        // Threads waited longer than they worked, and the samples show nothing of it: only the work.
        EXPECT_GT(samplesPercent(leaves, "truth::burnLoop"), 85.0);
        EXPECT_NE(report.verdict.guilty, Guilty::Yes);
    }
}

TEST_F(CpuWorkloads, locksThatNobodyWaitsForAreNotBlamed)
{
    read("no-contention-cpu");
    checkThreads();
    EXPECT_GT(samplesPercent(leaves, "truth::burnLoop"), 85.0);
    EXPECT_NE(report.verdict.guilty, Guilty::Yes);
}

TEST_F(CpuWorkloads, theKernelsWorkIsSeenWhereItIsTheWork)
{
    read("kernel-mmap-cpu");
    checkThreads();
    uint64_t kernel = 0;
    for (const Section& section : profile.sections) {
        for (const Cell& cell : section.cells) {
            const Frame& leaf = profile.frame(profile.stack(cell.stack).frame);
            kernel += profile.string(leaf.object) == "[kernel.kallsyms]" ? cell.samples : 0;
        }
    }
    EXPECT_GT(kernel * 100, sumOf(comms) * 50); // mapping, faults and unmapping: the program only writes
}

} // namespace
} // namespace whichlock::test
