// SPDX-License-Identifier: GPL-3.0-or-later
// Locks whose request, acquisition and release are events: probes at calls, lockdep, mmap_lock. Also those
// that are polled by trylocks, where what they return is recorded.
#include "analyzer/traces/trace_analyser.h"

namespace whichlock {
namespace {

/// Calls nest a few deep.
constexpr size_t kMostCalls = 16;

/// Tries in vain that are further apart are no waiting: who opens a file every second may look for a lock
/// each time.
constexpr uint64_t kMostBetweenTriesNs = 1'000'000;

/// By what a call that takes a lock returns; EOWNERDEAD: it has it, and who had it is dead.
bool gotLock(uint32_t result)
{
    constexpr uint32_t kOwnerDead = 130;
    return result == 0 || result == kOwnerDead;
}

} // namespace

void TraceAnalyser::settleHolds(LiveLock& lock)
{
    if (lock.owners.empty())
        return lock.ledger.heldByNobody(nowNs_);
    const LiveLock::Owner& oldest = lock.owners.front();
    lock.ledger.held(
        {.thread = oldest.thread, .holder = oldest.holder, .timeNs = nowNs_, .proven = true}, *this);
}

void TraceAnalyser::lockRequested(const TraceMoment& at, const RecordedLock& lock)
{
    LiveThread& thread = threadAt(at);
    const TraceLockId id =
        lock.user ? wordLock(thread, lock.address, lock.address, false) : kernelLock(lock.address);
    LiveLock& live = locks_[id];
    live.recordedHolds = true;
    if (lock.kind != LockKind::Unknown)
        live.facts.kind = lock.kind;
    // Who asks for it does not have it: its release got lost.
    std::erase_if(live.owners, [&](const LiveLock::Owner& owner) { return owner.thread == thread.key; });
    expirePolls(live);
    if (const size_t i = recordedWait(thread, id); i < thread.waits.size()) {
        if (thread.waits[i].channel == WaitChannel::Trylock)
            endPoll(thread, i); // it tried in vain, and waits now
        else
            dropWait(thread, i);
    }
    if (live.owners.empty())
        ++live.facts.freeAcquisitions;
    beginWait(thread,
        {.lock = id, .channel = WaitChannel::RecordedHolds, .beganNs = nowNs_, .stack = at.stack},
        lock.reason);
}

void TraceAnalyser::lockAcquired(const TraceMoment& at, const RecordedLock& lock, bool success)
{
    LiveThread& thread = threadAt(at);
    const TraceLockId id =
        lock.user ? wordLock(thread, lock.address, lock.address, false) : kernelLock(lock.address);
    LiveLock& live = locks_[id];
    live.recordedHolds = true;
    if (lock.kind != LockKind::Unknown)
        live.facts.kind = lock.kind;
    expirePolls(live);
    settleHolds(live);
    TraceStackId stack = at.stack;
    if (const size_t i = recordedWait(thread, id); i < thread.waits.size()) {
        stack = thread.waits[i].stack;
        endWait(thread, i, success, true);
        settleAcquisition(thread);
    }
    // Readers that forget to give back, or whose release got lost, must not pile up.
    constexpr size_t kMostOwners = 256;
    const bool hasIt = std::ranges::any_of(
        live.owners, [&](const LiveLock::Owner& owner) { return owner.thread == thread.key; });
    if (success && !hasIt && live.owners.size() < kMostOwners) // a writer that becomes a reader has it
        live.owners.push_back({thread.key, holderKey(thread, stack), nowNs_});
}

void TraceAnalyser::lockReleased(const TraceMoment& at, const RecordedLock& lock)
{
    LiveThread& thread = threadAt(at);
    const TraceLockId id =
        lock.user ? wordLock(thread, lock.address, lock.address, false) : kernelLock(lock.address);
    LiveLock& live = locks_[id];
    live.recordedHolds = true;
    expirePolls(live);
    ++live.facts.releases;
    live.lastChangeNs = nowNs_;
    auto owner = std::find_if(live.owners.begin(), live.owners.end(),
        [&](const LiveLock::Owner& one) { return one.thread == thread.key; });
    if (owner == live.owners.end()) { // held since before the trace began
        live.ledger.held({.thread = thread.key,
                             .holder = holderKey(thread, at.stack),
                             .timeNs = nowNs_,
                             .proven = true,
                             .released = true},
            *this);
        return;
    }
    const LiveLock::Owner oldest = live.owners.front();
    live.ledger.held({.thread = oldest.thread,
                         .holder = oldest.holder,
                         .timeNs = nowNs_,
                         .proven = true,
                         .released = owner == live.owners.begin() && live.owners.size() == 1,
                         .recorded = true},
        *this);
    if (window_.touches(owner->sinceNs, nowNs_))
        live.ledger.addHold(owner->holder, nowNs_ - owner->sinceNs);
    live.owners.erase(owner);
}

/// The place of the thread's wait for a lock that events of these kinds told of; the number of its waits if
/// there is none.
size_t TraceAnalyser::recordedWait(const LiveThread& thread, TraceLockId lock) const
{
    for (size_t i = thread.waits.size(); i-- > 0;) {
        const OpenWait& wait = thread.waits[i];
        if (wait.lock == lock
            && (wait.channel == WaitChannel::RecordedHolds || wait.channel == WaitChannel::Trylock))
            return i;
    }
    return thread.waits.size();
}

/// Whether a thread that tried in vain at `triedNs` may be about to try again. Who has no processor cannot.
bool TraceAnalyser::triesStill(const LiveThread& thread, uint64_t triedNs) const
{
    return (thread.out && thread.outRunnable)
        || nowNs_ - std::max(triedNs, thread.backNs) <= kMostBetweenTriesNs;
}

/// It tried again, in vain, or asks for the lock otherwise: it has not given up.
void TraceAnalyser::endPoll(LiveThread& thread, size_t index)
{
    TraceLock& lock = locks_[thread.waits[index].lock].facts;
    const uint64_t before = lock.notAcquired;
    endWait(thread, index, false, true);
    lock.notAcquired = before;
}

/// Who has not tried again for long has given up, nobody knows when.
void TraceAnalyser::expirePoll(LiveThread& thread)
{
    for (size_t i = thread.waits.size(); i-- > 0;) {
        if (thread.waits[i].channel != WaitChannel::Trylock || triesStill(thread, thread.waits[i].beganNs))
            continue;
        dropWait(thread, i);
        --gaps_.beginsWithoutEnd; // no event is missing
    }
}

void TraceAnalyser::expirePolls(LiveLock& lock)
{
    const std::vector<int32_t> pollers = std::move(lock.pollers);
    lock.pollers.clear();
    for (const int32_t key : pollers) {
        LiveThread* const thread = threads_.find(key);
        if (thread == nullptr)
            continue;
        expirePoll(*thread);
        const bool polls = std::ranges::any_of(thread->waits, [&](const OpenWait& wait) {
            return wait.channel == WaitChannel::Trylock && &locks_[wait.lock] == &lock;
        });
        if (polls)
            lock.pollers.push_back(key);
    }
}

/// One try in vain is no waiting. From the second one in a row on the thread polls, up to its next try.
void TraceAnalyser::triedInVain(const TraceMoment& at, uint64_t address)
{
    LiveThread& thread = threadAt(at);
    const TraceLockId id = wordLock(thread, address, address, false);
    LiveLock& live = locks_[id];
    live.recordedHolds = true;
    expirePolls(live);
    settleHolds(live);
    if (const size_t i = recordedWait(thread, id); i < thread.waits.size())
        endPoll(thread, i);
    const bool again = thread.triedFor == id && triesStill(thread, thread.triedNs);
    thread.triedFor = id;
    thread.triedNs = nowNs_;
    if (!again)
        return;
    beginWait(thread, {.lock = id, .channel = WaitChannel::Trylock, .beganNs = nowNs_, .stack = at.stack},
        WaitReason::Mutex);
    if (recordedWait(thread, id) < thread.waits.size())
        live.pollers.push_back(thread.key);
}

/// Calls that take a lock return; what else is probed must not be taken for their return.
void TraceAnalyser::probe(const TraceMoment& at, uint64_t address)
{
    const TraceStackClass known = classOf(at.stack);
    if (known.releasesLock)
        return lockReleased(at, {.user = true, .address = address});
    LiveThread& thread = threadAt(at);
    if (!known.acquiresLock)
        return;
    if (thread.probed.size() >= kMostCalls)
        thread.probed.clear();
    thread.probed.push_back({address, known.triesLock, at.stack});
    if (!known.triesLock)
        lockRequested(at, {.user = true, .address = address, .reason = WaitReason::Mutex});
}

void TraceAnalyser::probeReturn(const TraceMoment& at, std::optional<uint32_t> result)
{
    LiveThread& thread = threadAt(at);
    if (thread.probed.empty())
        return;
    const ProbedCall call = thread.probed.back();
    thread.probed.pop_back();
    if (!call.tries)
        return lockAcquired(at, {.user = true, .address = call.address}, gotLock(result.value_or(0)));
    if (!result)
        return; // whether it got the lock was not recorded
    TraceMoment asked = at;
    asked.stack = call.stack;
    if (gotLock(*result))
        lockAcquired(asked, {.user = true, .address = call.address}, true);
    else
        triedInVain(asked, call.address);
}

} // namespace whichlock
