// SPDX-License-Identifier: GPL-3.0-or-later
// Threads: who runs, who is off the processor and why.
#include "analyzer/traces/trace_analyser.h"

namespace whichlock {
namespace {

// Times beyond are damage; arithmetic on what is left cannot overflow.
constexpr uint64_t kLatestNs = uint64_t{1} << 62U;

// include/linux/sched.h: what sched_switch shows of a task's state. Flags of preemption lie above.
constexpr uint64_t kStateMask = 0xff;
constexpr uint64_t kDead = 0x10 | 0x20;

constexpr uint32_t kMostProcessors = 1U << 16U;

/// Idle tasks are told apart by their processor; -1 is nobody.
int32_t threadKey(const TraceMoment& at)
{
    return at.tid > 0 ? at.tid : -2 - static_cast<int32_t>(at.cpu & 0x3fffffffU);
}

Activity activityOf(WaitReason reason)
{
    switch (reason) {
    case WaitReason::Io:
    case WaitReason::PageFault:
    case WaitReason::Reclaim:
        return Activity::Io;
    case WaitReason::Sleep:
        return Activity::Sleep;
    case WaitReason::Condition:
    case WaitReason::Join:
    case WaitReason::Barrier:
    case WaitReason::Poll:
    case WaitReason::Semaphore:
        return Activity::Idle;
    case WaitReason::GracePeriod:
        return Activity::GracePeriod;
    case WaitReason::Unknown:
    case WaitReason::Mutex:
    case WaitReason::RwlockRead:
    case WaitReason::RwlockWrite:
    case WaitReason::Once:
    case WaitReason::Other:
        break;
    }
    return Activity::Blocked;
}

} // namespace

TraceAnalyser::TraceAnalyser(TraceEnvironment& environment, const TraceOptions& options)
    : environment_(environment)
    , options_(options)
    , threads_(environment, options.byThread)
{
}

void TraceAnalyser::setWindow(const TraceWindow& window)
{
    window_ = window;
    locks_.setWindow(window);
    nextEdgeNs_ = window.fromNs == 0 ? window.toNs : window.fromNs;
    threads_.setOpen(window.fromNs == 0, 0);
}

/// The time of threads up to an edge of the window belongs to what was before it.
void TraceAnalyser::crossEdge(uint64_t timeNs)
{
    if (nextEdgeNs_ == window_.fromNs) {
        threads_.setOpen(true, window_.fromNs);
        nextEdgeNs_ = window_.toNs;
    }
    if (timeNs >= nextEdgeNs_) {
        threads_.setOpen(false, window_.toNs);
        nextEdgeNs_ = UINT64_MAX;
    }
}

/// Time never goes back: who delivers has sorted, and what is still out of order is damage.
uint64_t TraceAnalyser::advance(uint64_t timeNs)
{
    const uint64_t next = std::max(nowNs_, std::min(timeNs, kLatestNs));
    if (next >= nextEdgeNs_)
        crossEdge(next);
    nowNs_ = next;
    if (!begun_ && timeNs != 0) { // what the recorder found when it came has no time
        begun_ = true;
        beginNs_ = nowNs_;
    }
    return nowNs_;
}

void TraceAnalyser::beginsAt(uint64_t timeNs)
{
    if (!begun_)
        advance(timeNs);
}

const TraceStackClass& TraceAnalyser::classOf(TraceStackId stack)
{
    if (classes_.size() <= stack.v)
        classes_.resize(stack.v + size_t{1});
    std::optional<TraceStackClass>& known = classes_[stack.v];
    if (!known)
        known = stack ? environment_.classify(stack) : TraceStackClass();
    return *known;
}

const ThreadTimeline* TraceAnalyser::timelineOf(int32_t thread) const
{
    const LiveThread* live = threads_.find(thread);
    return live == nullptr ? nullptr : &live->timeline;
}

const HoldLedger* TraceAnalyser::ledgerOf(TraceLockId lock) const
{
    return lock.v == 0 || lock.v > locks_.size() ? nullptr : &locks_[lock].ledger;
}

/// The thread that an event happened in; it runs now, whatever was known before.
LiveThread& TraceAnalyser::threadAt(const TraceMoment& at)
{
    advance(at.timeNs);
    ++events_;
    processors_ = std::max(processors_, std::min(at.cpu, kMostProcessors - 1) + 1);
    const uint32_t epoch = at.pid > 0 ? environment_.epochOf(at.pid) : 0;
    const int32_t pid = at.tid > 0 ? at.pid : 0;
    LiveThread& thread = threads_.thread(threadKey(at), pid, epoch, nowNs_);
    if (at.tid > 0 && at.pid > 0)
        threads_.setProcess(thread, at.pid, epoch, nowNs_);
    thread.actedBefore = thread.acted;
    thread.acted = true;
    if (hasSwitches_ && thread.key > 0 && thread.scheduled != Activity::Ran) {
        if (thread.out)
            returnUnseen(thread);
        else if (const auto arrival = arrivals_.find(at.cpu);
                 !thread.actedBefore && arrival != arrivals_.end() && arrival->second.tid == at.tid)
            thread.timeline.enter(arrival->second.timeNs, Activity::Ran, 0, nowNs_);
        setScheduled(thread, Activity::Ran, 0);
    }
    return thread;
}

/// It runs, but came back at a time that was not recorded: sleep becomes an upper bound, and being preempted
/// is in doubt altogether.
void TraceAnalyser::returnUnseen(LiveThread& thread)
{
    ++gaps_.unseenSwitches;
    addOffCpu(thread, false);
    endYield(thread, false);
    if (thread.waits.empty() && thread.outRunnable)
        thread.timeline.relabel(Activity::Uncertain);
}

/// Nobody asks what happened before the oldest wait began that is still on.
uint64_t TraceAnalyser::neededFromNs() const
{
    return openSince_.empty() ? nowNs_ : openSince_.first().beganNs;
}

/// What the thread does now: a wait counts as such also while the thread spins or is already woken.
void TraceAnalyser::refresh(LiveThread& thread)
{
    Activity activity = thread.scheduled;
    uint32_t detail = thread.scheduledDetail;
    if (!thread.waits.empty()) {
        const OpenWait& wait = thread.waits.front();
        activity = wait.charged ? Activity::LockWait : Activity::Idle;
        detail = wait.charged ? wait.lock.v : 0;
    }
    thread.timeline.enter(nowNs_, activity, detail, neededFromNs());
}

void TraceAnalyser::setScheduled(LiveThread& thread, Activity activity, uint32_t detail)
{
    thread.scheduled = activity;
    thread.scheduledDetail = detail;
    refresh(thread);
}

void TraceAnalyser::contextSwitch(const TraceMoment& at, const TaskSwitch& change)
{
    hasSwitches_ = true;
    sawSwitch_ = true;
    advance(at.timeNs);
    if (change.previous > 0 && (change.previousState & kDead) != 0) {
        ++events_;
        exit(at.timeNs, change.previous);
    } else if (change.previous > 0) {
        TraceMoment moment = at;
        moment.tid = change.previous;
        moment.pid = at.tid == change.previous ? at.pid : -1;
        LiveThread& thread = threadAt(moment);
        if (!change.previousName.empty())
            threads_.setName(thread, change.previousName, nowNs_);
        switchOut(thread, at, change);
    } else {
        ++events_;
    }
    // A task that is not known yet may be none that is traced: it counts from its own first event on.
    if (at.cpu < kMostProcessors)
        arrivals_[at.cpu] = {change.next, nowNs_};
    if (LiveThread* thread = change.next > 0 ? threads_.find(change.next) : nullptr)
        switchIn(*thread);
}

void TraceAnalyser::switchOut(LiveThread& thread, const TraceMoment& at, const TaskSwitch& change)
{
    const TraceStackClass& known = classOf(at.stack);
    leavesSpinlock(thread);
    thread.out = true;
    thread.outNs = nowNs_;
    thread.wokenNs = 0;
    thread.outStack = at.stack;
    thread.outReason = known.wait;
    thread.outRunnable = (change.previousState & kStateMask) == 0;
    notePriority(thread, change.previousPriority);
    if (!thread.outRunnable) {
        setScheduled(thread, activityOf(known.wait), at.stack.v);
        return;
    }
    uint32_t detail = 0;
    const Activity activity = leaves(change, known.leave, detail);
    setScheduled(thread, activity, detail);
    if (activity == Activity::Yielded && known.parks)
        yields(thread, at.stack);
}

void TraceAnalyser::switchIn(LiveThread& thread)
{
    if (thread.out)
        addOffCpu(thread, true);
    endYield(thread, true);
    setScheduled(thread, Activity::Ran, 0);
}

/// `seen`: the thread was switched in right now; else it runs, since when is not known.
void TraceAnalyser::addOffCpu(LiveThread& thread, bool seen)
{
    OffCpuSums& sums = threads_.groups()[thread.group.v - 1].offCpu;
    const uint64_t ns = window_.lengthOf(thread.outNs, nowNs_);
    thread.out = false;
    if (thread.outRunnable)
        thread.backNs = nowNs_;
    if (!seen) {
        sums.upToNs += ns;
        return;
    }
    if (thread.outRunnable) {
        sums.runnableNs += ns;
        return;
    }
    sums.blockedNs += ns;
    const uint64_t woken = thread.wokenNs == 0 ? nowNs_ : std::max(thread.wokenNs, thread.outNs);
    sums.wokenNs += window_.lengthOf(woken, nowNs_);
    if (!thread.waits.empty()) {
        if (thread.waits.front().counted)
            locks_.sites()[thread.waits.front().site].offCpuNs += ns;
        return;
    }
    const Activity activity = activityOf(thread.outReason);
    (activity == Activity::Io             ? sums.ioNs
            : activity == Activity::Sleep ? sums.sleepNs
            : activity == Activity::Idle  ? sums.idleNs
                                          : sums.otherNs) += ns;
    if (activity == Activity::Blocked && ns != 0 && thread.counting == Counting::Yes)
        blockedAt_[thread.outStack.v] += ns;
}

void TraceAnalyser::becomesRunnable(int32_t target)
{
    LiveThread* thread = threads_.find(target);
    if (thread == nullptr || !thread->out || thread->outRunnable || thread->wokenNs != 0)
        return;
    thread->wokenNs = nowNs_;
    setScheduled(*thread, Activity::Woken, 0);
}

void TraceAnalyser::waking(const TraceMoment& at, int32_t target)
{
    hasWakings_ = true;
    LiveThread& waker = threadAt(at);
    if (classOf(at.stack).releasesKernelLock)
        kernelRelease(waker, at.stack, target);
    becomesRunnable(target);
}

void TraceAnalyser::wakeup(const TraceMoment& at, int32_t target)
{
    threadAt(at);
    becomesRunnable(target);
}

void TraceAnalyser::fork(uint64_t timeNs, int32_t pid, int32_t tid, int32_t parentTid)
{
    advance(timeNs);
    if (LiveThread* old = threads_.find(tid)) {
        if (old->born && old->firstNs == nowNs_)
            return;
        endThread(*old);
        threads_.forget(tid);
    }
    TraceNameId name;
    if (const LiveThread* parent = threads_.find(parentTid))
        name = parent->name;
    LiveThread& thread = threads_.thread(tid, pid, environment_.epochOf(pid), nowNs_);
    thread.born = timeNs != 0;
    if (name)
        threads_.setName(thread, threads_.name(name), nowNs_);
    if (thread.born)
        setScheduled(thread, hasSwitches_ ? Activity::Woken : Activity::Unknown, 0);
}

void TraceAnalyser::exit(uint64_t timeNs, int32_t tid)
{
    advance(timeNs);
    LiveThread* thread = threads_.find(tid);
    if (thread == nullptr)
        return;
    endThread(*thread);
    threads_.forget(tid);
}

/// Its waits end unfinished; its time goes to its group.
void TraceAnalyser::endThread(LiveThread& thread)
{
    expirePoll(thread);
    if (!thread.waits.empty())
        findCircle(thread.waits.back().lock);
    while (!thread.waits.empty())
        endWait(thread, thread.waits.size() - 1, false, false);
    settleAcquisition(thread);
    threads_.end(thread, nowNs_);
}

void TraceAnalyser::name(uint64_t timeNs, int32_t pid, int32_t tid, std::string_view name)
{
    advance(timeNs);
    LiveThread& thread = threads_.thread(tid, pid, environment_.epochOf(pid), nowNs_);
    threads_.setName(thread, name, nowNs_);
}

void TraceAnalyser::lost(uint64_t count)
{
    gaps_.lostEvents += count;
}

} // namespace whichlock
