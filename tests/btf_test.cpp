// SPDX-License-Identifier: GPL-3.0-or-later
// Types of BTF as DWARF: written by hand here, and the names that the code of a small kernel gets from them.
#include "analyzer/naming/btf_dwarf.h"

#include "analyzer/naming/btf_types.h"
#include "analyzer/symbols/dwarf_units.h"
#include "tests/support/lock_fixtures.h"

#include <gtest/gtest.h>

#include <set>

namespace whichlock {
namespace {

/// Writes BTF. Ids count from 1.
class BtfWriter {
public:
    uint32_t add(BtfKind kind, const std::string& name, uint32_t sizeOrType, std::vector<uint32_t> tail = {},
        uint32_t count = 0)
    {
        for (const uint32_t word : {nameOf(name), static_cast<uint32_t>(kind) << 24 | count, sizeOrType})
            put(types_, word);
        for (const uint32_t word : tail)
            put(types_, word);
        return ++last_;
    }
    uint32_t nameOf(const std::string& name)
    {
        if (name.empty())
            return 0;
        const auto at = static_cast<uint32_t>(text_.size());
        text_ += name + '\0';
        return at;
    }
    uint32_t structure(const std::string& name, uint32_t bytes,
        const std::vector<std::tuple<std::string, uint32_t, uint32_t>>& members)
    {
        std::vector<uint32_t> tail;
        for (const auto& [member, type, offset] : members)
            tail.insert(tail.end(), {nameOf(member), type, offset * 8});
        return add(BtfKind::Struct, name, bytes, tail, static_cast<uint32_t>(members.size()));
    }
    uint32_t function(
        const std::string& name, const std::vector<std::pair<std::string, uint32_t>>& parameters)
    {
        std::vector<uint32_t> tail;
        for (const auto& [parameter, type] : parameters)
            tail.insert(tail.end(), {nameOf(parameter), type});
        const uint32_t prototype =
            add(BtfKind::Prototype, "", 0, tail, static_cast<uint32_t>(parameters.size()));
        return add(BtfKind::Function, name, prototype);
    }
    std::vector<uint8_t> bytes() const
    {
        std::vector<uint8_t> all = {0x9f, 0xeb, 1, 0};
        for (const size_t word : {size_t{24}, size_t{0}, types_.size(), types_.size(), text_.size()})
            put(all, static_cast<uint32_t>(word));
        all.insert(all.end(), types_.begin(), types_.end());
        all.insert(all.end(), text_.begin(), text_.end());
        return all;
    }

private:
    static void put(std::vector<uint8_t>& to, uint32_t word)
    {
        for (unsigned shift = 0; shift < 32; shift += 8)
            to.push_back(static_cast<uint8_t>(word >> shift));
    }

    std::vector<uint8_t> types_;
    std::string text_ = std::string(1, '\0');
    uint32_t last_ = 0;
};

/// The types of tests/fixtures/locks/kernel_sites.cpp, with its layout by hand.
std::vector<uint8_t> btfOfSmallKernel()
{
    BtfWriter btf;
    const uint32_t word = btf.add(BtfKind::Int, "unsigned int", 4, {32});
    const uint32_t number = btf.add(BtfKind::Int, "long", 8, {64});
    const uint32_t raw = btf.structure("raw_spinlock", 4, {{"value", word, 0}});
    const uint32_t spin = btf.structure("spinlock", 4, {{"rlock", raw, 0}});
    const uint32_t mutex = btf.structure("mutex", 16, {{"owner", number, 0}, {"wait_lock", raw, 8}});
    const uint32_t rwsem = btf.structure("rw_semaphore", 16, {{"count", number, 0}, {"wait_lock", raw, 8}});
    const uint32_t inode =
        btf.structure("inode", 32, {{"i_state", number, 0}, {"i_lock", spin, 8}, {"i_rwsem", rwsem, 16}});
    const uint32_t inodePointer = btf.add(BtfKind::Pointer, "", inode);
    const uint32_t file = btf.structure("file", 24, {{"f_inode", inodePointer, 0}, {"f_pos_lock", mutex, 8}});
    const uint32_t filePointer = btf.add(BtfKind::Pointer, "", file);
    btf.function("iget", {{"inode", inodePointer}});
    btf.function("do_unlinkat", {{"file", filePointer}});
    const uint32_t rq = btf.structure("rq", 8, {{"lock", raw, 0}, {"nr_running", word, 4}});
    const uint32_t runqueues = btf.add(BtfKind::Variable, "runqueues", rq, {1});
    constexpr uint32_t kBehindOffsetAndPadding = 0x1008;
    btf.add(BtfKind::DataSection, ".data..percpu", 0x1010, {runqueues, kBehindOffsetAndPadding, 8}, 1);
    return btf.bytes();
}

std::unique_ptr<LockNamer> namerByBtf()
{
    const std::string btf = test::scratchPath("kernel.btf");
    const std::vector<uint8_t> bytes = btfOfSmallKernel();
    test::writeBytes(btf, std::string(bytes.begin(), bytes.end()));
    return test::openNamer(ModuleFiles{.code = test::fixturePath("locks-kernel/vmlinux-stripped"),
        .debug = test::fixturePath("locks-kernel/vmlinux-stripped"),
        .btf = btf});
}

TEST(Btf, givesNamesWhereThereIsCodeAndNoDebugInfo)
{
    const auto namer = namerByBtf();
    ASSERT_NE(namer, nullptr);
    EXPECT_TRUE(namer->image().isFromBtf());
    std::multiset<std::string> names;
    for (const LockCall& call : namer->findCalls()) {
        const LockName name = namer->nameCall(call);
        names.insert(name.text());
        EXPECT_TRUE(name.btf);
    }
    for (const char* name : {"struct inode::i_lock", "struct file::f_pos_lock", "struct inode::i_rwsem"})
        EXPECT_EQ(names.count(name), 1U) << name;
    // The other functions are not in that BTF.
    EXPECT_EQ(names.count(""), 3U);
    EXPECT_EQ(names.size(), 6U);
}

TEST(Btf, namesNothingThatDebugInfoNamesOtherwise)
{
    const auto byBtf = namerByBtf();
    const auto byDwarf = test::openNamer(test::lockFixture("kernel", "vmlinux"));
    ASSERT_NE(byBtf, nullptr);
    ASSERT_NE(byDwarf, nullptr);
    for (const LockCall& call : byBtf->findCalls()) {
        const std::string name = byBtf->nameCall(call).text();
        const std::string right = byDwarf->nameAt(call.address)->text();
        // Globals have no types in BTF: they are named without their members.
        EXPECT_TRUE(name.empty() || name == right || right.starts_with(name.substr(0, name.find('+'))))
            << name << " is " << right;
    }
}

TEST(Btf, isReadInTwoParts)
{
    BtfWriter base;
    base.add(BtfKind::Int, "int", 4, {32});
    const std::vector<uint8_t> baseBytes = base.bytes();
    BtfWriter split; // its strings and ids go on behind those of the base
    split.add(BtfKind::Pointer, "", 1);
    const auto types = readBtf(split.bytes(), baseBytes);
    ASSERT_TRUE(types);
    ASSERT_EQ(types->types.size(), 3U);
    EXPECT_EQ(types->types[2].kind, BtfKind::Pointer);
    EXPECT_EQ(types->text(types->types[1].name), "int");
}

TEST(Btf, isRefusedWhenItIsDamaged)
{
    const std::vector<uint8_t> whole = btfOfSmallKernel();
    ASSERT_TRUE(readBtf(whole, {}));
    for (size_t length = 0; length < whole.size(); ++length)
        EXPECT_FALSE(readBtf(std::span(whole).first(length), {})) << length;
    for (size_t at = 0; at < whole.size(); ++at)
        for (const uint8_t value : {uint8_t{0}, uint8_t{0xff}, static_cast<uint8_t>(whole[at] ^ 0x10)}) {
            std::vector<uint8_t> damaged = whole;
            damaged[at] = value;
            // Whatever comes out, it is read to its end.
            if (auto content = dwarfFromBtf(damaged, {}, {})) {
                const auto dwarf = MemoryDwarf::open(std::move(*content));
                ASSERT_NE(dwarf, nullptr);
                DwarfUnits units;
                units.build(dwarf->dwarf(), 1000);
            }
        }
}

} // namespace
} // namespace whichlock
