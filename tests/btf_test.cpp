// SPDX-License-Identifier: GPL-3.0-or-later
// Types of BTF as DWARF: written by hand here, and the names that the code of a small kernel gets from them.
#include "analyzer/naming/btf_dwarf.h"

#include "analyzer/naming/btf_types.h"
#include "analyzer/symbols/dwarf_units.h"
#include "tests/support/btf_writer.h"
#include "tests/support/lock_fixtures.h"

#include <gtest/gtest.h>

#include <set>

namespace whichlock {
namespace {

std::unique_ptr<LockNamer> namerByBtf()
{
    const std::string btf = test::scratchPath("kernel.btf");
    const std::vector<uint8_t> bytes = test::btfOfSmallKernel();
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
    test::BtfWriter base;
    base.add(BtfKind::Int, "int", 4, {32});
    const std::vector<uint8_t> baseBytes = base.bytes();
    test::BtfWriter split; // its strings and ids go on behind those of the base
    split.add(BtfKind::Pointer, "", 1);
    const auto types = readBtf(split.bytes(), baseBytes);
    ASSERT_TRUE(types);
    ASSERT_EQ(types->types.size(), 3U);
    EXPECT_EQ(types->types[2].kind, BtfKind::Pointer);
    EXPECT_EQ(types->text(types->types[1].name), "int");
}

TEST(Btf, isRefusedWhenItIsDamaged)
{
    const std::vector<uint8_t> whole = test::btfOfSmallKernel();
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
