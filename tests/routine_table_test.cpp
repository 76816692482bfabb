// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/routine_table.h"

#include "analyzer/locks/embedded_tables.h"
#include "analyzer/locks/glob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace whichlock {

namespace {

Context context(std::string_view version, std::string_view arch)
{
    Context known;
    if (!version.empty())
        known.era = Era::of(KernelVersion::parse(version).value());
    known.arch = arch;
    return known;
}

std::vector<const Routine*> find(std::string_view symbol, std::string_view version, std::string_view arch)
{
    return RoutineTable::builtIn().find(symbol, context(version, arch));
}

using Locks = std::vector<std::string_view>;

Locks locksOf(std::string_view symbol, std::string_view version, std::string_view arch)
{
    const auto rows = find(symbol, version, arch);
    return rows.size() == 1 ? rows.front()->locks : Locks{"(rows found: not one)"};
}

} // namespace

TEST(BuiltInRoutines, allParse)
{
    const auto parsed = RoutineTable::parse("lock_routines.tsv", embeddedLockRoutines());
    ASSERT_TRUE(parsed) << toString(parsed.error().position) << ": " << parsed.error().message;
    EXPECT_GT(parsed->rows().size(), 1500U);
    EXPECT_EQ(parsed->rows().size(), RoutineTable::builtIn().rows().size());
}

TEST(BuiltInRoutines, haveSoundCells)
{
    static const std::set<std::string_view> kPrimitives = {"-", "mutex", "spinlock", "rwlock", "futex",
        "completion", "rwsem", "semaphore", "qspinlock", "rtmutex", "lru", "rcu", "bkl", "bit-spinlock",
        "ticket", "seqlock", "percpu-rwsem", "qrwlock"};
    for (const Routine& row : RoutineTable::builtIn().rows()) {
        EXPECT_FALSE(row.roles.empty()) << row.symbol;
        EXPECT_TRUE(row.roles.has(row.mainRole)) << row.symbol;
        EXPECT_TRUE(row.era.valid()) << row.symbol;
        EXPECT_FALSE(row.arch.empty()) << row.symbol;
        EXPECT_FALSE(row.subsystem.empty()) << row.symbol;
        EXPECT_LE(row.note.size(), 120U) << row.symbol;
        // Names of Go have a star of their own: `sync.(*Mutex).Lock` is exact.
        EXPECT_TRUE(!row.glob || row.symbol.find_first_of("*?") != std::string_view::npos) << row.symbol;
        EXPECT_FALSE(row.candidatesOnly && row.locks.empty()) << row.symbol;
        EXPECT_TRUE(row.symbol.front() != ' ' && row.symbol.back() != ' ') << row.symbol;
        std::string_view rest = row.primitive;
        for (size_t plus = 0; plus != std::string_view::npos; rest.remove_prefix(plus + 1)) {
            plus = rest.find('+');
            EXPECT_TRUE(kPrimitives.contains(rest.substr(0, plus))) << row.symbol << ' ' << row.primitive;
            if (plus == std::string_view::npos)
                break;
        }
    }
}

TEST(BuiltInRoutines, haveNoDuplicates)
{
    const auto text = [](const std::optional<KernelVersion>& version) {
        return version ? toString(*version) : std::string();
    };
    std::set<std::tuple<std::string_view, std::string, std::string, bool, std::string_view, std::string>>
        seen;
    for (const Routine& row : RoutineTable::builtIn().rows()) {
        std::string machines;
        for (const std::string_view name : {"i386", "x86_64", "ia64", "ppc32", "ppc64", "arm", "arm64",
                 "sparc", "sparc64", "s390", "alpha", "mips", "parisc", "riscv", "loongarch"})
            machines += !row.arch.all() && row.arch.matches(ArchSet::ofMachine(name)) ? '1' : '0';
        std::string roles;
        for (size_t role = 0; role < kRoleNames.size(); ++role)
            roles += row.roles.has(static_cast<Role>(role)) ? '1' : '0';
        EXPECT_TRUE(seen.emplace(row.symbol, machines + roles, text(row.era.since), row.debugBuild,
                            row.subsystem, text(row.era.until))
                        .second)
            << row.symbol;
    }
}

TEST(RoutineTable, namesTheLockOfAStubSectionByEra)
{
    // Counted in the sources of 2.4.0 and 2.6.8; pte_chain_freelist_lock in patches against 2.5.29.
    EXPECT_EQ(locksOf(".text.lock.dcache", "2.5", "i386"), Locks{"dcache_lock"});
    EXPECT_EQ(locksOf(".text.lock.rmap", "2.5.28-3", "i386"), Locks{"pte_chain_freelist_lock"});
    EXPECT_EQ(locksOf(".text.lock.rmap", "2.5.28-3", ""), Locks{"pte_chain_freelist_lock"});
    EXPECT_EQ(locksOf(".text.lock.read_write", "2.6.8", "i686"), Locks{"kernel_flag"});
    EXPECT_EQ(locksOf(".text.lock.swap", "2.4.17", "i386"), Locks{"pagemap_lru_lock"});
    EXPECT_EQ(locksOf(".text.lock.swap", "2.6.8", "i386"), Locks{"zone->lru_lock"});
    EXPECT_EQ(locksOf(".text.lock.ll_rw_blk", "2.4.18", "i386"), Locks{"io_request_lock"});
}

TEST(RoutineTable, marksCandidatesOfAStubSection)
{
    const auto rows = find(".text.lock.sched", "2.6.5", "i386");
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_TRUE(rows.front()->candidatesOnly);
    EXPECT_EQ(rows.front()->locks.front(), "runqueue_lock");
}

TEST(RoutineTable, fallsBackToThePatternForAnUnlistedStubSection)
{
    const auto rows = find(".text.lock.floppy", "2.4.20", "i386");
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_TRUE(rows.front()->glob);
    EXPECT_TRUE(rows.front()->locks.empty());
    EXPECT_EQ(rows.front()->mainRole, Role::SlowpathSpin);
    EXPECT_TRUE(find(".text.lock.floppy", "6.1", "x86_64").empty());
    // include/asm-i386/spinlock.h of 2.6.9 has no stubs any more, semaphore.h has.
    EXPECT_FALSE(find(".text.lock.floppy", "2.6.11", "i386").front()->roles.spins());
    EXPECT_TRUE(find(".text.lock.spinlock", "2.6.16.5", "x86_64").front()->roles.spins());
}

TEST(RoutineTable, neverFindsRowsOfDebugBuildsUnlessToldSo)
{
    for (const std::string_view arch : {"", "sparc", "ppc", "x86_64", "i386"}) {
        for (const std::string_view version : {"", "2.4.20", "2.6.18"}) {
            for (const Routine* row : find("_spin_lock", version, arch))
                EXPECT_FALSE(row->debugBuild);
        }
    }
    EXPECT_TRUE(find("_spin_lock", "2.4.20", "sparc").empty());
    Context debug = context("2.4.20", "sparc");
    debug.debugBuild = true;
    const auto rows = RoutineTable::builtIn().find("_spin_lock", debug);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_TRUE(rows.front()->debugBuild);
    EXPECT_TRUE(rows.front()->roles.has(Role::SlowpathSpin));
}

TEST(RoutineTable, findsTheOutOfLineWrapperOfItsEra)
{
    const auto rows = find("_spin_lock", "2.6.18", "x86_64");
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows.front()->mainRole, Role::AcquireWrapper);
    EXPECT_TRUE(rows.front()->roles.has(Role::SlowpathSpin));
    EXPECT_TRUE(find("_spin_lock", "3.10", "x86_64").empty());
    EXPECT_EQ(find("_spin_unlock", "2.6.18", "x86_64").front()->mainRole, Role::Release);
    EXPECT_TRUE(find("_raw_spin_lock", "2.6.18", "x86_64").empty());
    EXPECT_EQ(find("_raw_spin_lock", "6.1.55", "x86_64").size(), 1U);
}

TEST(RoutineTable, findsDottedEntryPointsOfPpc64)
{
    const auto known = find(".__spin_yield", "2.6.18", "ppc64");
    ASSERT_FALSE(known.empty());
    EXPECT_EQ(known.front()->symbol, ".__spin_yield");
    EXPECT_TRUE(known.front()->roles.has(Role::HypervisorYield));
    EXPECT_TRUE(known.front()->roles.has(Role::SlowpathSpin));
    EXPECT_FALSE(find(".__spin_yield", "", "").empty());
    EXPECT_TRUE(find(".__spin_yield", "2.6.18", "x86_64").empty());
    EXPECT_EQ(find("._spin_lock", "2.6.18", "ppc64").size(), 2U);
}

TEST(RoutineTable, withUnknownProcessorTakesSymbolsOfOneProcessorOnly)
{
    ASSERT_FALSE(find("ia64_spinlock_contention", "", "").empty());
    EXPECT_TRUE(find("ia64_spinlock_contention", "", "").front()->roles.has(Role::SlowpathSpin));
    EXPECT_TRUE(find("ia64_spinlock_contention", "", "x86_64").empty());
    EXPECT_EQ(find("snidle", "2.6.8", "").front()->mainRole, Role::Idle);
    EXPECT_EQ(find("ia64_pal_call_static", "2.6.8", "ia64").front()->mainRole, Role::Idle);
    EXPECT_EQ(find("ia64_save_scratch_fpregs", "2.6.8", "ia64").front()->mainRole, Role::IdleProbable);
    for (const Routine* row : find("cpu_idle", "2.6.18", ""))
        EXPECT_TRUE(row->arch.matches(ArchSet::ofMachine("x86")));
}

TEST(RoutineTable, looksUpAsWrittenAndNormalised)
{
    const auto clone = find("native_queued_spin_lock_slowpath.part.0", "6.1", "x86_64");
    ASSERT_EQ(clone.size(), 2U);
    EXPECT_EQ(clone.front()->symbol, "native_queued_spin_lock_slowpath.part.0");
    EXPECT_EQ(clone.back()->symbol, "native_queued_spin_lock_slowpath");
    EXPECT_FALSE(find("[k] osq_lock+0x8c/0x110", "6.1", "x86_64").empty());
    EXPECT_FALSE(find("pthread_mutex_lock@@GLIBC_2.2.5", "", "").empty());
    EXPECT_TRUE(find("tcp_sendmsg", "6.1", "x86_64").empty());
    EXPECT_TRUE(find("", "", "").empty());
}

TEST(RoutineTable, neverComparesLibraryVersionsWithTheKernels)
{
    // pthread_mutex_lock is since glibc 2.3.3 in the table; kernel 2.2 must not rule it out.
    EXPECT_FALSE(find("pthread_mutex_lock", "2.2.16", "i386").empty());
}

TEST(RoutineTable, knowsSinceWhenWritersSpinOnTheOwner)
{
    // lib/rwsem.c of 3.10 has no optimistic spinning; kernel/locking/rwsem-xadd.c has it since 3.16.
    EXPECT_FALSE(find("rwsem_down_write_failed", "3.10", "x86_64").front()->roles.spins());
    EXPECT_TRUE(find("rwsem_down_write_failed", "4.4", "x86_64").front()->roles.spins());
    EXPECT_FALSE(find("rwsem_down_read_failed", "4.4", "x86_64").front()->roles.spins());
    EXPECT_TRUE(find("mutex_spin_on_owner", "2.6.32", "x86_64").front()->roles.spins());
    EXPECT_TRUE(find("osq_lock", "3.10", "x86_64").empty());
}

TEST(RoutineTable, tellsTheRcuLockByVersion)
{
    // kernel/rcupdate.c of 2.6.0, 2.6.8, 2.6.9 and 2.6.18
    EXPECT_EQ(locksOf("rcu_check_quiescent_state", "2.6.0", "ia64"), Locks{"rcu_ctrlblk.mutex"});
    EXPECT_EQ(locksOf("rcu_check_quiescent_state", "2.6.8.1", "ia64"), Locks{"rcu_state.mutex"});
    EXPECT_EQ(locksOf("rcu_check_quiescent_state", "2.6.9", "ia64"), Locks{"rcu_state.lock"});
    EXPECT_EQ(locksOf("rcu_check_quiescent_state", "2.6.18", "ia64"), Locks{"rcu_ctrlblk.lock"});
}

TEST(UserTable, standsInFrontAndReplacesRowsOfTheSameKind)
{
    const auto table = RoutineTable::builtIn().withUserFile("mine.tsv",
        "# "
        "mine\nsymbol\trole\tlocks\nosq_lock\tidle\t\nschedule\tsite-hint\tmy_lock\nmy_spin_*\tslowpath-"
        "spin\n");
    ASSERT_TRUE(table) << table.error().message;
    const auto replaced = table->find("osq_lock", context("6.1", "x86_64"));
    ASSERT_EQ(replaced.size(), 1U);
    EXPECT_TRUE(replaced.front()->fromUser);
    EXPECT_EQ(replaced.front()->mainRole, Role::Idle);

    const auto both = table->find("schedule", context("6.1", "x86_64"));
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both.front()->locks, Locks{"my_lock"});
    EXPECT_EQ(both.back()->mainRole, Role::SkipFrame);
    EXPECT_EQ(RoutineTable::builtIn().find("osq_lock", context("6.1", "x86_64")).front()->mainRole,
        Role::OwnerSpin);
    EXPECT_EQ(table->rows().front().symbol, "osq_lock");
}

TEST(UserTable, outlivesTheTextItWasReadFrom)
{
    Result<RoutineTable> table = [] {
        const std::string text = "symbol\trole\tmatch\nmy_spin_*\tslowpath-spin\tglob\r\n";
        return RoutineTable::builtIn().withUserFile("mine.tsv", text);
    }();
    ASSERT_TRUE(table);
    const RoutineTable copy = *table;
    const auto rows = copy.find("my_spin_lock", Context());
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows.front()->symbol, "my_spin_*");
    EXPECT_TRUE(rows.front()->arch.all());
}

TEST(UserTable, sayFileAndLineOfABrokenRow)
{
    const auto errorOf = [](std::string_view text) {
        const auto table = RoutineTable::builtIn().withUserFile("mine.tsv", text);
        return table ? std::string("none") : toString(table.error().position) + ": " + table.error().message;
    };
    EXPECT_TRUE(
        errorOf("# x\nsymbol\trole\na\tidle\nb\tsleepy\n").starts_with("mine.tsv:4: 'sleepy' is no role"));
    EXPECT_TRUE(errorOf("symbol\trole\tsince\tuntil\na\tidle\t2.6.9\t2.6.8\n")
                    .starts_with("mine.tsv:2: since 2.6.9"));
    EXPECT_TRUE(
        errorOf("symbol\trole\tsince\na\tidle\tnew\n").starts_with("mine.tsv:2: 'new' in column 'since'"));
    EXPECT_TRUE(errorOf("symbol\trole\tarch\na\tidle\tvax\n").starts_with("mine.tsv:2: 'vax'"));
    EXPECT_TRUE(errorOf("symbol\trole\na\tidle\tmore\n").starts_with("mine.tsv:2: the row has more cells"));
    EXPECT_TRUE(errorOf("symbol\trule\n").starts_with("mine.tsv:1: no column is called 'rule'"));
    EXPECT_TRUE(errorOf("symbol\tnote\n").starts_with("mine.tsv:1: the header lacks the column 'role'"));
    EXPECT_TRUE(errorOf("symbol\trole\n\tidle\n").starts_with("mine.tsv:2: the row has no symbol"));
    EXPECT_TRUE(errorOf("symbol\trole\nx\n").starts_with("mine.tsv:2: '' is no role"));
    EXPECT_TRUE(errorOf("symbol\trole\tmatch\na\tidle\tregex\n").starts_with("mine.tsv:2: 'regex'"));
    EXPECT_NE(errorOf(""), "none");
    EXPECT_EQ(errorOf("symbol\trole\n"), "none");
}

TEST(Glob, matchesRunsAndSingleCharacters)
{
    EXPECT_TRUE(matchesGlob(".text.lock.*", ".text.lock.dcache"));
    EXPECT_FALSE(matchesGlob(".text.lock.*", "text.lock.dcache"));
    EXPECT_TRUE(matchesGlob("*_lock_slow*", "mutex_lock_slowpath"));
    EXPECT_TRUE(matchesGlob("a*b*c", "aXbYbZc"));
    EXPECT_FALSE(matchesGlob("a*b*c", "aXbYbZ"));
    EXPECT_TRUE(matchesGlob("_L_lock_?", "_L_lock_1"));
    EXPECT_FALSE(matchesGlob("_L_lock_?", "_L_lock_"));
    EXPECT_TRUE(matchesGlob("*", ""));
}

} // namespace whichlock
