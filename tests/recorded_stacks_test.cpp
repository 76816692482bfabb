// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings beside the source tree, where there are any: each frame of each sample is the one that perf
// script printed. What may differ has a name here, and a reason.
#include "tests/support/gzip.h"
#include "tests/support/perf_script_stacks.h"
#include "tests/support/recorded_stacks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

namespace whichlock::test {
namespace {

namespace fs = std::filesystem;

const fs::path kRecordings = WHICHLOCK_RECORDINGS;

/// How a frame compares with perf's. All but the last are as they should be.
enum class Agreement {
    Same,
    Unknown,    ///< neither has a name for it: garbage at the end of chains by frame pointers, stripped files
    NextSymbol, ///< behind a call that does not return, at the end of its function: perf looks up the address
                ///< itself and names the next function
    NoFile,     ///< perf had the file or its debug file, the folder of the recordings has not
    BeforeExec, ///< within execve() the registers are those of the old program, whose mappings are gone
                ///< already
    Differs,
};

/// Without parameters and version, which perf script prints for some and not for others.
std::string plain(const std::string& name)
{
    const size_t at = name.starts_with("(anonymous") ? name.find_first_of("(@", 1) : name.find_first_of("(@");
    return name.substr(0, at);
}

/// Files of which no names are beside the recordings: one is mapped by another name and has no recorded build
/// id, of the other only the exported names are there.
bool isMissing(const std::string& object)
{
    return object.ends_with("/libstdc++.so.6.0.30") || object.ends_with("/libm.so.6");
}

Agreement compare(const RecordedFrame& ours, PrintedFrame theirs)
{
    if (!theirs.hasPlace) { // of a stream: only the names are there
        theirs.object = ours.object;
        const bool next = ours.there.symbolOffset == 0 && plain(ours.there.function) == plain(theirs.symbol);
        theirs.offset = next ? 0 : ours.name.symbolOffset;
    }
    if (ours.object == "[unknown]" && theirs.symbol == "__GI___execve")
        return Agreement::BeforeExec;
    if (ours.object != theirs.object)
        return Agreement::Differs;
    const bool unnamed = ours.name.function.empty();
    if (theirs.symbol == "[unknown]")
        return unnamed ? Agreement::Unknown : Agreement::Differs;
    if (!unnamed && ours.name.symbolOffset == theirs.offset
        && plain(ours.name.function) == plain(theirs.symbol))
        return Agreement::Same;
    if (ours.isReturnAddress && theirs.offset == 0 && ours.there.symbolOffset == 0
        && plain(ours.there.function) == plain(theirs.symbol))
        return Agreement::NextSymbol;
    return unnamed && ours.there.function.empty() && isMissing(ours.object) ? Agreement::NoFile
                                                                            : Agreement::Differs;
}

std::string described(const RecordedFrame& ours, const PrintedFrame& theirs)
{
    char text[64];
    std::snprintf(text, sizeof text, "%llx ", static_cast<unsigned long long>(ours.address));
    return text + ours.name.function + '+' + std::to_string(ours.name.symbolOffset) + " (" + ours.object
        + ") but perf has " + theirs.symbol + '+' + std::to_string(theirs.offset) + " (" + theirs.object
        + ')';
}

SymbolizerOptions symbolsOfRecordings(const fs::path& kallsyms)
{
    const std::string text = unpacked(kRecordings / "syms/kallsyms.gz");
    std::FILE* file = std::fopen(kallsyms.c_str(), "w");
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
    return {.debugDirs = {kRecordings / "bin", kRecordings / "syms"},
        .kallsyms = kallsyms,
        .debugRoot = "/nonexistent",
        .inlines = false};
}

struct Pair {
    std::vector<RecordedSample> recorded;
    std::vector<PrintedSample> printed;
};

/// Checks that both have the same samples in the same order.
Pair pairOf(const std::string& name)
{
    const fs::path kallsyms = fs::path(testing::TempDir()) / ("stacks." + name);
    Pair pair;
    pair.recorded = recordedSamples(kRecordings / (name + ".data"), symbolsOfRecordings(kallsyms));
    fs::remove(kallsyms);
    pair.printed = printedSamples(unpacked(kRecordings / (name + ".script.txt.gz")));
    EXPECT_FALSE(pair.printed.empty());
    EXPECT_EQ(pair.recorded.size(), pair.printed.size());
    for (size_t i = 0; i < std::min(pair.recorded.size(), pair.printed.size()); ++i) {
        EXPECT_EQ(pair.recorded[i].time, pair.printed[i].time) << "sample " << i;
        EXPECT_EQ(pair.recorded[i].tid, pair.printed[i].tid) << "sample " << i;
    }
    return pair;
}

using Frames = std::map<Agreement, uint64_t>;

/// Compares the frames that both have.
Frames compareFrames(const Pair& pair)
{
    Frames frames;
    std::map<std::string, uint64_t> differences;
    for (size_t i = 0; i < std::min(pair.recorded.size(), pair.printed.size()); ++i) {
        const auto& recorded = pair.recorded[i].frames;
        const auto& printed = pair.printed[i].frames;
        for (size_t at = 0; at < std::min(recorded.size(), printed.size()); ++at) {
            const Agreement agreement = compare(recorded[at], printed[at]);
            ++frames[agreement];
            if (agreement == Agreement::Differs)
                ++differences[described(recorded[at], printed[at])];
        }
    }
    for (const auto& [text, count] : differences)
        ADD_FAILURE() << count << " frames: " << text;
    for (const auto& [agreement, count] : frames)
        testing::Test::RecordProperty(
            "agreement" + std::to_string(static_cast<int>(agreement)), std::to_string(count));
    return frames;
}

std::string nameOf(const testing::TestParamInfo<const char*>& info)
{
    std::string name = info.param;
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

class RecordedStacks : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override
    {
        if (!fs::exists(kRecordings))
            GTEST_SKIP() << "no recordings beside the source tree";
    }
};

TEST_P(RecordedStacks, areThoseOfPerfScriptFrameByFrame)
{
    const Pair pair = pairOf(GetParam());
    for (size_t i = 0; i < std::min(pair.recorded.size(), pair.printed.size()); ++i)
        EXPECT_EQ(pair.recorded[i].frames.size(), pair.printed[i].frames.size()) << "sample " << i;
    const Frames frames = compareFrames(pair);
    // What perf names otherwise is rare; else the rules above would hide a mistake.
    const auto count = [&](Agreement agreement) {
        const auto found = frames.find(agreement);
        return found == frames.end() ? 0 : found->second;
    };
    EXPECT_GT(count(Agreement::Same), 0U);
    EXPECT_LE(count(Agreement::NoFile), 3U);
    const bool startsPrograms = std::string(GetParam()).starts_with("g.mmaplock");
    EXPECT_LE(count(Agreement::NextSymbol), startsPrograms ? 84U : 5U); // exits, most of them
    EXPECT_EQ(count(Agreement::BeforeExec), startsPrograms ? 99U : 0U);
}

INSTANTIATE_TEST_SUITE_P(FramePointers, RecordedStacks,
    testing::Values("a.contention-fp", "a.cpu-fp", "a.cpu-nog", "a.data-d", "a.futexonly-fp", "a.group",
        "a.misc", "a.multi", "a.pi", "a.rawsys-fp", "a.regs", "a.sf-fp", "a.sf-nofp-fpmode",
        "a.switchonly-fp", "a.tailsynth", "a.threads-dir", "b.cpu-fp", "b.sf-fp", "d.sf-fp", "e.cpu-fp",
        "e.sf-fp", "g.dir.con-fp", "g.dir.consched-fp", "g.files.con-fp", "g.mmap.con-fp", "g.mmap.cpu-fp",
        "g.mmaplock-fp", "g.pipe.con-fp", "g.rename.con-fp", "h.multi-F999-trap", "i.sf-fp", "x.inject-s",
        "x.lockrecord-mmap", "x.uprobe-a_mutex"),
    nameOf);

class UnwoundStacks : public RecordedStacks { };

/// Of stacks that have to be unwound the file holds the kernel's part; unwind_recordings_test has the others.
TEST_P(UnwoundStacks, beginWithTheKernelFramesOfPerfScript)
{
    const Pair pair = pairOf(GetParam());
    for (size_t i = 0; i < std::min(pair.recorded.size(), pair.printed.size()); ++i)
        EXPECT_LE(pair.recorded[i].frames.size(), pair.printed[i].frames.size()) << "sample " << i;
    EXPECT_GT(compareFrames(pair)[Agreement::Same], 0U);
}

INSTANTIATE_TEST_SUITE_P(Dwarf, UnwoundStacks,
    testing::Values("a.cpu-dwarf", "a.sf-dwarf", "b.sf-dwarf", "c.sf-dwarf", "d.sf-dwarf", "e.sf-dwarf",
        "f.cpu-dwarf", "x.lost"),
    nameOf);

class SampleOrder : public RecordedStacks { };

TEST_P(SampleOrder, isThatOfPerfScript)
{
    const Pair pair = pairOf(GetParam());
    for (const PrintedSample& sample : pair.printed)
        EXPECT_TRUE(sample.frames.empty());
}

INSTANTIATE_TEST_SUITE_P(WithoutStacks, SampleOrder, testing::Values("a.sf-nog", "x.schedrecord"), nameOf);

/// Damaged files have no text of perf script: it refuses them.
TEST(RecordedStacksOfAll, everyRecordingIsInOneOfTheLists)
{
    if (!fs::exists(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    size_t withText = 0;
    for (const auto& entry : fs::directory_iterator(kRecordings)) {
        const std::string name = entry.path().filename();
        withText += name.ends_with(".script.txt.gz") && !unpacked(entry.path()).empty() ? 1 : 0;
    }
    EXPECT_EQ(withText, 35U + 8U + 2U);
}

} // namespace
} // namespace whichlock::test
