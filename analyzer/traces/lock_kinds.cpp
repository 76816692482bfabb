// SPDX-License-Identifier: GPL-3.0-or-later
// What is waited for: by the operation, by the routines on the stacks, by who wakes, and only then by how the
// word is used.
#include "analyzer/traces/trace_analyser.h"

namespace whichlock {
namespace {

/// By the flags of lock:contention_begin (include/trace/events/lock.h).
LockKind kernelKind(uint64_t seen)
{
    constexpr unsigned kSpin = 1;
    constexpr unsigned kRead = 2;
    constexpr unsigned kWrite = 4;
    constexpr unsigned kRt = 8;
    constexpr unsigned kPercpu = 16;
    constexpr unsigned kMutex = 32;
    unsigned all = 0;
    for (unsigned flags = 0; flags < 64; ++flags)
        all |= (seen >> flags & 1U) != 0 ? flags : 0U;
    if (seen == 0)
        return LockKind::Unknown;
    if ((all & kMutex) != 0)
        return LockKind::KernelMutex;
    if ((all & kPercpu) != 0)
        return LockKind::PercpuRwSemaphore;
    if ((all & kRt) != 0)
        return (all & (kRead | kWrite)) != 0 ? LockKind::KernelRwlock : LockKind::RtMutex;
    if ((all & (kRead | kWrite)) != 0)
        return (all & kSpin) != 0 ? LockKind::KernelRwlock : LockKind::RwSemaphore;
    return (all & kSpin) != 0 ? LockKind::SpinLock : LockKind::KernelSemaphore;
}

LockKind kindOf(WaitReason reason)
{
    switch (reason) {
    case WaitReason::Mutex:
        return LockKind::UserMutex;
    case WaitReason::RwlockRead:
    case WaitReason::RwlockWrite:
        return LockKind::UserRwlock;
    case WaitReason::Once:
        return LockKind::OnceGuard;
    case WaitReason::Semaphore:
        return LockKind::UserSemaphore;
    case WaitReason::Condition:
        return LockKind::Condition;
    case WaitReason::Join:
        return LockKind::Join;
    case WaitReason::Barrier:
        return LockKind::Barrier;
    case WaitReason::Unknown:
        return LockKind::Unknown;
    case WaitReason::Sleep:
    case WaitReason::Poll:
    case WaitReason::Io:
    case WaitReason::PageFault:
    case WaitReason::Reclaim:
    case WaitReason::GracePeriod:
    case WaitReason::Other:
        break;
    }
    return LockKind::OtherWord;
}

bool isLockKind(LockKind kind)
{
    switch (kind) {
    case LockKind::Unknown:
    case LockKind::Parker:
    case LockKind::UserSemaphore:
    case LockKind::Condition:
    case LockKind::Join:
    case LockKind::Barrier:
    case LockKind::OtherWord:
        return false;
    case LockKind::SpinLock:
    case LockKind::KernelRwlock:
    case LockKind::KernelMutex:
    case LockKind::RwSemaphore:
    case LockKind::PercpuRwSemaphore:
    case LockKind::RtMutex:
    case LockKind::KernelSemaphore:
    case LockKind::MmapLock:
    case LockKind::UserMutex:
    case LockKind::PiMutex:
    case LockKind::UserRwlock:
    case LockKind::OnceGuard:
    case LockKind::ConditionLock:
    case LockKind::YieldLock:
        break;
    }
    return true;
}

/// Of a word whose stacks say nothing.
LockKind kindByUse(const LiveLock& lock)
{
    if (lock.piWaits)
        return LockKind::PiMutex;
    if (lock.wakesByCondition > std::max(lock.wakesByMutex, lock.wakesByRwlock))
        return LockKind::Condition;
    if (lock.wakesByRwlock > lock.wakesByMutex)
        return LockKind::UserRwlock;
    if (lock.wakesByMutex > 0)
        return LockKind::UserMutex;
    if (!lock.plainWaits)
        return LockKind::Unknown; // conditions, joins, reader-writer locks: all of them look the same
    return lock.sawTwo || lock.severalWaiters ? LockKind::UserMutex : LockKind::Parker;
}

WaitReason reasonOf(LockKind kind, WordSide side)
{
    switch (kind) {
    case LockKind::UserRwlock:
        return isReader(side)        ? WaitReason::RwlockRead
            : side == WordSide::None ? WaitReason::Mutex
                                     : WaitReason::RwlockWrite;
    case LockKind::Condition:
        return WaitReason::Condition;
    case LockKind::Join:
        return WaitReason::Join;
    case LockKind::UserSemaphore:
        return WaitReason::Semaphore;
    case LockKind::Barrier:
        return WaitReason::Barrier;
    default:
        return isLockKind(kind) ? WaitReason::Mutex : WaitReason::Unknown;
    }
}

} // namespace

void decideLockKind(LiveLock& lock, std::vector<TraceSite>& sites)
{
    TraceLock& facts = lock.facts;
    if (facts.key.space == LockSpace::Kernel) {
        if (facts.kind == LockKind::Unknown)
            facts.kind = kernelKind(lock.contentionFlags);
        facts.isLock = true;
        return;
    }
    // The routine that most waits were in says what the word is.
    std::map<LockKind, uint64_t> told;
    bool parks = false;
    bool onCondition = false;
    bool yields = false;
    for (const uint32_t row : facts.sites) {
        const TraceSite& site = sites[row];
        if (site.reason != WaitReason::Unknown)
            told[kindOf(site.reason)] += site.waits + site.openWaits + site.leftOutWaits;
        parks = parks || (site.parks && isLockReason(site.reason));
        onCondition = onCondition || site.onCondition;
        yields = yields || site.channel == WaitChannel::Yield;
    }
    const auto most = std::max_element(
        told.begin(), told.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (facts.kind == LockKind::Unknown)
        facts.kind = lock.piWaits ? LockKind::PiMutex : most != told.end() ? most->first : kindByUse(lock);
    for (const uint32_t row : facts.sites) {
        TraceSite& site = sites[row];
        if (site.reason == WaitReason::Unknown)
            site.reason = reasonOf(facts.kind, site.side);
    }
    facts.isLock = isLockKind(facts.kind);
    if (parks && facts.isLock)
        facts.kind = yields ? LockKind::YieldLock : onCondition ? LockKind::ConditionLock : LockKind::Parker;
    // A word that is the only one, of what turned out to be something else, stands for itself.
    const bool several = facts.kind == LockKind::UserRwlock || facts.kind == LockKind::Condition;
    if (facts.key.space == LockSpace::Process && !several && !parks && facts.words.size() == 1
        && facts.words.begin()->second.waits == facts.waitTimes.count())
        facts.key.address = facts.words.begin()->first;
}

} // namespace whichlock
