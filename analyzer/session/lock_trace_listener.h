// SPDX-License-Identifier: GPL-3.0-or-later
// Follows the events of locks, futexes and the scheduler through a recording, and hands over who waited for
// what, for how long and behind whom.
#pragma once

#include "analyzer/model/sample_filter.h"
#include "analyzer/naming/instruction.h"
#include "analyzer/session/chain_code.h"
#include "analyzer/session/lock_variables.h"
#include "analyzer/session/replay_listener.h"
#include "analyzer/session/shared_mappings.h"
#include "analyzer/session/trace_steps.h"
#include "analyzer/traces/stack_classifier.h"
#include "analyzer/traces/trace_record.h"
#include "parsers/input/batch_pipe.h"

#include <map>
#include <optional>
#include <set>
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
    void mapping(const PerfRecord& record, const PerfMapping& mapping) override;
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
    void tellParked(int32_t pid, TraceStackId stack);
    ParkedPlace parkedPlaceOf(int32_t pid, TraceStackId stack);

    /// The frames of a stack as far as they belong to a wait, and the first one outwards of it.
    struct WaitFrames {
        std::vector<NamedFrame> frames{};
        std::vector<AddressStackId> from{}; ///< where each was recorded; none: the chain lacks it
    };

    const std::vector<std::string>& namesOf(AddressFrameId frame);
    WaitFrames waitFramesOf(TraceStackId stack);
    const std::string* lostCaller(AddressStackId at);
    std::optional<uint64_t> objectOfCall(int32_t pid, const AddressFrame& caller);
    bool isRuntime(AddressFrameId frame) const;
    bool isKernel(AddressFrameId frame) const;
    const std::vector<Mapping>& codeOf(int32_t pid);
    std::vector<NamedFrame> namedFrames(TraceStackId stack);
    using Places = std::unordered_map<uint32_t, TracedPlace>;
    using FindPlace = size_t (StackClassifier::*)(std::span<const NamedFrame>);
    TracedCall calledLock(TraceStackId stack);
    std::optional<KernelLock> lockOfKnownKernel(TraceStackId stack);
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
    std::optional<ChainCode> chainCode_;
    Disassembler disassembler_;
    std::map<std::pair<uint32_t, std::string>, uint32_t> callSites_; ///< numbers, by module and function
    SharedMappings shared_;
    PerfTraceEvents decoder_;
    TraceFollower follower_; ///< used by the pipe's thread until the pipe has finished
    BatchPipe<TraceBatch> pipe_;
    bool begun_ = false;
    Places sites_; ///< by stack: what was asked once will be asked again
    Places holderSites_;
    Places sleeps_;
    std::unordered_map<uint32_t, TracedCall> calledLocks_;
    std::unordered_map<uint32_t, std::optional<KernelLock>> kernelLocks_;
    std::vector<bool> classTold_; ///< by stack
    std::vector<bool> parks_;     ///< by stack: it sleeps for a lock that keeps its own queue
    Interner<ProcessWord, Id<struct ProcessWordTag>> wordsTold_;
    std::set<ParkedStack> parkedTold_;
    std::optional<KernelVersion> kernel_;
    std::vector<std::optional<std::vector<std::string>>> frameNames_; ///< while replaying; of frame i + 1
    std::map<int32_t, MappedCode> code_;
    std::map<std::pair<TraceProcess, uint64_t>, CodePlace> words_;
    std::vector<RecordedCount> counts_; ///< by event index
    std::optional<uint64_t> firstOffset_;
    bool untold_ = false; ///< the recording does not tell which of its times are asked for
};

} // namespace whichlock
