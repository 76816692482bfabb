// SPDX-License-Identifier: GPL-3.0-or-later
// The end of a trace: what is still open becomes a lower bound, and all sums are handed over.
#include "analyzer/traces/trace_analyser.h"

namespace whichlock {

/// Whoever got a lock last and did not give it back has it still.
void TraceAnalyser::chargeOwnersAtEnd()
{
    for (LiveLock& lock : locks_.locks()) {
        if (lock.ledger.waiters() == 0)
            continue;
        if (lock.recordedHolds)
            settleHolds(lock);
        else if (lock.ledger.probableOwner() != -1)
            lock.ledger.held(
                {.thread = lock.ledger.probableOwner(), .holder = lock.lastAcquirer, .timeNs = nowNs_},
                *this);
    }
}

void TraceAnalyser::finishLock(LiveLock& lock, TraceAnalysis& analysis)
{
    lock.load.advance(window_.clamp(nowNs_));
    decideLockKind(lock, locks_.sites());
    TraceLock& facts = lock.facts;
    facts.waits = lock.facts.waitTimes.count();
    facts.waitNs = lock.facts.waitTimes.sumNs();
    facts.contendedWallNs = lock.load.contendedWallNs();
    facts.maxWaiters = lock.load.maxWaiters();
    facts.strip = lock.load.strip();
    facts.holders = lock.ledger.takeHolders();
    facts.handOffNs = lock.ledger.handOffNs();
    facts.unseenNs = lock.ledger.unseenNs();
    facts.roots = lock.ledger.roots();
    facts.holdsRecorded = lock.recordedHolds;
    analysis.locks.push_back(std::move(facts));
}

/// Switches were announced and none came: what threads did was not recorded after all.
void TraceAnalyser::forgetActivities(TraceAnalysis& analysis) const
{
    const auto forget = [](ActivitySums& sums) {
        for (size_t i = 0; i < kActivities; ++i) {
            if (i != static_cast<size_t>(Activity::Unknown) && i != static_cast<size_t>(Activity::LockWait)
                && i != static_cast<size_t>(Activity::Idle)) {
                sums[static_cast<size_t>(Activity::Unknown)] += sums[i];
                sums[i] = 0;
            }
        }
    };
    for (TraceGroup& group : analysis.groups)
        forget(group.account);
    for (TraceLock& lock : analysis.locks) {
        for (HolderSums& holder : lock.holders)
            forget(holder.meanwhile);
    }
    analysis.hasSwitches = false;
}

TraceAnalysis TraceAnalyser::finish(uint64_t endNs)
{
    if (endNs != 0)
        advance(endNs);
    findDeadlocks();
    for (LiveLock& lock : locks_.locks())
        expirePolls(lock);
    chargeOwnersAtEnd();
    std::vector<int32_t> keys; // in a fixed order: sums of the same waits must come out alike
    for (const auto& [key, thread] : threads_.all())
        keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    for (const int32_t key : keys)
        endThread(*threads_.find(key));
    findStuckLocks();
    TraceAnalysis analysis;
    analysis.beginNs = beginNs_;
    analysis.endNs = nowNs_;
    analysis.window = window_;
    analysis.events = events_;
    analysis.processors = processors_;
    analysis.hasSwitches = hasSwitches_;
    analysis.hasWakings = hasWakings_;
    analysis.gaps = gaps_;
    analysis.blockedAt = std::move(blockedAt_);
    for (LiveLock& lock : locks_.locks())
        finishLock(lock, analysis);
    for (const auto& [key, ns] : nested_) {
        const auto& [site, outer] = key;
        if (analysis.lock({outer}).isLock)
            locks_.sites()[site].nestedNs += ns;
    }
    analysis.sites = std::move(locks_.sites());
    analysis.groups = std::move(threads_.groups());
    analysis.processes = std::move(threads_.processes());
    if (analysis.hasSwitches && !sawSwitch_)
        forgetActivities(analysis);
    for (uint32_t id = 1; id <= preemptors_.size(); ++id)
        analysis.preemptors.push_back(preemptors_[{id}]);
    for (uint32_t id = 1; id <= threads_.nameCount(); ++id)
        analysis.names.emplace_back(threads_.name({id}));
    return analysis;
}

} // namespace whichlock
