// SPDX-License-Identifier: GPL-3.0-or-later
// Takes the events of a trace in the order of time and finds who waited, for what, how long and behind whom.
// One pass; memory goes by living threads, locks and distinct stacks, not by events.
#pragma once

#include "analyzer/traces/lock_table.h"
#include "analyzer/traces/trace_threads.h"

#include <array>
#include <optional>

namespace whichlock {

/// A task leaves a processor and another one gets it.
struct TaskSwitch {
    int32_t previous = -1;
    uint64_t previousState = 0; ///< as in sched_switch
    std::string_view previousName{};
    int32_t next = -1;
    std::string_view nextName{};
    int32_t previousPriority = kNoPriority;
    int32_t nextPriority = kNoPriority;
};

/// A lock whose request, acquisition and release are events.
struct RecordedLock {
    bool user = false; ///< the address lies in the memory of the process
    uint64_t address = 0;
    WaitReason reason = WaitReason::Mutex;
    LockKind kind = LockKind::Unknown;
};

/// What is told apart beyond what every question needs; costs memory.
struct TraceOptions {
    bool byThread = false;
    bool byProcessor = false;
};

/// MT: one thread.
class TraceAnalyser final : private HoldContext {
public:
    explicit TraceAnalyser(TraceEnvironment& environment, const TraceOptions& options = {});

    /// `flags` as in lock:contention_begin.
    void contentionBegin(const TraceMoment& at, uint64_t lock, uint32_t flags);
    void contentionEnd(const TraceMoment& at, uint64_t lock, int32_t result);
    void futexEnter(const TraceMoment& at, const FutexCall& call);
    void futexExit(const TraceMoment& at, int64_t result);
    void lockRequested(const TraceMoment& at, const RecordedLock& lock);
    void lockAcquired(const TraceMoment& at, const RecordedLock& lock, bool success);
    void lockReleased(const TraceMoment& at, const RecordedLock& lock);
    /// A probe at the entry of a function, which the stack names, with its first argument; and at its return,
    /// with what it returned where that was recorded: 0 means that it got the lock.
    void probe(const TraceMoment& at, uint64_t address);
    void probeReturn(const TraceMoment& at, std::optional<uint32_t> result = {});
    void contextSwitch(const TraceMoment& at, const TaskSwitch& change);
    /// The thread at `at` makes another one runnable (sched_waking), or it has become so (sched_wakeup).
    void waking(const TraceMoment& at, int32_t target);
    void wakeup(const TraceMoment& at, int32_t target);
    void fork(uint64_t timeNs, int32_t pid, int32_t tid, int32_t parentTid);
    void exit(uint64_t timeNs, int32_t tid);
    void name(uint64_t timeNs, int32_t pid, int32_t tid, std::string_view name);
    void lost(uint64_t count);
    /// Tracepoints were sampled: begins and ends may belong to different calls.
    void sampled() { gaps_.sampled = true; }
    /// Switches will come: what a thread does is told from its first event on.
    void schedulerRecorded() { hasSwitches_ = true; }
    /// Only waiting in it, and what threads did in it, is counted. Before the first event.
    void setWindow(const TraceWindow& window);
    /// When recording began, where that is earlier than the first event.
    void beginsAt(uint64_t timeNs);

    /// What was found up to the last event or `endNs`, whichever is later. The analyser is empty afterwards.
    TraceAnalysis finish(uint64_t endNs = 0);

private:
    const ThreadTimeline* timelineOf(int32_t thread) const override;
    const HoldLedger* ledgerOf(TraceLockId lock) const override;

    uint64_t advance(uint64_t timeNs);
    void crossEdge(uint64_t timeNs);
    const TraceStackClass& classOf(TraceStackId stack);
    LiveThread& threadAt(const TraceMoment& at);
    void returnUnseen(LiveThread& thread);
    uint64_t neededFromNs() const;
    void refresh(LiveThread& thread);
    void setScheduled(LiveThread& thread, Activity activity, uint32_t detail);
    HolderKey holderKey(const LiveThread& thread, TraceStackId stack) const { return {stack, thread.group}; }

    void switchOut(LiveThread& thread, const TraceMoment& at, const TaskSwitch& change);
    void switchIn(LiveThread& thread);
    void addOffCpu(LiveThread& thread, bool seen);
    void becomesRunnable(int32_t target);
    void kernelRelease(const LiveThread& waker, TraceStackId stack, int32_t target);

    TraceLockId kernelLock(uint64_t address);
    TraceLockId knownWord(const LiveThread& thread, uint64_t address) const;
    TraceLockId wordLock(const LiveThread& thread, uint64_t word, uint64_t address, bool mayBeShared);
    TraceLockId parkedLock(const LiveThread& thread, TraceStackId stack);
    TraceLockId futexLock(const LiveThread& thread, const FutexCall& call, const LibraryWord& word,
        TraceStackId stack, const TraceStackClass& known);
    TraceLockId lockAtWord(const LiveThread& thread, uint64_t word, bool mayBeShared);
    void yields(LiveThread& thread, TraceStackId stack);
    void endYield(LiveThread& thread, bool seen);
    Activity leaves(const TaskSwitch& change, LeaveReason reason, uint32_t& detail);
    void notePriority(LiveThread& thread, int32_t priority);
    void beginWait(LiveThread& thread, OpenWait wait, WaitReason reason);
    void endWait(LiveThread& thread, size_t index, bool acquired, bool whole);
    void dropWait(LiveThread& thread, size_t index);
    void closeWait(LiveThread& thread, size_t index);
    void leaveOut(const OpenWait& wait, uint64_t beganNs, uint64_t endNs);
    void countAcquisition(LiveThread& thread, const OpenWait& wait);
    uint64_t countedNs(const OpenWait& wait, uint64_t fromNs, uint64_t toNs) const;
    void addOpenAtBegin(const LiveThread& thread, TraceLockId lock, const TraceMoment& at);
    bool noteAcquisition(LiveThread& thread, TraceLockId lock, uint64_t beganNs);
    void settleAcquisition(LiveThread& thread);
    void creditOutermost(LiveThread& thread);
    void noteNested(const OpenWait& wait, uint64_t ns);
    bool mayBeOnSinceBegin(const LiveThread& thread) const;
    WaitReason futexReason(const LiveThread& thread, const FutexCall& call, const TraceStackClass& known);
    bool isLikelyPair(const OpenWait& wait, TraceStackId endStack, int64_t result);
    void noteWord(LiveLock& lock, const LiveThread& thread, const FutexCall& call);
    void release(LiveThread& thread, TraceLockId lock, TraceStackId stack, uint32_t wakes);
    void requeue(const LiveThread& thread, const FutexCall& call);
    void settleHolds(LiveLock& lock);
    size_t recordedWait(const LiveThread& thread, TraceLockId lock) const;
    void triedInVain(const TraceMoment& at, uint64_t address);
    void endPoll(LiveThread& thread, size_t index);
    bool triesStill(const LiveThread& thread, uint64_t triedNs) const;
    void expirePoll(LiveThread& thread);
    void expirePolls(LiveLock& lock);
    void leavesSpinlock(LiveThread& thread);
    void endThread(LiveThread& thread);
    void forgetActivities(TraceAnalysis& analysis) const;
    void finishLock(LiveLock& lock, TraceAnalysis& analysis);
    void chargeOwnersAtEnd();
    TraceLockId waitedForByOwner(TraceLockId lock) const;
    void findCircle(TraceLockId lock);
    void findDeadlocks();
    void findStuckLocks();

    TraceEnvironment& environment_;
    TraceOptions options_;
    TraceWindow window_;
    uint64_t nextEdgeNs_ = UINT64_MAX;                    ///< of the window
    std::vector<std::optional<TraceStackClass>> classes_; ///< by stack
    TraceThreads threads_;
    LockTable locks_;
    struct KnownLock {
        uint64_t address = 0;
        TraceLockId lock{};
    };
    std::array<KnownLock, 64> lastKernelLocks_{};
    struct Word {
        uint32_t process = 0; ///< row
        uint64_t address = 0;

        bool operator==(const Word&) const = default;
        friend uint64_t hashOf(const Word& word) { return mixBits(word.address ^ mixBits(word.process)); }
    };
    Interner<Word, Id<struct WordTag>> words_;
    std::vector<TraceLockId> wordLocks_; ///< of words_ row i + 1
    /// By row of the inner wait's site and lock of the outer one.
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> nested_;
    WaitQueue openSince_;                                           ///< waits that are charged
    std::map<std::pair<uint32_t, uint64_t>, TraceLockId> parkedAt_; ///< the lock that the word slept for last
    std::map<std::pair<uint32_t, uint32_t>, TraceLockId> parked_;   ///< by process row and stack
    Interner<Preemptor, Id<struct PreemptorTag>> preemptors_;
    /// Which task a processor went to last.
    struct Arrival {
        int32_t tid = 0;
        uint64_t timeNs = 0;
    };
    std::unordered_map<uint32_t, Arrival> arrivals_; ///< by processor
    std::map<uint32_t, uint64_t> blockedAt_;
    TraceGaps gaps_;
    bool begun_ = false;
    uint64_t beginNs_ = 0;
    uint64_t nowNs_ = 0;
    uint64_t events_ = 0;
    uint32_t processors_ = 0;
    bool hasSwitches_ = false;
    bool sawSwitch_ = false;
    bool hasWakings_ = false;
};

/// Decides what each waited-for thing is, and which of its sites wait for a lock.
void decideLockKind(LiveLock& lock, std::vector<TraceSite>& sites);

} // namespace whichlock
