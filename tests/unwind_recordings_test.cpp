// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings beside the source tree, where there are any: their stacks are unwound to the frames that perf
// script printed, each of them.
#include "tests/support/gzip.h"
#include "tests/support/unwind_replay.h"

#include <gtest/gtest.h>

#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace whichlock::test {
namespace {

namespace fs = std::filesystem;

const fs::path kRecordings = WHICHLOCK_RECORDINGS;

/// A sample is known by its thread and time; several of one moment stand in the order of the file.
using SampleKey = std::pair<uint32_t, uint64_t>;
using Chains = std::map<SampleKey, std::vector<std::vector<std::string>>>;

std::vector<std::string_view> wordsOf(std::string_view line)
{
    std::vector<std::string_view> words;
    for (size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos;) {
        const size_t end = std::min(line.find_first_of(" \t", at), line.size());
        words.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(" \t", end);
    }
    return words;
}

/// `comm words TID [CPU] SECONDS.NANOSECONDS: ...`.
SampleKey keyOf(std::string_view line)
{
    const std::vector<std::string_view> words = wordsOf(line);
    for (size_t i = 1; i < words.size(); ++i) {
        const size_t dot = words[i].find('.');
        if (words[i].back() != ':' || dot == std::string_view::npos || words[i].size() - dot != 11)
            continue;
        const std::string_view tid = words[words[i - 1].front() == '[' ? i - 2 : i - 1];
        return {static_cast<uint32_t>(std::stoul(std::string(tid))),
            std::stoull(std::string(words[i].substr(0, dot))) * 1'000'000'000
                + std::stoull(std::string(words[i].substr(dot + 1, 9)))};
    }
    return {};
}

/// Adds an address to a chain. perf prints functions that were inlined as frames of their own at the address
/// of the one that they are in: equal ones in a row count as one.
void addTo(std::vector<std::string>& chain, std::string address)
{
    if (chain.empty() || chain.back() != address)
        chain.push_back(std::move(address));
}

/// The user frames of a script.
Chains printedChains(const std::string& script)
{
    Chains chains;
    std::vector<std::string>* chain = nullptr;
    for (size_t at = 0; at < script.size();) {
        const size_t end = std::min(script.find('\n', at), script.size());
        const std::string_view line = std::string_view(script).substr(at, end - at);
        at = end + 1;
        if (line.empty())
            continue;
        if (line.front() != '\t') {
            chain = &chains[keyOf(line)].emplace_back();
            continue;
        }
        const std::vector<std::string_view> words = wordsOf(line);
        uint64_t address = 0;
        std::from_chars(words[0].data(), words[0].data() + words[0].size(), address, 16);
        constexpr uint64_t kFirstKernelAddress = uint64_t{1} << 63U;
        if (chain == nullptr || address >= kFirstKernelAddress)
            continue;
        addTo(*chain, std::string(words[0]));
    }
    return chains;
}

/// Samples without a copy of the stack are left out: perf prints no user frames of them.
Chains unwoundChains(UnwindReplay& replay)
{
    Chains chains;
    replay.run([&](const UnwindReplay::Unwound& one) {
        std::vector<std::string>& chain = chains[{one.sample.tid, one.sample.time}].emplace_back();
        for (const UnwoundFrame& frame : one.frames)
            addTo(chain,
                fmt::format("{:x}", frame.offset - (frame.kind == AddressKind::ReturnAddress ? 1 : 0)));
    });
    return chains;
}

std::string joined(const std::vector<std::string>& chain)
{
    return fmt::format("{}", fmt::join(chain, " "));
}

class UnwoundRecordings : public testing::TestWithParam<const char*> { };

TEST_P(UnwoundRecordings, haveTheFramesOfPerfScript)
{
    if (!fs::exists(kRecordings))
        GTEST_SKIP() << "no recordings beside the source tree";
    const std::string name = GetParam();
    // The library was recorded by the name of its file, and is kept by the name that programs ask for.
    const fs::path links = fs::path(testing::TempDir()) / ("unwind." + name);
    fs::remove_all(links); // what an earlier run left
    fs::create_directories(links);
    fs::create_symlink(kRecordings / "syms/libstdc++.so.6", links / "libstdc++.so.6.0.30");
    UnwindReplay replay(
        kRecordings / (name + ".data"), {.debugDirs = {kRecordings / "bin", kRecordings / "syms", links}});
    ASSERT_TRUE(replay.readable());
    const Chains ours = unwoundChains(replay);
    const Chains printed = printedChains(unpacked(kRecordings / (name + ".script.txt.gz")));
    size_t frames = 0;
    std::map<std::string, size_t> differences;
    for (const auto& [key, chains] : printed) {
        const auto found = ours.find(key);
        for (size_t i = 0; i < chains.size(); ++i) {
            const bool has = found != ours.end() && i < found->second.size();
            if (has && found->second[i] == chains[i]) {
                frames += chains[i].size();
            } else if (has || !chains[i].empty()) {
                ++differences["perf " + joined(chains[i]) + "\nours "
                    + (has ? joined(found->second[i]) : "-")];
            }
        }
    }
    EXPECT_GT(frames, 700U);
    for (const auto& [text, count] : differences)
        ADD_FAILURE() << count << " times\n" << text;
}

INSTANTIATE_TEST_SUITE_P(Samples, UnwoundRecordings,
    testing::Values("a.cpu-dwarf", "a.sf-dwarf", "b.sf-dwarf", "c.sf-dwarf", "d.sf-dwarf", "e.sf-dwarf",
        "f.cpu-dwarf", "x.lost"));

} // namespace
} // namespace whichlock::test
