// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of frames beside their names: inlined, recovered, waiting in a loop. What follows for the
// time and for the place where a lock is taken.
#include "analyzer/report/report.h"
#include "analyzer/report/site_words.h"
#include "tests/support/profiles.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

Attribution folded(std::initializer_list<std::string_view> lines, const RoutineTable& routines)
{
    const Profile profile = foldedProfile(lines);
    return attribute(profile, profile.sections.front(), routines);
}

Attribution folded(std::initializer_list<std::string_view> lines)
{
    return folded(lines, RoutineTable::builtIn());
}

/// The only place where the only lock is taken.
LockSite onlySite(const Attribution& attribution)
{
    if (attribution.locks.size() != 1 || attribution.locks[0].sites.size() != 1) {
        ADD_FAILURE() << attribution.locks.size() << " locks";
        return {};
    }
    return attribution.locks[0].sites[0];
}

ReportSite reported(const LockSite& site)
{
    ReportSite result;
    result.name = site.name;
    result.recovered = site.recovered;
    result.calledFrom = site.calledFrom;
    return result;
}

TEST(WaitLoop, makesTheTimeOfASpinLockWaiting)
{
    // By their names alone these samples may be the price of the calls.
    const Attribution undecided =
        folded({"spin;work;update+0x4d;pthread_spin_lock+0x12 90", "spin;work 410"});
    EXPECT_EQ(undecided.of(Category::Undecided).value, 90U);

    // The rest of the function, its atomic instruction, also runs when nobody waits.
    const Attribution decided = folded({"spin;work;update+0x4d;pthread_spin_lock+0x12{w} 80",
        "spin;work;update+0x4d;pthread_spin_lock+0x3 10", "spin;work 410"});
    EXPECT_EQ(decided.of(Category::Contention).value, 80U);
    EXPECT_EQ(decided.of(Category::Overhead).value, 10U);
    EXPECT_EQ(decided.of(Category::Undecided).value, 0U);
    EXPECT_EQ(onlySite(decided).name, "update+0x4d");
}

TEST(WaitLoop, makesTheSpinningPartOfAnAdaptiveMutexWaiting)
{
    const Attribution attribution =
        folded({"a;work;f+0x10;pthread_mutex_lock+0x90{w} 30", "a;work;f+0x10;pthread_mutex_lock+0x9 5"});
    EXPECT_EQ(attribution.of(Category::Contention).value, 30U);
    EXPECT_EQ(attribution.of(Category::Overhead).value, 5U);
}

TEST(WaitLoop, outsideTheTablesIsReportedButCountsAsBusy)
{
    const Profile profile = foldedProfile({"t;work;update;Ttas::lock+0x18{w} 92", "t;work 408"});
    const Report report = buildReport(profile, {}, RoutineTable::builtIn());
    EXPECT_EQ(report.internalError, "");
    const ReportSection& section = report.sections.front();
    EXPECT_EQ(section.contention.value, 0U);
    ASSERT_EQ(section.pauseLoops.size(), 1U);
    EXPECT_EQ(section.pauseLoops[0].symbol, "Ttas::lock");
    EXPECT_EQ(section.pauseLoops[0].part.value, 92U);
    const bool said = std::any_of(section.notes.begin(), section.notes.end(), [](const std::string& note) {
        return note.starts_with("18.4 % is in a loop of Ttas::lock that only waits");
    });
    EXPECT_TRUE(said);
    EXPECT_EQ(report.verdict.guilty, Guilty::Unknown);
}

TEST(WaitLoop, countsAsWaitingOnceTheUserNamesTheFunction)
{
    const auto table =
        RoutineTable::builtIn().withUserFile("own.tsv", "symbol\trole\nTtas::lock\tslowpath-spin\n");
    ASSERT_TRUE(table);
    const Attribution attribution =
        folded({"t;work;update+0x20;Ttas::lock;std::atomic<int>::load{iw} 92", "t;work 408"}, *table);
    EXPECT_EQ(attribution.of(Category::Contention).value, 92U);
    EXPECT_EQ(attribution.locks.at(0).sites.at(0).name, "update+0x20");
    EXPECT_TRUE(attribution.pauseLoops.empty());
    ASSERT_EQ(attribution.lockSymbols.size(), 1U);
    EXPECT_EQ(attribution.lockSymbols[0].symbol, "Ttas::lock"); // not the helper that was inlined into it
}

TEST(InlinedFrames, thatAreHelpersOfALockRoutineArePartsOfIt)
{
    const Attribution attribution = folded(
        {"a;f+0x10;native_queued_spin_lock_slowpath+0x44;arch_atomic_read{i};rep_nop{i} 40", "a;f 60"});
    EXPECT_EQ(attribution.of(Category::Contention).value, 40U);
    EXPECT_EQ(onlySite(attribution).name, "f+0x10");
    // A call is not: what an ordinary function below a lock routine does is its own work.
    const Attribution called = folded({"a;f+0x10;native_queued_spin_lock_slowpath+0x44;some_helper 40"});
    EXPECT_EQ(called.of(Category::Contention).value, 0U);
}

TEST(InlinedFrames, thatWrapALockByTheirNamesAreNotTheSite)
{
    const Attribution own = folded({"t;w1+0x24;spin_update+0x4d;oracle::Guard<PS>::Guard{i};PS::lock{i};"
                                    "pthread_spin_lock+0x12{w} 50"});
    EXPECT_EQ(onlySite(own).name, "spin_update+0x4d");
    const Attribution standard =
        folded({"t;work+0x24;insert+0x4d;std::lock_guard<std::mutex>::lock_guard{i};std::mutex::lock{i};"
                "__gthread_mutex_lock{i};pthread_mutex_lock+0x90{w} 50"});
    EXPECT_EQ(onlySite(standard).name, "insert+0x4d");
    // Template arguments name other things, and so do functions that were called.
    const Attribution ordinary = folded({"t;work+0x24;Table<Mutex>::insert{i};pthread_spin_lock+0x12{w} 50"});
    EXPECT_EQ(onlySite(ordinary).name, "Table<Mutex>::insert");
    const Attribution called = folded({"t;work+0x24;my_lock+0x9;pthread_spin_lock+0x12{w} 50"});
    EXPECT_EQ(onlySite(called).name, "my_lock+0x9");
}

TEST(InlinedFrames, areNoCallers)
{
    EXPECT_FALSE(folded({"t;burn;helper{i} 10", "t;work 5"}).hasCallChains);
    EXPECT_TRUE(folded({"t;main;burn;helper{i} 10"}).hasCallChains);
}

TEST(RecoveredFrames, areMarkedWhereTheyAreTheSite)
{
    const Attribution attribution = folded({"t;worker+0x4e;insert{r};pthread_spin_lock+0x12{w} 50"});
    const LockSite site = onlySite(attribution);
    EXPECT_EQ(site.name, "insert");
    EXPECT_TRUE(site.recovered);
    EXPECT_FALSE(site.calledFrom);
    EXPECT_EQ(siteLabel(reported(site)), "insert (recovered)");
}

TEST(MissingCallees, makeTheSiteUnknownButForWhoCalledIt)
{
    const Attribution attribution = folded({"t;worker+0x4e{m};pthread_spin_lock+0x12{w} 50"});
    const LockSite site = onlySite(attribution);
    EXPECT_EQ(site.name, "worker+0x4e");
    EXPECT_TRUE(site.calledFrom);
    EXPECT_EQ(attribution.locks[0].name, "lock taken in a function called from worker+0x4e");
    EXPECT_EQ(siteLabel(reported(site)), "called from worker+0x4e");
    EXPECT_EQ(siteInWords(reported(site)), "in a function that worker+0x4e called");
}

TEST(MissingCallees, keepRecoveredAndKnownSitesApart)
{
    const Attribution attribution =
        folded({"t;worker+0x4e{m};pthread_spin_lock+0x12{w} 3", "t;worker+0x4e;pthread_spin_lock+0x12{w} 5"});
    ASSERT_EQ(attribution.locks.size(), 2U);
    EXPECT_EQ(attribution.locks[0].name, "lock taken at worker+0x4e");
    EXPECT_EQ(attribution.locks[1].name, "lock taken in a function called from worker+0x4e");
}

TEST(Ranking, isNotClaimedFromFewSamples)
{
    const Report report = buildReport(foldedProfile({"t;a+0x1;native_queued_spin_lock_slowpath 12",
                                          "t;b+0x1;native_queued_spin_lock_slowpath 9", "t;work 100"}),
        {}, RoutineTable::builtIn());
    const std::vector<std::string>& notes = report.sections.front().notes;
    EXPECT_NE(std::find(notes.begin(), notes.end(), "21 samples wait for 2 locks: too few to rank these."),
        notes.end());
    EXPECT_EQ(report.verdict.guilty, Guilty::Unknown);
}

} // namespace
} // namespace whichlock::test
