// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings beside the source tree, where there are any: read natively they give the leaf functions that
// perf script printed for them, sample by sample.
#include "analyzer/model/profile_builder.h"
#include "analyzer/session/session.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <zlib.h>

namespace whichlock::test {
namespace {

namespace fs = std::filesystem;

const fs::path kRecordings = WHICHLOCK_RECORDINGS;

std::string unpacked(const fs::path& path)
{
    std::string text;
    std::string piece(1U << 16U, '\0');
    const gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr)
        return text;
    for (int got = gzread(file, piece.data(), static_cast<unsigned>(piece.size())); got > 0;
         got = gzread(file, piece.data(), static_cast<unsigned>(piece.size())))
        text.append(piece, 0, static_cast<size_t>(got));
    gzclose(file);
    return text;
}

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

class RecordingProfiles : public testing::TestWithParam<const char*> { };

TEST_P(RecordingProfiles, haveTheLeafFunctionsOfPerfScript)
{
    if (!fs::exists(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    const std::string name = GetParam();
    const fs::path kallsyms = fs::path(testing::TempDir()) / ("kallsyms." + name);
    const std::string symbolText = unpacked(kRecordings / "syms/kallsyms.gz");
    std::FILE* file = std::fopen(kallsyms.c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fwrite(symbolText.data(), 1, symbolText.size(), file);
    std::fclose(file);

    SymbolizerOptions symbols;
    symbols.debugDirs = {kRecordings / "bin", kRecordings / "syms"};
    symbols.kallsyms = kallsyms;
    symbols.inlines = false;
    auto recording = Source::openFile(kRecordings / (name + ".data"));
    ASSERT_TRUE(recording);
    const auto native = leaves(profileOf(std::move(*recording), symbols));
    const std::string script = unpacked(kRecordings / (name + ".script.txt.gz"));
    const auto printed = leaves(profileOf(Source::fromMemory("script", script)));
    fs::remove(kallsyms);

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

INSTANTIATE_TEST_SUITE_P(Samples, RecordingProfiles,
    testing::Values(
        "a.cpu-fp", "a.cpu-dwarf", "a.cpu-nog", "b.cpu-fp", "e.cpu-fp", "f.cpu-dwarf", "g.mmap.cpu-fp"));

} // namespace
} // namespace whichlock::test
