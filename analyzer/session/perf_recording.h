// SPDX-License-Identifier: GPL-3.0-or-later
// Makes a profile of a perf.data recording. While its records come by in the order of time, samples are added
// up by the addresses of their stacks; those are named once, at the end.
#pragma once

#include "analyzer/model/sample_filter.h"
#include "analyzer/session/cpu_cells.h"
#include "analyzer/session/replay_listener.h"
#include "parsers/load.h"

namespace whichlock {

/// An event with what was seen of it.
struct RecordedEvent {
    PerfEvent event{};
    uint64_t firstOffset = UINT64_MAX; ///< of its first sample in the file, if there is any
    bool countsOnce = false;           ///< each sample weighs 1, not its period
    LeftOut leftOut{};                 ///< by the filter
};

/// Takes the records in the order of time (PerfDataOptions::byTime). MT: one thread.
class PerfRecording final : public PerfDataSink {
public:
    explicit PerfRecording(std::string inputName, RecordingOptions options = {});

    /// Who is told of the records, too; must outlive the recording.
    void setListener(ReplayListener& listener);
    /// Who finds callers where samples have a piece of the stack; must outlive the recording.
    void setUnwinder(UserUnwinder* unwinder);

    void event(const PerfEvent& event) override;
    void hostFacts(const PerfHostFacts& facts) override;
    void buildId(const PerfBuildId& id) override;
    void mapping(const PerfRecord& record, const PerfMapping& mapping) override;
    void comm(const PerfRecord& record, const PerfComm& comm) override;
    void fork(const PerfRecord& record, const PerfTask& task) override;
    void exit(const PerfRecord& record, const PerfTask& task) override;
    void lost(const PerfRecord& record, const PerfLost& lost) override;
    void contextSwitch(const PerfRecord& record, const PerfSwitch& change) override;
    void kernelSymbol(const PerfRecord& record, const PerfKernelSymbol& symbol) override;
    void sample(const PerfRecord& record, const PerfSample& sample) override;
    void diagnostic(Diagnostic diagnostic) override;

    /// Names the addresses and hands everything over; to be called once, after all records.
    void deliver(Symbolizer& symbolizer, RecordSink& sink);

private:
    Kept judge(const PerfSample& sample);
    uint64_t weightOf(const PerfSample& sample) const;
    void count(const PerfSample& sample, StringId comm, AddressStackId stack);

    std::string inputName_;
    RecordingOptions options_;
    SampleGate gate_;
    ReplayListener* listener_ = nullptr;
    AddressSpace space_;
    RecordedStacks stacks_;
    UserUnwinder* unwinder_ = nullptr;
    ThreadNames names_;
    CpuCells cells_;
    std::vector<RecordedEvent> events_;
    PerfHostFacts host_;
    uint64_t lost_ = 0;
    uint64_t withoutEvent_ = 0;
    std::vector<Diagnostic> diagnostics_;
};

/// Reads a recording and hands its profile to `sink`. Like load(): never throws for bad input.
LoadedInput loadPerfRecording(
    Source& source, Symbolizer& symbolizer, RecordSink& sink, const RecordingOptions& options = {});

} // namespace whichlock
