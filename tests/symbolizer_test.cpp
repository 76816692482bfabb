// SPDX-License-Identifier: GPL-3.0-or-later
// Names, lines and inlined functions, against addr2line, nm and the marks in the source.
#include "analyzer/symbols/symbolizer.h"

#include "analyzer/symbols/demangle.h"
#include "analyzer/symbols/elf_symbols.h"
#include "tests/support/symbol_fixtures.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

namespace whichlock {
namespace {

using test::fixture;
using test::fixtureFolder;
using test::markedLine;

const MappedModule kProgram{.path = "/srv/app/program",
    .buildId = *BuildId::fromHex(std::string(40, '1')),
    .executableOffset = 0x1000};

SymbolizerOptions from(const std::string& variant)
{
    return {.debugDirs = {fixtureFolder(variant)}, .debugRoot = "/nonexistent"};
}

/// `function file-name:line` of a chain, innermost first.
std::string lines(const std::vector<SourceFrame>& chain)
{
    std::string text;
    for (const SourceFrame& frame : chain)
        text += frame.function + " " + std::string(baseNameOf(frame.file)) + ":" + std::to_string(frame.line)
            + "\n";
    return text;
}

/// All addresses of the functions of the program itself.
std::vector<uint64_t> programAddresses(const std::string& path)
{
    std::vector<uint64_t> addresses;
    const auto symbols = test::nmSymbols(path);
    for (const char* name : {"main", "_ZN4shop4Till5countEi", "_ZN4shop5outerEi", "leave", "callAtTheEdge"})
        if (const auto at = symbols.find(name); at != symbols.end())
            for (uint64_t i = 0; i < at->second.size; ++i)
                addresses.push_back(at->second.address + i);
    return addresses;
}

/// addr2line writes a relative folder of the unit twice (`./libio/./libio/genops.c`).
bool sameFile(const std::string& a, const std::string& b)
{
    return test::tidyPath(a) == test::tidyPath(b) || (!a.starts_with('/') && baseNameOf(a) == baseNameOf(b));
}

/// How often both agree about functions and lines.
void expectAgreement(const std::string& path, const std::vector<uint64_t>& addresses, double least)
{
    const auto expected = test::addr2line(path, addresses);
    if (!expected)
        GTEST_SKIP() << "no addr2line here";
    Symbolizer symbolizer({.vmlinux = path, .debugRoot = "/nonexistent"});
    const MappedModule module{.kind = ModuleKind::Kernel, .path = "[kernel.kallsyms]"};
    size_t equal = 0;
    std::string differences;
    for (size_t i = 0; i < addresses.size(); ++i) {
        const ResolvedAddress ours =
            symbolizer.resolve(module, addresses[i], AddressKind::InstructionPointer);
        const auto& theirs = (*expected)[i];
        bool same = ours.chain.size() == theirs.size();
        for (size_t k = 0; same && k < theirs.size(); ++k) {
            // The outermost function is the symbol with us, what the debug info calls it there. Where an
            // inlined function begins with the outer one, addr2line calls both by the symbol.
            const std::string name = demangle(theirs[k].function);
            same = (k + 1 == theirs.size() || ours.chain[k].function == name || name == ours.function)
                && ours.chain[k].line == theirs[k].line && sameFile(ours.chain[k].file, theirs[k].file);
        }
        equal += same;
        if (!same && differences.size() < 4000)
            differences +=
                std::to_string(addresses[i]) + " ours:\n" + lines(ours.chain) + " theirs:\n" + lines(theirs);
    }
    EXPECT_GE(static_cast<double>(equal), least * static_cast<double>(addresses.size()))
        << equal << " of " << addresses.size() << "\n"
        << differences;
}

TEST(Symbolizer, agreesWithAddr2lineAtEveryByte)
{
    for (const char* variant : {"whole", "fixed"}) {
        const auto addresses = programAddresses(fixture(variant));
        if (addresses.empty())
            GTEST_SKIP() << "no nm here";
        EXPECT_GT(addresses.size(), 100U);
        expectAgreement(fixture(variant), addresses, 1.0);
    }
}

/// The first address of a function whose chain is the given one; the chain of all if there is none.
void expectChain(const std::string& function, const std::string& expected)
{
    const auto symbols = test::nmSymbols(fixture("whole"));
    if (symbols.empty())
        GTEST_SKIP() << "no nm here";
    Symbolizer symbolizer(from("whole"));
    std::string all;
    const test::NmSymbol symbol = symbols.at(function);
    for (uint64_t i = 0; i < symbol.size; ++i) {
        const auto resolved =
            symbolizer.resolve(kProgram, symbol.address + i, AddressKind::InstructionPointer);
        EXPECT_EQ(resolved.function, demangle(function));
        EXPECT_EQ(resolved.symbolOffset, i);
        EXPECT_TRUE(resolved.verified);
        const std::string chain = lines(resolved.chain);
        if (chain == expected)
            return;
        all += chain + "--\n";
    }
    ADD_FAILURE() << "never\n" << expected << "but\n" << all;
}

std::string place(const char* function, const char* mark)
{
    return std::string(function) + " symbols_program.cpp:" + std::to_string(markedLine(mark)) + "\n";
}

TEST(Symbolizer, namesInlinedFunctionsWithTheLinesOfTheirCalls)
{
    ASSERT_NE(markedLine("innermost"), 0U);
    expectChain("_ZN4shop5outerEi",
        place("innermost", "innermost") + place("shop::middle", "middle") + place("shop::outer", "outer"));
    expectChain("_ZN4shop4Till5countEi", place("shop::Till::count", "count"));
    expectChain("_ZN4shop4Till5countEi",
        place("innermost", "innermost") + place("shop::middle", "middle")
            + place("shop::Till::count", "count-calls-middle"));
}

TEST(Symbolizer, looksReturnAddressesUpBeforeTheReturn)
{
    const auto symbols = test::nmSymbols(fixture("whole"));
    if (symbols.empty())
        GTEST_SKIP() << "no nm here";
    const test::NmSymbol edge = symbols.at("callAtTheEdge");
    const uint64_t behind = edge.address + edge.size; // the call of leave() is its last instruction
    Symbolizer symbolizer(from("whole"));
    const auto called = symbolizer.resolve(kProgram, behind, AddressKind::ReturnAddress);
    EXPECT_EQ(called.function, "callAtTheEdge");
    EXPECT_EQ(called.symbolOffset, edge.size) << "of the address itself";
    EXPECT_EQ(lines(called.chain), place("callAtTheEdge", "edge"));
    EXPECT_NE(
        symbolizer.resolve(kProgram, behind, AddressKind::InstructionPointer).function, "callAtTheEdge");
    EXPECT_NE(symbolizer.resolve(kProgram, behind, AddressKind::AlreadyAdjusted).function, "callAtTheEdge");
}

TEST(Symbolizer, namesNothingOutsideOfSymbolsAndFiles)
{
    Symbolizer symbolizer(from("whole"));
    for (const uint64_t offset : {uint64_t{0}, uint64_t{0x40}, uint64_t{1} << 30, UINT64_MAX}) {
        for (const AddressKind kind : {AddressKind::InstructionPointer, AddressKind::ReturnAddress})
            EXPECT_EQ(symbolizer.resolve(kProgram, offset, kind), ResolvedAddress()) << offset;
    }
}

TEST(Symbolizer, bringsTheHalvesOfAStrippedProgramTogether)
{
    const auto symbols = test::nmSymbols(fixture("whole"));
    if (symbols.empty())
        GTEST_SKIP() << "no nm here";
    const uint64_t outer = symbols.at("_ZN4shop5outerEi").address;
    Symbolizer whole(from("whole"));
    const auto expected = whole.resolve(kProgram, outer, AddressKind::InstructionPointer);
    ASSERT_FALSE(expected.chain.empty());
    Symbolizer halves(from("whole-stripped"));
    EXPECT_EQ(halves.resolve(kProgram, outer, AddressKind::InstructionPointer), expected);

    // The debug info alone, with the place where the code was mapped.
    const std::string folder = test::scratchFolder("debug-alone");
    test::copyFile(fixtureFolder("whole-stripped") + "/debug-of-program", folder + "/x.debug");
    Symbolizer alone({.debugDirs = {folder}, .debugRoot = "/nonexistent"});
    EXPECT_EQ(alone.resolve(kProgram, outer, AddressKind::InstructionPointer), expected);
}

TEST(Symbolizer, readsCompressedDebugInfoButNoBombs)
{
    const auto symbols = test::nmSymbols(fixture("whole"));
    if (symbols.empty())
        GTEST_SKIP() << "no nm here";
    const uint64_t outer = symbols.at("_ZN4shop5outerEi").address;
    Symbolizer whole(from("whole"));
    const auto expected = whole.resolve(kProgram, outer, AddressKind::InstructionPointer);
    Symbolizer compressed(from("compressed"));
    EXPECT_EQ(compressed.resolve(kProgram, outer, AddressKind::InstructionPointer), expected);

    // Each section of zlib data claims 2^40 bytes: Elf64_Chdr {1, 0, size, alignment}, then the zlib header
    // 0x78.
    std::string bytes = test::readWhole(fixture("compressed"));
    const std::string type("\1\0\0\0\0\0\0\0", 8);
    size_t changed = 0;
    for (size_t at = bytes.find(type); at != std::string::npos && at + 25 < bytes.size();
         at = bytes.find(type, at + 1))
        if (bytes[at + 24] == 0x78 && bytes.compare(at + 17, 7, std::string(7, '\0')) == 0) {
            bytes[at + 13] = 1;
            ++changed;
        }
    ASSERT_GT(changed, 0U);
    const std::string folder = test::scratchFolder("compression-bomb");
    test::writeWhole(folder + "/program", bytes);
    Symbolizer bomb({.debugDirs = {folder}, .debugRoot = "/nonexistent"});
    const auto resolved = bomb.resolve(kProgram, outer, AddressKind::InstructionPointer);
    EXPECT_EQ(resolved.function, "shop::outer") << "the symbols are not compressed";
    EXPECT_EQ(resolved.chain.size(), 1U);
    EXPECT_EQ(resolved.chain[0].line, 0U);
}

TEST(Symbolizer, marksNamesWithoutARecordedBuildId)
{
    const auto symbols = test::nmSymbols(fixture("no-id"));
    if (symbols.empty())
        GTEST_SKIP() << "no nm here";
    Symbolizer symbolizer(from("no-id"));
    const MappedModule module{.path = "/srv/app/program"};
    const auto resolved =
        symbolizer.resolve(module, symbols.at("_ZN4shop5outerEi").address, AddressKind::InstructionPointer);
    EXPECT_EQ(resolved.function, "shop::outer");
    EXPECT_FALSE(resolved.verified);
    ASSERT_EQ(symbolizer.takeDiagnostics().size(), 1U) << "one for all names";
}

TEST(Symbolizer, findsVariablesByTheirDistanceFromCode)
{
    const auto symbols = test::nmSymbols(fixture("whole"));
    if (symbols.empty())
        GTEST_SKIP() << "no nm here";
    Symbolizer symbolizer(from("whole"));
    const uint64_t code = symbols.at("main").address;
    const auto distance = static_cast<int64_t>(symbols.at("sharedCounter").address + 8 - code);
    ResolvedObject object;
    ASSERT_TRUE(symbolizer.resolveObject(kProgram, code, distance, object));
    EXPECT_EQ(object.name, "sharedCounter");
    EXPECT_EQ(object.offset, 8U);
    EXPECT_EQ(object.size, 64U);
    EXPECT_FALSE(symbolizer.resolveObject(kProgram, code, distance + (1 << 30), object));
}

TEST(Symbolizer, givesTheSameOnAnyNumberOfThreads)
{
    const MappedModule other{.path = "/srv/app/program", .buildId = *BuildId::fromHex(std::string(40, '2'))};
    const std::vector<MappedModule> modules = {
        kProgram, other, {.kind = ModuleKind::KernelRange, .path = "bpf_x"}};
    std::vector<SymbolRequest> requests;
    for (uint64_t offset = 0x2000; offset > 0x800; --offset)
        requests.push_back({static_cast<uint32_t>(offset % 4), offset,
            offset % 3 == 0 ? AddressKind::ReturnAddress : AddressKind::InstructionPointer});
    std::vector<ResolvedAddress> first;
    for (const unsigned threads : {1U, 2U, 7U}) {
        Symbolizer symbolizer({.debugDirs = {fixtureFolder("whole"), fixtureFolder("other-id")},
            .debugRoot = "/nonexistent",
            .threads = threads});
        const auto results = symbolizer.resolveAll(modules, requests);
        ASSERT_EQ(results.size(), requests.size());
        if (first.empty())
            first = results;
        EXPECT_TRUE(results == first) << threads << " threads";
        for (size_t i = 0; i < requests.size(); ++i) {
            if (requests[i].module < modules.size()) {
                ASSERT_EQ(results[i],
                    symbolizer.resolve(modules[requests[i].module], requests[i].offset, requests[i].kind));
            }
        }
    }
}

TEST(Symbolizer, movesKernelAddressesBetweenBootsByTheReferenceSymbol)
{
    const std::string folder = test::scratchFolder("kallsyms");
    test::writeWhole(folder + "/System.map",
        "ffffffff81000000 T _text\nffffffff81000400 T do_work\n"
        "ffffffff81000500 T next\nffffffff81000600 T end\n");
    Symbolizer symbolizer({.kallsyms = folder + "/System.map", .debugRoot = "/nonexistent"});
    const MappedModule kernel{.kind = ModuleKind::Kernel,
        .path = "[kernel.kallsyms]_text",
        .reference = "_text",
        .referenceAddress = 0xffffffff93000000};
    const auto resolved = symbolizer.resolve(kernel, 0x404, AddressKind::InstructionPointer);
    EXPECT_EQ(resolved.function, "do_work");
    EXPECT_EQ(resolved.symbolOffset, 4U);
    EXPECT_FALSE(resolved.verified);
    MappedModule stext = kernel;
    stext.reference = "_stext";
    EXPECT_EQ(symbolizer.resolve(stext, 0x404, AddressKind::InstructionPointer), ResolvedAddress())
        << "the map does not know what the offset counts from";
}

TEST(Symbolizer, countsKernelOffsetsFromTheReferenceSymbolOfVmlinux)
{
    const auto symbols = test::nmSymbols(fixture("fixed"));
    if (symbols.empty())
        GTEST_SKIP() << "no nm here";
    Symbolizer symbolizer({.vmlinux = fixture("fixed"), .debugRoot = "/nonexistent"});
    MappedModule kernel{.kind = ModuleKind::Kernel,
        .path = "[kernel.kallsyms]_stext",
        .buildId = *BuildId::fromHex(std::string(40, '3')),
        .reference = "_stext",
        .referenceAddress = 0xffffffff93000000};
    const uint64_t offset = symbols.at("_ZN4shop5outerEi").address - symbols.at("_stext").address;
    const auto resolved = symbolizer.resolve(kernel, offset, AddressKind::InstructionPointer);
    EXPECT_EQ(resolved.function, "shop::outer");
    EXPECT_EQ(resolved.symbolOffset, 0U);
    EXPECT_TRUE(resolved.verified);

    kernel.reference = "_text";
    EXPECT_EQ(symbolizer.resolve(kernel, offset, AddressKind::InstructionPointer), ResolvedAddress());
    const auto diagnostics = symbolizer.takeDiagnostics();
    ASSERT_EQ(diagnostics.size(), 1U);
    EXPECT_EQ(diagnostics[0].code, DiagnosticCode::SymbolsUnreadable);
}

TEST(Symbolizer, takesModulesOutOfTheListOfTheirBoot)
{
    const std::string folder = test::scratchFolder("kallsyms-modules");
    test::writeWhole(folder + "/kallsyms",
        "ffffffff81000000 T _text\nffffffffc0001010 t hook\t[nf_nat]\n"
        "ffffffffc0001040 t tail\t[nf_nat]\n");
    Symbolizer symbolizer({.kallsyms = folder + "/kallsyms", .debugRoot = "/nonexistent"});
    MappedModule module{
        .kind = ModuleKind::KernelModule, .path = "[nf_nat]", .referenceAddress = 0xffffffffc0001000};
    EXPECT_EQ(symbolizer.resolve(module, 0x18, AddressKind::InstructionPointer).function, "hook");
    module.path = "[xfs]";
    EXPECT_EQ(symbolizer.resolve(module, 0x18, AddressKind::InstructionPointer), ResolvedAddress())
        << "another module lies there";
}

TEST(Symbolizer, saysThatKallsymsHidesAddresses)
{
    const std::string folder = test::scratchFolder("kallsyms-hidden");
    test::writeWhole(folder + "/kallsyms", "0000000000000000 T _text\n0000000000000000 T do_work\n");
    Symbolizer symbolizer({.kallsyms = folder + "/kallsyms", .debugRoot = "/nonexistent"});
    const MappedModule kernel{
        .kind = ModuleKind::Kernel, .path = "[kernel.kallsyms]_text", .reference = "_text"};
    EXPECT_EQ(symbolizer.resolve(kernel, 0x404, AddressKind::InstructionPointer), ResolvedAddress());
    const auto diagnostics = symbolizer.takeDiagnostics();
    ASSERT_EQ(diagnostics.size(), 1U);
    EXPECT_EQ(diagnostics[0].code, DiagnosticCode::KallsymsRestricted);
}

TEST(Symbolizer, readsMapsOfJitCodeFromNamedFoldersOnly)
{
    const std::string folder = test::scratchFolder("perf-map");
    test::writeWhole(folder + "/perf-77.map", "7f0000001000 40 LazyCompile:work app.js:3\n");
    const MappedModule module{.kind = ModuleKind::Anonymous, .path = "//anon", .pid = 77};
    Symbolizer named({.perfMapDir = folder, .debugRoot = "/nonexistent"});
    const auto resolved = named.resolve(module, 0x7f0000001008, AddressKind::InstructionPointer);
    EXPECT_EQ(resolved.function, "LazyCompile:work app.js:3");
    EXPECT_EQ(resolved.symbolOffset, 8U);
    EXPECT_FALSE(resolved.verified);
    Symbolizer unnamed({.debugRoot = "/nonexistent"});
    EXPECT_EQ(unnamed.resolve(module, 0x7f0000001008, AddressKind::InstructionPointer), ResolvedAddress());
}

/// WHICHLOCK_ELF_FILES names files, separated by colons: 1,000 addresses of each against addr2line.
TEST(Symbolizer, agreesWithAddr2lineOnGivenFiles)
{
    const char* given = std::getenv("WHICHLOCK_ELF_FILES");
    if (given == nullptr)
        GTEST_SKIP() << "WHICHLOCK_ELF_FILES is not set";
    std::istringstream paths(given);
    for (std::string path; std::getline(paths, path, ':');) {
        SCOPED_TRACE(path);
        std::vector<uint64_t> all;
        for (const auto& [name, symbol] : test::nmSymbols(path))
            if ((symbol.type | 0x20) == 't')
                for (uint64_t i = 0; i < symbol.size; ++i)
                    all.push_back(symbol.address + i);
        ASSERT_FALSE(all.empty());
        std::vector<uint64_t> some;
        constexpr size_t kAddresses = 1000;
        for (size_t i = 0; i < kAddresses; ++i)
            some.push_back(all[i * all.size() / kAddresses]);
        expectAgreement(path, some, 0.98);
    }
}

} // namespace
} // namespace whichlock
