// SPDX-License-Identifier: GPL-3.0-or-later
// What the analysis of traces is told and asks: neutral events, opaque stacks, and what a stack says about
// the thread that has it. Names come in only through TraceEnvironment.
#pragma once

#include "analyzer/model/ids.h"
#include "analyzer/symbols/mapped_module.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace whichlock {

/// A distinct call stack of whoever delivers the events; 0 = none was recorded.
using TraceStackId = Id<struct TraceStackTag>;
/// Threads of one name in one process.
using TraceGroupId = Id<struct TraceGroupTag>;
/// A lock, or another word or object that is waited for; its row in TraceAnalysis::locks is v - 1.
using TraceLockId = Id<struct TraceLockTag>;

/// The priority of a task that is not known.
constexpr int32_t kNoPriority = INT32_MAX;

/// When, who, where and how a thread got there.
struct TraceMoment {
    uint64_t timeNs = 0;
    int32_t pid = -1;
    int32_t tid = -1; ///< 0: the idle task of `cpu`
    uint32_t cpu = 0;
    TraceStackId stack{};
};

/// What a thread that sleeps or spins with a stack waits for.
enum class WaitReason : uint8_t {
    Unknown,
    Mutex,
    RwlockRead,
    RwlockWrite,
    Once, ///< behind another thread that initialises
    Semaphore,
    Condition,
    Join,
    Barrier,
    Sleep,
    Poll,
    Io,
    PageFault,
    Reclaim,
    Other,
    GracePeriod, ///< until all readers of RCU are through
};

/// Whether a wait for this reason is a wait for a lock.
constexpr bool isLockReason(WaitReason reason)
{
    return reason == WaitReason::Mutex || reason == WaitReason::RwlockRead
        || reason == WaitReason::RwlockWrite || reason == WaitReason::Once;
}

/// Why a runnable thread left its processor, as its stack tells.
enum class LeaveReason : uint8_t {
    Unknown,
    Preempted, ///< on the way out of an interrupt or system call
    Voluntary, ///< at a point where the kernel offers it (cond_resched)
    Yield,     ///< it called sched_yield
    Throttled, ///< its control group has used up its time
};

/// What the functions of a stack tell; all defaults for a stack without names.
struct TraceStackClass {
    WaitReason wait = WaitReason::Unknown;
    LeaveReason leave = LeaveReason::Unknown;
    bool parks = false;       ///< the lock sleeps on another word: of the thread, or of a condition variable
    bool onCondition = false; ///< of these: on a condition variable that its waiters share
    bool ofAllocator = false; ///< it is the lock of the C library's memory that is waited for
    bool insideCondition = false;    ///< takes the mutex again at the end of a condition wait
    bool acquiresLock = false;       ///< the innermost frame is a routine that takes a lock
    bool triesLock = false;          ///< of these, one that does not wait for it
    bool releasesLock = false;       ///< of user space
    bool releasesRwlock = false;     ///< of these, a reader-writer lock
    bool signalsCondition = false;   ///< wakes waiters of a condition variable
    bool releasesKernelLock = false; ///< mutex_unlock, up_write and the like
};

/// What a question is about is counted; all events are followed in any case, so that holders are right.
enum class Counting : uint8_t {
    Yes,
    LeftOut,
    Recorder, ///< the recorder's own work: part of no figure, but told
};

/// A thread as a question may name it.
struct TracedTask {
    int32_t pid = -1;
    int32_t tid = -1;
    std::string_view name{};
    std::string_view processName{}; ///< of its first thread, as far as that is known
};

/// A part of the time, by the clock of the trace; `toNs` does not belong to it.
struct TraceWindow {
    uint64_t fromNs = 0;
    uint64_t toNs = UINT64_MAX;

    bool all() const { return fromNs == 0 && toNs == UINT64_MAX; }
    uint64_t clamp(uint64_t timeNs) const { return std::clamp(timeNs, fromNs, toNs); }
    /// How much of [beganNs, endedNs) lies in it.
    uint64_t lengthOf(uint64_t beganNs, uint64_t endedNs) const { return clamp(endedNs) - clamp(beganNs); }
    /// Whether any of it does; what lasts no time belongs to where it is.
    bool touches(uint64_t beganNs, uint64_t endedNs) const
    {
        return beganNs < toNs && (endedNs > fromNs || beganNs >= fromNs);
    }
    bool covers(uint64_t beganNs, uint64_t endedNs) const { return beganNs >= fromNs && endedNs <= toNs; }
};

/// Where a word of user space lies, as far as the mappings tell.
struct WordPlace {
    ModuleId module{};   ///< none: no mapping has it; if shared, a number of the file or memory
    uint64_t offset = 0; ///< see ModuleKind
    bool shared = false; ///< a shared mapping: the same (module, offset) is the same word in every process
};

/// The lock that a stack waits for, where the word that it sleeps on is not the lock.
struct ParkedPlace {
    bool isObject = false; ///< else `address` is a number of the call site
    uint64_t address = 0;
};

/// What the analysis asks about processes, addresses and stacks, while the recording is replayed.
class TraceEnvironment {
public:
    virtual ~TraceEnvironment() = default;

    /// Asked once a distinct stack.
    virtual TraceStackClass classify(TraceStackId /*stack*/) { return {}; }
    /// Which life of that pid it is now.
    virtual uint32_t epochOf(int32_t /*pid*/) { return 0; }
    /// Whether the waits of a thread are counted. Asked when it appears and when it changes.
    virtual Counting countingOf(const TracedTask& /*task*/) { return Counting::Yes; }
    /// Whether waits that begin on that processor are.
    virtual bool countsProcessor(uint32_t /*cpu*/) { return true; }
    /// Asked once a distinct word of a process.
    virtual WordPlace placeOf(int32_t /*pid*/, uint64_t /*address*/) { return {}; }
    /// Asked once a distinct stack of a process whose class says that the lock parks.
    virtual ParkedPlace parkedPlaceOf(int32_t /*pid*/, TraceStackId stack) { return {false, stack.v}; }
};

/// Where the address of a lock means something.
enum class LockSpace : uint8_t {
    Kernel,
    Process,  ///< one life of a process
    Shared,   ///< a file that several processes have mapped
    CallSite, ///< of one life of a process; the address is a number of where the lock is taken
};

/// What makes two waits be for the same thing.
struct LockKey {
    LockSpace space = LockSpace::Kernel;
    uint32_t owner = 0; ///< of a process: row + 1 in TraceAnalysis::processes; Shared: the object
    uint64_t address = 0;

    auto operator<=>(const LockKey&) const = default;
};

/// What a thread did during a stretch of time.
enum class Activity : uint8_t {
    Unknown, ///< not recorded
    Ran,
    Uncertain, ///< was switched out and seen running later; when it came back was not recorded
    Preempted, ///< runnable; another task got its processor
    Yielded,
    Voluntary, ///< runnable; left where the kernel offered it
    Throttled, ///< runnable, while its processor went idle: throttled or on its way to another one
    Woken,     ///< runnable; woken and not yet on a processor
    Io,
    Sleep,
    Idle,    ///< condition, join, poll: waits for work
    Blocked, ///< for what cannot be told
    LockWait,
    GracePeriod, ///< blocked until all readers of RCU are through
};
constexpr size_t kActivities = 14;

/// The detail of a stretch that began with the thread being throttled.
constexpr uint32_t kThrottledDetail = uint32_t{1} << 31U;

using ActivitySums = std::array<uint64_t, kActivities>;

std::string_view activityName(Activity activity);
std::string_view waitReasonName(WaitReason reason);

} // namespace whichlock
