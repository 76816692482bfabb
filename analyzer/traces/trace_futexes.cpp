// SPDX-License-Identifier: GPL-3.0-or-later
// The futex system calls: their waits, and the wakes that say that a lock was given back.
#include "analyzer/traces/trace_analyser.h"

namespace whichlock {
namespace {

constexpr int64_t kInterrupted = -4;    // EINTR
constexpr int64_t kTryAgain = -11;      // EAGAIN: the word had changed, no sleep
constexpr int64_t kTimedOut = -110;     // ETIMEDOUT
constexpr int64_t kFirstError = -4095;  // results below are not errors
constexpr uint32_t kContendedMutex = 2; // what C libraries write into a mutex that somebody sleeps for

/// Whether the kernel itself begins the call again, unless a signal ends the thread.
bool isRestarted(int64_t result)
{
    return result == -512 || result == -513 || result == -514 || result == -516; // include/linux/errno.h
}

bool isAcquisition(int64_t result)
{
    return result != kInterrupted && result != kTimedOut && (result >= 0 || result == kTryAgain);
}

} // namespace

/// What can be told when the wait begins; the rest is decided at the end by what was seen of the word.
WaitReason TraceAnalyser::futexReason(
    const LiveThread& thread, const FutexCall& call, const TraceStackClass& known)
{
    if (call.action == FutexAction::LockPi)
        return WaitReason::Mutex;
    if (call.action == FutexAction::WaitRequeuePi)
        return WaitReason::Condition;
    if (call.action == FutexAction::WaitMany)
        return WaitReason::Other;
    if (known.wait != WaitReason::Unknown)
        return known.wait;
    // The kernel clears a word that holds the number of a thread when that thread ends.
    const auto tid = static_cast<int32_t>(call.value);
    if (call.shared && tid > 0 && tid != thread.key && threads_.find(tid) != nullptr)
        return WaitReason::Join;
    return WaitReason::Unknown;
}

void TraceAnalyser::noteWord(LiveLock& lock, const LiveThread&, const FutexCall& call)
{
    lock.piWaits = lock.piWaits || call.action == FutexAction::LockPi;
    lock.plainWaits = lock.plainWaits || call.action == FutexAction::Wait;
    lock.sawTwo = lock.sawTwo || (call.action == FutexAction::Wait && call.value == kContendedMutex);
}

void TraceAnalyser::futexEnter(const TraceMoment& at, const FutexCall& call)
{
    LiveThread& thread = threadAt(at);
    for (size_t i = 0; i < thread.waits.size(); ++i) {
        const OpenWait& wait = thread.waits[i];
        if (wait.channel != WaitChannel::Futex)
            continue;
        if (!wait.interrupted) {
            dropWait(thread, i);
            break;
        }
        if (wait.call.word == call.word && wait.call.action == call.action) {
            thread.waits[i].interrupted = false; // goes on
            return;
        }
        endWait(thread, i, false, true);
        break;
    }
    thread.inFutexCall = true;
    thread.futexCall = call;
    if (isFutexWait(call.action)) {
        thread.inFutexCall = false;
        const TraceStackClass known = classOf(at.stack);
        const LibraryWord word = libraryWordOf(call, known.onCondition ? WaitReason::Condition : known.wait);
        const TraceLockId id = futexLock(thread, call, word, at.stack, known);
        if (call.action == FutexAction::WaitMany)
            ++gaps_.waitsOnUnknownWords;
        noteWord(locks_[id], thread, call);
        beginWait(thread,
            {.lock = id,
                .channel = WaitChannel::Futex,
                .beganNs = nowNs_,
                .cpu = at.cpu,
                .stack = at.stack,
                .call = call,
                .side = word.side},
            futexReason(thread, call, known));
        return;
    }
    if (call.action == FutexAction::Wake || call.action == FutexAction::UnlockPi
        || call.action == FutexAction::WakeTwo || call.action == FutexAction::Requeue)
        release(thread, lockAtWord(thread, call.word, call.shared), at.stack,
            call.action == FutexAction::UnlockPi ? 1 : call.value);
    if (call.action == FutexAction::WakeTwo)
        release(thread, lockAtWord(thread, call.secondWord, call.shared), at.stack, 1);
    if (call.action == FutexAction::Requeue)
        requeue(thread, call);
}

/// The lock of a word that was waited for; none of others.
TraceLockId TraceAnalyser::knownWord(const LiveThread& thread, uint64_t address) const
{
    const auto word = words_.find({thread.process, address});
    return word ? wordLocks_[word.v - 1] : TraceLockId{};
}

/// What a wait is for: the word, the lock of the C library that the word is part of, or a lock that keeps its
/// own queue and lets its waiters sleep on words of their own.
TraceLockId TraceAnalyser::futexLock(const LiveThread& thread, const FutexCall& call, const LibraryWord& word,
    TraceStackId stack, const TraceStackClass& known)
{
    const std::pair place(thread.process, call.word);
    if (known.parks && !known.onCondition) {
        const TraceLockId lock = parkedLock(thread, stack);
        parkedAt_[place] = lock;
        return lock;
    }
    if (!parkedAt_.empty())
        parkedAt_.erase(place);
    return wordLock(thread, call.word, word.address, call.shared);
}

/// The lock that waiters at a word wait for; none if nobody ever waited there.
TraceLockId TraceAnalyser::lockAtWord(const LiveThread& thread, uint64_t word, bool mayBeShared)
{
    const std::pair place(thread.process, word);
    if (const auto parked = parkedAt_.find(place); parked != parkedAt_.end())
        return parked->second;
    if (const TraceLockId found = knownWord(thread, word))
        return found;
    // In shared memory others may wait for it, who have it elsewhere.
    const int32_t pid = threads_.processes()[thread.process].pid;
    return mayBeShared && environment_.placeOf(pid, word).shared ? wordLock(thread, word, word, true)
                                                                 : TraceLockId{};
}

/// A wake at a word that is a lock comes from the one that has just given it back.
void TraceAnalyser::release(LiveThread& thread, TraceLockId lock, TraceStackId stack, uint32_t wakes)
{
    if (!lock)
        return; // nobody ever waited for it
    if (thread.acquiring == lock)
        settleAcquisition(thread);
    const TraceStackClass known = classOf(stack);
    LiveLock& live = locks_[lock];
    ++live.facts.releases;
    live.lastChangeNs = nowNs_;
    live.facts.broadcasts += wakes > 1 ? 1 : 0;
    constexpr size_t kHerd = 3;
    if (wakes > 1 && live.waiting.size() >= kHerd)
        live.broadcastNs = nowNs_;
    live.wakesByCondition += known.signalsCondition ? 1 : 0;
    live.wakesByRwlock += known.releasesRwlock ? 1 : 0;
    live.wakesByMutex += known.releasesLock && !known.releasesRwlock ? 1 : 0;
    if (live.recordedHolds || gaps_.sampled)
        return;
    live.ledger.held({.thread = thread.key,
                         .holder = holderKey(thread, stack),
                         .timeNs = nowNs_,
                         .notBeforeNs = live.ofCondition ? thread.wokenFromNs : 0,
                         .proven = true,
                         .released = true},
        *this);
}

/// The first waiters are woken, the next ones moved: from now on they wait for the other word.
void TraceAnalyser::requeue(const LiveThread& thread, const FutexCall& call)
{
    const TraceLockId from = knownWord(thread, call.word);
    if (!from || call.secondWord == 0)
        return;
    const TraceLockId to = wordLock(thread, call.secondWord, call.secondWord, call.shared);
    std::vector<int32_t> moved;
    uint64_t skip = call.value;
    for (WaitQueue::Walk waits(locks_[from].waiting); waits.current() != nullptr; waits.next()) {
        if (skip > 0)
            --skip;
        else if (moved.size() < call.moveCount)
            moved.push_back(waits.current()->thread);
        else
            break;
    }
    for (const int32_t key : moved) {
        LiveThread* waiter = threads_.find(key);
        for (size_t i = 0; waiter != nullptr && i < waiter->waits.size(); ++i) {
            OpenWait wait = waiter->waits[i];
            if (wait.lock != from || wait.channel != WaitChannel::Futex)
                continue;
            endWait(*waiter, i, false, true);
            wait.lock = to;
            wait.beganNs = nowNs_;
            wait.call.action = FutexAction::Requeue;
            wait.call.word = call.secondWord;
            beginWait(*waiter, wait, WaitReason::Mutex);
            break;
        }
    }
}

/// Whether the call that ends can be the one that began. Stacks must agree where they are known.
bool TraceAnalyser::isLikelyPair(const OpenWait& wait, TraceStackId endStack, int64_t result)
{
    const bool error = result < 0 && result >= kFirstError;
    if (!error && result != 0 && wait.call.action != FutexAction::WaitMany)
        return false; // the number of the woken: of a call that wakes
    const bool doubtful = gaps_.sampled || wait.lostBefore != gaps_.lostEvents;
    return !doubtful || !wait.stack || !endStack || wait.stack == endStack;
}

void TraceAnalyser::futexExit(const TraceMoment& at, int64_t result)
{
    LiveThread& thread = threadAt(at);
    if (thread.inFutexCall) {
        thread.inFutexCall = false;
        return;
    }
    for (size_t i = 0; i < thread.waits.size(); ++i) {
        if (thread.waits[i].channel != WaitChannel::Futex)
            continue;
        if (isRestarted(result)) {
            thread.waits[i].interrupted = true;
        } else if (isLikelyPair(thread.waits[i], at.stack, result)) {
            endWait(thread, i, isAcquisition(result), true);
        } else {
            ++gaps_.unlikelyPairs;
            dropWait(thread, i);
        }
        return;
    }
    ++gaps_.endsWithoutBegin;
}

} // namespace whichlock
