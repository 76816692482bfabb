// SPDX-License-Identifier: GPL-3.0-or-later
// Which routines take locks, and what types are locks.
#include "analyzer/naming/lock_entries.h"

#include "analyzer/locks/routine_table.h"

#include <gtest/gtest.h>

namespace whichlock {
namespace {

TEST(LockEntries, knowThePrimitivesOfKernels)
{
    EXPECT_EQ(lockEntryOf("_raw_spin_lock_irqsave", true)->kind, LockType::Spin);
    EXPECT_EQ(lockEntryOf("down_read_killable", true)->side, LockSide::Shared);
    EXPECT_EQ(lockEntryOf("down_write", true)->side, LockSide::Exclusive);
    EXPECT_EQ(lockEntryOf("percpu_down_write", true)->kind, LockType::PerCpuRwSemaphore);
    EXPECT_EQ(lockEntryOf("rt_mutex_lock", true)->kind, LockType::RtMutex);
    EXPECT_TRUE(lockEntryOf("mutex_trylock", true)->tries);
    EXPECT_FALSE(lockEntryOf("mutex_unlock", true));
    EXPECT_FALSE(lockEntryOf("pthread_mutex_lock", true));
}

TEST(LockEntries, takeTheSecondArgumentOfGuards)
{
    EXPECT_EQ(lockEntryOf("_ZNSt10lock_guardISt5mutexEC2ERS0_", false)->argument, 1);
    EXPECT_EQ(lockEntryOf("_ZNSt10lock_guardISt5mutexEC1ERS0_", false)->argument, 1);
    EXPECT_EQ(lockEntryOf("_ZNSt11shared_lockISt12shared_mutexEC2ERS0_", false)->side, LockSide::Shared);
    EXPECT_EQ(lockEntryOf("_ZNSt5mutex4lockEv", false)->argument, 0);
    // Constructors that do not lock.
    EXPECT_FALSE(lockEntryOf("_ZNSt11unique_lockISt5mutexEC2ERS0_St12defer_lock_t", false));
    EXPECT_FALSE(lockEntryOf("_ZNSt10lock_guardISt5mutexEC2ERS0_St12adopt_lock_t", false));
}

TEST(LockEntries, knowAbseilInAnyInlineNamespace)
{
    EXPECT_EQ(lockEntryOf("_ZN4absl5Mutex4LockEv", false)->kind, LockType::AbseilMutex);
    EXPECT_EQ(lockEntryOf("_ZN4absl12lts_202206235Mutex10ReaderLockEv", false)->side, LockSide::Shared);
}

TEST(LockEntries, areThoseOfTheOneTable)
{
    size_t taken = 0;
    for (const Routine& row : RoutineTable::builtIn().rows()) {
        if (row.takes.empty())
            continue;
        ++taken;
        if (!row.glob) {
            EXPECT_TRUE(lockEntryOf(row.symbol, row.isKernel())) << row.symbol;
        }
    }
    EXPECT_EQ(taken, 134U);
}

TEST(LockEntries, haveTheRowsOfTheUser)
{
    const auto table = RoutineTable::builtIn().withUserFile("own",
        "symbol\trole\tprimitive\tlock_arg\nwrapLock\tacquire-wrapper\tmutex\t0\n"
        "pool::Latch::acquire\tslowpath-block\tmutex\tthis\nnoArgument\tacquire-wrapper\tmutex\t-\n");
    ASSERT_TRUE(table) << table.error().message;
    const LockEntries entries(*table);
    EXPECT_EQ(entries.find("wrapLock", false)->kind, LockType::OwnLock);
    EXPECT_EQ(entries.find("wrapLock", false)->argument, 0);
    EXPECT_TRUE(entries.find("_ZN4pool5Latch7acquireEv", false));
    EXPECT_FALSE(entries.find("_ZN4pool5Latch7releaseEv", false));
    EXPECT_FALSE(entries.find("noArgument", false));
    EXPECT_TRUE(entries.find("pthread_mutex_lock", false)) << "the built-in ones stay";
    EXPECT_FALSE(LockEntries::builtIn().find("wrapLock", false));
}

TEST(LockEntries, letNoRoutineTakeLocksOfAnotherKind)
{
    EXPECT_TRUE(isLockType(LockType::Mutex, "mutex"));
    EXPECT_FALSE(isLockType(LockType::Mutex, "spinlock_t"));
    EXPECT_FALSE(isLockType(LockType::UserMutex, "pthread_rwlock_t"));
    EXPECT_FALSE(isLockType(LockType::UserMutex, "Mutex"));
    EXPECT_TRUE(isLockType(LockType::AnyUser, "shared_mutex"));
}

TEST(LockEntries, tellLocksOfAProgramByTheirNames)
{
    EXPECT_TRUE(isLockName("SpinLock"));
    EXPECT_TRUE(isLockName("PMutex"));
    EXPECT_TRUE(isLockName("my_lock_t"));
    EXPECT_FALSE(isLockName("Block"));
    EXPECT_FALSE(isLockName("LockTable"));
}

TEST(LockEntries, lookAtNamesOfAnyLengthInBoundedTime)
{
    EXPECT_FALSE(lockEntryOf(std::string(1 << 20, 'E'), false));
    std::string nearly = "_ZNSt10lock_guardI";
    for (int i = 0; i < 400; ++i)
        nearly += "EC1ERS";
    EXPECT_FALSE(lockEntryOf(nearly, false));
}

} // namespace
} // namespace whichlock
