// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/normalise.h"

#include <gtest/gtest.h>

namespace whichlock {

TEST(NormaliseSymbol, leavesAPlainNameAsItIs)
{
    const std::string_view name = "native_queued_spin_lock_slowpath";
    EXPECT_EQ(normalisedView(name).data(), name.data());
    EXPECT_EQ(normalisedView(name).size(), name.size());
    EXPECT_EQ(normalisedView(""), "");
    EXPECT_EQ(normalisedView("__down"), "__down");
}

TEST(NormaliseSymbol, dropsOffsets)
{
    EXPECT_EQ(normaliseSymbol("schedule+0x12/0x34"), "schedule");
    EXPECT_EQ(normaliseSymbol("schedule+0x12"), "schedule");
    EXPECT_EQ(normaliseSymbol("operator+"), "operator+");
    EXPECT_EQ(normaliseSymbol("a+0x"), "a+0x");
    EXPECT_EQ(normaliseSymbol("+0x12"), "+0x12");
}

TEST(NormaliseSymbol, dropsTagsOfPerfAndOfCollapsedStacks)
{
    EXPECT_EQ(normaliseSymbol("[k] _raw_spin_lock"), "_raw_spin_lock");
    EXPECT_EQ(normaliseSymbol("[.] pthread_mutex_lock"), "pthread_mutex_lock");
    EXPECT_EQ(normaliseSymbol("_raw_spin_lock_[k]"), "_raw_spin_lock");
    EXPECT_EQ(normaliseSymbol("Thread::run_[i]"), "Thread::run");
    EXPECT_EQ(normaliseSymbol("queued_spin_lock (inlined)"), "queued_spin_lock");
    EXPECT_EQ(normaliseSymbol("queued_spin_lock+0x1c (inlined)"), "queued_spin_lock");
    EXPECT_EQ(normaliseSymbol("[k]"), "[k]");
}

TEST(NormaliseSymbol, dropsSymbolVersions)
{
    EXPECT_EQ(normaliseSymbol("pthread_mutex_lock@@GLIBC_2.2.5"), "pthread_mutex_lock");
    EXPECT_EQ(normaliseSymbol("pthread_cond_wait@GLIBC_2.3.2"), "pthread_cond_wait");
    EXPECT_EQ(normaliseSymbol("@GLIBC"), "@GLIBC");
    EXPECT_EQ(normaliseSymbol("strange@name with blanks"), "strange@name with blanks");
}

TEST(NormaliseSymbol, dropsCompilerEndingsAsOftenAsTheyOccur)
{
    EXPECT_EQ(normaliseSymbol("__mutex_lock.constprop.0"), "__mutex_lock");
    EXPECT_EQ(normaliseSymbol("rmqueue_bulk.isra.12.constprop.3"), "rmqueue_bulk");
    EXPECT_EQ(
        normaliseSymbol("native_queued_spin_lock_slowpath.part.0.cold"), "native_queued_spin_lock_slowpath");
    EXPECT_EQ(normaliseSymbol("f.cold.7"), "f");
    EXPECT_EQ(normaliseSymbol("f.llvm.123456789"), "f");
    EXPECT_EQ(normaliseSymbol("f.lto_priv.0"), "f");
    EXPECT_EQ(normaliseSymbol("runtime.futex"), "runtime.futex");
    EXPECT_EQ(normaliseSymbol("main.func1.2"), "main.func1.2");
    EXPECT_EQ(normaliseSymbol("f.part"), "f.part");
}

TEST(NormaliseSymbol, dropsTheHashOfARustName)
{
    EXPECT_EQ(normaliseSymbol("std::sys::futex::Mutex::lock_contended::h0123456789abcdef"),
        "std::sys::futex::Mutex::lock_contended");
    EXPECT_EQ(normaliseSymbol("a::h0123456789abcde"), "a::h0123456789abcde");
    EXPECT_EQ(normaliseSymbol("a::h0123456789abcdeg"), "a::h0123456789abcdeg");
}

TEST(NormaliseSymbol, dropsOneLeadingDot)
{
    EXPECT_EQ(normaliseSymbol(".__spin_yield"), "__spin_yield");
    EXPECT_EQ(normaliseSymbol("..x"), ".x");
    EXPECT_EQ(normaliseSymbol("."), ".");
}

TEST(NormaliseSymbol, dropsPrefixesOfInternalLibcNames)
{
    EXPECT_EQ(normaliseSymbol("__GI___pthread_mutex_unlock"), "__pthread_mutex_unlock");
    EXPECT_EQ(normaliseSymbol("___pthread_mutex_lock"), "pthread_mutex_lock");
    EXPECT_EQ(normaliseSymbol("__GI____pthread_mutex_lock"), "pthread_mutex_lock");
    EXPECT_EQ(normaliseSymbol("__pthread_mutex_lock"), "__pthread_mutex_lock");
}

TEST(NormaliseSymbol, keepsDotAndNameOfStubSections)
{
    EXPECT_EQ(normaliseSymbol(".text.lock.dcache"), ".text.lock.dcache");
    EXPECT_EQ(normaliseSymbol(".text.lock.dcache+0x5/0x40"), ".text.lock.dcache");
    EXPECT_EQ(normaliseSymbol(".text.lock.part.0"), ".text.lock.part.0");
}

TEST(NormaliseSymbol, appliesItsRulesInOrder)
{
    EXPECT_EQ(normaliseSymbol("[.] __GI___lll_lock_wait.constprop.0+0x4d/0x60"), "__lll_lock_wait");
    EXPECT_EQ(normaliseSymbol("._spin_lock.isra.1_[k]"), "_spin_lock");
}

} // namespace whichlock
