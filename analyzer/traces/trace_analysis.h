// SPDX-License-Identifier: GPL-3.0-or-later
// What a trace tells about waiting: locks with their waits, sites and holders, and what threads spent their
// time on. All times in ns; stacks are opaque and get their names from whoever interned them.
#pragma once

#include "analyzer/traces/futex_call.h"
#include "analyzer/traces/hold_ledger.h"
#include "analyzer/traces/library_words.h"
#include "analyzer/traces/waiter_load.h"

#include <string>
#include <vector>

namespace whichlock {

/// Which events a wait was seen by.
enum class WaitChannel : uint8_t {
    Contention,    ///< lock:contention_begin and _end
    Futex,         ///< the system call
    RecordedHolds, ///< events for asking, getting and giving back
    Trylock,       ///< tries in vain, one after the other
    Yield,         ///< off the processor by sched_yield
};

/// What kind of thing is waited for.
enum class LockKind : uint8_t {
    Unknown, ///< a word that nothing is known of; its waits are not counted as lock waits
    SpinLock,
    KernelRwlock,
    KernelMutex,
    RwSemaphore,
    PercpuRwSemaphore,
    RtMutex,
    KernelSemaphore,
    MmapLock,
    UserMutex,
    PiMutex,
    UserRwlock,
    OnceGuard,
    Parker,        ///< waiters sleep on words of their own threads
    ConditionLock, ///< made of a condition variable and a mutex; waiters sleep on the former
    YieldLock,     ///< waiters leave the processor and try again
    UserSemaphore,
    Condition,
    Join,
    Barrier,
    OtherWord,
};

std::string_view lockKindName(LockKind kind);

struct TraceProcess {
    int32_t pid = -1;
    uint32_t epoch = 0;

    auto operator<=>(const TraceProcess&) const = default;
};

/// Off the processor, from switch-out to switch-in, by the reason.
struct OffCpuSums {
    uint64_t runnableNs = 0; ///< it was still runnable when it left
    uint64_t blockedNs = 0;  ///< it was not, up to when it ran again
    uint64_t wokenNs = 0;    ///< of blockedNs: from its wake-up on
    uint64_t ioNs = 0;       ///< of blockedNs by its reason; what is left was inside of waits
    uint64_t sleepNs = 0;
    uint64_t idleNs = 0; ///< waited for work
    uint64_t otherNs = 0;
    uint64_t upToNs = 0; ///< beyond these: it was switched out and seen again; when it came back was not
};

/// Threads of one name in one process.
struct TraceGroup {
    std::string name{};
    uint32_t process = 0; ///< row in TraceAnalysis::processes
    int32_t tid = -1;     ///< where threads are told apart
    Counting counting = Counting::Yes;
    uint32_t threads = 0; ///< that had this name at any time
    ActivitySums account{};
    OffCpuSums offCpu{};
};

/// Waits for one lock from one stack by one group.
struct TraceSite {
    TraceLockId lock{};
    TraceStackId stack{};
    TraceGroupId group{};
    WaitChannel channel = WaitChannel::Futex;
    WaitReason reason = WaitReason::Unknown;
    FutexAction action = FutexAction::None;
    WordSide side = WordSide::None;
    bool parks = false;
    bool onCondition = false;
    bool ofAllocator = false;
    bool insideCondition = false;
    int32_t cpu = -1;   ///< where the waits began, if processors are told apart
    uint64_t waits = 0; ///< that ended
    uint64_t waitNs = 0;
    uint64_t maxNs = 0;
    uint64_t openWaits = 0; ///< that began before the trace or did not end in it; openNs is a lower bound
    uint64_t openNs = 0;
    uint64_t leftOutWaits = 0; ///< what the question is not about; part of no other figure
    uint64_t leftOutNs = 0;
    uint64_t acquisitions = 0; ///< several waits in a row for one of them count once
    uint64_t accountNs = 0;    ///< of all that: not inside of another wait of the thread
    uint64_t nestedNs = 0;     ///< of the wait: inside of one of the thread's waits for another lock
    uint64_t offCpuNs = 0;     ///< off the processor in it, from switch-out to switch-in
};

/// One long wait.
struct TracedWait {
    uint64_t fromNs = 0;
    uint64_t ns = 0;
    int32_t tid = -1;
    uint32_t site = 0; ///< row in TraceAnalysis::sites
    bool open = false; ///< ns is a lower bound
};

/// Waits on one of several words that one lock sleeps on.
struct TraceWord {
    uint64_t waits = 0; ///< that ended
    uint64_t waitNs = 0;
    uint64_t maxNs = 0;
};

/// One of several locks that are shown as one.
struct TraceInstance {
    LockKey key{};
    uint64_t waits = 0; ///< also those that did not end
    uint64_t valueNs = 0;
};

/// A lock, or another word or object that is waited for.
struct TraceLock {
    LockKey key{};
    WordPlace place{};
    LockKind kind = LockKind::Unknown;
    bool isLock = false; ///< its waits are lock waits
    uint64_t waits = 0;  ///< that ended
    uint64_t waitNs = 0;
    uint64_t openWaits = 0;
    uint64_t openNs = 0;
    uint64_t openAtEnd = 0;    ///< of openWaits: never ended
    uint64_t acquisitions = 0; ///< that had to wait
    uint64_t maxAcquisitionNs = 0;
    uint64_t freeAcquisitions = 0; ///< of acquisitions: nobody is known to have had it when it was asked for
    uint64_t notAcquired = 0;      ///< waits that ended by time-out, signal or error
    DurationHistogram waitTimes{};
    uint64_t contendedWallNs = 0;
    uint32_t maxWaiters = 0;
    WaiterStrip strip{};
    std::vector<HolderSums> holders{};
    uint64_t handOffNs = 0;
    uint64_t unseenNs = 0;
    std::map<ChainRoot, uint64_t> roots{};
    std::vector<TracedWait> worst{};        ///< longest first
    std::vector<uint32_t> sites{};          ///< rows in TraceAnalysis::sites
    uint64_t releases = 0;                  ///< that were recorded, with or without waiters
    uint64_t broadcasts = 0;                ///< wakes of more than one waiter
    bool deadlock = false;                  ///< its waiters wait in a circle
    bool stuck = false;                     ///< see findStuckLocks()
    uint64_t afterBroadcastNs = 0;          ///< waiting of those that a wake of many had woken just before
    int32_t waiterPriority = kNoPriority;   ///< of the most important waiter, as far as it is known
    std::vector<TraceInstance> instances{}; ///< empty: it is the only one
    uint32_t innerOf = 0; ///< row + 1 in TraceAnalysis::locks of the lock that this one lies in
    uint64_t innerNs = 0; ///< waiting for locks in this one that is not inside of another wait
    std::map<uint64_t, TraceWord> words{}; ///< by address, where there may be several
    bool holdsRecorded = false;            ///< asking, getting and giving back were all events

    /// With the lower bounds of waits that were not seen as a whole.
    uint64_t valueNs() const { return waitNs + openNs; }
};

/// Adds a wait to the longest ones of a lock.
void noteWorst(std::vector<TracedWait>& worst, const TracedWait& wait);

/// What the recording could not show.
struct TraceGaps {
    uint64_t lostEvents = 0;
    bool sampled = false;          ///< tracepoints were sampled: sums are lower bounds of unknown scale
    uint64_t endsWithoutBegin = 0; ///< of waits
    uint64_t beginsWithoutEnd = 0; ///< of waits whose thread was seen elsewhere since
    uint64_t unlikelyPairs = 0;    ///< refused: the end belongs to another call
    uint64_t unseenSwitches = 0; ///< a thread ran again without being switched in: durations are upper bounds
    uint64_t waitsOnUnknownWords = 0; ///< futex_waitv and the like
};

/// A task that got the processor of a runnable one, with the priorities of both: the kernel's, of which the
/// lowest is the most important.
struct Preemptor {
    uint32_t name = 0; ///< row + 1 in TraceAnalysis::names
    int32_t priority = kNoPriority;
    int32_t preemptedPriority = kNoPriority;

    bool operator==(const Preemptor&) const = default;
    friend uint64_t hashOf(const Preemptor& one)
    {
        return mixBits(mixBits(static_cast<uint64_t>(one.name) << 32U | static_cast<uint32_t>(one.priority))
            + static_cast<uint32_t>(one.preemptedPriority));
    }
};

struct TraceAnalysis {
    uint64_t beginNs = 0;
    uint64_t endNs = 0;
    TraceWindow window{}; ///< what the figures are of
    uint64_t events = 0;
    uint32_t processors = 0; ///< the highest one seen, and one more
    bool hasSwitches = false;
    bool hasWakings = false;
    std::vector<TraceProcess> processes{};
    std::vector<std::string> names{};    ///< of tasks
    std::vector<Preemptor> preemptors{}; ///< ids in HolderSums::preemptedBy count from 1
    std::vector<TraceGroup> groups{};
    std::vector<TraceLock> locks{};
    std::vector<TraceSite> sites{};
    std::map<uint32_t, uint64_t> blockedAt{}; ///< off the processor for unknown reasons, by stack
    TraceGaps gaps{};

    const TraceGroup& group(TraceGroupId id) const { return groups[id.v - 1]; }
    const TraceLock& lock(TraceLockId id) const { return locks[id.v - 1]; }
    /// Whether sites and holders add up to the waits of their locks; empty if so. Runs in release builds.
    std::string check() const;
};

} // namespace whichlock
