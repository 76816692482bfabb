// SPDX-License-Identifier: GPL-3.0-or-later
// Which function takes which lock in which kernel: small tables, and rows of the built-in one that were read
// in the sources of those kernels.
#include "analyzer/locks/embedded_tables.h"
#include "analyzer/locks/kernel_locks.h"

#include <gtest/gtest.h>

#include <set>

namespace whichlock {
namespace {

constexpr std::string_view kTable = "#kernel\ta\t2.6.18\tsource\n"
                                    "#kernel\tb\t6.1\tcode\n"
                                    "# a remark\n"
                                    "#kernel\tc\t7.2\tcode\n"
                                    "alpha\ts\ta_lock\tabc\tfs/a.c\n"
                                    "beta\tm\tbook::lock\tbc\n"
                                    "\ts\told_lock\tb\n"
                                    "\ts\tnew_lock\tc\n"
                                    "\tsv\tbook::irq_lock\tbc\n"
                                    "delta\ts\t?\tb\n"
                                    "\ts\tknown_lock\tb\n"
                                    "gamma\t~s\tinner_lock\tbc\n"
                                    "\ts\town_lock\tc\n"
                                    "omega\tl\towner::ref.lock\tbc\n";

Era eraOf(std::string_view version)
{
    return Era::of(KernelVersion::parse(version).value());
}

KernelLocks smallTable()
{
    return KernelLocks::parse("small", kTable).value();
}

std::string named(
    const KernelLocks& table, std::string_view function, std::string_view routine, std::string_view version)
{
    const auto lock = table.takenBy(function, lockTakeOf(routine).value(), eraOf(version));
    return lock ? lock->text() + ", " + lock->kernels : "-";
}

std::string builtIn(std::string_view function, std::string_view routine, std::string_view version)
{
    const auto lock = KernelLocks::builtIn().takenBy(function, lockTakeOf(routine).value(), eraOf(version));
    return lock ? lock->text() : "-";
}

std::string inChain(const KernelLocks& table, std::vector<std::string_view> chain, std::string_view version)
{
    const auto lock = table.takenIn(chain, eraOf(version));
    return lock ? lock->text() : "-";
}

} // namespace

TEST(LockTake, tellsTheKindByTheRoutine)
{
    EXPECT_EQ(lockTakeOf("_raw_spin_lock"), (LockTake{'s', 0}));
    EXPECT_EQ(lockTakeOf("_spin_lock_irqsave"), (LockTake{'s', 'v'}));
    EXPECT_EQ(lockTakeOf("_raw_spin_lock_irq"), (LockTake{'s', 'i'}));
    EXPECT_EQ(lockTakeOf("_raw_write_lock_bh"), (LockTake{'w', 'b'}));
    EXPECT_EQ(lockTakeOf("native_queued_spin_lock_slowpath"), (LockTake{'s', LockTake::kAnyVariant}));
    EXPECT_EQ(lockTakeOf("__mutex_lock_slowpath")->kind, 'm');
    EXPECT_EQ(lockTakeOf("rwsem_down_write_slowpath")->kind, 'W');
    EXPECT_EQ(lockTakeOf("down_read_killable")->kind, 'R');
    EXPECT_EQ(lockTakeOf("__down_interruptible")->kind, 'S');
    EXPECT_EQ(lockTakeOf("lock_kernel")->kind, 'k');
    EXPECT_EQ(lockTakeOf("._spin_lock"), (LockTake{'s', 0}));
}

TEST(LockTake, isNothingForWhatTakesNoLock)
{
    for (const std::string_view name : {"", "_", "down_read_trylock", "_raw_spin_trylock", "mutex_lock_stats",
             "_raw_spin_unlock", "osq_lock", "shutdown", "downgrade_write", "dput"})
        EXPECT_FALSE(lockTakeOf(name)) << name;
}

TEST(KernelLocks, answersFromTheKernelItself)
{
    const KernelLocks table = smallTable();
    EXPECT_EQ(named(table, "alpha", "_raw_spin_lock", "6.1.55"), "a_lock, 6.1");
    EXPECT_EQ(named(table, "alpha", "_spin_lock", "2.6.18"), "a_lock, 2.6.18");
    EXPECT_EQ(named(table, "beta", "mutex_lock", "6.1"), "struct book::lock, 6.1");
}

TEST(KernelLocks, saysSoWhenItAnswersFromNeighbours)
{
    const KernelLocks table = smallTable();
    EXPECT_EQ(named(table, "alpha", "_raw_spin_lock", "6.18.44"), "a_lock, from 6.1 and 7.2");
    EXPECT_EQ(named(table, "alpha", "_raw_spin_lock", "7.9"), "a_lock, from 7.2");
    EXPECT_EQ(named(table, "alpha", "_raw_spin_lock", "8.5"), "-"); // who knows
    EXPECT_EQ(named(table, "omega", "lockref_get", "5.4"), "-");    // 6.1 alone is too far away
    EXPECT_EQ(named(table, "omega", "lockref_get", "5.15"), "struct owner::ref.lock, from 6.1");
    EXPECT_EQ(named(table, "beta", "_raw_spin_lock", "6.18"), "new_lock or old_lock, from 6.1 and 7.2");
    EXPECT_EQ(named(table, "alpha", "_raw_spin_lock", "2.4.20"), "-"); // older than all of them
}

TEST(KernelLocks, tellsLocksApartByTheRoutine)
{
    const KernelLocks table = smallTable();
    EXPECT_EQ(named(table, "beta", "_raw_spin_lock_irqsave", "6.1"), "struct book::irq_lock, 6.1");
    EXPECT_EQ(named(table, "beta", "_raw_spin_lock", "6.1"), "old_lock, 6.1");
    EXPECT_EQ(named(table, "beta", "native_queued_spin_lock_slowpath", "6.1"),
        "old_lock or struct book::irq_lock, 6.1");
    EXPECT_EQ(named(table, "beta", "down_read", "6.1"), "-");
}

TEST(KernelLocks, isSilentWhereALockOfTheFunctionIsUnknown)
{
    EXPECT_EQ(named(smallTable(), "delta", "_raw_spin_lock", "6.1"), "-");
    EXPECT_EQ(named(smallTable(), "nobody", "_raw_spin_lock", "6.1"), "-");
}

TEST(KernelLocks, takesStaticFunctionsOnlyWhereTheCallerTakesNone)
{
    EXPECT_EQ(named(smallTable(), "gamma", "_raw_spin_lock", "6.1"), "inner_lock, 6.1");
    EXPECT_EQ(named(smallTable(), "gamma", "_raw_spin_lock", "7.2"), "own_lock, 7.2");
}

TEST(KernelLocks, allKernelsHaveToAgreeWhenTheEraIsOpen)
{
    const KernelLocks table = smallTable();
    const auto open = [&](std::string_view function) {
        const auto lock = table.takenBy(function, {'s', 0}, Era{});
        return lock ? lock->text() + ", " + lock->kernels : "-";
    };
    EXPECT_EQ(open("alpha"), "a_lock, from 2.6.18 to 7.2");
    EXPECT_EQ(open("beta"), "new_lock or old_lock, from 6.1 and 7.2");
}

TEST(KernelLocks, findsTheInnermostLockOfAChain)
{
    const KernelLocks table = smallTable();
    EXPECT_EQ(
        inChain(table, {"native_queued_spin_lock_slowpath", "_raw_spin_lock", "beta"}, "6.1"), "old_lock");
    // A spin lock inside of a semaphore is not the semaphore.
    EXPECT_EQ(
        inChain(table, {"_raw_spin_lock", "rwsem_down_write_slowpath", "down_write", "beta"}, "6.1"), "-");
    // The lock of a reference count belongs to what is counted.
    EXPECT_EQ(inChain(table, {"_raw_spin_lock", "lockref_get", "omega"}, "6.1"), "struct owner::ref.lock");
    EXPECT_EQ(inChain(table, {"_raw_spin_lock", "lockref_get", "alpha"}, "6.1"), "-");
    EXPECT_EQ(inChain(table, {"alpha"}, "6.1"), "-");
    EXPECT_EQ(inChain(table, {}, "6.1"), "-");
}

TEST(KernelLocks, refusesAHeadThatIsOutOfOrder)
{
    EXPECT_FALSE(KernelLocks::parse("t", "#kernel\ta\t6.1\tcode\n#kernel\tb\t5.10\tcode\n"));
    EXPECT_FALSE(KernelLocks::parse("t", "#kernel\tab\t6.1\tcode\n"));
    EXPECT_FALSE(KernelLocks::parse("t", "#kernel\ta\tsix\tcode\n"));
    EXPECT_TRUE(KernelLocks::parse("t", ""));
    EXPECT_FALSE(KernelLocks::parse("t", "")->takenBy("alpha", {'s', 0}, Era{}));
}

TEST(BuiltInKernelLocks, areSoundAndAllFound)
{
    std::string_view rest = embeddedKernelLocks();
    std::set<char> letters;
    std::string_view function;
    uint64_t functionCount = 0;
    while (!rest.empty()) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (line.starts_with("#kernel\t"))
            letters.insert(line[8]);
        if (line.starts_with('#'))
            continue;
        std::vector<std::string_view> cells;
        while (cells.size() < 4) {
            const size_t end = std::min(line.find('\t'), line.size());
            cells.push_back(line.substr(0, end));
            line.remove_prefix(std::min(end + 1, line.size()));
        }
        if (!cells[0].empty()) {
            ASSERT_LT(function, cells[0]); // sorted: it is searched by halves
            function = cells[0];
            ++functionCount;
        }
        ASSERT_FALSE(cells[1].empty() || cells[2].empty() || cells[3].empty()) << function;
        for (const char letter : cells[3])
            ASSERT_TRUE(letters.count(letter) != 0) << function;
        const bool named = cells[1].front() != '~' && cells[2] != "?";
        ASSERT_TRUE(!named || !KernelLocks::builtIn().allOf(function, Era{}).empty()) << function;
    }
    EXPECT_GE(letters.size(), 4U);
    EXPECT_GE(functionCount, 10000U);
}

// Read in fs/file_table.c, fs/dcache.c, fs/buffer.c and mm/filemap.c of 2.6.9 and 2.6.18.
TEST(BuiltInKernelLocks, nameLocksOfOldKernels)
{
    EXPECT_EQ(builtIn("file_move", "_spin_lock", "2.6.9"), "files_lock");
    EXPECT_EQ(builtIn("d_instantiate", "_spin_lock", "2.6.18"), "dcache_lock");
    EXPECT_EQ(builtIn("dput", "_atomic_dec_and_lock", "2.6.18"), "dcache_lock");
    EXPECT_EQ(builtIn("__d_lookup", "_spin_lock", "2.6.18"), "struct dentry::d_lock");
    EXPECT_EQ(builtIn("sys_brk", "down_write", "2.6.18"), "struct mm_struct::mmap_sem");
    EXPECT_EQ(builtIn("do_munmap", "_spin_lock", "2.4.22"), "struct mm_struct::page_table_lock");
}

// Read in fs/file.c, fs/namei.c, kernel/sched/core.c and mm/util.c of 6.1.
TEST(BuiltInKernelLocks, nameLocksOfNewKernels)
{
    EXPECT_EQ(builtIn("alloc_fd", "_raw_spin_lock", "6.1.55"), "struct files_struct::file_lock");
    EXPECT_EQ(builtIn("lock_rename", "mutex_lock", "6.1.55"), "struct super_block::s_vfs_rename_mutex");
    EXPECT_EQ(builtIn("try_to_wake_up", "_raw_spin_lock_irqsave", "6.1.55"), "struct task_struct::pi_lock");
    EXPECT_EQ(builtIn("try_to_wake_up", "_raw_spin_lock", "6.1.55"), "struct rq::__lock");
    EXPECT_EQ(builtIn("vm_mmap_pgoff", "down_write_killable", "6.1.55"), "struct mm_struct::mmap_lock");
    EXPECT_EQ(builtIn("xfs_buf_find", "mutex_lock", "6.1.55"), "-");
    EXPECT_EQ(inChain(KernelLocks::builtIn(),
                  {"native_queued_spin_lock_slowpath", "_raw_spin_lock", "lockref_get_not_dead",
                      "__legitimize_path", "try_to_unlazy"},
                  "6.1.55"),
        "struct dentry::d_lockref.lock");
}

} // namespace whichlock
