// SPDX-License-Identifier: GPL-3.0-or-later
// Histories of processes, made by hand.
#include "analyzer/symbols/address_space.h"

#include <gtest/gtest.h>

#include <random>

namespace whichlock {
namespace {

const BuildId kId = *BuildId::fromHex("00112233445566778899aabbccddeeff00112233");

/// `path+offset` of an address, or `-`.
std::string at(const AddressSpace& space, int32_t pid, uint64_t address, AddressMode mode = AddressMode::User)
{
    const auto location = space.find(mode, pid, address);
    if (!location)
        return "-";
    char offset[32];
    std::snprintf(offset, sizeof offset, "+%llx", static_cast<unsigned long long>(location->offset));
    return space.module(location->module).path + offset;
}

TEST(BuildId, readsAndWritesHex)
{
    EXPECT_EQ(kId.hex(), "00112233445566778899aabbccddeeff00112233");
    EXPECT_FALSE(BuildId::fromHex("0g"));
    EXPECT_FALSE(BuildId::fromHex("012"));
    EXPECT_FALSE(BuildId::fromHex(""));
    EXPECT_TRUE(BuildId::fromHex("0000000000000000")->empty()) << "an id of zeros is none";
}

TEST(BuildId, matchesItselfPaddedWithZerosAndNothingElse)
{
    const BuildId shortId = *BuildId::fromHex("00112233445566778899aabbccddeeff");
    const BuildId padded = *BuildId::fromHex("00112233445566778899aabbccddeeff00000000");
    EXPECT_TRUE(shortId.matches(padded));
    EXPECT_TRUE(padded.matches(shortId));
    EXPECT_FALSE(shortId.matches(kId));
    EXPECT_FALSE(BuildId().matches(BuildId())) << "nothing recorded proves nothing";
}

TEST(AddressSpace, findsFileOffsets)
{
    AddressSpace space;
    space.insert({.pid = 7, .start = 0x400000, .length = 0x1000, .fileOffset = 0x3000, .path = "/bin/a"});
    EXPECT_EQ(at(space, 7, 0x400010), "/bin/a+3010");
    EXPECT_EQ(at(space, 7, 0x400fff), "/bin/a+3fff");
    EXPECT_EQ(at(space, 7, 0x401000), "-");
    EXPECT_EQ(at(space, 7, 0x3fffff), "-");
    EXPECT_EQ(at(space, 8, 0x400010), "-") << "another process";
}

TEST(AddressSpace, cutsWhatALaterMappingOverlaps)
{
    AddressSpace space;
    space.insert({.pid = 1, .start = 0x1000, .length = 0x9000, .path = "/lib/old"});
    space.insert({.pid = 1, .start = 0x4000, .length = 0x1000, .path = "/lib/new"});
    EXPECT_EQ(at(space, 1, 0x3fff), "/lib/old+2fff");
    EXPECT_EQ(at(space, 1, 0x4000), "/lib/new+0");
    EXPECT_EQ(at(space, 1, 0x5000), "/lib/old+4000") << "the part behind keeps its offset";
    space.insert({.pid = 1, .start = 0x3000, .length = 0x3000, .fileOffset = 0x10000, .path = "/lib/third"});
    EXPECT_EQ(at(space, 1, 0x2fff), "/lib/old+1fff");
    EXPECT_EQ(at(space, 1, 0x4000), "/lib/third+11000") << "what is covered whole is gone";
    EXPECT_EQ(at(space, 1, 0x6000), "/lib/old+5000");
}

TEST(AddressSpace, takesTheLastByteOfTheAddressSpace)
{
    AddressSpace space;
    EXPECT_TRUE(space.insert({.pid = 1, .start = UINT64_MAX - 0xfff, .length = 0x1000, .path = "/top"}));
    EXPECT_EQ(at(space, 1, UINT64_MAX), "/top+fff");
    EXPECT_FALSE(space.insert({.pid = 1, .start = UINT64_MAX - 0xfff, .length = 0x1001, .path = "/wraps"}));
    EXPECT_FALSE(space.insert({.pid = 1, .start = 1, .length = 0, .path = "/nothing"}));
}

TEST(AddressSpace, givesAForkedChildTheMappingsOfThatMoment)
{
    AddressSpace space;
    space.insert({.pid = 1, .start = 0x1000, .length = 0x1000, .path = "/bin/a"});
    space.fork(2, 1);
    space.insert({.pid = 1, .start = 0x8000, .length = 0x1000, .path = "/lib/later"});
    space.insert({.pid = 2, .start = 0x1000, .length = 0x1000, .path = "/bin/child"});
    EXPECT_EQ(at(space, 2, 0x1004), "/bin/child+4");
    EXPECT_EQ(at(space, 2, 0x8004), "-");
    EXPECT_EQ(at(space, 1, 0x1004), "/bin/a+4") << "the parent is not changed";
}

TEST(AddressSpace, beginsAnEpochAtExecAndWhenAPidIsUsedAgain)
{
    AddressSpace space;
    space.fork(5, 1);
    EXPECT_EQ(space.processOf(5), (ProcessKey{5, 0}));
    space.insert({.pid = 5, .start = 0x1000, .length = 0x1000, .path = "/bin/sh"});
    space.exec(5);
    EXPECT_EQ(space.processOf(5), (ProcessKey{5, 1}));
    EXPECT_EQ(at(space, 5, 0x1000), "-") << "exec leaves nothing mapped";
    space.insert({.pid = 5, .start = 0x1000, .length = 0x1000, .path = "/bin/a"});
    space.fork(5, 1);
    EXPECT_EQ(space.processOf(5), (ProcessKey{5, 2}));
    EXPECT_EQ(at(space, 5, 0x1000), "-") << "the pid belongs to another process now";
}

TEST(AddressSpace, doesNotTakeThreadsForProcesses)
{
    AddressSpace space;
    space.insert({.pid = 5, .start = 0x1000, .length = 0x1000, .path = "/bin/a"});
    space.fork(5, 5);
    EXPECT_EQ(space.processOf(5), (ProcessKey{5, 0}));
    EXPECT_EQ(at(space, 5, 0x1000), "/bin/a+0");
}

TEST(AddressSpace, keepsASnapshotAsItWas)
{
    AddressSpace space;
    space.insert({.pid = 5, .start = 0x1000, .length = 0x1000, .path = "/bin/a"});
    const MappingTree before = space.snapshot(AddressMode::User, 5);
    space.exec(5);
    ASSERT_NE(before.find(0x1800), nullptr);
    EXPECT_EQ(space.module(before.find(0x1800)->module).path, "/bin/a");
}

TEST(AddressSpace, countsKernelAddressesFromTheReferenceSymbol)
{
    // The same kernel at two places: KASLR moved it by 0x12000000 at the second boot.
    AddressSpace first;
    AddressSpace second;
    first.insert({.mode = AddressMode::Kernel,
        .start = 0xffffffff81000000,
        .length = 0x1000000,
        .fileOffset = 0xffffffff81000000,
        .path = "[kernel.kallsyms]_text",
        .buildId = kId});
    second.insert({.mode = AddressMode::Kernel,
        .start = 0xffffffff93000000,
        .length = 0x1000000,
        .fileOffset = 0xffffffff93000000,
        .path = "[kernel.kallsyms]_text",
        .buildId = kId});
    const auto a = first.find(AddressMode::Kernel, 1, 0xffffffff81234567);
    const auto b = second.find(AddressMode::Kernel, 99, 0xffffffff93234567);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->offset, 0x234567U);
    EXPECT_EQ(b->offset, a->offset);
    EXPECT_EQ(a->process.pid, -1) << "the kernel is nobody's";
    EXPECT_EQ(first.module(a->module).reference, "_text");
    EXPECT_EQ(first.module(a->module).kind, ModuleKind::Kernel);
}

TEST(AddressSpace, wrapsOffsetsBelowTheReferenceSymbol)
{
    AddressSpace space;
    space.insert({.mode = AddressMode::Kernel,
        .start = 0xffffffff81000000,
        .length = 0x1000000,
        .fileOffset = 0xffffffff81000200,
        .path = "[kernel.kallsyms]_stext"});
    const auto location = space.find(AddressMode::Kernel, 1, 0xffffffff81000100);
    ASSERT_TRUE(location);
    EXPECT_EQ(location->offset + 0xffffffff81000200, 0xffffffff81000100);
}

TEST(AddressSpace, keepsModulesAndGuestsApartFromTheKernel)
{
    AddressSpace space;
    space.insert({.mode = AddressMode::Kernel,
        .start = 0xffffffff81000000,
        .length = 0x1000000,
        .fileOffset = 0xffffffff81000000,
        .path = "[kernel.kallsyms]_text"});
    space.insert({.mode = AddressMode::Kernel,
        .start = 0xffffffffc0000000,
        .length = 0x4000,
        .path = "/lib/modules/6.1/kernel/net/nf-nat.ko.xz"});
    space.insert({.mode = AddressMode::GuestKernel,
        .start = 0xffffffff81000000,
        .length = 0x1000000,
        .fileOffset = 0xffffffff81000000,
        .path = "[guest.kernel.kallsyms]_text"});
    const auto module = space.find(AddressMode::Kernel, 1, 0xffffffffc0000120);
    ASSERT_TRUE(module);
    EXPECT_EQ(module->offset, 0x120U);
    EXPECT_EQ(space.module(module->module).kind, ModuleKind::KernelModule);
    EXPECT_EQ(space.module(module->module).referenceAddress, 0xffffffffc0000000U);
    EXPECT_EQ(kernelModuleName(space.module(module->module).path), "nf_nat");
    EXPECT_EQ(kernelModuleName("[nf_nat]"), "nf_nat");
    const auto guest = space.find(AddressMode::GuestKernel, 1, 0xffffffff81000010);
    ASSERT_TRUE(guest);
    EXPECT_TRUE(space.module(guest->module).guest);
}

TEST(AddressSpace, layersNamedRangesOverTheKernelAndTakesThemAway)
{
    AddressSpace space;
    space.insert({.mode = AddressMode::Kernel,
        .start = 0xffffffff81000000,
        .length = 0x80000000 - 0x1000000,
        .fileOffset = 0xffffffff81000000,
        .path = "[kernel.kallsyms]_text"});
    space.insertKernelRange(0xffffffffc0100000, 0x80, "bpf_prog_1234_filter");
    EXPECT_EQ(at(space, 1, 0xffffffffc0100010, AddressMode::Kernel), "bpf_prog_1234_filter+10");
    space.removeKernelRange(0xffffffff81000000, 0x1000);
    EXPECT_EQ(at(space, 1, 0xffffffff81000010, AddressMode::Kernel), "[kernel.kallsyms]_text+10")
        << "only what came as a range goes as one";
    space.removeKernelRange(0xffffffffc0100000, 0x80);
    EXPECT_EQ(at(space, 1, 0xffffffffc0100010, AddressMode::Kernel), "-");
}

TEST(AddressSpace, givesJitCodeToItsProcessByAddress)
{
    AddressSpace space;
    space.insert({.pid = 3, .start = 0x7f0000000000, .length = 0x10000, .fileOffset = 0, .path = "//anon"});
    space.insert({.pid = 4, .start = 0x7f0000000000, .length = 0x10000, .fileOffset = 0, .path = "//anon"});
    const auto location = space.find(AddressMode::User, 3, 0x7f0000000123);
    ASSERT_TRUE(location);
    EXPECT_EQ(location->offset, 0x7f0000000123U);
    EXPECT_EQ(space.module(location->module).kind, ModuleKind::Anonymous);
    EXPECT_EQ(space.module(location->module).pid, 3);
    EXPECT_NE(space.find(AddressMode::User, 4, 0x7f0000000123)->module, location->module);
    EXPECT_EQ(userModuleKind("/tmp/perf-12.map"), ModuleKind::Anonymous);
    EXPECT_EQ(userModuleKind("[vdso]"), ModuleKind::Vdso);
    EXPECT_EQ(userModuleKind("/usr/bin/perf-map"), ModuleKind::File);
}

TEST(AddressSpace, fillsInBuildIdsThatComeApart)
{
    AddressSpace space;
    space.insert({.pid = 1, .start = 0x1000, .length = 0x1000, .path = "/bin/a"});
    space.setBuildId("/bin/a", kId);
    EXPECT_EQ(space.modules().at(0).buildId, kId);
    EXPECT_EQ(space.modules().at(0).executableOffset, 0U);
}

TEST(AddressSpace, knowsBuildIdsThatCameBeforeTheMappings)
{
    AddressSpace space;
    space.setBuildId("/bin/a", kId);
    space.insert({.pid = 1, .start = 0x1000, .length = 0x1000, .path = "/bin/a"});
    space.insert({.pid = 1, .start = 0x5000, .length = 0x1000, .path = "/bin/b"});
    EXPECT_EQ(space.modules().at(0).buildId, kId);
    EXPECT_TRUE(space.modules().at(1).buildId.empty());
}

TEST(AddressSpace, givesMappingsANumberThatChangesWithThem)
{
    const auto version = [](const AddressSpace& space, int32_t pid) {
        return space.version(AddressMode::User, pid);
    };
    AddressSpace space;
    EXPECT_EQ(version(space, 1), 0U);
    space.insert({.pid = 1, .start = 0x1000, .length = 0x1000, .path = "/bin/a"});
    const uint64_t first = version(space, 1);
    EXPECT_NE(first, 0U);
    space.fork(2, 1);
    EXPECT_EQ(version(space, 2), first); // the same mappings
    space.insert({.pid = 2, .start = 0x5000, .length = 0x1000, .path = "/bin/b"});
    EXPECT_NE(version(space, 2), first);
    EXPECT_EQ(version(space, 1), first);
    space.insert({.mode = AddressMode::Kernel, .start = 0x9000, .length = 0x1000, .path = "[k]"});
    EXPECT_EQ(version(space, 1), first);
    EXPECT_NE(space.version(AddressMode::Kernel, 1), 0U);
    space.exec(1);
    EXPECT_EQ(version(space, 1), 0U);
}

/// The same history in the simplest way: the owner of each page.
TEST(MappingTree, agreesWithATableOfPagesOverRandomHistories)
{
    std::mt19937 random(7);
    constexpr uint64_t kPages = 64;
    for (int round = 0; round < 50; ++round) {
        MappingTree tree;
        std::vector<Mapping> pages(kPages);
        for (uint32_t step = 1; step < 60; ++step) {
            const uint64_t start = random() % kPages;
            const uint64_t length = 1 + random() % (kPages - start);
            const bool remove = random() % 4 == 0;
            const Mapping mapping{start, length, 1000 * step, {step}, true};
            tree = remove ? tree.without(start, start + length - 1) : tree.with(mapping);
            for (uint64_t page = start; page < start + length; ++page)
                pages[page] =
                    remove ? Mapping() : Mapping{page, 1, mapping.offset + (page - start), {step}, true};
            for (uint64_t page = 0; page < kPages; ++page) {
                const Mapping* found = tree.find(page);
                ASSERT_EQ(found != nullptr, pages[page].length != 0);
                if (found != nullptr) {
                    ASSERT_EQ(found->module, pages[page].module);
                    ASSERT_EQ(found->offset + (page - found->start), pages[page].offset);
                }
            }
        }
        uint64_t before = 0;
        for (const Mapping& mapping : tree.all()) {
            ASSERT_GE(mapping.start, before);
            before = mapping.start + mapping.length;
        }
    }
}

TEST(AddressSpace, staysSmallWhenManyProcessesForkFromALargeOne)
{
    AddressSpace space;
    constexpr int32_t kMappings = 20'000;
    for (int32_t i = 0; i < kMappings; ++i)
        space.insert(
            {.pid = 1, .start = static_cast<uint64_t>(i + 1) << 12, .length = 0x1000, .path = "/bin/a"});
    // Copies would take 20,000 times 20,000 mappings, 16 GB.
    for (int32_t pid = 2; pid < kMappings; ++pid) {
        space.fork(pid, 1);
        space.insert({.pid = pid, .start = 0x1000, .length = 0x1000, .path = "/bin/b"});
    }
    EXPECT_EQ(at(space, kMappings - 1, 0x1000), "/bin/b+0");
    EXPECT_EQ(at(space, kMappings - 1, 0x2000), "/bin/a+0");
}

} // namespace
} // namespace whichlock
