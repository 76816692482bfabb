// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/hold_ledger.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

constexpr HolderKey kSlow{.stack = {1}, .group = {1}};
constexpr HolderKey kFast{.stack = {2}, .group = {1}};

/// Timelines and ledgers by number.
class Context : public HoldContext {
public:
    const ThreadTimeline* timelineOf(int32_t thread) const override
    {
        const auto at = timelines.find(thread);
        return at == timelines.end() ? nullptr : &at->second;
    }
    const HoldLedger* ledgerOf(TraceLockId lock) const override
    {
        const auto at = ledgers.find(lock.v);
        return at == ledgers.end() ? nullptr : at->second;
    }

    std::map<int32_t, ThreadTimeline> timelines;
    std::map<uint32_t, const HoldLedger*> ledgers;
};

class HoldLedgerTest : public testing::Test {
protected:
    void release(int32_t thread, HolderKey holder, uint64_t timeNs)
    {
        ledger.held({.thread = thread, .holder = holder, .timeNs = timeNs, .proven = true, .released = true},
            context);
    }
    uint64_t heldBy(HolderKey key) const
    {
        for (const HolderSums& holder : ledger.holders()) {
            if (holder.key == key)
                return holder.waitNs;
        }
        return 0;
    }

    Context context;
    HoldLedger ledger{{1}};
};

TEST_F(HoldLedgerTest, chargesAWaitToTheReleaserAndTheRestToTheHandOff)
{
    ledger.waitBegins(1, 100);
    release(9, kSlow, 180);
    ledger.waitEnds(1, 100, 190, true);
    EXPECT_EQ(heldBy(kSlow), 80U);
    EXPECT_EQ(ledger.handOffNs(), 10U);
    EXPECT_EQ(ledger.unseenNs(), 0U);
    EXPECT_EQ(ledger.waitNs(), 90U);
}

TEST_F(HoldLedgerTest, cutsAWaitAtEveryReleaseInsteadOfBlamingTheWaker)
{
    // The long hold ends at 930; a short one of a thread that did not have to wait follows and wakes.
    ledger.waitBegins(1, 0);
    release(8, kSlow, 930);
    release(9, kFast, 1000);
    ledger.waitEnds(1, 0, 1000, true);
    EXPECT_EQ(heldBy(kSlow), 930U);
    EXPECT_EQ(heldBy(kFast), 70U);
}

TEST_F(HoldLedgerTest, beginsAHoldWhereTheHoldersOwnWaitEnds)
{
    ledger.waitBegins(1, 0);
    ledger.waitBegins(2, 10);
    release(9, kSlow, 100); // cuts 1 at 100 and 2 at 90
    ledger.waitEnds(1, 0, 130, true);
    release(1, kFast, 200); // of 2: 30 in which nobody had it, 70 of thread 1
    ledger.waitEnds(2, 10, 205, true);
    EXPECT_EQ(heldBy(kSlow), 190U);
    EXPECT_EQ(heldBy(kFast), 70U);
    EXPECT_EQ(ledger.handOffNs(), 30U + 30U + 5U);
    EXPECT_EQ(ledger.waitNs(), 130U + 195U);
    EXPECT_EQ(ledger.unseenNs(), 0U);
}

TEST_F(HoldLedgerTest, countsAWaiterOnlyFromWhenItCame)
{
    ledger.waitBegins(1, 0);
    ledger.waitBegins(2, 60);
    ledger.waitBegins(3, 90);
    release(9, kSlow, 100);
    for (const auto& [thread, began] : {std::pair(1, 0U), std::pair(2, 60U), std::pair(3, 90U)})
        ledger.waitEnds(thread, began, 100, true);
    EXPECT_EQ(heldBy(kSlow), 100U + 40U + 10U);
    EXPECT_EQ(ledger.waitNs(), 150U);
}

TEST_F(HoldLedgerTest, leavesAWaitUnseenThatNoReleaseFalls)
{
    ledger.waitBegins(1, 0);
    ledger.waitEnds(1, 0, 50, true);
    EXPECT_EQ(ledger.unseenNs(), 50U);
    ledger.waitBegins(2, 60);
    release(9, kSlow, 70);
    ledger.waitEnds(2, 60, 90, false); // timed out: who had it after the release is not known
    EXPECT_EQ(heldBy(kSlow), 10U);
    EXPECT_EQ(ledger.unseenNs(), 50U + 20U);
    EXPECT_EQ(ledger.handOffNs(), 0U);
}

TEST_F(HoldLedgerTest, tellsWhatTheHolderDidMeanwhile)
{
    ThreadTimeline& holder = context.timelines[9];
    holder.enter(0, Activity::Ran, 0, 0);
    holder.enter(30, Activity::Preempted, 5, 0);
    holder.enter(70, Activity::Ran, 0, 0);
    ledger.waitBegins(1, 10);
    ledger.waitBegins(2, 50);
    release(9, kSlow, 100);
    ledger.waitEnds(1, 10, 100, true);
    ledger.waitEnds(2, 50, 100, true);
    const HolderSums& sums = ledger.holders().front();
    EXPECT_EQ(sums.meanwhile[static_cast<size_t>(Activity::Ran)], 20U + 30U + 30U);
    EXPECT_EQ(sums.meanwhile[static_cast<size_t>(Activity::Preempted)], 40U + 20U);
    EXPECT_EQ(sums.preemptedBy.at(5), 60U);
    EXPECT_EQ(sums.longestOffNs, 40U);
    EXPECT_EQ(sums.longestOffAtNs, 30U);
}

TEST_F(HoldLedgerTest, followsAHolderThatWaitsItselfToTheRoot)
{
    // 2 holds the inner lock until 80; 1 waits for it from 20 and holds the outer one until 100.
    HoldLedger inner{{2}};
    context.ledgers[2] = &inner;
    inner.waitBegins(1, 20);
    inner.held({.thread = 2, .holder = kSlow, .timeNs = 80, .proven = true, .released = true}, context);
    inner.waitEnds(1, 20, 85, true);
    ThreadTimeline& outerHolder = context.timelines[1];
    outerHolder.enter(0, Activity::Ran, 0, 0);
    outerHolder.enter(20, Activity::LockWait, 2, 0);
    outerHolder.enter(85, Activity::Ran, 0, 0);
    ledger.waitBegins(3, 10);
    release(1, kFast, 100);
    ledger.waitEnds(3, 10, 100, true);
    EXPECT_EQ(heldBy(kFast), 90U);
    EXPECT_EQ(ledger.holders().front().waitedFor.at(2), 65U);
    const std::map<ChainRoot, uint64_t> expected = {
        {{{1}, {1}}, 10U + 15U}, // itself
        {{{2}, {1}}, 60U},       // who had the inner lock
        {{{2}, {}}, 5U},         // the inner lock was handed over
    };
    EXPECT_EQ(ledger.roots(), expected);
}

TEST_F(HoldLedgerTest, knowsWhoHasTheLockUntilItIsGivenBack)
{
    ledger.waitBegins(1, 0);
    release(9, kSlow, 10);
    EXPECT_EQ(ledger.probableOwner(), -1);
    ledger.waitEnds(1, 0, 12, true);
    EXPECT_EQ(ledger.probableOwner(), 1);
    release(1, kFast, 20);
    EXPECT_EQ(ledger.probableOwner(), -1);
}

TEST_F(HoldLedgerTest, keepsWhatItChargedForAWaitWhoseEndIsLost)
{
    ledger.waitBegins(1, 0);
    release(9, kSlow, 40);
    EXPECT_EQ(ledger.waitDropped(1, 0), 40U); // charged up to then
    ledger.waitBegins(2, 50);
    EXPECT_EQ(ledger.waitDropped(2, 50), 50U); // nothing was
    EXPECT_EQ(ledger.waitNs(), 40U);
    EXPECT_EQ(heldBy(kSlow), 40U);
    EXPECT_EQ(ledger.waiters(), 0U);
}

} // namespace
} // namespace whichlock::test
