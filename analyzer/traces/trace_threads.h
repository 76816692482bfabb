// SPDX-License-Identifier: GPL-3.0-or-later
// The threads of a trace that live: what each does, waits for, and what its group spent its time on.
#pragma once

#include "analyzer/traces/trace_analysis.h"

#include <array>
#include <map>
#include <unordered_map>
#include <utility>

namespace whichlock {

using TraceNameId = StringId;

/// A wait that has not ended yet.
struct OpenWait {
    TraceLockId lock{};
    uint32_t site = 0; ///< row
    WaitChannel channel = WaitChannel::Futex;
    uint64_t beganNs = 0;
    uint32_t cpu = 0;        ///< where it began
    bool counted = true;     ///< the question is about it, as far as its time is
    bool firstOfRow = true;  ///< of the waits in a row for one acquisition
    uint64_t lostBefore = 0; ///< losses that were known when it began
    bool charged = false;    ///< the lock's holders are asked for it
    TraceStackId stack{};
    FutexCall call{};
    WordSide side = WordSide::None;
    bool afterBroadcast = false;
    TraceLockId nestedIn{};   ///< the wait for which this one lies in
    uint64_t nestedNs = 0;    ///< how much of this one does
    bool interrupted = false; ///< by a signal, after which the kernel begins the call anew
};

/// A call of a routine that takes a lock, or tries to.
struct ProbedCall {
    uint64_t address = 0; ///< of the lock
    bool tries = false;
    TraceStackId stack{};
};

/// MT: one thread.
struct LiveThread {
    int32_t key = 0; ///< tid; of idle tasks -2 - processor
    uint32_t process = 0;
    TraceNameId name{};
    TraceGroupId group{};
    Counting counting = Counting::Yes;
    uint64_t firstNs = 0;
    bool born = false;        ///< its fork was recorded
    bool acted = false;       ///< an event happened in it
    bool actedBefore = false; ///< before the one at hand

    Activity scheduled = Activity::Unknown; ///< by switches and wake-ups alone
    uint32_t scheduledDetail = 0;
    bool out = false; ///< switched out
    bool outRunnable = false;
    uint64_t outNs = 0;
    uint64_t backNs = 0;  ///< when it had a processor again that it had to leave
    uint64_t wokenNs = 0; ///< 0: not yet
    WaitReason outReason = WaitReason::Unknown;
    TraceStackId outStack{};

    int32_t priority = kNoPriority; ///< when it was switched out last

    std::vector<OpenWait> waits{}; ///< outermost first
    uint64_t accountedNs = 0;      ///< the outermost wait counts from here on
    TraceLockId spunFor{};         ///< the spinlock that it got last, and may still have
    TraceLockId wokenFrom{};       ///< what it waited for last, if that was no lock
    bool wokenByBroadcast = false; ///< of many at once
    uint64_t wokenFromNs = 0;      ///< when that wait ended
    bool inFutexCall = false;      ///< one that does not wait
    FutexCall futexCall{};         ///< of it

    std::vector<ProbedCall> probed{}; ///< that have not returned
    TraceLockId triedFor{};           ///< it tried to take that lock last, in vain
    uint64_t triedNs = 0;

    TraceLockId acquiring{}; ///< waited for, and not given back since
    bool acquisitionCounted = false;
    uint64_t acquiringSinceNs = 0;
    uint64_t acquisitionEndNs = 0;

    ThreadTimeline timeline{};
    ActivitySums flushed{};   ///< part of the timeline's sums that groups have, or that is not counted
    bool contributed = false; ///< some of them have a part of it
};

/// MT: one thread.
class TraceThreads {
public:
    /// `apart`: threads of one name are groups of their own.
    TraceThreads(TraceEnvironment& environment, bool apart)
        : environment_(environment)
        , apart_(apart)
    {
    }

    /// The thread of a tid; a new one begins at `timeNs`.
    LiveThread& thread(int32_t key, int32_t pid, uint32_t epoch, uint64_t timeNs);
    LiveThread* find(int32_t key);
    const LiveThread* find(int32_t key) const;
    void setName(LiveThread& thread, std::string_view name, uint64_t timeNs);
    void setProcess(LiveThread& thread, int32_t pid, uint32_t epoch, uint64_t timeNs);
    /// Moves the time since the last call to the thread's group.
    void flush(LiveThread& thread, uint64_t timeNs);
    void forget(int32_t key);
    /// The last flush of a thread.
    void end(LiveThread& thread, uint64_t timeNs);
    /// From `timeNs` on time counts, or does not.
    void setOpen(bool open, uint64_t timeNs);

    TraceNameId nameId(std::string_view name) { return names_.intern(name); }
    std::string_view name(TraceNameId id) const { return names_[id]; }
    uint32_t nameCount() const { return names_.size(); }
    uint32_t processRow(int32_t pid, uint32_t epoch);

    std::unordered_map<int32_t, LiveThread>& all() { return threads_; }
    std::vector<TraceGroup>& groups() { return groups_; }
    std::vector<TraceProcess>& processes() { return processes_; }

private:
    struct GroupKey {
        TraceNameId name{};
        uint32_t process = 0;
        int32_t tid = -1;
        Counting counting = Counting::Yes;

        bool operator==(const GroupKey&) const = default;
        friend uint64_t hashOf(const GroupKey& key)
        {
            return mixBits((static_cast<uint64_t>(key.process) << 32U | key.name.v)
                ^ mixBits(static_cast<uint64_t>(static_cast<uint32_t>(key.tid)) << 8U
                    | static_cast<uint64_t>(key.counting)));
        }
    };

    /// A thread that was asked for: neighbouring events are of few of them.
    struct Recent {
        int32_t key = 0;
        LiveThread* thread = nullptr; ///< stays where it is until it is forgotten
    };
    static constexpr size_t kRecent = 256;

    Recent& recentOf(int32_t key) { return recent_[static_cast<uint32_t>(key) % kRecent]; }
    void regroup(LiveThread& thread);

    std::array<Recent, kRecent> recent_{};
    TraceEnvironment& environment_;
    bool apart_ = false;
    bool open_ = true;
    std::unordered_map<int32_t, LiveThread> threads_;
    StringInterner names_;
    Interner<GroupKey, TraceGroupId> groupKeys_;
    std::vector<TraceGroup> groups_; ///< of groupKeys_ row i + 1
    std::map<TraceProcess, uint32_t> processRows_;
    std::vector<TraceProcess> processes_;
};

} // namespace whichlock
