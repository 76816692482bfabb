// SPDX-License-Identifier: GPL-3.0-or-later
// What a trace tells about waiting, with names: the form in which it goes into a profile and from there into
// a report. All times in ns; all sums are of the same waits, so that they can be checked against each other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace whichlock {

/// A name and the time that it had.
struct NamedTime {
    std::string name{};
    uint64_t ns = 0;

    auto operator<=>(const NamedTime&) const = default;
};

/// What a thread did, part by part.
struct ActivityTimes {
    uint64_t unknownNs = 0; ///< not recorded
    uint64_t ranNs = 0;
    uint64_t uncertainNs = 0; ///< switched out, later seen running: on the processor or waiting for one
    uint64_t preemptedNs = 0;
    uint64_t yieldedNs = 0; ///< left at a point where the kernel offered it, or by sched_yield
    uint64_t throttledNs = 0;
    uint64_t wokenNs = 0; ///< woken, not yet on a processor
    uint64_t ioNs = 0;
    uint64_t sleepNs = 0;
    uint64_t idleNs = 0;    ///< waits for work: conditions, joins, polling
    uint64_t blockedNs = 0; ///< for what cannot be told
    uint64_t lockNs = 0;

    auto operator<=>(const ActivityTimes&) const = default;
};

/// Time off the processor from switch-out to switch-in, by the reason.
struct OffCpuTimes {
    uint64_t runnableNs = 0;
    uint64_t lockNs = 0;
    uint64_t conditionNs = 0; ///< waits for work: conditions, joins, polling
    uint64_t ioNs = 0;
    uint64_t sleepNs = 0;
    uint64_t otherNs = 0;
    uint64_t wokenNs = 0; ///< of all but runnable: from the wake-up on
    uint64_t upToNs = 0;  ///< beyond these: the return was not recorded

    auto operator<=>(const OffCpuTimes&) const = default;
};

/// A place in the code of a program or the kernel, as far as a stack tells it.
struct TracedPlace {
    std::string function{};  ///< empty: the stacks do not tell
    std::string file{};      ///< of the source; empty where no debug information tells it
    uint32_t line = 0;       ///< 0: not known
    bool recovered = false;  ///< the recorded chain lacked it: the call before the next address names it
    bool calledFrom = false; ///< it happened in a function that this one called

    auto operator<=>(const TracedPlace&) const = default;
};

/// Where a lock is waited for.
struct TracedSite {
    TracedPlace at{};
    std::string side{}; ///< `read`, `write`, `-`
    bool insideCondition = false;
    uint64_t valueNs = 0; ///< lower bounds of unfinished waits included
    uint64_t waits = 0;   ///< that ended
    uint64_t maxNs = 0;
    uint64_t open = 0;
    uint64_t nestedNs = 0; ///< see TracedLock

    auto operator<=>(const TracedSite&) const = default;
};

/// Who held a lock while others waited.
struct TracedHolder {
    TracedPlace at{};      ///< where it gives the lock back, or took it; without line
    std::string thread{};  ///< name of the thread
    uint64_t waitNs = 0;   ///< of others, that is charged to it
    uint64_t provenNs = 0; ///< of it: by a release that was recorded
    ActivityTimes meanwhile{};
    uint64_t preemptions = 0;
    uint64_t longestOffNs = 0; ///< the longest time off the processor with waiters behind it
    uint64_t longestOffAtNs = 0;
    uint64_t holds = 0; ///< whose length is known
    uint64_t medianHoldNs = 0;
    uint64_t maxHoldNs = 0;
    std::vector<NamedTime> preemptedBy{};
    std::vector<std::pair<uint32_t, uint64_t>> waitedFor{}; ///< lock, ns
    std::vector<NamedTime> blockedAt{};

    auto operator<=>(const TracedHolder&) const = default;
};

/// How long a lock was held by one holder, with or without anybody waiting.
struct TracedHold {
    TracedPlace at{}; ///< where it took the lock; without line
    std::string thread{};
    uint64_t holds = 0;
    uint64_t sumNs = 0;
    uint64_t meanNs = 0;
    uint64_t p50Ns = 0;
    uint64_t p90Ns = 0;
    uint64_t p99Ns = 0;
    uint64_t maxNs = 0;

    auto operator<=>(const TracedHold&) const = default;
};

/// The end of the chain of waiting for a lock.
struct TracedRoot {
    uint32_t lock = 0;      ///< index in LockTraceRecord::locks
    std::string function{}; ///< of the holder; empty when nobody held it, or who is not known
    bool nobody = false;
    uint64_t ns = 0;
    bool calledFrom = false; ///< see TracedPlace

    auto operator<=>(const TracedRoot&) const = default;
};

struct TracedLongWait {
    uint64_t fromNs = 0; ///< since the begin of the trace
    uint64_t ns = 0;
    int32_t tid = -1;
    std::string thread{}; ///< its name
    TracedPlace at{};
    bool open = false;

    auto operator<=>(const TracedLongWait&) const = default;
};

/// A pattern and the part of the wait that fits.
struct TracedPattern {
    std::string name{};
    uint64_t partNs = 0;
    bool atMost = false; ///< when the cause ended was not recorded

    auto operator<=>(const TracedPattern&) const = default;
};

/// One of several locks that are shown as one: the copies that processes or processors have of it.
struct TracedInstance {
    uint64_t address = 0;
    int32_t pid = -1;
    uint64_t waits = 0;
    uint64_t valueNs = 0;

    auto operator<=>(const TracedInstance&) const = default;
};

/// A lock, or another word that is waited for.
struct TracedLock {
    std::string space{}; ///< `kernel`, `process`, `shared`
    uint64_t address = 0;
    int32_t pid = -1;
    std::string kind{};
    bool isLock = false;
    bool parks = false; ///< the address is that of the word that one thread sleeps on

    std::string symbol{}; ///< the variable that it is, or lies in
    uint64_t symbolOffset = 0;
    std::string object{}; ///< the file of the variable
    bool verified = false;
    std::string knownAs{};   ///< what its call sites take in kernels that are known; `A or B`
    std::string knownFrom{}; ///< which kernels these are: `from 6.12 and 7.2`

    std::string called{}; ///< the lock as the code of its call sites tells it; `A or B` if they leave both
    std::string expression{};    ///< of `called`: as the heaviest site sees it
    bool calledVariable = false; ///< `called` is a variable, not a member of a type
    bool calledVerified = false;
    bool calledBtf = false; ///< by the types of BTF

    uint64_t valueNs = 0; ///< with the lower bounds of unfinished waits
    uint64_t waits = 0;   ///< that ended
    uint64_t acquisitions = 0;
    uint64_t open = 0;      ///< began before the trace or did not end in it
    uint64_t openAtEnd = 0; ///< of these: did not end
    uint64_t openNs = 0;
    uint64_t notAcquired = 0;
    uint64_t meanNs = 0;
    uint64_t maxNs = 0;
    uint64_t maxAcquisitionNs = 0;
    uint64_t p50Ns = 0;
    uint64_t p99Ns = 0;
    uint64_t contendedWallNs = 0;
    uint32_t maxWaiters = 0;
    uint64_t handOffNs = 0;
    uint64_t unseenNs = 0;
    uint64_t accountNs = 0; ///< of the wait: not inside of another wait of the same thread
    uint64_t nestedNs = 0;  ///< of the wait: inside of a wait of the same thread for another lock
    uint64_t offCpuNs = 0;
    bool deadlock = false;
    std::vector<TracedSite> sites{};     ///< heaviest first
    std::vector<TracedHolder> holders{}; ///< heaviest first
    std::vector<TracedRoot> roots{};     ///< heaviest first
    std::vector<TracedLongWait> worst{}; ///< longest first
    std::vector<TracedPattern> patterns{};
    bool holdsRecorded = false;              ///< each hold was seen, waited for or not
    TracedHold holdTimes{};                  ///< of all of them
    std::vector<TracedHold> holds{};         ///< the longest sum first
    std::vector<TracedInstance> instances{}; ///< heaviest first; empty: it is the only one
    uint32_t innerOf = 0; ///< place + 1 in LockTraceRecord::locks of the lock that this one lies in
    uint64_t innerNs = 0; ///< waiting for locks in this one that is not inside of another wait
    uint64_t stripBucketNs = 0;
    std::vector<uint64_t> strip{}; ///< waiting by bucket of the trace's time

    auto operator<=>(const TracedLock&) const = default;
};

/// Threads of one name in one process, or one thread where they are told apart.
struct TracedThreads {
    std::string name{};
    int32_t pid = -1;
    int32_t tid = -1;
    uint32_t threads = 0;
    ActivityTimes times{};
    uint64_t lockWaits = 0;  ///< of them for locks, unfinished ones included
    uint64_t lockWaitNs = 0; ///< and their time; what lies in another one of them counts once
    uint64_t lockTimeNs = 0; ///< of that: not inside of another wait of the same thread
    uint64_t longestNs = 0;  ///< of those that ended

    auto operator<=>(const TracedThreads&) const = default;
};

/// Waits for locks that began on one processor.
struct TracedProcessor {
    int32_t cpu = -1;
    uint64_t lockWaits = 0;
    uint64_t lockWaitNs = 0;
    uint64_t longestNs = 0;

    auto operator<=>(const TracedProcessor&) const = default;
};

/// Waits for locks that are in no other figure.
struct WaitsApart {
    uint64_t waits = 0;
    uint64_t ns = 0;

    auto operator<=>(const WaitsApart&) const = default;
};

/// All of a trace.
struct LockTraceRecord {
    uint64_t durationNs = 0; ///< of the time that the question is about
    uint64_t fromNs = 0;     ///< begin of that time, since the begin of the trace
    uint64_t wholeNs = 0;    ///< of the whole trace, as are the counts of events
    uint64_t events = 0;
    std::vector<std::pair<std::string, uint64_t>> eventCounts{};
    bool hasSwitches = false;
    bool hasWakings = false;
    bool hasContention = false; ///< lock:contention_*
    bool hasFutexes = false;
    bool hasRecordedHolds = false;
    bool hasStacks = false;

    bool untold = false;      ///< the recording does not tell what of it the question is about
    bool cutToCpus = false;   ///< only waits that began on some processors count: no account of time
    WaitsApart leftOut{};     ///< by the question
    WaitsApart ofRecorder{};  ///< of the recorder's own threads
    ActivityTimes recorder{}; ///< what they did
    uint32_t recorderThreads = 0;
    bool sampled = false;
    uint64_t lostEvents = 0;
    uint64_t endsWithoutBegin = 0;
    uint64_t beginsWithoutEnd = 0;
    uint64_t unlikelyPairs = 0;
    uint64_t unseenSwitches = 0;

    OffCpuTimes offCpu{};
    std::vector<TracedThreads> threads{};
    std::vector<TracedProcessor> processors{}; ///< by number; where they are told apart
    std::vector<TracedLock> locks{};           ///< locks first, then other words; heaviest first
    std::vector<NamedTime> blockedAt{};
    std::string problem{}; ///< what does not add up: an internal error; empty if all does

    auto operator<=>(const LockTraceRecord&) const = default;
};

/// All content as bytes; equal for equal content.
std::string bytesOf(const LockTraceRecord& record);

} // namespace whichlock
