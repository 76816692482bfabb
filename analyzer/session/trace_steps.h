// SPDX-License-Identifier: GPL-3.0-or-later
// What happens in a trace, step by step, with all that the analysis asks about it: it runs on a thread of its
// own, while the recording is read on and what is known of processes and stacks goes on to change.
#pragma once

#include "analyzer/model/sample_filter.h"
#include "analyzer/traces/perf_trace_events.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace whichlock {

/// One step; which members count depends on its kind.
struct TraceStep {
    enum class Kind : uint8_t { Window, Recorder, SchedulerRecorded, Sampled, Event, Name, Fork, Exit, Lost };

    Kind kind = Kind::Event;
    uint32_t epoch = 0; ///< of the process `event.at.pid`
    TraceStackId stack{};
    uint64_t untilNs = 0;   ///< of Window
    uint32_t name = 0;      ///< Name, Recorder: row in TraceBatch::names
    int32_t parentTid = 0;  ///< of Fork
    uint64_t lost = 0;      ///< of Lost
    PerfTraceEvent event{}; ///< of all other kinds at least time, pid and tid
};

/// A word of a process.
struct ProcessWord {
    int32_t pid = -1;
    uint32_t epoch = 0;
    uint64_t address = 0;

    auto operator<=>(const ProcessWord&) const = default;
    friend uint64_t hashOf(const ProcessWord& word)
    {
        return mixBits(word.address
            ^ mixBits(static_cast<uint64_t>(word.epoch) << 32U | static_cast<uint32_t>(word.pid)));
    }
};

/// A stack of a process that sleeps for a lock which keeps its own queue.
struct ParkedStack {
    int32_t pid = -1;
    uint32_t epoch = 0;
    TraceStackId stack{};

    auto operator<=>(const ParkedStack&) const = default;
};

/// Steps in the order of time, and what has to be known before the first of them.
struct TraceBatch {
    static constexpr size_t kMostSteps = 1024;

    std::vector<TraceStep> steps{};
    std::vector<std::string> names{};
    std::vector<std::pair<TraceStackId, TraceStackClass>> classes{}; ///< of stacks that were not seen before
    std::vector<std::pair<ProcessWord, WordPlace>> places{};         ///< of words that were not seen before
    std::vector<std::pair<ParkedStack, ParkedPlace>> parked{};       ///< the same

    bool empty() const { return steps.empty(); }
    void clear()
    {
        steps.clear();
        names.clear();
        classes.clear();
        places.clear();
        parked.clear();
    }
};

/// Follows the steps. MT: one thread, which need not be the one that made the batches.
class TraceFollower final : private TraceEnvironment {
public:
    /// What is counted: the threads, processes and processors of the filter; times come as a step.
    explicit TraceFollower(const RecordingOptions& options);
    void follow(const TraceBatch& batch);
    TraceAnalyser& analyser() { return analyser_; }

private:
    TraceStackClass classify(TraceStackId stack) override;
    uint32_t epochOf(int32_t pid) override;
    WordPlace placeOf(int32_t pid, uint64_t address) override;
    ParkedPlace parkedPlaceOf(int32_t pid, TraceStackId stack) override;
    Counting countingOf(const TracedTask& task) override;
    bool countsProcessor(uint32_t cpu) override;
    void follow(const TraceStep& step, const TraceBatch& batch);

    SampleFilter filter_;
    SampleGate gate_;
    std::string recorder_ = "perf";        ///< name of the recorder's threads
    std::vector<TraceStackClass> classes_; ///< by stack
    std::map<ProcessWord, WordPlace> places_;
    std::map<ParkedStack, ParkedPlace> parked_;
    uint32_t epoch_ = 0; ///< of the process of the step at hand
    TraceAnalyser analyser_;
};

} // namespace whichlock
