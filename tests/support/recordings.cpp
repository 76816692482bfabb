// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/recordings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

namespace whichlock::test {

namespace fs = std::filesystem;

fs::path recordingsFolder()
{
    return WHICHLOCK_RECORDINGS;
}

SymbolizerOptions recordedSymbols(bool inlines)
{
    // One file a process: tests run beside each other.
    const fs::path kallsyms = fs::path(testing::TempDir()) / ("kallsyms." + std::to_string(::getpid()));
    if (!fs::exists(kallsyms))
        std::ofstream(kallsyms, std::ios::binary) << unpacked(recordingsFolder() / "syms/kallsyms.gz");
    SymbolizerOptions symbols;
    symbols.debugDirs = {recordingsFolder() / "bin", recordingsFolder() / "syms"};
    symbols.kallsyms = kallsyms;
    symbols.debugRoot = "/nonexistent";
    symbols.inlines = inlines;
    return symbols;
}

Profile recordedProfile(const std::string& name, bool inlines)
{
    auto recording = Source::openFile(recordingsFolder() / (name + ".data"));
    EXPECT_TRUE(recording);
    std::vector<std::unique_ptr<Source>> sources;
    if (recording)
        sources.push_back(std::move(*recording));
    const SymbolizerOptions symbols = recordedSymbols(inlines);
    Profile profile = loadSession(std::move(sources), {}, symbols);
    fs::remove(symbols.kallsyms);
    return profile;
}

} // namespace whichlock::test
