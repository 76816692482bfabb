// SPDX-License-Identifier: GPL-3.0-or-later
// Symbols and headers of ELF files, whole and damaged.
#include "analyzer/symbols/elf_symbols.h"
#include "analyzer/symbols/symbolizer.h"
#include "tests/support/symbol_fixtures.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <sys/stat.h>

namespace whichlock {
namespace {

using test::fixture;

TEST(ElfFile, readsBuildIdsAndDebugLinks)
{
    const auto whole = ElfFile::open(fixture("whole"));
    ASSERT_TRUE(whole);
    EXPECT_EQ((*whole)->buildId().hex(), std::string(40, '1'));
    EXPECT_FALSE((*whole)->debugLink());
    EXPECT_TRUE((*whole)->hasCode());
    EXPECT_TRUE((*whole)->hasSection(".debug_info"));

    const auto stripped = ElfFile::open(fixture("no-id-stripped"));
    ASSERT_TRUE(stripped);
    EXPECT_TRUE((*stripped)->buildId().empty());
    EXPECT_FALSE((*stripped)->hasSection(".debug_info"));
    ASSERT_TRUE((*stripped)->debugLink());
    EXPECT_EQ((*stripped)->debugLink()->name, "debug-of-program");
    EXPECT_EQ(contentCrc(test::fixtureFolder("no-id-stripped") + "/debug-of-program"),
        (*stripped)->debugLink()->crc)
        << "objcopy computed it";

    const auto debug = ElfFile::open(test::fixtureFolder("whole-stripped") + "/debug-of-program");
    ASSERT_TRUE(debug);
    EXPECT_FALSE((*debug)->hasCode());
}

TEST(ElfFile, opensRegularElfFilesAlone)
{
    const std::string folder = test::scratchFolder("elf-regular");
    const std::string pipe = folder + "/pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_FALSE(ElfFile::open(pipe)) << "and does not wait for a writer";
    EXPECT_FALSE(ElfFile::open("/dev/zero"));
    EXPECT_FALSE(ElfFile::open(folder));
    EXPECT_FALSE(ElfFile::open(folder + "/missing"));
    test::writeWhole(folder + "/text", "#!/bin/sh\n");
    EXPECT_FALSE(ElfFile::open(folder + "/text"));
    test::writeWhole(folder + "/archive", "!<arch>\n");
    EXPECT_FALSE(ElfFile::open(folder + "/archive"));
}

TEST(ElfFile, turnsFileOffsetsIntoAddresses)
{
    const auto fixed = ElfFile::open(fixture("fixed"));
    ASSERT_TRUE(fixed);
    for (const ElfSegment& segment : (*fixed)->segments()) {
        EXPECT_EQ((*fixed)->addressOfOffset(segment.offset, 0), segment.address);
        EXPECT_EQ((*fixed)->addressOfOffset(segment.offset + segment.fileBytes - 1, 0),
            segment.address + segment.fileBytes - 1);
    }
    EXPECT_FALSE((*fixed)->addressOfOffset(1ULL << 40, 0));
}

TEST(ElfFile, turnsOffsetsIntoAddressesWithTheDebugInfoAlone)
{
    const auto whole = ElfFile::open(fixture("whole"));
    const auto debug = ElfFile::open(test::fixtureFolder("whole-stripped") + "/debug-of-program");
    ASSERT_TRUE(whole && debug);
    for (const ElfSegment& segment : (*whole)->segments()) {
        if (segment.executable) {
            EXPECT_EQ(
                (*debug)->addressOfOffset(segment.offset + 0x10, segment.offset), segment.address + 0x10);
        }
    }
    EXPECT_FALSE((*debug)->addressOfOffset(0x10, MappedModule::kUnknownOffset));
}

TEST(ElfSymbols, agreeWithNm)
{
    for (const char* variant : {"whole", "fixed"}) {
        const auto expected = test::nmSymbols(fixture(variant));
        if (expected.empty())
            GTEST_SKIP() << "no nm here";
        const auto file = ElfFile::open(fixture(variant));
        ASSERT_TRUE(file);
        SymbolTable functions;
        addElfSymbols(**file, SymbolChoice::Functions, functions);
        functions.finish();
        size_t compared = 0;
        for (const auto& [name, symbol] : expected) {
            if ((symbol.type != 't' && symbol.type != 'T') || symbol.size == 0)
                continue;
            SymbolHit hit;
            ASSERT_TRUE(functions.find(symbol.address + symbol.size - 1, hit)) << name;
            EXPECT_EQ(hit.address, symbol.address) << name;
            EXPECT_EQ(hit.size, symbol.size) << name;
            ++compared;
        }
        EXPECT_GE(compared, 5U);
        SymbolTable objects;
        addElfSymbols(**file, SymbolChoice::Objects, objects);
        objects.finish();
        SymbolHit hit;
        ASSERT_TRUE(objects.find(expected.at("sharedCounter").address + 63, hit));
        EXPECT_EQ(hit.name, "sharedCounter");
        EXPECT_EQ(hit.size, 64U);
    }
}

/// Looks some addresses up in a file that may be anything; all that matters is that it ends.
void lookAround(const std::string& path)
{
    Symbolizer symbolizer({.vmlinux = path, .debugRoot = "", .threads = 1});
    const MappedModule module{.kind = ModuleKind::Kernel, .path = "[kernel.kallsyms]"};
    for (uint64_t address = 0x1000; address < 0x2000; address += 0x31)
        symbolizer.resolve(module, address, AddressKind::ReturnAddress);
    ResolvedObject object;
    symbolizer.resolveObject(module, 0x1000, 0x3000, object);
}

TEST(ElfSymbols, surviveFilesThatAreCutAnywhere)
{
    const std::string path = test::scratchFolder("elf-cut") + "/program";
    const std::string bytes = test::readWhole(fixture("whole"));
    ASSERT_GT(bytes.size(), 1000U);
    for (size_t size = 0; size < bytes.size(); size += 64) {
        test::writeWhole(path, bytes.substr(0, size));
        lookAround(path);
    }
}

TEST(ElfSymbols, surviveFlippedBytes)
{
    const std::string path = test::scratchFolder("elf-flipped") + "/program";
    const std::string bytes = test::readWhole(fixture("whole"));
    std::mt19937 random(20);
    for (int round = 0; round < 400; ++round) {
        std::string damaged = bytes;
        const size_t from = round % 4 == 0 ? 0 : random() % bytes.size();
        const size_t span = round % 4 == 0 ? 0x400 : bytes.size() - from; // headers are the most tender part
        for (unsigned flips = 1 + random() % 64; flips > 0; --flips)
            damaged[from + random() % span] = static_cast<char>(random());
        test::writeWhole(path, damaged);
        lookAround(path);
    }
}

} // namespace
} // namespace whichlock
