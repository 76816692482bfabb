// SPDX-License-Identifier: GPL-3.0-or-later
// Which patterns the locks of all recordings fit. What a program does to its locks is known from its source
// and from its own measurement; all else that is found is a false alarm.
#include "tests/support/recordings.h"
#include "tests/support/workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace whichlock::test {
namespace {

using Names = std::set<std::string>;

/// Of one lock: what has to be found, and what may be, as it depends on what else the machine did.
struct Expected {
    Names certain{};
    Names possible{};
};

/// By the site where most of the waiting is, or by the variable. Other locks of a recording fit none.
using ExpectedLocks = std::map<std::string, Expected>;

const Names kBusy = {"preempted-holder"}; ///< other programs took the processor of a holder
const Names kRuns = {
    "long-hold"}; ///< holders run all the time; whether for most of the wait is up to the hand-off
const Names kRunsOrBusy = {"long-hold", "preempted-holder"};

const std::map<std::string, ExpectedLocks>& expectedOfWorkloads()
{
    static const std::map<std::string, ExpectedLocks> kExpected = {
        {"cfs-throttled-futex", {{"g_quota", {{"throttled-holder"}}}}},
        {"chain-of-three-futex", {{"g_archive", {{"long-hold"}}}, {"g_ledger", {{"waits-for-lock"}}}}},
        {"chain-of-three-futex-dwarf", {{"g_archive", {{}, kRuns}}, {"g_ledger", {{"waits-for-lock"}}}}},
        {"condvar-lock-futex-dwarf", {{"g_interpreter", {{}, kRunsOrBusy}}}},
        {"convoy-condvar-futex", {{"g_queue", {{"herd-after-signal"}}}}},
        {"deadlock-cut-short-futex",
            {{"g_accounts", {{"suspected-deadlock"}}}, {"g_journal", {{"suspected-deadlock"}}}}},
        {"deadlock-probes", {{"g_accounts", {{"deadlock"}}}, {"g_journal", {{"deadlock"}}}}},
        {"herd-futex", {{"g_gate", {{"herd-after-signal"}, kRuns}}}},
        {"hog-preempts-holder-futex", {{"g_state", {{"preempted-holder"}}}}},
        {"io-under-lock-futex", {{"g_store", {{"io-under-lock"}}}}},
        {"malloc-arena-futex-dwarf", {{"malloc", {{"malloc-arena"}}}}},
        {"parker-futex", {{"g_cache", {{}, kRuns}}}},
        {"parker-futex-dwarf", {{"g_cache", {{}, kRuns}}}},
        {"priority-inversion-futex", {{"g_state", {{"preempted-holder", "priority-inversion"}}}}},
        {"rw-readers-first-futex", {{"g_table", {{"sleep-under-lock", "writers-behind-readers"}}}}},
        {"rw-writers-first-futex", {{"g_table", {{"sleep-under-lock", "readers-behind-writers"}}}}},
        {"sharded-heap-mutexes-futex", {{"insertInto", {{}, kBusy}}}},
        {"shared-mutex-futex", {{"insertRow", {{}, kRuns}}}},
        {"trylock-poll-probes", {{"g_cache", {{"trylock-polling"}, kRunsOrBusy}}}},
        {"yield-loop-futex", {{"g_pool", {{"yield-polling"}}}}},
        {"yield-loop-futex-dwarf", {{"g_pool", {{"yield-polling"}}}}},
    };
    return kExpected;
}

const std::map<std::string, ExpectedLocks>& expectedOfRecordings()
{
    // a: slow_path() holds for 800 us. b: holders only run. c: readers sleep in the lock and starve the
    // writer. d: consumers come out of a broadcast, and run with the lock. e: a chain whose end sleeps.
    static const ExpectedLocks kHot = {{"g_hot", {{}, kRuns}}, {"g_pi", {{}, kRuns}}};
    static const ExpectedLocks kShards = {{"Table::insert", {{}, kRuns}}};
    static const ExpectedLocks kConvoy = {{"q_mu", {{"herd-after-signal"}, kRuns}}};
    static const ExpectedLocks kChain = {{"index_lock_A", {{"waits-for-lock"}}},
        {"page_lock_B", {{"waits-for-lock"}}}, {"log_lock_C", {{"sleep-under-lock"}}}};
    static const std::map<std::string, ExpectedLocks> kExpected = {{"a.data-d", kHot}, {"a.futexonly-fp", {}},
        {"a.multi", kHot}, {"a.pi", kHot}, {"a.rawsys-fp", {}}, {"a.sf-dwarf", kHot}, {"a.sf-fp", kHot},
        {"a.sf-nofp-fpmode", kHot}, {"a.sf-nog", kHot}, {"a.tailsynth", kHot}, {"b.sf-dwarf", kShards},
        {"b.sf-fp", kShards},
        {"c.sf-dwarf", {{"g_cfg_lock", {{"sleep-under-lock", "writers-behind-readers"}}}}},
        {"d.sf-dwarf", kConvoy}, {"d.sf-fp", kConvoy}, {"e.sf-dwarf", kChain}, {"e.sf-fp", kChain},
        {"x.pipe-sf", kHot}};
    return kExpected;
}

std::string nameOf(const TracedLock& lock)
{
    return !lock.symbol.empty() || lock.sites.empty() ? lock.symbol : lock.sites.front().at.function;
}

void check(const Profile& profile, const ExpectedLocks& expected)
{
    Names seen;
    for (const Section& section : profile.sections) {
        if (!section.trace)
            continue;
        for (const TracedLock& lock : section.trace->locks) {
            Names found;
            for (const TracedPattern& pattern : lock.patterns)
                found.insert(pattern.name);
            const auto known = expected.find(nameOf(lock));
            const Expected right = known == expected.end() ? Expected() : known->second;
            if (known != expected.end())
                seen.insert(known->first);
            SCOPED_TRACE(nameOf(lock));
            for (const std::string& one : right.certain)
                EXPECT_TRUE(found.contains(one)) << one;
            for (const std::string& one : found)
                EXPECT_TRUE(right.certain.contains(one) || right.possible.contains(one)) << one;
        }
    }
    for (const auto& [name, right] : expected)
        EXPECT_TRUE(seen.contains(name) || right.certain.empty()) << name;
}

TEST(TracePatterns, areThoseThatTheWorkloadsHaveAndNoOthers)
{
    size_t checked = 0;
    for (const Workload& workload : workloads()) {
        SCOPED_TRACE(workload.name);
        const auto expected = expectedOfWorkloads().find(workload.name);
        check(profileOf(workload),
            expected == expectedOfWorkloads().end() ? ExpectedLocks() : expected->second);
        checked += expected == expectedOfWorkloads().end() ? 0 : 1;
    }
    EXPECT_EQ(checked, expectedOfWorkloads().size());
}

TEST(TracePatterns, areThoseOfTheRecordingsBesideTheTreeAndNoOthers)
{
    if (!hasRecordings())
        GTEST_SKIP() << "no recordings beside the source tree";
    size_t checked = 0;
    for (const auto& entry : std::filesystem::directory_iterator(recordingsFolder())) {
        if (entry.path().extension() != ".data" || !entry.is_regular_file())
            continue;
        const std::string name = entry.path().stem();
        SCOPED_TRACE(name);
        const auto expected = expectedOfRecordings().find(name);
        check(recordedProfile(name, false),
            expected == expectedOfRecordings().end() ? ExpectedLocks() : expected->second);
        checked += expected == expectedOfRecordings().end() ? 0 : 1;
    }
    EXPECT_EQ(checked, expectedOfRecordings().size());
}

} // namespace
} // namespace whichlock::test
