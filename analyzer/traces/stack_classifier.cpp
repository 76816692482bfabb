// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/stack_classifier.h"

#include "analyzer/locks/normalise.h"

#include <algorithm>

namespace whichlock {
namespace {

struct WaitFunction {
    std::string_view name;
    WaitReason reason;
};

// Kernel functions below which a thread sleeps for something that is no lock; names of any version.
constexpr WaitFunction kKernelWaits[] = {
    {"io_schedule", WaitReason::Io},
    {"io_schedule_timeout", WaitReason::Io},
    {"folio_wait_bit_common", WaitReason::Io},
    {"wait_on_page_bit", WaitReason::Io},
    {"wait_on_page_bit_common", WaitReason::Io},
    {"wait_on_buffer", WaitReason::Io},
    {"__wait_on_buffer", WaitReason::Io},
    {"bit_wait_io", WaitReason::Io},
    {"blk_mq_get_tag", WaitReason::Io},
    {"rq_qos_wait", WaitReason::Io},
    {"submit_bio_wait", WaitReason::Io},
    {"jbd2_log_wait_commit", WaitReason::Io},
    {"wait_for_completion_io", WaitReason::Io},
    {"balance_dirty_pages", WaitReason::Io},
    {"try_to_free_pages", WaitReason::Reclaim},
    {"throttle_direct_reclaim", WaitReason::Reclaim},
    {"do_swap_page", WaitReason::PageFault},
    {"synchronize_rcu", WaitReason::GracePeriod},
    {"synchronize_rcu_normal", WaitReason::GracePeriod},
    {"synchronize_rcu_expedited", WaitReason::GracePeriod},
    {"synchronize_srcu", WaitReason::GracePeriod},
    {"__synchronize_srcu", WaitReason::GracePeriod},
    {"__wait_rcu_gp", WaitReason::GracePeriod},
    {"wait_rcu_gp", WaitReason::GracePeriod},
    {"rcu_barrier", WaitReason::GracePeriod},
    {"hrtimer_nanosleep", WaitReason::Sleep},
    {"do_nanosleep", WaitReason::Sleep},
    {"common_nsleep", WaitReason::Sleep},
    {"msleep", WaitReason::Sleep},
    {"usleep_range_state", WaitReason::Sleep},
    {"ep_poll", WaitReason::Poll},
    {"do_epoll_wait", WaitReason::Poll},
    {"do_poll", WaitReason::Poll},
    {"do_sys_poll", WaitReason::Poll},
    {"do_select", WaitReason::Poll},
    {"io_cqring_wait", WaitReason::Poll},
    {"pipe_read", WaitReason::Poll},
    {"anon_pipe_read", WaitReason::Poll},
    {"pipe_write", WaitReason::Poll},
    {"anon_pipe_write", WaitReason::Poll},
    {"inet_csk_accept", WaitReason::Poll},
    {"unix_stream_data_wait", WaitReason::Poll},
    {"unix_stream_read_generic", WaitReason::Poll},
    {"sk_wait_data", WaitReason::Poll},
    {"__skb_wait_for_more_packets", WaitReason::Poll},
    {"n_tty_read", WaitReason::Poll},
    {"eventfd_read", WaitReason::Poll},
    {"timerfd_read", WaitReason::Poll},
    {"inotify_read", WaitReason::Poll},
    {"do_sigtimedwait", WaitReason::Poll},
    {"sigsuspend", WaitReason::Poll},
    {"do_wait", WaitReason::Poll},
    {"worker_thread", WaitReason::Poll},
    {"kthreadd", WaitReason::Poll},
    {"smpboot_thread_fn", WaitReason::Poll},
    {"kthread_worker_fn", WaitReason::Poll},
    {"rcu_gp_fqs_loop", WaitReason::Poll},
    {"kswapd_try_to_sleep", WaitReason::Poll},
    {"irq_wait_for_interrupt", WaitReason::Poll},
};

// Functions of user space that wait for no lock, as far as the table of routines does not have them.
constexpr WaitFunction kUserWaits[] = {
    {"pthread_join", WaitReason::Join},
    {"__pthread_clockjoin_ex", WaitReason::Join},
    {"__pthread_timedjoin_ex", WaitReason::Join},
    {"pthread_timedjoin_np", WaitReason::Join},
    {"std::thread::join", WaitReason::Join},
    {"pthread_barrier_wait", WaitReason::Barrier},
    {"__pthread_barrier_wait", WaitReason::Barrier},
    {"___pthread_barrier_wait", WaitReason::Barrier},
};

struct LeaveFunction {
    std::string_view name;
    LeaveReason reason;
};

constexpr LeaveFunction kLeaves[] = {
    {"do_sched_yield", LeaveReason::Yield},
    {"__do_sys_sched_yield", LeaveReason::Yield},
    {"sys_sched_yield", LeaveReason::Yield},
    {"__x64_sys_sched_yield", LeaveReason::Yield},
    {"__ia32_sys_sched_yield", LeaveReason::Yield},
    {"__arm64_sys_sched_yield", LeaveReason::Yield},
    {"throttle_cfs_rq_work", LeaveReason::Throttled},
    {"__cond_resched", LeaveReason::Voluntary},
    {"_cond_resched", LeaveReason::Voluntary},
    {"dynamic_cond_resched", LeaveReason::Voluntary},
    {"__cond_resched_lock", LeaveReason::Voluntary},
    {"preempt_schedule", LeaveReason::Preempted},
    {"preempt_schedule_common", LeaveReason::Preempted},
    {"preempt_schedule_irq", LeaveReason::Preempted},
    {"preempt_schedule_notrace", LeaveReason::Preempted},
    {"irqentry_exit", LeaveReason::Preempted},
    {"irqentry_exit_to_user_mode", LeaveReason::Preempted},
    {"raw_irqentry_exit_cond_resched", LeaveReason::Preempted},
    {"exit_to_user_mode_loop", LeaveReason::Preempted},
    {"exit_to_user_mode_prepare", LeaveReason::Preempted},
    {"prepare_exit_to_usermode", LeaveReason::Preempted},
    {"do_notify_resume", LeaveReason::Preempted},
};

/// Routines of a completion, a thing that somebody announces: few of them are locks.
WaitReason completionReason(std::string_view symbol)
{
    if (symbol.find("once") != std::string_view::npos || symbol.find("cxa_guard") != std::string_view::npos)
        return WaitReason::Once;
    return symbol.find("barrier") != std::string_view::npos ? WaitReason::Barrier : WaitReason::Condition;
}

bool isAllocatorLock(const std::vector<std::string_view>& locks)
{
    return std::ranges::find(locks, "malloc_state.mutex") != locks.end();
}

/// Libraries whose locks keep queues of their own: each waiter sleeps on a word of its thread.
bool sleepsOnThreadWords(std::string_view subsystem)
{
    constexpr std::string_view kLibraries[] = {"abseil", "parking_lot", "jvm", "mysql"};
    return std::ranges::find(kLibraries, subsystem) != std::end(kLibraries);
}

/// What is above in the stack belongs to whoever was interrupted.
bool isInterruptEntry(std::string_view name)
{
    return name.starts_with("asm_sysvec_") || name.starts_with("asm_common_interrupt")
        || name.starts_with("common_interrupt") || name.starts_with("apic_timer_interrupt")
        || name.starts_with("reschedule_interrupt") || name.starts_with("el1h_64_irq")
        || name.starts_with("el0t_64_irq");
}

WaitReason lockReason(std::string_view symbol, std::string_view primitive)
{
    constexpr std::string_view kReaders[] = {"rdlock", "_read", "read_lock", "lock_shared", "Reader"};
    if (primitive.starts_with("rw"))
        return std::ranges::any_of(
                   kReaders, [&](auto part) { return symbol.find(part) != std::string_view::npos; })
            ? WaitReason::RwlockRead
            : WaitReason::RwlockWrite;
    if (primitive == "semaphore")
        return WaitReason::Semaphore;
    return WaitReason::Mutex;
}

/// Sleeps on a word for all kinds of callers; the caller tells for which.
bool isGenericSleep(std::string_view name)
{
    return name == "syscall" || name == "__syscall" || name == "clone"
        || name.find("futex_") != std::string_view::npos || name == "do_futex_wait" || name == "sched_yield"
        || name == "__sched_yield" || name == "std::this_thread::yield"
        || name.ends_with("Mutex::Block"); // of absl, for its conditions as well
}

/// Helpers that the compiler put into lock routines.
bool isInlinedHelper(std::string_view name)
{
    return name.starts_with("std::__atomic") || name.starts_with("std::atomic") || name.starts_with("lll_")
        || name.starts_with("__lll_") || name.starts_with("__pthread_mutex_")
        || name.starts_with("__pthread_rwlock_") || name.starts_with("__pthread_cond_");
}

/// The constructor or destructor of a class that holds a lock as long as it lives, by its name.
bool isGuard(std::string_view method)
{
    if (method.starts_with('~'))
        method.remove_prefix(1);
    constexpr std::string_view kParts[] = {"lock", "Lock", "guard", "Guard"};
    return std::ranges::any_of(
        kParts, [&](auto part) { return method.find(part) != std::string_view::npos; });
}

std::span<const NamedFrame> userPart(std::span<const NamedFrame> frames)
{
    const auto user =
        std::find_if(frames.begin(), frames.end(), [](const NamedFrame& frame) { return !frame.kernel; });
    return {user, frames.end()};
}

/// The last part of a method's name, without parameters; empty for what is no method.
std::string_view methodOf(std::string_view name)
{
    name = name.substr(0, name.find('('));
    const size_t colon = name.rfind("::");
    return colon == std::string_view::npos ? std::string_view() : name.substr(colon + 2);
}

/// Whether a method with that name takes the lock that its class is.
bool takesItself(std::string_view method)
{
    constexpr std::string_view kMethods[] = {"lock", "Lock", "WriterLock", "lock_shared", "ReaderLock"};
    return std::ranges::find(kMethods, method) != std::end(kMethods);
}

} // namespace

bool StackClassifier::isLockMethod(std::string_view function)
{
    std::string_view name = normalisedView(function);
    constexpr std::string_view kMethods[] = {"lock", "unlock", "lock_shared", "unlock_shared", "Lock",
        "Unlock", "ReaderLock", "ReaderUnlock", "WriterLock", "WriterUnlock"};
    name = name.substr(0, name.find('('));
    const size_t colon = name.rfind("::");
    if (colon == std::string_view::npos)
        return false;
    const std::string_view method = name.substr(colon + 2);
    std::string_view owner = name.substr(0, std::min(name.find('<'), colon));
    owner = owner.substr(std::min(owner.size(), owner.rfind("::") + 2));
    const bool special = method.starts_with('~') || (!owner.empty() && owner == method)
        || name.substr(0, colon).ends_with(method);
    return std::ranges::find(kMethods, method) != std::end(kMethods) || (special && isGuard(method));
}

namespace {

/// Takes a lock if nobody has it, and returns at once.
bool onlyTries(std::string_view name)
{
    constexpr std::array<std::string_view, 5> kParts = {
        "trylock", "try_lock", "tryrdlock", "trywrlock", "trywait"};
    return std::ranges::any_of(
        kParts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

} // namespace

StackClassifier::StackClassifier(const RoutineTable& routines, const Context& context)
    : routines_(routines)
    , context_(context)
{
}

StackClassifier::Facts StackClassifier::lookUp(const NamedFrame& frame) const
{
    Facts facts;
    const std::string_view name = normalisedView(frame.function);
    const auto byName = [&](const auto& row) { return row.name == name; };
    if (frame.kernel) {
        if (const auto* at = std::ranges::find_if(kKernelWaits, byName); at != std::end(kKernelWaits))
            facts.wait = at->reason;
        if (const auto* at = std::ranges::find_if(kLeaves, byName); at != std::end(kLeaves))
            facts.leave = at->reason;
    } else if (const auto* at = std::ranges::find_if(kUserWaits, byName); at != std::end(kUserWaits)) {
        facts.wait = at->reason;
        facts.partOfWait = true;
    }
    for (const Routine* row : routines_.find(frame.function, context_)) {
        if (row->isKernel() != frame.kernel)
            continue;
        if (row->isSiteHint()) {
            facts.ofAllocator = facts.ofAllocator || isAllocatorLock(row->locks);
            continue;
        }
        const Roles& roles = row->roles;
        const bool takes = roles.has(Role::AcquireWrapper) || roles.has(Role::SlowpathBlock) || roles.spins();
        const bool completion = row->primitive.find("completion") != std::string_view::npos;
        facts.partOfWait = facts.partOfWait || takes || roles.has(Role::OtherWait)
            || roles.has(Role::SkipFrame) || roles.has(Role::Release);
        facts.takes = facts.takes || takes;
        facts.skipped = facts.skipped || roles.has(Role::SkipFrame);
        facts.acquires = facts.acquires || roles.has(Role::AcquireWrapper);
        facts.ofRwlock = facts.ofRwlock || row->primitive.starts_with("rw");
        facts.releases = facts.releases || (roles.has(Role::Release) && !completion);
        facts.signals = facts.signals || (roles.has(Role::Release) && completion);
        facts.threadWord = facts.threadWord || sleepsOnThreadWords(row->subsystem);
        if (facts.wait != WaitReason::Unknown)
            continue;
        if (roles.has(Role::OtherWait))
            facts.wait = frame.kernel ? WaitReason::Other : WaitReason::Condition;
        else if (takes && completion)
            facts.wait = frame.kernel ? WaitReason::Other : completionReason(name);
        else if (takes && name.find("::Await") != std::string_view::npos)
            facts.wait = WaitReason::Condition; // of absl::Mutex, which has its conditions inside
        else if (takes && !isGenericSleep(name))
            facts.wait = lockReason(name, row->primitive);
    }
    facts.tries = onlyTries(name);
    facts.reacquires = name.find("mutex_cond_lock") != std::string_view::npos;
    facts.partOfWait = facts.partOfWait || (!frame.kernel && (isGenericSleep(name) || isInlinedHelper(name)));
    return facts;
}

const StackClassifier::Facts& StackClassifier::factsOf(const NamedFrame& frame)
{
    auto& known = facts_[frame.kernel ? 1 : 0];
    if (frame.function.empty()) {
        static const Facts kUnknown;
        static const Facts kPassesOn{.partOfWait = true};
        return frame.runtime ? kPassesOn : kUnknown;
    }
    const auto [at, isNew] = known.try_emplace(std::string(frame.function));
    if (isNew)
        at->second = lookUp(frame);
    return at->second;
}

void StackClassifier::classifyKernel(std::span<const NamedFrame> frames, TraceStackClass& known)
{
    bool offered = false; // the frame before is where the kernel offers to leave
    for (const NamedFrame& frame : frames) {
        if (!frame.kernel)
            break;
        const Facts& facts = factsOf(frame);
        if (known.leave == LeaveReason::Unknown)
            known.leave = facts.leave;
        // From Linux 6.18 on threads are throttled by work on their way out of the kernel, and leave behind
        // it.
        if (offered && frame.function == "task_work_run")
            known.leave = LeaveReason::Throttled;
        offered = facts.leave == LeaveReason::Voluntary;
        if (isInterruptEntry(frame.function))
            break;
        // Grace periods are waited for by means that others use for other things.
        const bool undecided = known.wait == WaitReason::Unknown || known.wait == WaitReason::Other;
        if (facts.wait != WaitReason::Unknown && undecided)
            known.wait = facts.wait;
        known.releasesKernelLock = known.releasesKernelLock || facts.releases;
    }
}

/// The routines that sleep stand together at the inner end; the outermost of them says what for.
void StackClassifier::classifyUser(std::span<const NamedFrame> frames, TraceStackClass& known)
{
    WaitReason reason = WaitReason::Unknown;
    size_t i = 0;
    for (; i < frames.size(); ++i) {
        const Facts& facts = factsOf(frames[i]);
        if (!facts.partOfWait)
            break;
        if (i == 0) {
            known.acquiresLock = facts.acquires && !facts.releases;
            known.triesLock = known.acquiresLock && facts.tries;
        }
        known.releasesLock = known.releasesLock || facts.releases;
        known.releasesRwlock = known.releasesRwlock || (facts.releases && facts.ofRwlock);
        known.signalsCondition = known.signalsCondition || facts.signals;
        if (facts.wait == WaitReason::Unknown)
            continue;
        const bool condition = facts.wait == WaitReason::Condition;
        if (condition && isLockReason(reason)) {
            known.insideCondition = true; // the mutex of the condition
            continue;
        }
        if (isLockReason(facts.wait) && (reason == WaitReason::Condition || facts.threadWord)) {
            known.parks = true;
            known.onCondition = !facts.threadWord;
        }
        known.insideCondition = known.insideCondition || facts.reacquires;
        reason = facts.wait;
    }
    if (i < frames.size())
        known.ofAllocator = factsOf(frames[i]).ofAllocator;
    if (i < frames.size())
        classifyMethod(frames[i], reason, i > 0, known);
    if (known.wait == WaitReason::Unknown)
        known.wait = reason;
}

/// A program's own lock that sleeps for a condition, on a bare word, or gives the processor away.
void StackClassifier::classifyMethod(
    const NamedFrame& method, WaitReason reason, bool sleeps, TraceStackClass& known)
{
    const bool waits = reason == WaitReason::Condition
        || (reason == WaitReason::Unknown && (sleeps || known.leave == LeaveReason::Yield));
    const std::string_view name = methodOf(normalisedView(method.function));
    if (!waits || known.releasesLock || known.signalsCondition || !takesItself(name))
        return;
    known.parks = true;
    known.onCondition = reason == WaitReason::Condition;
    known.wait = name == "lock_shared" || name == "ReaderLock" ? WaitReason::RwlockRead : WaitReason::Mutex;
}

TraceStackClass StackClassifier::classify(std::span<const NamedFrame> frames)
{
    TraceStackClass known;
    classifyKernel(frames, known);
    classifyUser(userPart(frames), known);
    return known;
}

/// Whether it left its processor by sched_yield(): then it waits in user space.
bool StackClassifier::yields(std::span<const NamedFrame> frames)
{
    for (size_t i = 0; i < frames.size() && frames[i].kernel; ++i) {
        if (factsOf(frames[i]).leave == LeaveReason::Yield)
            return true;
    }
    return false;
}

size_t StackClassifier::sleepSiteOf(std::span<const NamedFrame> frames)
{
    size_t at = 0;
    while (at < frames.size() && frames[at].kernel && factsOf(frames[at]).skipped)
        ++at;
    return at;
}

size_t StackClassifier::releaseSiteOf(std::span<const NamedFrame> frames)
{
    size_t at = 0;
    while (at < frames.size() && frames[at].kernel && !factsOf(frames[at]).releases)
        ++at;
    if (at == frames.size() || !frames[at].kernel)
        return siteOf(frames);
    while (at < frames.size() && factsOf(frames[at]).partOfWait)
        ++at;
    return at;
}

size_t StackClassifier::siteOf(std::span<const NamedFrame> frames)
{
    size_t at = 0;
    // In the kernel, what waits inside of a release or of the scheduler is a site itself: of the lock that
    // those functions take inside.
    if (yields(frames))
        return siteOf(userPart(frames)) + (frames.size() - userPart(frames).size());
    const bool kernel = !frames.empty() && frames.front().kernel;
    while (at < frames.size() && (kernel ? factsOf(frames[at]).takes : factsOf(frames[at]).partOfWait))
        ++at;
    if (kernel)
        return at;
    // A program's own lock class takes the lock for somebody else.
    constexpr size_t kMostWrappers = 6;
    const size_t last = std::min(frames.size(), at + kMostWrappers);
    for (size_t i = at; i < last; ++i) {
        if (isLockMethod(normalisedView(frames[i].function)))
            at = i + 1;
    }
    return at;
}

} // namespace whichlock
