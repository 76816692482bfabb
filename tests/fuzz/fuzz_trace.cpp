// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as the events of a trace, whether they make sense or not: all waiting has to be accounted for.
// Each event takes a byte for what it is, one for who and where, two for when, and a value of two or eight.
#include "analyzer/traces/lock_families.h"
#include "analyzer/traces/trace_analyser.h"
#include "parsers/input/byte_reader.h"

#include <cstdio>
#include <cstdlib>

namespace whichlock {
namespace {

constexpr unsigned kStacks = 32;
constexpr uint64_t kWords = 0x5000;
constexpr uint64_t kKernel = 0xffff888100000000;

/// Stacks and places tell something that depends on their number alone.
class AnyEnvironment final : public TraceEnvironment {
public:
    TraceStackClass classify(TraceStackId stack) override
    {
        constexpr WaitReason kReasons[] = {WaitReason::Unknown, WaitReason::Mutex, WaitReason::RwlockRead,
            WaitReason::Condition, WaitReason::Io, WaitReason::GracePeriod, WaitReason::RwlockWrite,
            WaitReason::Join};
        constexpr LeaveReason kLeaves[] = {
            LeaveReason::Unknown, LeaveReason::Preempted, LeaveReason::Yield, LeaveReason::Throttled};
        TraceStackClass known;
        known.wait = kReasons[stack.v % 8];
        known.leave = kLeaves[stack.v / 8 % 4];
        known.parks = known.wait == WaitReason::Mutex && stack.v >= kStacks / 2;
        known.onCondition = known.parks && stack.v % 2 == 0;
        known.acquiresLock = stack.v % 3 == 0;
        known.releasesLock = stack.v % 3 == 1;
        known.releasesRwlock = known.releasesLock && stack.v % 2 == 0;
        known.signalsCondition = stack.v % 3 == 2;
        known.releasesKernelLock = stack.v % 5 == 0;
        known.insideCondition = stack.v % 7 == 0;
        return known;
    }
    uint32_t epochOf(int32_t pid) override { return static_cast<uint32_t>(pid) / 4; }
    WordPlace placeOf(int32_t /*pid*/, uint64_t address) override
    {
        return {.module = {1}, .offset = address & 0xff, .shared = (address & 0x80) != 0};
    }
    ParkedPlace parkedPlaceOf(int32_t /*pid*/, TraceStackId stack) override
    {
        return {stack.v % 2 == 0, kWords + stack.v};
    }
};

class SomeNames final : public TraceNames {
public:
    TracedPlace siteOf(TraceStackId stack) override { return {.function = std::to_string(stack.v)}; }
    TracedPlace holderSiteOf(TraceStackId stack) override { return siteOf(stack); }
    std::string sleepOf(TraceStackId stack) override { return std::to_string(stack.v); }
    TracedVariable variableOf(const TraceProcess&, uint64_t address) override
    {
        return {.name = address % 4 == 0 ? "variable" : "", .offset = address % 64, .object = "program"};
    }
};

/// Turns bytes into calls.
class EventReader {
public:
    EventReader(std::string_view bytes, TraceAnalyser& analyser)
        : reader_(bytes, ByteOrder::Little)
        , analyser_(analyser)
    {
    }

    /// False at the end.
    bool step()
    {
        if (reader_.remaining() == 0)
            return false;
        const unsigned what = reader_.u8();
        const unsigned who = reader_.u8();
        const uint16_t when = reader_.u16();
        const uint64_t value = (what & 0x80U) != 0 ? reader_.u64() : reader_.u16();
        // Mostly a little later; sometimes far away, or back.
        timeNs_ = when == UINT16_MAX ? value : timeNs_ + when;
        const TraceMoment at{.timeNs = timeNs_,
            .pid = static_cast<int32_t>(who / 8 % 4),
            .tid = static_cast<int32_t>(who % 8),
            .cpu = who / 64,
            .stack = {what / 4 % kStacks}};
        event(what % 24, at, value);
        return true;
    }

private:
    static FutexCall callOf(uint64_t value)
    {
        return decodeFutexCall(kWords + (value & 0xffU), value >> 8U & 0x8fU, value >> 8U & 0x1fU,
            value >> 4U & 0xfU, kWords + (value >> 8U));
    }
    /// Some are as far from each other as the memory of processors is.
    static uint64_t kernelLockOf(uint64_t value)
    {
        return kKernel + (value & 0x3fU) + (value >> 6U & 1U) * 0x100000;
    }
    void event(unsigned kind, const TraceMoment& at, uint64_t value)
    {
        const RecordedLock lock{.user = (value & 1U) != 0, .address = kWords + (value & 0x3eU)};
        const auto other = static_cast<int32_t>(value % 8);
        switch (kind) {
        case 0:
            return analyser_.contentionBegin(at, kernelLockOf(value), static_cast<uint32_t>(value >> 8U));
        case 1:
            return analyser_.contentionEnd(at, kernelLockOf(value), static_cast<int32_t>(value >> 12U));
        case 2:
            return analyser_.lockRequested(at, lock);
        case 3:
            return analyser_.lockAcquired(at, lock, (value & 0x100U) != 0);
        case 4:
            return analyser_.lockReleased(at, lock);
        case 5:
            return analyser_.probe(at, kWords + (value & 0x3eU));
        case 6:
            return analyser_.probeReturn(at);
        case 7:
            return analyser_.waking(at, other);
        case 8:
            return analyser_.wakeup(at, other);
        case 9:
            return analyser_.fork(at.timeNs, at.pid, at.tid, other);
        case 10:
            return analyser_.exit(at.timeNs, at.tid);
        case 11:
            return analyser_.name(at.timeNs, at.pid, at.tid, other % 2 == 0 ? "even" : "odd");
        case 12:
            return analyser_.lost(value);
        case 13:
            return value == 77 ? analyser_.sampled() : analyser_.schedulerRecorded();
        case 14:
        case 15:
        case 16:
            return analyser_.contextSwitch(at,
                {.previous = at.tid,
                    .previousState = value >> 8U,
                    .previousName = "a",
                    .next = other,
                    .nextName = "b",
                    .previousPriority = static_cast<int32_t>(value >> 3U & 0xfU),
                    .nextPriority = static_cast<int32_t>(value >> 4U & 0xfU)});
        case 17:
        case 18:
        case 19:
            return analyser_.futexExit(at, static_cast<int16_t>(value));
        default:
            return analyser_.futexEnter(at, callOf(value));
        }
    }

    ByteReader reader_;
    TraceAnalyser& analyser_;
    uint64_t timeNs_ = 0;
};

void readInput(std::string_view bytes)
{
    AnyEnvironment environment;
    TraceAnalyser analyser(environment);
    EventReader reader(bytes, analyser);
    while (reader.step()) { }
    TraceAnalysis analysis = analyser.finish();
    std::string problem = analysis.check();
    SomeNames names;
    foldLocks(analysis, copiesInProcesses(analysis, names));
    foldLocks(analysis, copiesOnProcessors(analysis, names));
    findInnerLocks(analysis);
    problem += analysis.check();
    const LockTraceRecord record = traceRecord(analysis, names);
    if (!problem.empty() || record.locks.size() > analysis.locks.size()) {
        std::fprintf(stderr, "%s\n", problem.c_str());
        std::abort(); // the way in which a fuzzer is told
    }
}

} // namespace
} // namespace whichlock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    whichlock::readInput({reinterpret_cast<const char*>(data), size});
    return 0;
}
