// SPDX-License-Identifier: GPL-3.0-or-later
// Waits: begins and ends are paired thread by thread, and what releases a lock cuts the waits for it.
#include "analyzer/traces/trace_analyser.h"

namespace whichlock {
namespace {

// linux: include/trace/events/lock.h
constexpr uint32_t kFlagRead = 2;
constexpr uint32_t kFlagWrite = 4;
constexpr uint32_t kFlagMutex = 32;

/// Interrupts nest a few deep; more open waits of a thread are ends that got lost.
constexpr size_t kMostOpen = 16;

/// Whether all that was seen of a lock is spinning; `seen`: LiveLock::contentionFlags.
bool isSpinlock(uint64_t seen)
{
    constexpr uint64_t kSpin = uint64_t{1} << 1U;
    return seen == kSpin;
}

WaitReason contentionReason(uint32_t flags)
{
    return (flags & kFlagRead) != 0 ? WaitReason::RwlockRead
        : (flags & kFlagWrite) != 0 ? WaitReason::RwlockWrite
                                    : WaitReason::Mutex;
}

/// Whether the word of a wait may be one of several that its lock sleeps on.
bool isPartOfMore(const OpenWait& wait, const LockKey& key)
{
    return wait.channel == WaitChannel::Futex
        && (wait.call.action == FutexAction::WaitBitset || wait.call.word != key.address);
}

void noteWordWait(TraceWord& word, uint64_t ns)
{
    ++word.waits;
    word.waitNs += ns;
    word.maxNs = std::max(word.maxNs, ns);
}

/// Whether somebody may hold what is waited for; conditions and the like are held by nobody.
bool isHeldByOthers(WaitReason reason)
{
    return reason == WaitReason::Unknown || isLockReason(reason);
}

} // namespace

/// Few locks are waited for by turns: nearly always it is one of the last.
TraceLockId TraceAnalyser::kernelLock(uint64_t address)
{
    KnownLock& known = lastKernelLocks_[mixBits(address) % lastKernelLocks_.size()];
    if (!known.lock || known.address != address)
        known = {address, locks_.find({LockSpace::Kernel, 0, address}, beginNs_)};
    return known.lock;
}

/// A word of user space; one in a mapping that is shared is the same in all processes.
/// `address` is that of the lock that the word is part of.
TraceLockId TraceAnalyser::wordLock(
    const LiveThread& thread, uint64_t word, uint64_t address, bool mayBeShared)
{
    const auto known = words_.intern({thread.process, word});
    if (known.v <= wordLocks_.size())
        return wordLocks_[known.v - 1];
    const WordPlace place = environment_.placeOf(threads_.processes()[thread.process].pid, address);
    LockKey key{LockSpace::Process, thread.process + 1, address};
    if (mayBeShared && place.shared && place.module)
        key = {LockSpace::Shared, place.module.v, place.offset};
    const TraceLockId lock = locks_.find(key, beginNs_);
    wordLocks_.push_back(lock);
    locks_[lock].facts.place = place;
    return lock;
}

/// A lock whose waiters sleep elsewhere, by what the stack tells of it.
TraceLockId TraceAnalyser::parkedLock(const LiveThread& thread, TraceStackId stack)
{
    const auto [at, isNew] = parked_.try_emplace({thread.process, stack.v});
    if (!isNew)
        return at->second;
    const int32_t pid = threads_.processes()[thread.process].pid;
    const ParkedPlace place = environment_.parkedPlaceOf(pid, stack);
    const LockSpace space = place.isObject ? LockSpace::Process : LockSpace::CallSite;
    at->second = locks_.find({space, thread.process + 1, place.address}, beginNs_);
    if (place.isObject)
        locks_[at->second].facts.place = environment_.placeOf(pid, place.address);
    return at->second;
}

void TraceAnalyser::beginWait(LiveThread& thread, OpenWait wait, WaitReason reason)
{
    for (const OpenWait& open : thread.waits) {
        if (open.lock == wait.lock && open.channel != wait.channel)
            return; // seen by two kinds of events: the outer one counts
    }
    if (thread.waits.size() >= kMostOpen)
        dropWait(thread, 0);
    const TraceStackClass known = classOf(wait.stack);
    wait.site =
        locks_.site({.lock = wait.lock,
                        .stack = wait.stack,
                        .group = thread.group,
                        .channel = wait.channel,
                        .reason = reason,
                        .action = wait.call.action,
                        .side = wait.side,
                        .cpu = options_.byProcessor ? static_cast<int32_t>(wait.cpu & INT32_MAX) : -1},
            known);
    wait.counted = thread.counting == Counting::Yes && environment_.countsProcessor(wait.cpu);
    // What waits for a bit set is no lock of any C library but for its reader-writer locks.
    const bool bare = reason == WaitReason::Unknown && wait.call.action == FutexAction::WaitBitset
        && wait.side == WordSide::None;
    wait.charged = isHeldByOthers(reason) && !bare;
    wait.lostBefore = gaps_.lostEvents;
    LiveLock& lock = locks_[wait.lock];
    if (wait.charged && thread.wokenFrom && thread.wokenFrom != wait.lock) {
        wait.afterBroadcast = thread.wokenByBroadcast;
        lock.ofCondition = true;
    }
    thread.wokenFrom = {};
    // Who waits for a lock does not have it. One of the kernel it has given back; of user space, it never got
    // it.
    if (lock.ledger.probableOwner() == thread.key) {
        if (wait.channel == WaitChannel::Contention)
            lock.ledger.held(
                {.thread = thread.key, .holder = lock.lastAcquirer, .timeNs = wait.beganNs}, *this);
        else
            lock.ledger.forgetOwner();
    }
    if (wait.counted)
        lock.load.waitBegins(window_.clamp(wait.beganNs));
    lock.waiting.add({wait.beganNs, thread.key});
    if (lock.firstWaiter < 0)
        lock.firstWaiter = thread.key;
    lock.severalWaiters = lock.severalWaiters || lock.firstWaiter != thread.key;
    lock.ledger.waitBegins(thread.key, wait.beganNs, wait.counted);
    if (wait.charged)
        openSince_.add({wait.beganNs, thread.key});
    wait.firstOfRow = noteAcquisition(thread, wait.lock, wait.beganNs);
    if (thread.waits.empty())
        thread.accountedNs = wait.beganNs;
    thread.waits.push_back(wait);
    refresh(thread);
}

/// The outermost wait of a thread is what its time up to now was spent on; the others lie in it.
void TraceAnalyser::creditOutermost(LiveThread& thread)
{
    const OpenWait& outermost = thread.waits.front();
    locks_.sites()[outermost.site].accountNs += countedNs(outermost, thread.accountedNs, nowNs_);
    for (size_t i = 1; i < thread.waits.size(); ++i) {
        OpenWait& inner = thread.waits[i];
        const OpenWait& outer = thread.waits[i - 1];
        if (!outer.counted)
            continue;
        inner.nestedIn = outer.lock;
        inner.nestedNs += countedNs(inner, std::max(inner.beganNs, thread.accountedNs), nowNs_);
    }
    thread.accountedNs = nowNs_;
}

/// What of a wait of that length stands in the figures of the lock around it already. Whether that one is a
/// lock is known in the end.
void TraceAnalyser::noteNested(const OpenWait& wait, uint64_t ns)
{
    const uint64_t nestedNs = std::min(wait.nestedNs, ns);
    if (nestedNs != 0)
        nested_[{wait.site, wait.nestedIn.v}] += nestedNs;
}

/// What of that stretch of a wait the question is about.
uint64_t TraceAnalyser::countedNs(const OpenWait& wait, uint64_t fromNs, uint64_t toNs) const
{
    return wait.counted ? window_.lengthOf(fromNs, toNs) : 0;
}

/// What of a wait the question is not about.
void TraceAnalyser::leaveOut(const OpenWait& wait, uint64_t beganNs, uint64_t endNs)
{
    TraceSite& site = locks_.sites()[wait.site];
    site.leftOutNs += endNs - beganNs - countedNs(wait, beganNs, endNs);
    if (!wait.counted || !window_.touches(beganNs, endNs))
        ++site.leftOutWaits;
}

/// The first wait that counts of the ones in a row for one acquisition.
void TraceAnalyser::countAcquisition(LiveThread& thread, const OpenWait& wait)
{
    const bool current = thread.acquiring == wait.lock;
    if (!wait.firstOfRow && (!current || thread.acquisitionCounted))
        return;
    if (current)
        thread.acquisitionCounted = true;
    ++locks_.sites()[wait.site].acquisitions;
    ++locks_[wait.lock].facts.acquisitions;
}

/// `whole`: both ends were seen; else its length is a lower bound.
void TraceAnalyser::endWait(LiveThread& thread, size_t index, bool acquired, bool whole)
{
    creditOutermost(thread);
    const OpenWait wait = thread.waits[index];
    LiveLock& lock = locks_[wait.lock];
    TraceSite& site = locks_.sites()[wait.site];
    const uint64_t ns = countedNs(wait, wait.beganNs, nowNs_);
    lock.ledger.waitEnds(thread.key, wait.beganNs, nowNs_, acquired, wait.counted);
    if (acquired)
        lock.lastAcquirer = holderKey(thread, wait.stack);
    if (whole)
        lock.lastChangeNs = nowNs_;
    else if (wait.charged)
        lock.stuckSinceNs = std::min(lock.stuckSinceNs, wait.beganNs);
    if (!wait.charged) {
        thread.wokenFrom = wait.lock;
        thread.wokenByBroadcast = wait.beganNs < lock.broadcastNs;
        thread.wokenFromNs = nowNs_;
    }
    if (thread.acquiring == wait.lock)
        thread.acquisitionEndNs = nowNs_;
    leaveOut(wait, wait.beganNs, nowNs_);
    if (!wait.counted || !window_.touches(wait.beganNs, nowNs_))
        return closeWait(thread, index);
    countAcquisition(thread, wait);
    noteNested(wait, ns);
    if (whole && window_.covers(wait.beganNs, nowNs_)) {
        ++site.waits;
        site.waitNs += ns;
        site.maxNs = std::max(site.maxNs, ns);
        lock.facts.waitTimes.add(ns);
        lock.facts.afterBroadcastNs += wait.afterBroadcast ? ns : 0;
        if (isPartOfMore(wait, lock.facts.key))
            noteWordWait(lock.facts.words[wait.call.word], ns);
        if (!acquired)
            ++lock.facts.notAcquired;
    } else {
        ++site.openWaits;
        site.openNs += ns;
        ++lock.facts.openWaits;
        lock.facts.openNs += ns;
        lock.facts.openAtEnd += !whole || nowNs_ > window_.toNs ? 1 : 0;
        whole = false;
    }
    noteWorst(lock.facts.worst,
        {.fromNs = window_.clamp(wait.beganNs),
            .ns = ns,
            .tid = thread.key,
            .site = wait.site,
            .open = !whole});
    closeWait(thread, index);
}

/// Its end got lost: what can be told is that it was on at the last release that others were charged by.
void TraceAnalyser::dropWait(LiveThread& thread, size_t index)
{
    ++gaps_.beginsWithoutEnd;
    creditOutermost(thread);
    const OpenWait wait = thread.waits[index];
    LiveLock& lock = locks_[wait.lock];
    const uint64_t endNs = lock.ledger.waitDropped(thread.key, wait.beganNs, wait.counted);
    leaveOut(wait, wait.beganNs, endNs);
    if (!wait.counted || !window_.touches(wait.beganNs, endNs))
        return closeWait(thread, index);
    countAcquisition(thread, wait);
    const uint64_t ns = countedNs(wait, wait.beganNs, endNs);
    noteNested(wait, ns);
    TraceSite& site = locks_.sites()[wait.site];
    ++site.openWaits;
    site.openNs += ns;
    ++lock.facts.openWaits;
    lock.facts.openNs += ns;
    closeWait(thread, index);
}

/// What all ends of a wait have in common.
void TraceAnalyser::closeWait(LiveThread& thread, size_t index)
{
    const OpenWait& wait = thread.waits[index];
    LiveLock& lock = locks_[wait.lock];
    if (wait.counted)
        lock.load.waitEnds(window_.clamp(nowNs_));
    lock.waiting.remove({wait.beganNs, thread.key});
    if (wait.charged)
        openSince_.remove({wait.beganNs, thread.key});
    thread.waits.erase(thread.waits.begin() + static_cast<std::ptrdiff_t>(index));
    refresh(thread);
}

/// Waits in a row for one acquisition: woken, too late, asleep again.
/// Returns whether the wait is the first of the row.
bool TraceAnalyser::noteAcquisition(LiveThread& thread, TraceLockId lock, uint64_t beganNs)
{
    if (thread.acquiring == lock)
        return false;
    settleAcquisition(thread);
    thread.acquiring = lock;
    thread.acquisitionCounted = false;
    thread.acquiringSinceNs = beganNs;
    thread.acquisitionEndNs = beganNs;
    return true;
}

void TraceAnalyser::settleAcquisition(LiveThread& thread)
{
    if (!thread.acquiring)
        return;
    TraceLock& lock = locks_[thread.acquiring].facts;
    if (thread.acquisitionCounted)
        lock.maxAcquisitionNs = std::max(
            lock.maxAcquisitionNs, window_.lengthOf(thread.acquiringSinceNs, thread.acquisitionEndNs));
    thread.acquiring = {};
}

/// Whether a wait whose end is the first that is seen of a thread began before the trace did.
bool TraceAnalyser::mayBeOnSinceBegin(const LiveThread& thread) const
{
    return !thread.born && !thread.actedBefore && !gaps_.sampled && gaps_.lostEvents == 0;
}

void TraceAnalyser::contentionBegin(const TraceMoment& at, uint64_t lock, uint32_t flags)
{
    LiveThread& thread = threadAt(at);
    const TraceLockId id = kernelLock(lock);
    LiveLock& live = locks_[id];
    live.contentionFlags |= uint64_t{1} << std::min(flags, 63U);
    if (!isSpinlock(live.contentionFlags))
        leavesSpinlock(thread);
    for (size_t i = 0; i < thread.waits.size(); ++i) {
        const OpenWait& open = thread.waits[i];
        if (open.lock != id || open.channel != WaitChannel::Contention)
            continue;
        if ((flags & kFlagMutex) != 0)
            return; // it spun and sleeps now: one wait
        dropWait(thread, i);
        break;
    }
    beginWait(thread,
        {.lock = id, .channel = WaitChannel::Contention, .beganNs = nowNs_, .cpu = at.cpu, .stack = at.stack},
        contentionReason(flags));
}

void TraceAnalyser::contentionEnd(const TraceMoment& at, uint64_t lock, int32_t result)
{
    LiveThread& thread = threadAt(at);
    const TraceLockId id = kernelLock(lock);
    LiveLock& live = locks_[id];
    // Kernel locks have no event for their release: up to now it was the last one that got the lock, unless
    // a release was seen in the stack of a wake-up.
    if (!live.recordedHolds) {
        if (live.ledger.probableOwner() != -1)
            live.ledger.held(
                {.thread = live.ledger.probableOwner(), .holder = live.lastAcquirer, .timeNs = nowNs_},
                *this);
        else
            live.ledger.heldByNobody(nowNs_);
    }
    for (size_t i = thread.waits.size(); i-- > 0;) {
        if (thread.waits[i].lock == id && thread.waits[i].channel == WaitChannel::Contention) {
            endWait(thread, i, result == 0, true);
            settleAcquisition(thread);
            if (isSpinlock(live.contentionFlags))
                thread.spunFor = id;
            return;
        }
    }
    if (!mayBeOnSinceBegin(thread)) {
        ++gaps_.endsWithoutBegin;
        return;
    }
    addOpenAtBegin(thread, id, at);
}

/// Nobody sleeps with a spinlock: if it was the thread's until now, it is not any more.
void TraceAnalyser::leavesSpinlock(LiveThread& thread)
{
    if (!thread.spunFor)
        return;
    LiveLock& lock = locks_[thread.spunFor];
    thread.spunFor = {};
    if (lock.ledger.probableOwner() == thread.key)
        lock.ledger.held({.thread = thread.key, .holder = lock.lastAcquirer, .timeNs = nowNs_}, *this);
}

/// A wait that was on when the trace began.
void TraceAnalyser::addOpenAtBegin(const LiveThread& thread, TraceLockId lock, const TraceMoment& at)
{
    OpenWait wait{.lock = lock, .channel = WaitChannel::Contention, .beganNs = beginNs_};
    wait.counted = thread.counting == Counting::Yes && environment_.countsProcessor(at.cpu);
    const uint32_t row =
        locks_.site({.lock = lock,
                        .stack = at.stack,
                        .group = thread.group,
                        .channel = WaitChannel::Contention,
                        .reason = WaitReason::Mutex,
                        .cpu = options_.byProcessor ? static_cast<int32_t>(at.cpu & INT32_MAX) : -1},
            classOf(at.stack));
    wait.site = row;
    leaveOut(wait, beginNs_, nowNs_);
    if (!wait.counted || !window_.touches(beginNs_, nowNs_))
        return;
    const uint64_t ns = window_.lengthOf(beginNs_, nowNs_);
    TraceSite& site = locks_.sites()[row];
    TraceLock& facts = locks_[lock].facts;
    ++site.openWaits;
    site.openNs += ns;
    ++site.acquisitions;
    ++facts.openWaits;
    facts.openNs += ns;
    ++facts.acquisitions;
    locks_[lock].ledger.addUnseen(ns);
    noteWorst(facts.worst,
        {.fromNs = window_.clamp(beginNs_), .ns = ns, .tid = thread.key, .site = row, .open = true});
}

/// The task that wakes a waiter out of a routine that gives back a kernel lock had the lock up to now.
void TraceAnalyser::kernelRelease(const LiveThread& waker, TraceStackId stack, int32_t target)
{
    const LiveThread* waiter = threads_.find(target);
    if (waiter == nullptr)
        return;
    for (size_t i = waiter->waits.size(); i-- > 0;) {
        const OpenWait& wait = waiter->waits[i];
        if (wait.channel != WaitChannel::Contention || locks_[wait.lock].recordedHolds)
            continue;
        LiveLock& lock = locks_[wait.lock];
        ++lock.facts.releases;
        lock.ledger.held({.thread = waker.key,
                             .holder = holderKey(waker, stack),
                             .timeNs = nowNs_,
                             .proven = true,
                             .released = true},
            *this);
        return;
    }
}

} // namespace whichlock
