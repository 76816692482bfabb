// SPDX-License-Identifier: GPL-3.0-or-later
// kallsyms, System.map, perf-PID.map, readable names, and the table behind them.
#include "analyzer/symbols/demangle.h"
#include "analyzer/symbols/kallsyms.h"
#include "analyzer/symbols/perf_map.h"

#include <gtest/gtest.h>

#include <chrono>

namespace whichlock {
namespace {

/// `name+offset` of an address, or `-`.
std::string at(const SymbolTable& table, uint64_t address)
{
    SymbolHit hit;
    if (!table.find(address, hit))
        return "-";
    const std::string name =
        hit.module.empty() ? std::string(hit.name) : std::string(hit.module) + ":" + std::string(hit.name);
    return name + "+" + std::to_string(address - hit.address);
}

TEST(Kallsyms, endsSymbolsAtTheNextOne)
{
    const auto read = parseKallsyms("ffffffff81000000 T _text\n"
                                    "ffffffff81000000 T startup_64\n"
                                    "ffffffff81000100 t local_one\n"
                                    "ffffffff81000180 T last_one\n",
        "kallsyms");
    ASSERT_TRUE(read);
    EXPECT_EQ(at(read->functions, 0xffffffff81000050), "startup_64+80") << "the last name of the address";
    EXPECT_EQ(at(read->functions, 0xffffffff8100017f), "local_one+127");
    EXPECT_EQ(at(read->functions, 0xffffffff81000fff), "last_one+3711");
    EXPECT_EQ(at(read->functions, 0xffffffff81001000), "-") << "the last one ends with its page";
    EXPECT_EQ(at(read->functions, 0xffffffff80ffffff), "-");
    EXPECT_EQ(read->functions.referenceAddress("_text"), 0xffffffff81000000);
    EXPECT_FALSE(read->functions.referenceAddress("_stext"));
}

TEST(Kallsyms, keepsModulesApart)
{
    const auto read = parseKallsyms("ffffffff81000000 T in_kernel\n"
                                    "ffffffffc0000010 t hook\t[nf_nat]\n"
                                    "ffffffffc0000040 t tail\t[nf_nat]\n"
                                    "ffffffffc0008000 t other\t[xfs]\n"
                                    "ffffffffc0008020 d table\t[xfs]\n",
        "kallsyms");
    ASSERT_TRUE(read);
    EXPECT_EQ(at(read->functions, 0xffffffffc0000020), "nf_nat:hook+16");
    EXPECT_EQ(at(read->functions, 0xffffffffc0000fff), "nf_nat:tail+4031");
    EXPECT_EQ(at(read->functions, 0xffffffffc0001000), "-") << "not up to the next module";
    EXPECT_EQ(at(read->functions, 0xffffffff90000000), "-") << "nor from the kernel to the first module";
    EXPECT_EQ(at(read->objects, 0xffffffffc0008024), "xfs:table+4");
}

TEST(Kallsyms, saysThatAddressesAreHidden)
{
    const auto read = parseKallsyms("0000000000000000 T _text\n0000000000000000 t foo\n", "kallsyms");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, DiagnosticCode::KallsymsRestricted);
}

TEST(Kallsyms, refusesWhatHoldsNoSymbols)
{
    const auto read = parseKallsyms("# a remark\nHello world\n", "text");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, DiagnosticCode::SymbolsUnreadable);
    EXPECT_FALSE(readKallsyms("/dev/zero")) << "no regular file";
    EXPECT_FALSE(readKallsyms("/"));
}

TEST(Kallsyms, readsSystemMapsOfOldMachinesAndCountsTheRest)
{
    const auto read =
        parseKallsyms("c0100000 A _text\r\nc0100000 T stext\r\nc0100100 t __pfx_foo\n"
                      "c0100110 T foo\nc0100200 ? __kstrtab_foo\ngarbage\n00000000c0400000 B jiffies\n",
            "System.map");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->unreadableLines, 1U);
    EXPECT_EQ(at(read->functions, 0xc0100120), "foo+16");
    EXPECT_EQ(at(read->objects, 0xc0400004), "jiffies+4");
}

TEST(SymbolTable, findsTheOuterSymbolBehindAnInnerOne)
{
    SymbolTable table;
    table.add({.address = 0x100, .size = 0x100, .name = "outer"});
    table.add({.address = 0x120, .size = 0x10, .name = "entry"});
    table.add({.address = 0x300, .size = 0, .name = "point"});
    table.finish();
    EXPECT_EQ(at(table, 0x11f), "outer+31");
    EXPECT_EQ(at(table, 0x125), "entry+5");
    EXPECT_EQ(at(table, 0x130), "outer+48");
    EXPECT_EQ(at(table, 0x200), "-");
    EXPECT_EQ(at(table, 0x300), "point+0");
    EXPECT_EQ(at(table, 0x301), "-") << "a symbol without size covers its own address alone";
}

TEST(SymbolTable, choosesAmongNamesAsPerfDoes)
{
    SymbolTable table;
    table.add({.address = 0x100, .size = 8, .binding = SymbolBinding::Local, .name = "a_local_name"});
    table.add({.address = 0x100, .size = 8, .binding = SymbolBinding::Weak, .name = "a_weak_long_name"});
    table.add({.address = 0x100, .size = 8, .binding = SymbolBinding::Global, .name = "__lll_lock_wait"});
    table.add({.address = 0x100, .size = 8, .binding = SymbolBinding::Global, .name = "lock_wait"});
    table.add({.address = 0x100, .size = 0, .binding = SymbolBinding::Global, .name = "label_without_size"});
    table.finish();
    EXPECT_EQ(at(table, 0x104), "lock_wait+4");
}

TEST(PerfMap, takesTheLastLineOfAnAddress)
{
    const PerfMap map = PerfMap::parse("7f0000000000 100 LazyCompile:~first /app/a b.js:1\n"
                                       "7f0000000040 40 second one\n"
                                       "not a line\n"
                                       "7f0000001000 0 nothing\n");
    ASSERT_NE(map.find(0x7f0000000010), nullptr);
    EXPECT_EQ(map.find(0x7f0000000010)->name, "LazyCompile:~first /app/a b.js:1");
    EXPECT_EQ(map.find(0x7f0000000050)->name, "second one");
    EXPECT_EQ(map.find(0x7f0000000080)->name, "LazyCompile:~first /app/a b.js:1");
    EXPECT_EQ(map.find(0x7f0000000080)->symbolStart, 0x7f0000000000U);
    EXPECT_EQ(map.find(0x7f0000000100), nullptr);
    EXPECT_EQ(map.find(0x7f0000001000), nullptr);
    EXPECT_EQ(map.unreadableLines(), 2U);
}

TEST(Demangle, writesCppNames)
{
    EXPECT_EQ(demangle("_ZNSt5mutex4lockEv"), "std::mutex::lock");
    EXPECT_EQ(demangle("_ZN4shop5outerEi.isra.0"), "shop::outer");
    EXPECT_EQ(demangle("pthread_mutex_lock"), "pthread_mutex_lock");
    EXPECT_EQ(demangle("_Znotmangled"), "_Znotmangled");
    EXPECT_EQ(demangle(""), "");
}

TEST(Demangle, writesRustNamesWithoutHashes)
{
    EXPECT_EQ(demangle("_ZN4core9panicking5panic17h0123456789abcdefE"), "core::panicking::panic");
    EXPECT_EQ(demangle("_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$"
                       "4drop17h98ab12cd34ef5678E"),
        "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop");
    // The example of RFC 2603.
    EXPECT_EQ(demangle("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
}

TEST(Demangle, givesUpOnNamesThatStandForGigabytes)
{
    // Each template argument is a function that takes and returns the one before: the text doubles 60 times.
    std::string bomb = "_Z1fIFiiE";
    std::string parameter = "S0_";
    for (int i = 0; i < 60; ++i) {
        bomb += "F" + parameter + parameter + "E";
        std::string number;
        for (int rest = i + 1;; rest /= 36) {
            number.insert(number.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[rest % 36]);
            if (rest < 36)
                break;
        }
        parameter = "S" + number + "_";
    }
    bomb += "Evv";
    ASSERT_EQ(demangle("_Z1fIFiiEFS0_S0_EEvv"), "f<int (int), int (int (int))(int)>")
        << "how one doubling looks";
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(demangle(bomb), bomb);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    const std::string deep = "_Z1fI" + std::string(100'000, 'P') + "iEvv";
    EXPECT_EQ(demangle(deep), deep);
}

} // namespace
} // namespace whichlock
