// SPDX-License-Identifier: GPL-3.0-or-later
// Events of a made-up trace: how many the analysis takes in a second, median of five, and whether memory goes
// by living threads, locks and stacks alone. bench_traces [EVENTS]; status 1 if memory grows with the events.
#include "analyzer/traces/trace_analyser.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace whichlock::bench {
namespace {

constexpr uint64_t kEvents = 10'000'000;
constexpr int kRuns = 5;
constexpr uint64_t kMostGrowthBytes = 4U << 20U;

/// Stacks tell by their number what is waited for.
class NumberedStacks final : public TraceEnvironment {
public:
    TraceStackClass classify(TraceStackId stack) override
    {
        TraceStackClass known;
        known.wait = stack.v % 4 == 0 ? WaitReason::Condition : WaitReason::Mutex;
        known.releasesLock = stack.v % 2 == 0;
        return known;
    }
};

uint64_t residentBytes()
{
    std::ifstream in("/proc/self/statm");
    uint64_t total = 0;
    uint64_t resident = 0;
    in >> total >> resident;
    return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// A server: workers contend for some mutexes and now and then for a lock of the kernel, wait for work, are
/// switched out and in; every so often one of them ends and another one begins.
class MadeUpTrace {
public:
    explicit MadeUpTrace(TraceAnalyser& analyser)
        : analyser_(analyser)
    {
        analyser_.schedulerRecorded();
    }

    uint64_t events() const { return events_; }

    /// One worker's turn.
    void turn()
    {
        const uint64_t dice = next();
        const auto worker = static_cast<uint32_t>(dice % kWorkers);
        const uint64_t word = dice % 16 == 0 ? kCondition : kMutexes + 64 * (dice >> 8U & 7U);
        const TraceStackId waits{word == kCondition ? 4U : 1U + 2 * static_cast<uint32_t>(dice >> 12U & 31U)};
        const int32_t tid = tids_[worker];
        const int32_t holder = tids_[(worker + 1) % kWorkers];
        if (dice % 5000 == 0)
            return replace(worker);
        if (dice % 9 == 0)
            return kernelWait(tid, kKernelLocks + 64 * (dice >> 16U & 3U), waits);
        const FutexAction action = word == kCondition ? FutexAction::WaitBitset : FutexAction::Wait;
        analyser_.futexEnter(at(tid, waits), {.action = action, .word = word, .value = 2});
        analyser_.contextSwitch(at(tid, waits), {tid, 1, "worker", holder, "worker"});
        analyser_.futexEnter(at(holder, {2}), {.action = FutexAction::Wake, .word = word, .value = 1});
        analyser_.waking(at(holder, {2}), tid);
        analyser_.futexExit(at(holder, {2}), 1);
        analyser_.contextSwitch(at(holder, {2}), {holder, 0, "worker", tid, "worker"});
        analyser_.futexExit(at(tid, waits), 0);
    }

private:
    static constexpr uint32_t kWorkers = 64;
    static constexpr uint64_t kMutexes = 0x5000;
    static constexpr uint64_t kCondition = 0x9000;
    static constexpr uint64_t kKernelLocks = 0xffff888100000000;

    uint64_t next()
    {
        random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return random_ >> 20U;
    }
    TraceMoment at(int32_t tid, TraceStackId stack)
    {
        ++events_;
        return {.timeNs = timeNs_ += 300,
            .pid = 100,
            .tid = tid,
            .cpu = static_cast<uint32_t>(tid) & 3U,
            .stack = stack};
    }
    void replace(uint32_t worker)
    {
        analyser_.exit(timeNs_, tids_[worker]);
        tids_[worker] = ++lastTid_;
        analyser_.fork(timeNs_, 100, tids_[worker], 100);
        events_ += 2;
    }
    void kernelWait(int32_t tid, uint64_t lock, TraceStackId stack)
    {
        analyser_.contentionBegin(at(tid, stack), lock, 1);
        analyser_.contentionEnd(at(tid, stack), lock, 0);
    }

    TraceAnalyser& analyser_;
    uint64_t random_ = 1;
    uint64_t timeNs_ = 1'000'000;
    uint64_t events_ = 0;
    int32_t lastTid_ = 1000;
    std::array<int32_t, kWorkers> tids_ = [] {
        std::array<int32_t, kWorkers> first{};
        for (size_t i = 0; i < first.size(); ++i)
            first[i] = static_cast<int32_t>(i + 1);
        return first;
    }();
};

struct Run {
    double seconds = 0;
    uint64_t growthBytes = 0; ///< from the first tenth of the events to the last
};

Run run(uint64_t events)
{
    NumberedStacks stacks;
    TraceAnalyser analyser(stacks);
    MadeUpTrace trace(analyser);
    const auto start = std::chrono::steady_clock::now();
    while (trace.events() < events / 10)
        trace.turn();
    const uint64_t early = residentBytes();
    while (trace.events() < events)
        trace.turn();
    const uint64_t late = residentBytes();
    const TraceAnalysis analysis = analyser.finish();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (const std::string problem = analysis.check(); !problem.empty()) {
        fmt::print("{}\n", problem);
        std::exit(1);
    }
    return {took.count(), late - std::min(late, early)};
}

} // namespace
} // namespace whichlock::bench

int main(int argc, char** argv)
{
    using namespace whichlock::bench;
    const uint64_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : kEvents;
    std::vector<double> seconds;
    uint64_t growth = 0;
    for (int i = 0; i < kRuns; ++i) {
        const Run one = run(events);
        seconds.push_back(one.seconds);
        growth = std::max(growth, one.growthBytes);
    }
    std::sort(seconds.begin(), seconds.end());
    const double median = seconds[seconds.size() / 2];
    fmt::print("{} events: {:.2f} s, {:.0f} ns each; memory grew by {} KiB from the first tenth on\n", events,
        median, median * 1e9 / static_cast<double>(std::max<uint64_t>(events, 1)), growth >> 10U);
    return growth > kMostGrowthBytes ? 1 : 0;
}
