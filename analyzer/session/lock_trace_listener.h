// SPDX-License-Identifier: GPL-3.0-or-later
// Follows the events of locks, futexes and the scheduler through a recording, and hands over who waited for
// what, for how long and behind whom.
#pragma once

#include "analyzer/model/sample_filter.h"
#include "analyzer/session/lock_variables.h"
#include "analyzer/session/replay_listener.h"
#include "analyzer/session/trace_steps.h"
#include "analyzer/traces/stack_classifier.h"
#include "analyzer/traces/trace_record.h"
#include "parsers/input/batch_pipe.h"

#include <map>
#include <optional>
#include <unordered_map>

namespace whichlock {

/// The analysis itself runs on a thread of its own, behind the reading. MT: one thread.
class LockTraceListener final : public ReplayListener, private TraceNames {
public:
    /// `symbolizer` and `routines` must outlive it.
    LockTraceListener(std::string inputName, Symbolizer& symbolizer, const RoutineTable& routines,
        const RecordingOptions& options = {});

    void begin(const RecordedStacks& stacks, const AddressSpace& space) override;
    void event(const PerfEvent& event) override;
    void hostFacts(const PerfHostFacts& facts) override;
    bool accountsFor(const PerfEvent& event) const override;
    void sample(const ReplayedSample& sample) override;
    void comm(const PerfRecord& record, const PerfComm& comm) override;
    void fork(const PerfRecord& record, const PerfTask& task) override;
    void exit(const PerfRecord& record, const PerfTask& task) override;
    void lost(const PerfRecord& record, const PerfLost& lost) override;
    void deliver(NamedStacks& stacks, const ThreadNames& names, RecordSink& sink) override;

private:
    /// A word by its distance from code of the file that the word seems to belong to.
    struct CodePlace {
        ModuleId module{};
        uint64_t offset = 0;
        int64_t distance = 0;
    };
    /// The code that a process has mapped, by address.
    struct MappedCode {
        uint64_t version = UINT64_MAX;
        std::vector<Mapping> mappings{};
    };

    struct RecordedCount {
        std::string event{}; ///< its name
        uint64_t samples = 0;
    };

    TraceStep& addStep(TraceStep::Kind kind, uint64_t timeNs, uint32_t pid, uint32_t tid);
    void stepAdded();
    void addWindow(const PerfSample& sample);
    void tellClass(TraceStackId stack);
    void tellPlaces(const PerfTraceEvent& event);
    void tellPlace(int32_t pid, uint64_t address);
    TraceStackClass classify(TraceStackId stack);
    uint32_t epochOf(int32_t pid) const { return space_->processOf(pid).epoch; }
    WordPlace placeOf(int32_t pid, uint64_t address);
    TracedPlace siteOf(TraceStackId stack) override;
    TracedPlace holderSiteOf(TraceStackId stack) override;
    std::string sleepOf(TraceStackId stack) override;
    TracedVariable variableOf(const TraceProcess& process, uint64_t address) override;
    TracedVariable kernelVariable(uint64_t address) override;
    TracedCall lockOf(TraceStackId stack) override;
    void learn(uint64_t address, const TracedCall& call) override;
    std::optional<KernelLock> kernelLockOf(TraceStackId stack) override;

    const std::vector<std::string>& namesOf(AddressFrameId frame);
    bool isKernel(AddressFrameId frame) const;
    const std::vector<Mapping>& codeOf(int32_t pid);
    std::vector<NamedFrame> namedFrames(TraceStackId stack);
    using Places = std::unordered_map<uint32_t, TracedPlace>;
    using FindPlace = size_t (StackClassifier::*)(std::span<const NamedFrame>);
    const TracedPlace& placeAt(TraceStackId stack, Places& known, FindPlace find);

    std::string inputName_;
    Symbolizer& symbolizer_;
    StackClassifier classifier_;
    SampleFilter filter_;
    SampleGate gate_;
    std::string recorder_ = "perf"; ///< name of the recorder's threads
    const RecordedStacks* stacks_ = nullptr;
    const AddressSpace* space_ = nullptr;
    NamedStacks* named_ = nullptr;
    std::optional<LockVariables> variables_; ///< while results are handed over
    PerfTraceEvents decoder_;
    TraceFollower follower_; ///< used by the pipe's thread until the pipe has finished
    BatchPipe<TraceBatch> pipe_;
    bool begun_ = false;
    Places sites_; ///< by stack: what was asked once will be asked again
    Places holderSites_;
    Places sleeps_;
    std::vector<bool> classTold_; ///< by stack
    Interner<TraceWord, Id<struct TraceWordTag>> wordsTold_;
    std::optional<KernelVersion> kernel_;
    std::vector<std::optional<std::vector<std::string>>> frameNames_; ///< while replaying; of frame i + 1
    std::map<int32_t, MappedCode> code_;
    std::map<std::pair<TraceProcess, uint64_t>, CodePlace> words_;
    std::vector<RecordedCount> counts_; ///< by event index
    std::optional<uint64_t> firstOffset_;
    bool untold_ = false; ///< the recording does not tell which of its times are asked for
};

} // namespace whichlock
