// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/lock_patterns.h"

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

/// What all holders of a lock did while others waited.
struct Held {
    ActivitySums sums{};
    DurationHistogram holds{};
};

Held heldOf(const TraceLock& lock)
{
    Held held;
    for (const HolderSums& holder : lock.holders) {
        for (size_t i = 0; i < kActivities; ++i)
            held.sums[i] += holder.meanwhile[i];
        held.holds.add(holder.holds);
    }
    return held;
}

/// Nearly every acquisition waits, and what they wait for is the hand-off, not the holds.
bool isConvoy(const TraceLock& lock, const DurationHistogram& holds)
{
    const uint64_t seen = std::max(lock.acquisitions, lock.releases);
    const uint64_t handOffEach = lock.acquisitions == 0 ? 0 : lock.handOffNs / lock.acquisitions;
    return lock.maxWaiters > 1 && atLeast(lock.handOffNs, lock.valueNs(), kMost) && holds.count() > 0
        && holds.percentileNs(50) < handOffEach && lock.acquisitions * 100 > seen * kNearlyAll;
}

/// Waiting by side, and what of it follows a condition wait.
struct Sides {
    uint64_t readNs = 0;
    uint64_t writeNs = 0;
    uint64_t insideConditionNs = 0;
};

Sides sidesOf(const TraceLock& lock, const TraceAnalysis& analysis)
{
    Sides sides;
    for (const uint32_t row : lock.sites) {
        const TraceSite& site = analysis.sites[row];
        const uint64_t ns = site.waitNs + site.openNs;
        sides.readNs += site.reason == WaitReason::RwlockRead ? ns : 0;
        sides.writeNs += site.reason == WaitReason::RwlockWrite ? ns : 0;
        sides.insideConditionNs += site.insideCondition ? ns : 0;
    }
    return sides;
}

} // namespace

std::string_view patternName(LockPattern pattern)
{
    constexpr std::array<std::string_view, 11> kNames = {"long-hold", "preempted-holder", "throttled-holder",
        "io-under-lock", "sleep-under-lock", "waits-for-lock", "convoy", "herd-after-signal",
        "writers-behind-readers", "readers-behind-writers", "deadlock"};
    return kNames[static_cast<size_t>(pattern)];
}

std::vector<PatternMatch> patternsOf(const TraceLock& lock, const TraceAnalysis& analysis)
{
    std::vector<PatternMatch> matches;
    const uint64_t wholeNs = lock.valueNs();
    const auto add = [&](LockPattern pattern, uint64_t partNs, bool fits) {
        if (fits)
            matches.push_back({pattern, partNs, wholeNs});
    };
    const Held held = heldOf(lock);
    const auto of = [&](Activity activity) { return held.sums[static_cast<size_t>(activity)]; };
    const auto addCause = [&](LockPattern pattern, uint64_t ns, uint64_t percent) {
        add(pattern, ns, atLeast(ns, wholeNs, percent));
    };
    addCause(LockPattern::LongHold, of(Activity::Ran), kMost);
    addCause(LockPattern::PreemptedHolder,
        of(Activity::Preempted) + of(Activity::Yielded) + of(Activity::Voluntary), kCause);
    addCause(LockPattern::ThrottledHolder, of(Activity::Throttled), kCause);
    addCause(LockPattern::IoUnderLock, of(Activity::Io), kCause);
    addCause(LockPattern::SleepUnderLock, of(Activity::Sleep), kCause);
    addCause(LockPattern::WaitsForLock, of(Activity::LockWait), kCause);
    add(LockPattern::Convoy, lock.handOffNs, isConvoy(lock, held.holds));
    const Sides sides = sidesOf(lock, analysis);
    constexpr uint32_t kHerd = 3;
    add(LockPattern::HerdAfterSignal, sides.insideConditionNs,
        atLeast(sides.insideConditionNs, wholeNs, kMost) && lock.maxWaiters >= kHerd);
    const bool hasSides = lock.kind == LockKind::UserRwlock || lock.kind == LockKind::RwSemaphore
        || lock.kind == LockKind::KernelRwlock || lock.kind == LockKind::PercpuRwSemaphore
        || lock.kind == LockKind::MmapLock;
    add(LockPattern::WritersBehindReaders, sides.writeNs,
        hasSides && atLeast(sides.writeNs, wholeNs, kNearlyAll));
    add(LockPattern::ReadersBehindWriters, sides.readNs,
        hasSides && atLeast(sides.readNs, wholeNs, kNearlyAll));
    add(LockPattern::Deadlock, lock.openNs, lock.deadlock);
    return matches;
}

} // namespace whichlock
