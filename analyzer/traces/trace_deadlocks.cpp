// SPDX-License-Identifier: GPL-3.0-or-later
// Waits that never end: circles of threads that wait for each other, and what looks like one.
#include "analyzer/traces/trace_analyser.h"

namespace whichlock {

/// What the thread waits for that has the lock; nothing if it waits for none, or who has it is not known.
TraceLockId TraceAnalyser::waitedForByOwner(TraceLockId lock) const
{
    const LiveLock& live = locks_[lock];
    const int32_t owner = !live.owners.empty() ? live.owners.front().thread : live.ledger.probableOwner();
    const LiveThread* thread = owner == -1 ? nullptr : threads_.find(owner);
    return thread == nullptr || thread->waits.empty() ? TraceLockId{} : thread->waits.back().lock;
}

/// Follows waiter to owner to what that one waits for; a way that comes back to the lock is a deadlock.
void TraceAnalyser::findCircle(TraceLockId lock)
{
    constexpr int kLongest = 64;
    TraceLockId at = waitedForByOwner(lock);
    for (int i = 0; i < kLongest && at && at != lock; ++i)
        at = waitedForByOwner(at);
    if (at != lock)
        return;
    for (; !locks_[at].facts.deadlock; at = waitedForByOwner(at))
        locks_[at].facts.deadlock = true;
}

/// The same for all locks that are waited for at the end; each is come by once.
void TraceAnalyser::findDeadlocks()
{
    std::vector<uint32_t> walk(locks_.size() + 1); // number of the walk that came by
    for (uint32_t i = 1; i <= locks_.size(); ++i) {
        if (locks_[{i}].waiting.empty())
            continue;
        TraceLockId at{i};
        while (at && walk[at.v] == 0) {
            walk[at.v] = i;
            at = waitedForByOwner(at);
        }
        if (!at || walk[at.v] != i)
            continue;
        for (; !locks_[at].facts.deadlock; at = waitedForByOwner(at))
            locks_[at].facts.deadlock = true;
    }
}

/// Locks whose waiters wait to the end, while nobody has given them back since the first of those waits
/// began: much longer than any wait in their process that ended. With two of them in one process, and waiters
/// at each that can be the holder of the other, a deadlock is likely; nothing is proven, as locks that are
/// taken without waiting leave no trace.
void TraceAnalyser::findStuckLocks()
{
    constexpr uint64_t kLongNs = 50'000'000;
    constexpr uint64_t kTimes = 10;
    struct Process {
        uint64_t longestNs = 0; ///< of the waits for locks that ended
        std::vector<LiveLock*> locks{};
    };
    std::map<uint32_t, Process> processes;
    for (LiveLock& lock : locks_.locks()) {
        const LockSpace space = lock.facts.key.space;
        if (space == LockSpace::Kernel || space == LockSpace::Shared)
            continue;
        const bool stuck = lock.stuckSinceNs != UINT64_MAX && lock.lastChangeNs <= lock.stuckSinceNs
            && nowNs_ - lock.stuckSinceNs >= kLongNs;
        if (!stuck && (!lock.plainWaits || lock.facts.waitTimes.count() == 0))
            continue; // what waits otherwise may wait for work
        Process& process = processes[lock.facts.key.owner];
        process.longestNs = std::max(process.longestNs, lock.facts.waitTimes.maxNs());
        if (stuck)
            process.locks.push_back(&lock);
    }
    for (auto& [owner, process] : processes) {
        const uint64_t longestNs = process.longestNs;
        std::erase_if(process.locks,
            [&](const LiveLock* lock) { return (nowNs_ - lock->stuckSinceNs) / kTimes < longestNs; });
        for (LiveLock* lock : process.locks)
            lock->facts.stuck = process.locks.size() > 1;
    }
}

} // namespace whichlock
