// SPDX-License-Identifier: GPL-3.0-or-later
// What the time of a stack was spent on, and how a lock gets its name, on small profiles.
#include "analyzer/locks/attribution.h"
#include "tests/support/profiles.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

namespace whichlock::test {
namespace {

Attribution attributionOf(const Profile& profile)
{
    return attribute(profile, profile.sections.front(), RoutineTable::builtIn());
}

Attribution folded(std::initializer_list<std::string_view> lines, const ProfileContext& context = {})
{
    return attributionOf(foldedProfile(lines, context));
}

Attribution flat(std::initializer_list<std::string_view> rows, const ProfileContext& context = {})
{
    return attributionOf(flatProfile(rows, context));
}

uint64_t valueOf(const Attribution& attribution, Category category)
{
    return attribution.of(category).value;
}

/// The category that everything in a profile of one kind of time has; fails if there are several.
Category onlyCategory(const Attribution& attribution)
{
    std::vector<Category> found;
    for (size_t i = 0; i < kCategories; ++i) {
        if (attribution.byCategory[i].value != 0)
            found.push_back(static_cast<Category>(i));
    }
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? Category::Busy : found.front();
}

bool hasCandidate(const Attribution& attribution, std::string_view lock)
{
    return std::any_of(attribution.candidates.begin(), attribution.candidates.end(),
        [&](const Candidate& one) { return one.name == lock; });
}

ProfileContext kernel(const std::string& version)
{
    ProfileContext context;
    context.sectionFacts = {{FactKind::Kernel, version}};
    return context;
}

ProfileContext readprofile()
{
    ProfileContext context;
    context.format = "readprofile";
    context.event.clear();
    return context;
}

void expectLockTakenAtKeepBook(const Attribution& attribution)
{
    ASSERT_EQ(attribution.locks.size(), 1U);
    EXPECT_EQ(attribution.locks[0].name, "lock taken at keep_book");
    EXPECT_EQ(attribution.locks[0].rung, Rung::CallSite);
    EXPECT_EQ(attribution.locks[0].weight.value, 100U);
    ASSERT_EQ(attribution.locks[0].sites.size(), 1U);
    EXPECT_EQ(attribution.locks[0].sites[0].name, "keep_book");
}

TEST(CallSite, isTheFirstFrameThatIsNoLockRoutine)
{
    const Attribution attribution =
        folded({"cat;do_syscall_64;keep_book;_raw_spin_lock;native_queued_spin_lock_slowpath 100",
            "cat;do_syscall_64;vfs_read 900"});
    EXPECT_EQ(valueOf(attribution, Category::Contention), 100U);
    EXPECT_EQ(valueOf(attribution, Category::Busy), 900U);
    expectLockTakenAtKeepBook(attribution);
}

TEST(CallSite, staysTheSameWithMoreOrFewerLockFramesBetween)
{
    expectLockTakenAtKeepBook(folded({"cat;keep_book;native_queued_spin_lock_slowpath 100"}));
    expectLockTakenAtKeepBook(
        folded({"cat;keep_book;_raw_spin_lock;do_raw_spin_lock;native_queued_spin_lock_slowpath 100"}));
    expectLockTakenAtKeepBook(
        folded({"cat;keep_book;_raw_spin_lock_irqsave;_raw_spin_lock;do_raw_spin_lock;"
                "__pv_queued_spin_lock_slowpath;native_queued_spin_lock_slowpath 100"}));
}

TEST(CallSite, tellsPlacesInOneFunctionApart)
{
    const Attribution attribution =
        folded({"a;open_book+0x4c;_raw_spin_lock;native_queued_spin_lock_slowpath 60",
            "a;open_book+0x90;_raw_spin_lock;native_queued_spin_lock_slowpath 40"});
    ASSERT_EQ(attribution.locks.size(), 2U);
    EXPECT_EQ(attribution.locks[0].name, "lock taken at open_book+0x4c");
    EXPECT_EQ(attribution.locks[1].name, "lock taken at open_book+0x90");
}

TEST(CallSite, missingCallersLeaveTheLockUnnamed)
{
    const Attribution attribution = folded({"a;_raw_spin_lock;native_queued_spin_lock_slowpath 60"});
    ASSERT_EQ(attribution.locks.size(), 1U);
    EXPECT_EQ(attribution.locks[0].rung, Rung::Unnamed);
}

TEST(Idle, isTheHaltBelowTheIdleLoop)
{
    const Attribution attribution = folded({"swapper;cpu_idle;default_idle 10",
        "swapper;do_idle;default_idle;native_safe_halt 20", "swapper;do_idle;cpuidle_enter;intel_idle 30"});
    EXPECT_EQ(onlyCategory(attribution), Category::Idle);
    EXPECT_EQ(valueOf(attribution, Category::Idle), 60U);
}

TEST(Idle, isNotDecidedByTheNameOfTheTask)
{
    EXPECT_EQ(onlyCategory(folded({"swapper;kernel_init;free_initmem 10"})), Category::Busy);
    EXPECT_EQ(onlyCategory(folded({"not_idle;do_idle;default_idle;native_safe_halt 10"})), Category::Idle);
}

TEST(Idle, endsWhereAnInterruptCameIn)
{
    const Attribution attribution = folded(
        {"swapper;cpu_idle;default_idle;asm_sysvec_apic_timer_interrupt;hrtimer_interrupt;update_rq 10",
            "swapper;cpu_idle;default_idle;asm_sysvec_apic_timer_interrupt;wake_reader;_raw_spin_lock;"
            "native_queued_spin_lock_slowpath 7",
            "swapper;cpu_idle;default_idle 3"});
    EXPECT_EQ(valueOf(attribution, Category::Busy), 10U);
    EXPECT_EQ(valueOf(attribution, Category::Contention), 7U);
    EXPECT_EQ(valueOf(attribution, Category::Idle), 3U);
    ASSERT_EQ(attribution.locks.size(), 1U);
    EXPECT_EQ(attribution.locks[0].name, "lock taken at wake_reader");
}

TEST(Idle, isNoSpinOfTheSchedulerOnTheWayThere)
{
    const Attribution attribution = folded(
        {"swapper;do_idle;schedule_idle;sched_balance;_raw_spin_lock;native_queued_spin_lock_slowpath 5"});
    EXPECT_EQ(onlyCategory(attribution), Category::Contention);
}

TEST(Contention, isAHaltBelowASpin)
{
    for (const std::string_view halt : {"kvm_wait", "kvm_wait;native_halt", "kvm_wait;native_safe_halt"}) {
        const std::string line =
            "qemu;keep_book;_raw_spin_lock;__pv_queued_spin_lock_slowpath;" + std::string(halt) + " 100";
        const Attribution attribution = folded({line});
        EXPECT_EQ(onlyCategory(attribution), Category::Contention) << halt;
        expectLockTakenAtKeepBook(attribution);
        // The task of the idle loop may spin in an interrupt: still no idle time.
        const std::string inIdle = "swapper;do_idle;asm_sysvec_apic_timer_interrupt;keep_book;_raw_spin_lock;"
                                   "__pv_queued_spin_lock_slowpath;"
            + std::string(halt) + " 100";
        EXPECT_EQ(onlyCategory(folded({inIdle})), Category::Contention) << halt;
    }
    EXPECT_EQ(onlyCategory(folded({"swapper;do_idle;default_idle;native_halt 100"})), Category::Idle);
}

TEST(Contention, isSpinningForTheOwnerOfASleepingLock)
{
    for (const std::string_view leaf : {"rwsem_optimistic_spin;osq_lock", "rwsem_optimistic_spin",
             "rwsem_optimistic_spin;rwsem_spin_on_owner"}) {
        const std::string line =
            "make;move_book;down_write;rwsem_down_write_slowpath;" + std::string(leaf) + " 60";
        const Attribution attribution = folded({line});
        EXPECT_EQ(onlyCategory(attribution), Category::Contention) << leaf;
        ASSERT_EQ(attribution.locks.size(), 1U);
        EXPECT_EQ(attribution.locks[0].name, "lock taken at move_book") << leaf;
        EXPECT_NE(attribution.locks[0].kind.find("rwsem"), std::string::npos) << attribution.locks[0].kind;
    }
}

TEST(Overhead, isTheCpuTimeOfQueueingForASleepingLock)
{
    // These only sleep: what they spend on the CPU is the price of the call.
    for (const std::string_view leaf : {"__ww_mutex_lock_slowpath", "rwsem_down_read_failed", "__down"}) {
        const std::string line = "make;f;" + std::string(leaf) + " 60";
        EXPECT_EQ(onlyCategory(folded({line})), Category::Overhead) << leaf;
    }
}

TEST(Wrapper, withTheLoopInsideIsUndecidedAlone)
{
    const Attribution attribution = flat({"_spin_lock 100", "main 900"});
    EXPECT_EQ(valueOf(attribution, Category::Undecided), 100U);
    EXPECT_EQ(valueOf(attribution, Category::Contention), 0U);
    EXPECT_TRUE(attribution.locks.empty());
}

TEST(Wrapper, thatCostsWhatItsReleaseCostsIsOverhead)
{
    const Attribution equal = flat({"_spin_lock 100", "_spin_unlock 100"});
    EXPECT_EQ(onlyCategory(equal), Category::Overhead);
    EXPECT_EQ(valueOf(equal, Category::Overhead), 200U);
    EXPECT_EQ(onlyCategory(flat({"_spin_lock 100", "_spin_unlock 51"})), Category::Overhead);
}

TEST(Wrapper, thatCostsThreeTimesItsReleaseWaits)
{
    const Attribution attribution = flat({"_spin_lock 99", "_spin_unlock 33"});
    EXPECT_EQ(valueOf(attribution, Category::Contention), 99U);
    EXPECT_EQ(valueOf(attribution, Category::Overhead), 33U);
}

TEST(Wrapper, besideItsSlowPathIsOverhead)
{
    const Attribution attribution = flat({"_spin_lock 100", "__ticket_spin_lock 50", "_spin_unlock 10"});
    EXPECT_EQ(valueOf(attribution, Category::Contention), 50U);
    EXPECT_EQ(valueOf(attribution, Category::Overhead), 110U);
}

TEST(Wrapper, ofAKernelWithQueuedLocksIsOverhead)
{
    EXPECT_EQ(onlyCategory(flat({"_raw_spin_lock 100"}, kernel("5.10.0"))), Category::Overhead);
    EXPECT_EQ(onlyCategory(flat({"_raw_spin_lock 100"}, kernel("3.2.0"))), Category::Undecided);
}

TEST(Wrapper, thatCallsTheHypervisorWaits)
{
    const Attribution attribution =
        flat({".__spin_yield 40", "._spin_lock_irqsave 60", "._spin_unlock 60", ".memcpy 100"});
    EXPECT_EQ(attribution.context.arch, "ppc64");
    EXPECT_EQ(valueOf(attribution, Category::Contention), 100U);
    EXPECT_EQ(valueOf(attribution, Category::Overhead), 60U);
}

TEST(UserSpinLock, isDecidedByItsOwnReleaseOnly)
{
    const Attribution alone = folded({"app;worker;pthread_spin_lock 100"});
    EXPECT_EQ(onlyCategory(alone), Category::Undecided);
    const Attribution waits =
        folded({"app;worker;pthread_spin_lock 99", "app;worker;pthread_spin_unlock 33"});
    EXPECT_EQ(valueOf(waits, Category::Contention), 99U);
    ASSERT_EQ(waits.locks.size(), 1U);
    EXPECT_EQ(waits.locks[0].name, "lock taken at worker");
    EXPECT_EQ(waits.locks[0].rung, Rung::CallSite);
}

TEST(UserSpinLock, isNotDecidedByTheLocksOfTheKernel)
{
    // The loop of pthread_spin_lock() is inside it, whatever the kernel does.
    const Attribution slowPath = folded(
        {"app;worker;pthread_spin_lock 100", "app;dput;_raw_spin_lock;native_queued_spin_lock_slowpath 30"});
    EXPECT_EQ(valueOf(slowPath, Category::Undecided), 100U);
    EXPECT_EQ(valueOf(slowPath, Category::Contention), 30U);
    const Attribution release = folded({"app;worker;pthread_spin_lock 100", "app;dput;_raw_spin_unlock 100"});
    EXPECT_EQ(valueOf(release, Category::Undecided), 100U);
    EXPECT_EQ(
        onlyCategory(folded({"app;worker;pthread_spin_lock 100"}, kernel("5.10.0"))), Category::Undecided);
    // Nor the other way round.
    const Attribution user = flat({"_spin_lock 99", "_spin_unlock 33", "pthread_spin_unlock 900"});
    EXPECT_EQ(valueOf(user, Category::Contention), 99U);
}

TEST(IrqRestore, isAnArtefactOfTimerSamplesAndARealCostOfOthers)
{
    ProfileContext timer;
    timer.event = "cpu-clock";
    const std::initializer_list<std::string_view> kLines = {"cc1;f;_raw_spin_unlock_irqrestore 100"};
    EXPECT_EQ(onlyCategory(folded(kLines, timer)), Category::Artefact);
    EXPECT_EQ(onlyCategory(folded(kLines)), Category::Overhead);
    ProfileContext readprofileContext = readprofile();
    EXPECT_EQ(onlyCategory(flat({"finish_task_switch 100"}, readprofileContext)), Category::Artefact);
}

TEST(TryLock, isNoWaiting)
{
    for (const std::string_view leaf : {"_raw_spin_trylock", "mutex_trylock", "down_read_trylock"}) {
        const std::string line = "app;f;" + std::string(leaf) + " 10";
        const Category category = onlyCategory(folded({line}));
        EXPECT_TRUE(category == Category::Bounce || category == Category::Overhead)
            << leaf << ' ' << categoryName(category);
    }
    for (const std::string_view leaf : {"lockref_get_not_dead", "lockref_put_return"}) {
        const std::string line = "app;f;" + std::string(leaf) + " 10";
        EXPECT_EQ(onlyCategory(folded({line})), Category::Bounce) << leaf;
    }
}

TEST(Names, thatOnlyLookLikeLocksAreOrdinaryFunctions)
{
    for (const std::string_view leaf :
        {"ldelim:lock", "ldelim", "Lorg/example/SpinLock;::lock",
            "LazyCompile:*_raw_spin_lock /srv/app.js:12", "my_spin_lock_stats", "block_read", "unlock_screen",
            "_raw_spin_lock_wrapper_of_mine", "clock_gettime", "native_queued_spin_lock_slowpath_count"}) {
        const std::string line = "java;f;" + std::string(leaf) + " 10";
        EXPECT_EQ(onlyCategory(folded({line})), Category::Busy) << leaf;
    }
}

TEST(Categories, addUpToAllThatWasListed)
{
    const Profile profile = foldedProfile({"swapper;do_idle;default_idle 11", "a;f;_raw_spin_lock 13",
        "a;f;_raw_spin_lock;native_queued_spin_lock_slowpath 17", "a;f;_raw_spin_unlock_irqrestore 19",
        "a;f;lockref_get_not_dead 23", "a 29", "a;main 31"});
    const Attribution attribution = attributionOf(profile);
    const uint64_t sum = std::accumulate(attribution.byCategory.begin(), attribution.byCategory.end(),
        uint64_t{0}, [](uint64_t so_far, const Weight& weight) { return so_far + weight.value; });
    EXPECT_EQ(sum, 11U + 13 + 17 + 19 + 23 + 29 + 31);
    EXPECT_EQ(valueOf(attribution, Category::Contention), 17U);
    EXPECT_EQ(valueOf(attribution, Category::Busy), 29U + 31);
}

// A profile whose lock depends on the kernel: the file took pagemap_lru_lock in 2.4, zone->lru_lock in 2.6.
const std::initializer_list<std::string_view> kSwapStub = {".text.lock.swap 500", "shrink_cache 300"};

void expectSwapLock(const ProfileContext& context, std::string_view lock, std::string_view source)
{
    const Attribution attribution = flat(kSwapStub, context);
    EXPECT_EQ(attribution.context.kernelSource, source);
    ASSERT_EQ(attribution.locks.size(), 1U);
    EXPECT_EQ(attribution.locks[0].name, lock);
    EXPECT_EQ(attribution.locks[0].rung, Rung::Table);
    EXPECT_NE(attribution.locks[0].basis.find(source), std::string::npos) << attribution.locks[0].basis;
}

TEST(Era, ofAnImageNameComesBeforeTheText)
{
    ProfileContext context = readprofile();
    context.tableLabels = {"2.6.5-mm1"};
    expectSwapLock(context, "zone->lru_lock", "table labels");
    context.inputFacts = {{FactKind::Kernel, "2.4.20"}};
    expectSwapLock(context, "pagemap_lru_lock", "text");
    context.sectionFacts = {{FactKind::Image, "vmlinux-2.6.7"}};
    expectSwapLock(context, "zone->lru_lock", "image name");
    context.sectionFacts.emplace_back(FactKind::Kernel, "2.4.18");
    expectSwapLock(context, "pagemap_lru_lock", "header");
}

TEST(Era, spansSeveralVersionsOfOneSeries)
{
    ProfileContext context = readprofile();
    context.inputFacts = {{FactKind::Kernel, "2.6.8"}, {FactKind::Kernel, "2.6.5"}};
    expectSwapLock(context, "zone->lru_lock", "text");
    const Attribution attribution = flat(kSwapStub, context);
    ASSERT_TRUE(attribution.context.era);
    EXPECT_TRUE(attribution.context.era->contains(*KernelVersion::parse("2.6.7")));
    EXPECT_FALSE(attribution.context.era->contains(*KernelVersion::parse("2.6.9")));
}

void expectCandidatesOnly(const Attribution& attribution)
{
    EXPECT_FALSE(attribution.context.era);
    ASSERT_EQ(attribution.locks.size(), 1U);
    EXPECT_EQ(attribution.locks[0].name, ".text.lock.swap");
    EXPECT_EQ(attribution.locks[0].rung, Rung::Unnamed);
    EXPECT_EQ(attribution.locks[0].weight.value, 500U);
    EXPECT_TRUE(hasCandidate(attribution, "pagemap_lru_lock"));
    EXPECT_TRUE(hasCandidate(attribution, "zone->lru_lock"));
}

TEST(Era, isUnknownWhereTwoSeriesAreMentioned)
{
    ProfileContext context = readprofile();
    context.inputFacts = {{FactKind::Kernel, "2.4.20"}, {FactKind::Kernel, "2.6.5"}};
    expectCandidatesOnly(flat(kSwapStub, context));
}

TEST(Era, isUnknownWhereNothingTellsIt)
{
    expectCandidatesOnly(flat(kSwapStub, readprofile()));
}

TEST(Era, followsFromASymbolThatOneEraHas)
{
    // The stub itself existed from 2.4 to 2.6.8 only, and meant one lock all the time: said to be by symbols.
    const Attribution attribution = flat({".text.lock.dcache 500", "dput 100"}, readprofile());
    EXPECT_EQ(attribution.context.kernelSource, "symbols");
    ASSERT_TRUE(attribution.context.era);
    EXPECT_TRUE(attribution.context.era->contains(*KernelVersion::parse("2.6.8")));
    EXPECT_FALSE(attribution.context.era->contains(*KernelVersion::parse("2.6.9")));
    ASSERT_EQ(attribution.locks.size(), 1U);
    EXPECT_EQ(attribution.locks[0].name, "dcache_lock");
    EXPECT_EQ(attribution.locks[0].rung, Rung::Table);
    EXPECT_NE(attribution.locks[0].basis.find("symbols"), std::string::npos);
}

TEST(Era, ofADirectCallSiteMayNameTheLock)
{
    const std::initializer_list<std::string_view> kLines = {
        "cat;sys_close;dput;_spin_lock 99", "cat;sys_close;dput;_spin_unlock 33"};
    const Attribution named = folded(kLines, kernel("2.6.20"));
    ASSERT_EQ(named.locks.size(), 1U);
    EXPECT_EQ(named.locks[0].name, "dcache_lock");
    EXPECT_EQ(named.locks[0].rung, Rung::Table);
    // dcache_lock was gone in 2.6.38.
    const Attribution later = folded(
        {"cat;sys_close;dput;_raw_spin_lock 99", "cat;sys_close;dput;_raw_spin_unlock 33"}, kernel("2.6.39"));
    ASSERT_EQ(later.locks.size(), 1U);
    // What 2.6.32 and 3.10 take there, the first through a helper as well.
    EXPECT_EQ(later.locks[0].name, "dcache_lock or struct dentry::d_lock");
    EXPECT_EQ(later.locks[0].rung, Rung::Table);
}

// alloc_fd() takes files->file_lock, in fs/file.c of 6.1 as of 5.10 and 6.12.
constexpr std::string_view kAllocFd = "cat;do_sys_openat2;alloc_fd;_raw_spin_lock;"
                                      "native_queued_spin_lock_slowpath 100";

void expectFileLock(const Attribution& attribution, std::string_view basis)
{
    ASSERT_EQ(attribution.locks.size(), 1U);
    EXPECT_EQ(attribution.locks[0].name, "struct files_struct::file_lock");
    EXPECT_EQ(attribution.locks[0].rung, Rung::Table);
    EXPECT_EQ(attribution.locks[0].basis.substr(0, basis.size()), basis);
    EXPECT_EQ(attribution.locks[0].sites[0].name, "alloc_fd");
}

TEST(KnownKernel, namesTheLockOfACallSite)
{
    expectFileLock(folded({kAllocFd}, kernel("6.1.55")), "table, 6.1");
}

TEST(KnownKernel, ofAnotherVersionIsSaid)
{
    expectFileLock(folded({kAllocFd}, kernel("6.6.3")), "table, from 6.1 and 6.12");
}

TEST(KnownKernel, namesALockOfAnyVersionOnlyIfAllAgree)
{
    expectFileLock(folded({kAllocFd}), "table, from ");
    EXPECT_NE(folded({kAllocFd}).locks[0].basis.find("the kernel is not known"), std::string::npos);
}

TEST(KnownKernel, saysNothingAboutProgramsNorAboutMissingCallers)
{
    const ProfileContext context = kernel("6.1.55");
    const Attribution user =
        folded({"app;alloc_fd;pthread_spin_lock 99", "app;alloc_fd;pthread_spin_unlock 33"}, context);
    ASSERT_EQ(user.locks.size(), 1U);
    EXPECT_EQ(user.locks[0].rung, Rung::CallSite);
    const Attribution missing =
        folded({"cat;alloc_fd{m};_raw_spin_lock;native_queued_spin_lock_slowpath 100"}, context);
    ASSERT_EQ(missing.locks.size(), 1U);
    EXPECT_EQ(missing.locks[0].rung, Rung::CallSite);
    const Attribution other = folded({"cat;alloc_fd;osq_lock 100"}, context);
    ASSERT_EQ(other.locks.size(), 1U);
    EXPECT_EQ(other.locks[0].rung, Rung::CallSite); // of a mutex or a semaphore: which cannot be told
}

} // namespace
} // namespace whichlock::test
