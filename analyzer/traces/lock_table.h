// SPDX-License-Identifier: GPL-3.0-or-later
// The locks that have been waited for so far, with what is known of them while the trace goes on.
#pragma once

#include "analyzer/traces/trace_analysis.h"

#include <deque>
#include <set>

namespace whichlock {

inline uint64_t hashOf(const LockKey& key)
{
    return mixBits(
        key.address ^ mixBits(static_cast<uint64_t>(key.owner) << 8U | static_cast<uint64_t>(key.space)));
}

/// A lock while the trace is read.
struct LiveLock {
    LiveLock(TraceLockId id, const LockKey& key, uint64_t beginNs, TraceWindow window)
        : load(window.clamp(beginNs))
        , ledger(id, window)
    {
        facts.key = key;
    }

    /// A thread that has it, where holds are recorded.
    struct Owner {
        int32_t thread = -1;
        HolderKey holder{};
        uint64_t sinceNs = 0;
    };

    TraceLock facts;
    WaiterLoad load;
    HoldLedger ledger;
    WaitQueue waiting{};
    std::vector<Owner> owners{};    ///< oldest first
    std::vector<int32_t> pollers{}; ///< threads that try to take it again and again
    HolderKey lastAcquirer{};       ///< of ledger.probableOwner()
    uint64_t contentionFlags = 0;   ///< bit n: the flags n were seen
    bool recordedHolds = false;
    bool plainWaits = false; ///< FUTEX_WAIT
    bool sawTwo = false;     ///< a wait for the value 2, which marks a contended mutex in C libraries
    bool piWaits = false;
    uint64_t wakesByCondition = 0; ///< from a routine that signals
    uint64_t wakesByRwlock = 0;    ///< from one that unlocks a reader-writer lock
    uint64_t wakesByMutex = 0;
    uint64_t broadcastNs = 0;           ///< when last so many were woken that they are a herd
    uint64_t lastChangeNs = 0;          ///< when last somebody gave it back, or a wait for it ended
    uint64_t stuckSinceNs = UINT64_MAX; ///< when the first of those waits began that ended with their thread
    int32_t firstWaiter = -1;
    bool severalWaiters = false;
    bool ofCondition = false; ///< waiters of a condition variable take it when they are woken
};

struct SiteKey {
    TraceLockId lock{};
    TraceStackId stack{};
    TraceGroupId group{};
    WaitChannel channel = WaitChannel::Futex;
    WaitReason reason = WaitReason::Unknown;
    FutexAction action = FutexAction::None;
    WordSide side = WordSide::None;
    int32_t cpu = -1;

    bool operator==(const SiteKey&) const = default;
    friend uint64_t hashOf(const SiteKey& key)
    {
        return mixBits((static_cast<uint64_t>(key.lock.v) << 32U | key.stack.v)
            ^ mixBits(static_cast<uint64_t>(key.group.v) << 24U | static_cast<uint64_t>(key.channel) << 16U
                | static_cast<uint64_t>(key.reason) << 8U | static_cast<uint64_t>(key.action) << 4U
                | static_cast<uint64_t>(key.side))
            ^ mixBits(static_cast<uint32_t>(key.cpu)));
    }
};

/// MT: one thread.
class LockTable {
public:
    /// What is counted of waits; before the first of them.
    void setWindow(TraceWindow window) { window_ = window; }
    /// The lock of that key; `beginNs` is where its time starts if it is new.
    TraceLockId find(const LockKey& key, uint64_t beginNs);
    /// Row of the site.
    uint32_t site(const SiteKey& key, const TraceStackClass& known);

    LiveLock& operator[](TraceLockId id) { return locks_[id.v - 1]; }
    const LiveLock& operator[](TraceLockId id) const { return locks_[id.v - 1]; }
    size_t size() const { return locks_.size(); }
    std::deque<LiveLock>& locks() { return locks_; }
    std::vector<TraceSite>& sites() { return sites_; }

private:
    TraceWindow window_;
    Interner<LockKey, TraceLockId> keys_;
    std::deque<LiveLock> locks_; ///< of keys_ row i + 1
    Interner<SiteKey, Id<struct SiteTag>> siteKeys_;
    std::vector<TraceSite> sites_; ///< of siteKeys_ row i + 1
};

} // namespace whichlock
