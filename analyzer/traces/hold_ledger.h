// SPDX-License-Identifier: GPL-3.0-or-later
// Charges the waiting for one lock to those who held it meanwhile. Every wait is cut at every release; each
// piece goes to the thread that releases, from the time on when it can have held the lock at all. What is
// left is hand-off (released, not yet taken by this waiter) or was not seen.
#pragma once

#include "analyzer/model/interner.h"
#include "analyzer/traces/duration_histogram.h"
#include "analyzer/traces/thread_timeline.h"
#include "analyzer/traces/wait_queue.h"

#include <map>
#include <vector>

namespace whichlock {

/// Who held: the stack that tells where, and the thread's group.
struct HolderKey {
    TraceStackId stack{};
    TraceGroupId group{};

    bool operator==(const HolderKey&) const = default;
    friend uint64_t hashOf(const HolderKey& key)
    {
        return mixBits(static_cast<uint64_t>(key.stack.v) << 32U | key.group.v);
    }
};
/// A row of a lock's holders.
using HolderId = Id<struct HolderTag>;

/// The end of a chain of waiting: the holder that waited for nobody. Without holder: nobody had the lock.
struct ChainRoot {
    TraceLockId lock{};
    HolderId holder{};

    auto operator<=>(const ChainRoot&) const = default;
};

/// Waiting that is charged to one holder. All sums count once for each waiter.
struct HolderSums {
    HolderKey key{};
    uint64_t waitNs = 0;
    uint64_t provenNs = 0; ///< by a release that was recorded, not by the order of acquisitions
    uint64_t cuts = 0;     ///< releases while somebody waited
    ActivitySums meanwhile{};
    std::map<uint32_t, uint64_t> preemptedBy{}; ///< who got the processor
    uint64_t throttles = 0;                     ///< stretches of it while somebody waited
    uint64_t throttledAtMostNs = 0;             ///< part of Uncertain: it was throttled, for so long at most
    std::map<uint32_t, uint64_t> waitedFor{};   ///< lock
    std::map<uint32_t, uint64_t> blockedAt{};   ///< stack
    DurationHistogram holds{};                  ///< as far as they lay inside of waits
    uint64_t preemptions = 0;                   ///< stretches of it while somebody waited
    uint64_t longestOffNs = 0;
    uint64_t longestOffAtNs = 0;
};

/// What the ledger of a lock has to know of other threads and locks.
class HoldContext {
public:
    virtual ~HoldContext() = default;
    /// The timeline of a thread; null when it is not known.
    virtual const ThreadTimeline* timelineOf(int32_t thread) const = 0;
    /// The ledger of another lock; null when it has none.
    virtual const class HoldLedger* ledgerOf(TraceLockId lock) const = 0;
};

/// That a thread had the lock up to a time.
struct HoldEnd {
    int32_t thread = -1;
    HolderKey holder{};
    uint64_t timeNs = 0;
    uint64_t notBeforeNs =
        0;                 ///< it did not have the lock before: it waited for a condition, without the mutex
    bool proven = false;   ///< by a recorded release or hold, not by the order of acquisitions
    bool released = false; ///< it gave the lock back then
    bool recorded = false; ///< addHold() tells how long it had it
};

/// MT: one thread.
class HoldLedger {
public:
    /// Only waiting in the window is charged.
    explicit HoldLedger(TraceLockId lock, TraceWindow window = {})
        : lock_(lock)
        , window_(window)
    {
    }

    /// A wait that is not counted is charged to nobody; chains go through it all the same.
    void waitBegins(int32_t thread, uint64_t timeNs, bool counted = true);
    /// `acquired`: it ended because the lock was got, as far as that can be told.
    void waitEnds(int32_t thread, uint64_t beganNs, uint64_t timeNs, bool acquired, bool counted = true);
    /// When it ended is not known. Returns when the last cut of it was, up to which it has been charged.
    uint64_t waitDropped(int32_t thread, uint64_t beganNs, bool counted = true);
    /// Waiting of which only the length is known.
    void addUnseen(uint64_t ns);

    /// A thread had the lock up to now, since the last cut or since its own last wait ended, if that is
    /// later.
    void held(const HoldEnd& end, const HoldContext& context);
    /// Since the last cut nobody had the lock, as far as can be told: hand-off after a release.
    void heldByNobody(uint64_t timeNs);
    /// The thread that ended its wait last did not get the lock.
    void forgetOwner() { owner_ = -1; }
    /// A hold whose begin and end were recorded.
    void addHold(HolderKey holder, uint64_t ns);

    const std::vector<HolderSums>& holders() const { return holders_; }
    /// The same, to keep; the ledger has none afterwards.
    std::vector<HolderSums> takeHolders() { return std::move(holders_); }
    uint64_t handOffNs() const { return handOffNs_; }
    uint64_t unseenNs() const { return unseenNs_; }
    /// All waits that ended; holders, hand-off and unseen add up to it.
    uint64_t waitNs() const { return waitNs_; }
    std::map<ChainRoot, uint64_t> roots() const;
    /// All of them, counted or not.
    uint32_t waiters() const { return settled_ + static_cast<uint32_t>(fresh_.size()); }
    /// The thread that got the lock last and did not give it back since; -1 when that cannot be told.
    int32_t probableOwner() const { return owner_; }

    /// Calls `visit(root, fromNs, toNs)` for the known parts of [fromNs, toNs), in the order of time.
    template <class Visit> void visitRoots(uint64_t fromNs, uint64_t toNs, Visit&& visit) const
    {
        auto at = std::upper_bound(past_.begin(), past_.end(), fromNs,
            [](uint64_t time, const RootStretch& stretch) { return time < stretch.toNs; });
        for (; at != past_.end() && at->fromNs < toNs; ++at)
            visit(at->root, std::max(fromNs, at->fromNs), std::min(toNs, at->toNs));
    }

    /// Most stretches of the past that are kept for chains.
    static constexpr size_t kMostStretches = 1024;

private:
    struct RootStretch {
        uint64_t fromNs = 0;
        uint64_t toNs = 0;
        ChainRoot root{};
    };
    struct EndedWait {
        int32_t thread = -1;
        uint64_t endNs = 0;
    };
    /// A stretch of a hold, and what the holder did.
    struct Piece {
        uint64_t fromNs = 0;
        uint64_t toNs = 0;
        bool nobody = false;
        Activity activity = Activity::Unknown;
        uint32_t detail = 0;
        ChainRoot root{};
    };

    HolderId holderRow(HolderKey key);
    uint64_t& rootNs(const ChainRoot& root);
    const EndedWait* endedSinceCut(int32_t thread) const;
    void noteEnd(int32_t thread, uint64_t timeNs);
    uint64_t holdBeganNs(int32_t thread) const;
    uint64_t earliestUncutNs(uint64_t timeNs) const;
    void addNobody(uint64_t fromNs, uint64_t toNs);
    void addHeld(int32_t thread, HolderId holder, uint64_t fromNs, uint64_t toNs, const HoldContext& context);
    void addChain(const Piece& stretch, const HoldContext& context);
    void chargePieces(HolderId holder, bool proven);
    void charge(HolderId holder, bool proven, const Piece& piece, uint64_t ns);
    void noteOffCpu(HolderSums& sums, const Piece& piece) const;
    void remember();
    void cut(uint64_t timeNs, bool released);

    TraceLockId lock_;
    TraceWindow window_;
    Interner<HolderKey, HolderId> keys_;
    std::vector<HolderSums> holders_;          ///< of keys_ row i + 1
    std::vector<uint64_t> ownRootNs_;          ///< waiting with this lock at the root, by holder; 0: nobody
    std::map<ChainRoot, uint64_t> otherRoots_; ///< with another one
    uint64_t handOffNs_ = 0;
    uint64_t unseenNs_ = 0;
    uint64_t waitNs_ = 0;

    // Waiters whose wait was cut at cutNs_, and those that came later with whether they count.
    uint32_t settled_ = 0;
    uint32_t settledCounted_ = 0;
    WaitQueue fresh_;
    uint64_t cutNs_ = 0;
    bool cutWasRelease_ = false;           ///< the lock was given back at cutNs_
    std::vector<EndedWait> endedSinceCut_; ///< of each thread the last one, by thread
    int32_t owner_ = -1;

    std::vector<RootStretch> past_;
    std::vector<Piece> pieces_; ///< of the release at hand; kept for its storage
};

} // namespace whichlock
