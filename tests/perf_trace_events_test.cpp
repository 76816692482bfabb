// SPDX-License-Identifier: GPL-3.0-or-later
// Tracepoints as events of a trace, from their bytes: each kind of event that tells of locks, also those that
// no kernel at hand was built with.
#include "analyzer/traces/perf_trace_events.h"
#include "tests/support/scripted_trace.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

constexpr uint64_t kLock = 0x5000;

/// Fields of eight bytes each, behind the eight that all tracepoints have.
std::shared_ptr<const TracepointFormat> formatOf(std::initializer_list<const char*> fields)
{
    auto format = std::make_shared<TracepointFormat>();
    uint32_t offset = 8;
    for (const char* name : fields) {
        format->fields.push_back({.name = name, .type = "unsigned long", .offset = offset, .size = 8});
        offset += 8;
    }
    return format;
}

/// A recording that a test writes event by event.
class Tracepoints {
public:
    explicit Tracepoints(ScriptedTrace& trace)
        : trace_(trace)
    {
    }

    uint32_t add(const std::string& name, std::initializer_list<const char*> fields)
    {
        PerfEvent event;
        event.index = count_++;
        event.name = name;
        event.attr.type = perf_type::kTracepoint;
        event.format = formatOf(fields);
        decoder.event(event);
        return event.index;
    }

    void happens(uint64_t timeNs, int32_t tid, uint32_t event, const std::vector<uint64_t>& values,
        TraceStackId stack = {})
    {
        std::string raw(8, '\0');
        for (const uint64_t value : values) {
            for (unsigned shift = 0; shift < 64; shift += 8)
                raw += static_cast<char>(value >> shift & 0xffU);
        }
        PerfSample sample;
        sample.event = event;
        sample.present = sample_bit::kTime | sample_bit::kTid | sample_bit::kRaw;
        sample.time = timeNs;
        sample.pid = ScriptedTrace::kPid;
        sample.tid = static_cast<uint32_t>(tid);
        sample.raw = raw;
        sample.rawOrder = ByteOrder::Little;
        PerfTraceEvent decoded;
        if (decoder.decode(sample, decoded))
            replay(decoded, stack, trace_.analyser);
        else
            ++refused;
    }

    PerfTraceEvents decoder;
    int refused = 0;

private:
    ScriptedTrace& trace_;
    uint32_t count_ = 0;
};

TEST(PerfTraceEvents, readLockdepWithItsTrylocks)
{
    ScriptedTrace trace;
    Tracepoints events(trace);
    const uint32_t acquire = events.add("lock:lock_acquire", {"lockdep_addr", "flags"});
    const uint32_t contended = events.add("lock:lock_contended", {"lockdep_addr"});
    const uint32_t acquired = events.add("lock:lock_acquired", {"lockdep_addr"});
    const uint32_t release = events.add("lock:lock_release", {"lockdep_addr"});
    events.happens(100, 1, acquire, {kLock, 1}); // by trylock: has it
    events.happens(110, 2, acquire, {kLock, 0});
    events.happens(112, 2, contended, {kLock});
    events.happens(140, 1, release, {kLock});
    events.happens(145, 2, acquired, {kLock});
    events.happens(160, 2, release, {kLock});
    const TraceAnalysis analysis = trace.finish();
    const TraceLock& lock = lockAt(analysis, kLock);
    EXPECT_EQ(lock.key.space, LockSpace::Kernel);
    EXPECT_EQ(lock.waits, 1U);
    EXPECT_EQ(lock.waitNs, 33U);
    ASSERT_FALSE(lock.holders.empty());
    EXPECT_EQ(lock.holders[0].waitNs, 28U);
    EXPECT_EQ(lock.handOffNs, 5U);
    EXPECT_EQ(lock.holders[0].holds.maxNs(), 40U);
}

TEST(PerfTraceEvents, readTheStaticProbesOfTheCLibrary)
{
    ScriptedTrace trace;
    Tracepoints events(trace);
    const auto probe = [&](const char* name) {
        return events.add(std::string("sdt_libpthread:") + name, {"__probe_ip", "arg1"});
    };
    const uint32_t entry = probe("mutex_entry");
    const uint32_t acquired = probe("mutex_acquired");
    const uint32_t acquiredElsewhere = probe("mutex_acquired_1"); // as older perf names the second place
    const uint32_t release = probe("mutex_release");
    events.happens(90, 1, entry, {0x7f00, kLock});
    events.happens(92, 1, acquired, {0x7f10, kLock});
    events.happens(100, 2, entry, {0x7f00, kLock});
    events.happens(150, 1, release, {0x7f20, kLock});
    events.happens(160, 2, acquiredElsewhere, {0x7f18, kLock});
    EXPECT_EQ(events.refused, 0);
    const TraceAnalysis analysis = trace.finish();
    const TraceLock& lock = lockAt(analysis, kLock);
    EXPECT_EQ(lock.kind, LockKind::UserMutex);
    EXPECT_EQ(lock.waitNs, 2U + 60U);
    EXPECT_EQ(lock.freeAcquisitions, 1U);
    EXPECT_EQ(lock.handOffNs, 10U);
    EXPECT_EQ(lock.unseenNs, 2U);
    EXPECT_EQ(lock.releases, 1U);
}

TEST(PerfTraceEvents, readProbesThatSomebodySetAtTheCallsOfMutexes)
{
    ScriptedTrace trace;
    Tracepoints events(trace);
    const TraceStackId lockCall = trace.stack({"pthread_mutex_lock", "work"});
    const TraceStackId unlockCall = trace.stack({"pthread_mutex_unlock", "work"});
    const uint32_t entry = events.add("probe_libc:anything", {"__probe_ip", "mutex"});
    const uint32_t done = events.add("probe_libc:anything__return", {"__probe_func", "__probe_ret_ip"});
    events.happens(100, 1, entry, {0x7f00, kLock}, lockCall);
    events.happens(101, 1, done, {0x7f00, 0x4000});
    events.happens(110, 2, entry, {0x7f00, kLock}, lockCall);
    events.happens(150, 1, entry, {0x7f80, kLock}, unlockCall);
    events.happens(158, 2, done, {0x7f00, 0x4000});
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kLock).waitNs, 1U + 48U);
    EXPECT_EQ(lockAt(analysis, kLock).holders.at(0).waitNs, 40U);
}

TEST(PerfTraceEvents, readWhatProbedCallsReturn)
{
    ScriptedTrace trace;
    Tracepoints events(trace);
    const TraceStackId tryCall = trace.stack({"pthread_mutex_trylock", "poll"});
    const uint32_t entry = events.add("probe_libc:try", {"__probe_ip", "mutex"});
    const uint32_t done = events.add("probe_libc:try__return", {"__probe_func", "__probe_ret_ip", "arg1"});
    constexpr uint64_t kBusy = 0x7fff00000010; // EBUSY in an int, and whatever the register has above it
    for (const uint64_t timeNs : {100U, 200U, 300U}) {
        events.happens(timeNs, 1, entry, {0x7f00, kLock}, tryCall);
        events.happens(timeNs + 10, 1, done, {0x7f00, 0x4000, kBusy});
    }
    events.happens(400, 1, entry, {0x7f00, kLock}, tryCall);
    events.happens(410, 1, done, {0x7f00, 0x4000, 0});
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kLock).waitNs, 200U); // from the second try in vain on
}

TEST(PerfTraceEvents, readFutexesOfAllSystemCalls)
{
    ScriptedTrace trace;
    Tracepoints events(trace);
    const uint32_t enter = events.add("raw_syscalls:sys_enter", {"id"});
    auto format = std::make_shared<TracepointFormat>(*formatOf({"id"}));
    format->fields.push_back({.name = "args",
        .type = "unsigned long[6]",
        .offset = 16,
        .size = 48,
        .kind = TracepointFieldKind::Array});
    PerfEvent event;
    event.index = enter;
    event.name = "raw_syscalls:sys_enter";
    event.attr.type = perf_type::kTracepoint;
    event.format = format;
    events.decoder.event(event);
    const uint32_t exit = events.add("raw_syscalls:sys_exit", {"id", "ret"});
    constexpr uint64_t kFutex = 202;
    constexpr uint64_t kFutexWait = 455;
    events.happens(100, 1, enter, {kFutex, kLock, 128, 2, 0, 0, 0});
    events.happens(120, 2, enter, {1, 3, 4, 5, 6, 7, 8}); // write()
    events.happens(130, 1, exit, {kFutex, 0});
    events.happens(140, 1, enter, {kFutexWait, kLock, 2, ~uint64_t{0}, 130, 0, 0}); // futex_wait()
    events.happens(170, 1, exit, {kFutexWait, 0});
    EXPECT_EQ(events.refused, 1);
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kLock).waits, 2U);
    EXPECT_EQ(lockAt(analysis, kLock).waitNs, 30U + 30U);
}

TEST(PerfTraceEvents, readTheCallsThatHaveOneOperationEach)
{
    ScriptedTrace trace;
    Tracepoints events(trace);
    const uint32_t wait = events.add(
        "syscalls:sys_enter_futex_wait", {"__syscall_nr", "uaddr", "val", "mask", "flags", "timeout"});
    const uint32_t waited = events.add("syscalls:sys_exit_futex_wait", {"__syscall_nr", "ret"});
    const uint32_t wake =
        events.add("syscalls:sys_enter_futex_wake", {"__syscall_nr", "uaddr", "mask", "nr", "flags"});
    const uint32_t woke = events.add("syscalls:sys_exit_futex_wake", {"__syscall_nr", "ret"});
    events.happens(100, 1, wait, {455, kLock, 2, 1, 130, 0});
    events.happens(130, 2, wake, {454, kLock, 1, 1, 130});
    events.happens(131, 2, woke, {454, 1});
    events.happens(140, 1, waited, {455, 0});
    const TraceAnalysis analysis = trace.finish();
    EXPECT_EQ(lockAt(analysis, kLock).waitNs, 40U);
    EXPECT_EQ(lockAt(analysis, kLock).handOffNs, 10U);
}

TEST(PerfTraceEvents, readPrioritiesWhereSwitchesHaveThem)
{
    ScriptedTrace trace;
    trace.analyser.schedulerRecorded();
    Tracepoints events(trace);
    const uint32_t change =
        events.add("sched:sched_switch", {"prev_pid", "prev_state", "next_pid", "prev_prio", "next_prio"});
    trace.wait(50, 3);
    events.happens(60, 3, change, {3, 1, 1, 97, 120});
    events.happens(100, 1, change, {1, 0, 2, 120, 98}); // the holder is preempted
    events.happens(150, 2, change, {2, 1, 1, 98, 120});
    trace.wake(160, 1);
    trace.waitEnds(165, 3);
    const TraceAnalysis analysis = trace.finish();
    const TraceLock& lock = lockAt(analysis, ScriptedTrace::kMutex);
    EXPECT_EQ(lock.waiterPriority, 97);
    ASSERT_EQ(lock.holders.size(), 1U);
    ASSERT_EQ(lock.holders[0].preemptedBy.size(), 1U);
    const auto [by, ns] = *lock.holders[0].preemptedBy.begin();
    EXPECT_EQ(ns, 50U);
    EXPECT_EQ(analysis.preemptors[by - 1].priority, 98);
    EXPECT_EQ(analysis.preemptors[by - 1].preemptedPriority, 120);
}

TEST(PerfTraceEvents, areNoneWithoutATimeAndOfOtherTracepoints)
{
    PerfTraceEvents decoder;
    PerfEvent event;
    event.attr.type = perf_type::kTracepoint;
    event.name = "block:block_rq_issue";
    event.format = formatOf({"sector"});
    decoder.event(event);
    EXPECT_FALSE(decoder.any());
    event.name = "lock:contention_begin";
    event.format = formatOf({"lock_addr", "flags"});
    decoder.event(event);
    EXPECT_TRUE(decoder.knows(0));
    PerfSample sample;
    sample.event = 0;
    PerfTraceEvent decoded;
    EXPECT_FALSE(decoder.decode(sample, decoded));
    sample.present = sample_bit::kTime; // fields that lie outside of the data are zeros
    ASSERT_TRUE(decoder.decode(sample, decoded));
    EXPECT_EQ(decoded.values[0], 0U);
}

TEST(FutexCalls, areToldApartByTheirOperation)
{
    const auto action = [](uint64_t operation) { return decodeFutexCall(1, operation, 1, 1, 1).action; };
    EXPECT_EQ(action(0), FutexAction::Wait);
    EXPECT_EQ(action(1), FutexAction::Wake);
    EXPECT_EQ(action(4), FutexAction::Requeue);
    EXPECT_EQ(action(5), FutexAction::WakeTwo);
    EXPECT_EQ(action(6), FutexAction::LockPi);
    EXPECT_EQ(action(13), FutexAction::LockPi);
    EXPECT_EQ(action(7), FutexAction::UnlockPi);
    EXPECT_EQ(action(8), FutexAction::None);                   // TRYLOCK_PI never waits
    EXPECT_EQ(action(9 | 128 | 256), FutexAction::WaitBitset); // private, real-time clock
    EXPECT_EQ(action(11), FutexAction::WaitRequeuePi);
    EXPECT_EQ(action(12), FutexAction::Requeue);
    EXPECT_FALSE(decodeFutexCall(1, 128, 1, 1, 1).shared);
    EXPECT_TRUE(decodeFutexCall(1, 9 | 256, 1, 1, 1).shared);
    EXPECT_EQ(decodeFutexCall(1, 0, 1, 7, 9).secondWord, 0U); // is not one of a wait
    EXPECT_EQ(decodeFutexCall(1, 3, 1, 7, 9).secondWord, 9U);
    EXPECT_EQ(decodeFutexCall(1, 3, 1, 7, 9).moveCount, 7U);
}

} // namespace
} // namespace whichlock::test
