// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings beside the source tree, where there are any: read natively they give the leaf functions that
// perf script printed for them, sample by sample.
#include "analyzer/model/profile_builder.h"
#include "analyzer/report/report.h"
#include "analyzer/session/session.h"
#include "tests/support/recordings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace whichlock::test {
namespace {

/// Samples by leaf function. Parameters, versions and underscores in front, by which names of one address
/// differ, are cut off.
std::map<std::string, uint64_t> leaves(const Profile& profile)
{
    std::map<std::string, uint64_t> counts;
    for (const Section& section : profile.sections) {
        for (const Cell& cell : section.cells) {
            std::string name(profile.leafSymbol(cell.stack));
            name = name.substr(0, name.find_first_of("(@"));
            name.erase(0, std::min(name.find_first_not_of('_'), name.size()));
            counts[name] += cell.samples;
        }
    }
    return counts;
}

Profile profileOf(std::unique_ptr<Source> source, const SymbolizerOptions& symbols = {})
{
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(std::move(source));
    return loadSession(std::move(sources), {}, symbols);
}

/// Samples whose stack has this function anywhere.
uint64_t samplesThrough(const Profile& profile, std::string_view function)
{
    uint64_t samples = 0;
    for (const Section& section : profile.sections) {
        for (const Cell& cell : section.cells) {
            bool found = false;
            for (StackId at = cell.stack; at && !found; at = profile.stack(at).parent) {
                const std::string_view name = profile.string(profile.frame(profile.stack(at).frame).symbol);
                found = name.substr(0, name.find('(')) == function;
            }
            samples += found ? cell.samples : 0;
        }
    }
    return samples;
}

class RecordingProfiles : public testing::TestWithParam<const char*> { };

TEST_P(RecordingProfiles, haveTheLeafFunctionsOfPerfScript)
{
    if (!hasRecordings())
        GTEST_SKIP() << "no recordings beside the source tree";
    const std::string name = GetParam();
    const auto native = leaves(recordedProfile(name, false));
    const std::string script = unpacked(recordingsFolder() / (name + ".script.txt.gz"));
    const auto printed = leaves(profileOf(Source::fromMemory("script", script)));

    uint64_t all = 0;
    uint64_t same = 0;
    for (const auto& [function, samples] : printed) {
        all += samples;
        const auto found = native.find(function);
        same += found == native.end() ? 0 : std::min(samples, found->second);
    }
    uint64_t nativeAll = 0;
    for (const auto& [function, samples] : native)
        nativeAll += samples;
    EXPECT_EQ(nativeAll, all);
    // Functions that the compiler put inside others are named by perf script, and by the symbol table are
    // not.
    EXPECT_GE(same * 100, all * 97) << same << " of " << all;
}

/// Samples of each row of the first CPU profile, by name; what INDEX.md says was counted by another program.
std::map<std::string, uint64_t> rowsBy(const std::string& recording, const QueryTexts& texts)
{
    const auto query = parseQuery(texts);
    auto source = Source::openFile(recordingsFolder() / (recording + ".data"));
    if (!query || !source)
        return {};
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(std::move(*source));
    const Profile profile = loadSession(
        std::move(sources), {}, {.debugRoot = "/nonexistent", .inlines = false}, selectionOf(*query));
    const Report report = buildReport(profile, *query, RoutineTable::builtIn());
    EXPECT_EQ(report.internalError, "");
    std::map<std::string, uint64_t> rows;
    for (const ReportSection& section : report.sections) {
        if (section.kind != SectionKind::CpuProfile)
            continue;
        rows["all"] = section.samples;
        for (const ReportGroup& group : section.groups)
            rows[group.cpu >= 0 ? std::to_string(group.cpu) : group.name] += group.part.samples;
        break;
    }
    return rows;
}

using Rows = std::map<std::string, uint64_t>;

TEST(RecordingQuestions, haveTheSamplesOfEachThread)
{
    if (!hasRecordings())
        GTEST_SKIP() << "no recordings beside the source tree";
    const Rows mutex{{"all", 450}, {"slow", 280}, {"fast", 126}, {"a_mutex.fp", 44}};
    EXPECT_EQ(rowsBy("a.cpu-fp", {.by = "comm"}), mutex);
    EXPECT_EQ(rowsBy("a.cpu-fp", {.by = "thread"}), mutex);
    EXPECT_EQ(rowsBy("a.cpu-fp", {.by = "process"}), (Rows{{"all", 450}, {"a_mutex.fp", 450}}));
    EXPECT_EQ(rowsBy("h.multi-F999-trap", {.by = "comm"}),
        (Rows{{"all", 256}, {"cpu", 144}, {"locker", 108}, {"h_mixed.fp", 4}}));
    EXPECT_EQ(rowsBy("a.cpu-fp", {.threads = {"slow"}}), (Rows{{"all", 280}}));
    EXPECT_EQ(rowsBy("a.cpu-fp", {.threads = {"slow,fast"}}), (Rows{{"all", 406}}));
    EXPECT_EQ(rowsBy("a.cpu-fp", {.processes = {"a_mutex.fp"}}), (Rows{{"all", 450}}));
    EXPECT_EQ(rowsBy("h.multi-F999-trap", {.threads = {"locker"}}), (Rows{{"all", 108}}));
}

TEST(RecordingQuestions, partsOfTheTimeAndProcessorsAddUpToTheWhole)
{
    if (!hasRecordings())
        GTEST_SKIP() << "no recordings beside the source tree";
    for (const auto& [front, back] : {std::pair("-0.04", "0.04-"), std::pair("-50%", "50%-"),
             std::pair(",794.9", "794.9,"), std::pair("-0.0123", "0.0123-")}) {
        const uint64_t first = rowsBy("a.cpu-fp", {.time = front})["all"];
        const uint64_t second = rowsBy("a.cpu-fp", {.time = back})["all"];
        EXPECT_GT(first, 0U) << front;
        EXPECT_GT(second, 0U) << back;
        EXPECT_EQ(first + second, 450U) << front;
    }
    Rows cpus = rowsBy("a.misc", {.by = "cpu"}); // recorded with --sample-cpu, on two CPUs
    EXPECT_EQ(cpus["0"] + cpus["1"], 91U);
    EXPECT_EQ(rowsBy("a.misc", {.cpus = {"0"}})["all"], cpus["0"]);
    EXPECT_EQ(rowsBy("a.misc", {.cpus = {"1"}})["all"], cpus["1"]);
}

class UnwoundProfiles : public testing::TestWithParam<const char*> { };

TEST_P(UnwoundProfiles, haveTheCallersOfPerfScript)
{
    if (!hasRecordings())
        GTEST_SKIP() << "no recordings beside the source tree";
    const std::string name = GetParam();
    // The library was recorded by the name of its file, and is kept by the name that programs ask for.
    const std::filesystem::path links = std::filesystem::path(testing::TempDir()) / ("callers." + name);
    std::filesystem::remove_all(links); // what an earlier run left
    std::filesystem::create_directories(links);
    std::filesystem::create_symlink(
        recordingsFolder() / "syms/libstdc++.so.6", links / "libstdc++.so.6.0.30");
    SymbolizerOptions symbols;
    symbols.debugDirs = {recordingsFolder() / "bin", recordingsFolder() / "syms", links};
    symbols.inlines = false;
    auto recording = Source::openFile(recordingsFolder() / (name + ".data"));
    ASSERT_TRUE(recording);
    const Profile native = profileOf(std::move(*recording), symbols);
    const std::string script = unpacked(recordingsFolder() / (name + ".script.txt.gz"));
    const Profile printed = profileOf(Source::fromMemory("script", script));
    uint64_t all = 0;
    for (const char* function : {"fast_path", "fast_worker", "slow_path", "slow_worker", "enqueue", "journal",
             "reader", "writer", "main", "start_thread", "clone3", "_start", "oracle::burn_loop"}) {
        EXPECT_EQ(samplesThrough(native, function), samplesThrough(printed, function)) << function;
        all += samplesThrough(printed, function);
    }
    EXPECT_GT(all, 100U);
}

INSTANTIATE_TEST_SUITE_P(Samples, UnwoundProfiles,
    testing::Values("a.cpu-dwarf", "a.sf-dwarf", "b.sf-dwarf", "c.sf-dwarf", "d.sf-dwarf", "e.sf-dwarf",
        "f.cpu-dwarf", "x.lost"));

INSTANTIATE_TEST_SUITE_P(Samples, RecordingProfiles,
    testing::Values(
        "a.cpu-fp", "a.cpu-dwarf", "a.cpu-nog", "b.cpu-fp", "e.cpu-fp", "f.cpu-dwarf", "g.mmap.cpu-fp"));

} // namespace
} // namespace whichlock::test
