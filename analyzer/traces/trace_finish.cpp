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

/// Follows waiter to owner to what that one waits for; a way that comes back is a deadlock.
void TraceAnalyser::findDeadlocks()
{
    const auto next = [&](TraceLockId lock) {
        const LiveLock& live = locks_[lock];
        const int32_t owner = !live.owners.empty() ? live.owners.front().thread : live.ledger.probableOwner();
        const LiveThread* thread = owner == -1 ? nullptr : threads_.find(owner);
        return thread == nullptr || thread->waits.empty() ? TraceLockId{} : thread->waits.back().lock;
    };
    std::vector<uint32_t> walk(locks_.size() + 1); // number of the walk that came by
    for (uint32_t i = 1; i <= locks_.size(); ++i) {
        if (locks_[{i}].waiting.empty())
            continue;
        TraceLockId at{i};
        while (at && walk[at.v] == 0) {
            walk[at.v] = i;
            at = next(at);
        }
        if (!at || walk[at.v] != i)
            continue;
        for (TraceLockId around = at; !locks_[around].facts.deadlock; around = next(around))
            locks_[around].facts.deadlock = true;
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

TraceAnalysis TraceAnalyser::finish(uint64_t endNs)
{
    if (endNs != 0)
        advance(endNs);
    findDeadlocks();
    chargeOwnersAtEnd();
    std::vector<int32_t> keys; // in a fixed order: sums of the same waits must come out alike
    for (const auto& [key, thread] : threads_.all())
        keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    for (const int32_t key : keys)
        endThread(*threads_.find(key));
    TraceAnalysis analysis;
    analysis.beginNs = beginNs_;
    analysis.endNs = nowNs_;
    analysis.window = window_;
    analysis.events = events_;
    analysis.hasSwitches = hasSwitches_;
    analysis.hasWakings = hasWakings_;
    analysis.gaps = gaps_;
    analysis.blockedAt = std::move(blockedAt_);
    for (LiveLock& lock : locks_.locks())
        finishLock(lock, analysis);
    analysis.sites = std::move(locks_.sites());
    analysis.groups = std::move(threads_.groups());
    analysis.processes = std::move(threads_.processes());
    for (uint32_t id = 1; id <= threads_.nameCount(); ++id)
        analysis.names.emplace_back(threads_.name({id}));
    return analysis;
}

} // namespace whichlock
