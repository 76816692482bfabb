// SPDX-License-Identifier: GPL-3.0-or-later
// Tracepoints of perf recordings as events of a trace: decoded when they come out of the file, so that little
// has to be kept until they are in the order of time, and told to the analysis then.
#pragma once

#include "analyzer/traces/trace_analyser.h"
#include "parsers/perf_data/perf_data_sink.h"

namespace whichlock {

enum class TraceEventKind : uint8_t {
    ContentionBegin,
    ContentionEnd,
    FutexEnter,
    FutexExit,
    Switch,
    Waking,
    Wakeup,
    MmapLockStart,
    MmapLockTaken,
    MmapLockReleased,
    LockdepTry,
    LockdepContended,
    LockdepAcquired,
    LockdepRelease,
    Probe, ///< of a function of user space; which one, its stack says
    ProbeReturn,
    ProbeRequested, ///< by the name of the probe
    ProbeAcquired,
    ProbeReleased,
};

/// One event; what the values are depends on the kind.
struct PerfTraceEvent {
    TraceEventKind kind = TraceEventKind::Switch;
    TraceMoment at{}; ///< without the stack
    std::array<uint64_t, 5> values{};
    std::array<char, 16> previousName{}; ///< of Switch; filled up with NUL
    std::array<char, 16> nextName{};
};

/// MT: one thread.
class PerfTraceEvents {
public:
    /// An event of the recording; may come again with more.
    void event(const PerfEvent& event);
    /// The processor's architecture as the recording names it, for the numbers of system calls.
    void setArch(std::string_view arch);
    /// Fills a new event; false for samples that are no events of locks, futexes or the scheduler.
    bool decode(const PerfSample& sample, PerfTraceEvent& event) const;
    /// Whether events of these kinds were sampled instead of recorded one by one.
    bool sampled() const { return sampled_; }
    /// Whether samples of the event with that index are decoded.
    bool knows(uint32_t index) const { return index < sources_.size() && sources_[index].kind.has_value(); }
    /// Whether switches of tasks were recorded.
    bool hasSwitches() const { return switches_; }
    /// Whether the recording has any such event.
    bool any() const { return any_; }

private:
    /// Where the bytes of a value are.
    struct Load {
        uint32_t value = 0; ///< index
        uint32_t offset = 0;
        uint32_t bytes = 0; ///< 4 or 8; 0: ask the field
        bool isSigned = false;
    };
    struct Source {
        std::optional<TraceEventKind> kind{};
        bool rawEnter = false;
        bool rawExit = false;
        bool futex2 = false;
        FutexAction futexAction = FutexAction::None; ///< of system calls that have one each
        std::shared_ptr<const TracepointFormat> format{};
        std::vector<const TracepointField*> fields{}; ///< in the order of PerfTraceEvent::values; may be null
        std::vector<Load> loads{};                    ///< the same, of fields that are plain integers
        const TracepointField* previousName = nullptr;
        const TracepointField* nextName = nullptr;
    };

    static void findFields(Source& source, const std::vector<std::string_view>& names);
    static void addFirstArgument(Source& source, const TracepointField& before);
    static void findLoads(Source& source);
    static void loadValues(const Source& source, const PerfSample& sample, PerfTraceEvent& event);
    static void recognise(Source& source, std::string_view name);
    bool decodeRaw(const Source& source, const PerfSample& sample, PerfTraceEvent& event) const;

    std::vector<Source> sources_; ///< by event index
    uint64_t futexCall_ = 202;    ///< of x86_64
    bool sampled_ = false;
    bool switches_ = false;
    bool any_ = false;
};

/// Words of user space; 0 = none.
using UserWords = std::array<uint64_t, 4>;
/// Those whose place the analysis may ask for at an event.
UserWords userWordsOf(const PerfTraceEvent& event);
/// Tells the analysis of an event, in the order of time.
void replay(const PerfTraceEvent& event, TraceStackId stack, TraceAnalyser& analyser);

} // namespace whichlock
