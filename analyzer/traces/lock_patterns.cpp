// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/lock_patterns.h"

#include <map>

namespace whichlock {
namespace {

/// Shares of the wait from which on a cause counts as one, in percent.
constexpr uint64_t kMost = 50;
constexpr uint64_t kCause = 20;
constexpr uint64_t kNearlyAll = 80;

bool atLeast(uint64_t partNs, uint64_t wholeNs, uint64_t percent)
{
    return wholeNs > 0 && partNs / percent >= wholeNs / 100 && partNs > 0;
}

/// Waiting by side and by what it was in or behind.
struct Sides {
    uint64_t readNs = 0;
    uint64_t writeNs = 0;
    uint64_t behindReadersNs = 0; ///< of writeNs
    uint64_t behindWritersNs = 0; ///< of readNs
    uint64_t insideConditionNs = 0;
    uint64_t ofAllocatorNs = 0;
    uint64_t yieldedNs = 0;
    uint64_t triedNs = 0;
};

/// Finds the patterns of one lock.
class PatternFinder {
public:
    PatternFinder(const TraceLock& lock, const TraceAnalysis& analysis)
        : lock_(lock)
        , analysis_(analysis)
    {
        for (const HolderSums& holder : lock.holders) {
            for (size_t i = 0; i < kActivities; ++i)
                held_[i] += holder.meanwhile[i];
            holds_.add(holder.holds);
            throttledAtMostNs_ += holder.throttledAtMostNs;
            throttles_ += holder.throttles;
        }
        addSites();
        addHolderSides();
    }

    std::vector<PatternMatch> find()
    {
        addHolders();
        // Who takes a lock of user space again before the woken thread runs leaves no event of it.
        const bool handOffAtMost = lock_.key.space != LockSpace::Kernel && !lock_.holdsRecorded;
        if (isConvoy())
            matches_.push_back({LockPattern::Convoy, lock_.handOffNs, lock_.valueNs(), handOffAtMost});
        constexpr uint32_t kHerd = 3;
        const uint64_t herdNs = std::max(sides_.insideConditionNs, lock_.afterBroadcastNs);
        add(LockPattern::HerdAfterSignal, herdNs, isAtLeast(herdNs, kMost) && lock_.maxWaiters >= kHerd);
        add(LockPattern::WritersBehindReaders, sides_.behindReadersNs,
            isAtLeast(sides_.writeNs, kNearlyAll) && isAtLeast(sides_.behindReadersNs, kMost));
        add(LockPattern::ReadersBehindWriters, sides_.behindWritersNs,
            isAtLeast(sides_.readNs, kNearlyAll) && isAtLeast(sides_.behindWritersNs, kMost));
        addCause(LockPattern::AllocatorArena, sides_.ofAllocatorNs, kMost);
        addCause(LockPattern::YieldPolling, sides_.yieldedNs, kMost);
        addCause(LockPattern::TrylockPolling, sides_.triedNs, kMost);
        add(LockPattern::Deadlock, lock_.openNs, lock_.deadlock);
        add(LockPattern::SuspectedDeadlock, lock_.openNs, lock_.stuck && !lock_.deadlock);
        return std::move(matches_);
    }

private:
    bool isAtLeast(uint64_t partNs, uint64_t percent) const
    {
        return atLeast(partNs, lock_.valueNs(), percent);
    }
    void add(LockPattern pattern, uint64_t partNs, bool fits)
    {
        if (fits)
            matches_.push_back({pattern, partNs, lock_.valueNs()});
    }
    void addCause(LockPattern pattern, uint64_t ns, uint64_t percent)
    {
        add(pattern, ns, isAtLeast(ns, percent));
    }
    uint64_t heldNs(Activity activity) const { return held_[static_cast<size_t>(activity)]; }

    void addHolders()
    {
        addCause(LockPattern::LongHold, heldNs(Activity::Ran), kMost);
        addCause(LockPattern::PreemptedHolder,
            heldNs(Activity::Preempted) + heldNs(Activity::Yielded) + heldNs(Activity::Voluntary), kCause);
        addCause(LockPattern::PriorityInversion, invertedNs(), kCause);
        addThrottled();
        addCause(LockPattern::IoUnderLock, heldNs(Activity::Io), kCause);
        addCause(LockPattern::GracePeriodUnderLock, heldNs(Activity::GracePeriod), kCause);
        addCause(LockPattern::SleepUnderLock, heldNs(Activity::Sleep), kCause);
        addCause(LockPattern::WaitsForLock, waitedForLocksNs(), kCause);
    }

    /// What holders waited for was taken for a lock until its kind was known.
    uint64_t waitedForLocksNs() const
    {
        uint64_t ns = 0;
        for (const HolderSums& holder : lock_.holders) {
            for (const auto& [other, waited] : holder.waitedFor)
                ns += analysis_.lock({other}).isLock ? waited : 0;
        }
        return ns;
    }

    /// A single stretch whose end was not recorded may have been short.
    void addThrottled()
    {
        constexpr uint64_t kSeveral = 3;
        const uint64_t atMostNs = throttles_ >= kSeveral ? throttledAtMostNs_ : 0;
        const uint64_t ns = heldNs(Activity::Throttled) + atMostNs;
        if (isAtLeast(ns, kCause))
            matches_.push_back({LockPattern::ThrottledHolder, ns, lock_.valueNs(), atMostNs > 0});
    }

    /// Holders had to give way to tasks that are more important than they, but not than a waiter.
    uint64_t invertedNs() const
    {
        uint64_t ns = 0;
        for (const HolderSums& holder : lock_.holders) {
            for (const auto& [id, preempted] : holder.preemptedBy) {
                const Preemptor& task = analysis_.preemptors[id - 1];
                if (lock_.waiterPriority < task.priority && task.priority < task.preemptedPriority)
                    ns += preempted;
            }
        }
        return ns;
    }

    /// Nearly every acquisition waits, and what they wait for is the hand-off, not the holds.
    bool isConvoy() const
    {
        const uint64_t waited = lock_.acquisitions - std::min(lock_.acquisitions, lock_.freeAcquisitions);
        const uint64_t seen = std::max(lock_.acquisitions, lock_.releases);
        const uint64_t handOffEach = waited == 0 ? 0 : lock_.handOffNs / waited;
        return lock_.maxWaiters > 1 && isAtLeast(lock_.handOffNs, kMost) && holds_.count() > 0
            && holds_.percentileNs(50) < handOffEach && waited * 100 > seen * kNearlyAll;
    }

    void addSites()
    {
        for (const uint32_t row : lock_.sites) {
            const TraceSite& site = analysis_.sites[row];
            const uint64_t ns = site.waitNs + site.openNs;
            sides_.readNs += site.reason == WaitReason::RwlockRead ? ns : 0;
            sides_.writeNs += site.reason == WaitReason::RwlockWrite ? ns : 0;
            sides_.behindReadersNs += site.side == WordSide::WriteBehindReaders ? ns : 0;
            sides_.behindWritersNs += isReader(site.side) ? ns : 0;
            sides_.insideConditionNs += site.insideCondition ? ns : 0;
            sides_.ofAllocatorNs += site.ofAllocator ? ns : 0;
            sides_.yieldedNs += site.channel == WaitChannel::Yield ? ns : 0;
            sides_.triedNs += site.channel == WaitChannel::Trylock ? ns : 0;
        }
    }

    /// Of locks of the kernel a holder's side is that of the stack it took the lock with.
    void addHolderSides()
    {
        if (lock_.key.space != LockSpace::Kernel || sides_.readNs + sides_.writeNs == 0)
            return;
        std::map<TraceStackId, WaitReason> reasons;
        for (const uint32_t row : lock_.sites)
            reasons.emplace(analysis_.sites[row].stack, analysis_.sites[row].reason);
        for (const HolderSums& holder : lock_.holders) {
            const auto at = reasons.find(holder.key.stack);
            if (at == reasons.end() || !holder.key.stack)
                continue;
            sides_.behindReadersNs += at->second == WaitReason::RwlockRead ? holder.waitNs : 0;
            sides_.behindWritersNs += at->second == WaitReason::RwlockWrite ? holder.waitNs : 0;
        }
    }

    const TraceLock& lock_;
    const TraceAnalysis& analysis_;
    ActivitySums held_{};
    DurationHistogram holds_{};
    uint64_t throttledAtMostNs_ = 0;
    uint64_t throttles_ = 0;
    Sides sides_{};
    std::vector<PatternMatch> matches_;
};

} // namespace

std::string_view patternName(LockPattern pattern)
{
    constexpr std::array<std::string_view, 17> kNames = {"long-hold", "preempted-holder",
        "priority-inversion", "throttled-holder", "io-under-lock", "grace-period-under-lock",
        "sleep-under-lock", "waits-for-lock", "convoy", "herd-after-signal", "writers-behind-readers",
        "readers-behind-writers", "malloc-arena", "yield-polling", "trylock-polling", "deadlock",
        "suspected-deadlock"};
    return kNames[static_cast<size_t>(pattern)];
}

std::vector<PatternMatch> patternsOf(const TraceLock& lock, const TraceAnalysis& analysis)
{
    return PatternFinder(lock, analysis).find();
}

} // namespace whichlock
