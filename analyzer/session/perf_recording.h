// SPDX-License-Identifier: GPL-3.0-or-later
// Makes a profile of a perf.data recording: samples are added up by the addresses of their stacks while the
// file is read, and named once at the end. Memory goes by distinct stacks, symbolizing by distinct addresses.
#pragma once

#include "analyzer/model/interner.h"
#include "analyzer/session/time_order.h"
#include "analyzer/symbols/address_space.h"
#include "analyzer/symbols/symbolizer.h"
#include "parsers/load.h"
#include "parsers/perf_data/perf_data_sink.h"

#include <array>
#include <unordered_map>
#include <variant>

namespace whichlock {

/// One frame of a stack by its address. The offset is the address itself where no mapping has it.
struct AddressFrame {
    ModuleId module{};
    uint64_t offset = 0;
    AddressKind kind = AddressKind::InstructionPointer;

    bool operator==(const AddressFrame&) const = default;
};

inline uint64_t hashOf(const AddressFrame& frame)
{
    return mixBits(frame.offset
        ^ mixBits(static_cast<uint64_t>(frame.module.v) << 8 | static_cast<uint64_t>(frame.kind)));
}

/// MT: one thread.
class PerfRecording final : public PerfDataSink {
public:
    explicit PerfRecording(std::string inputName);

    void event(const PerfEvent& event) override;
    void hostFacts(const PerfHostFacts& facts) override;
    void buildId(const PerfBuildId& id) override;
    void mapping(const PerfRecord& record, const PerfMapping& mapping) override;
    void comm(const PerfRecord& record, const PerfComm& comm) override;
    void fork(const PerfRecord& record, const PerfTask& task) override;
    void lost(const PerfRecord& record, const PerfLost& lost) override;
    void kernelSymbol(const PerfRecord& record, const PerfKernelSymbol& symbol) override;
    void sample(const PerfRecord& record, const PerfSample& sample) override;
    void finishedRound(const PerfRecord& record) override;
    void diagnostic(Diagnostic diagnostic) override;

    /// Names the addresses and hands everything over; the recording is empty afterwards.
    void deliver(Symbolizer& symbolizer, RecordSink& sink);

private:
    using AddressFrameId = Id<struct AddressFrameTag>;
    using AddressStackId = Id<struct AddressStackTag>;

    struct AddressStack {
        AddressStackId caller{};
        AddressFrameId frame{};

        bool operator==(const AddressStack&) const = default;
        friend uint64_t hashOf(const AddressStack& stack)
        {
            return mixBits(static_cast<uint64_t>(stack.caller.v) << 32 | stack.frame.v);
        }
    };

    /// What samples are told apart by.
    struct CellKey {
        uint32_t event = 0;
        AddressStackId stack{};
        StringId comm{};
        int32_t pid = -1;

        bool operator==(const CellKey&) const = default;
        friend uint64_t hashOf(const CellKey& key)
        {
            return mixBits((static_cast<uint64_t>(key.event) << 32 | key.stack.v)
                ^ mixBits(static_cast<uint64_t>(key.comm.v) << 32 | static_cast<uint32_t>(key.pid)));
        }
    };
    using CellId = Id<struct AddressCellTag>;

    struct CellSum {
        uint64_t samples = 0;
        uint64_t weight = 0;
    };

    struct EventState {
        PerfEvent event{};
        bool known = false;
        uint64_t firstOffset = UINT64_MAX; ///< of its first sample
    };

    /// A slot of the cache from address to frame: neighbouring samples share most of their frames.
    struct CachedFrame {
        uint64_t address = 0;
        int32_t pid = 0;
        uint16_t modeAndKind = 0;
        uint32_t generation = 0;
        AddressFrameId frame{};
    };

    // What is held back until it is its turn: copies of what counts of each record.
    struct HeldSample {
        uint32_t event = 0;
        uint32_t pid = 0;
        uint32_t tid = 0;
        AddressMode mode = AddressMode::User;
        uint64_t offset = 0; ///< in the file
        uint64_t weight = 0;
        std::vector<uint64_t> chain{}; ///< with context marks; innermost first
    };
    struct HeldMapping {
        MappingRecord record{};
        std::string path{};
    };
    struct HeldComm {
        AddressMode mode = AddressMode::User;
        uint32_t pid = 0;
        uint32_t tid = 0;
        StringId name{};
        bool exec = false;
    };
    struct HeldKernelSymbol {
        uint64_t start = 0;
        uint32_t length = 0;
        bool unregistered = false;
        std::string name{};
    };
    using Held = std::variant<HeldSample, HeldMapping, HeldComm, PerfTask, HeldKernelSymbol>;

    void hold(uint64_t time, Held held);
    void replayHeld(const Held& held);
    void replay(const HeldSample& sample);
    void replay(const HeldMapping& mapping);
    void replay(const HeldComm& comm);
    void replay(const PerfTask& task);
    void replay(const HeldKernelSymbol& symbol);
    uint64_t timeOf(const PerfRecord& record);

    AddressStackId stackOf(const HeldSample& sample);
    AddressFrameId frameAt(AddressMode mode, int32_t pid, uint64_t address, AddressKind kind);
    StringId commOf(const HeldSample& sample) const;
    uint64_t weightOf(const EventState& state, const PerfSample& sample) const;
    void deliverFacts(RecordSink& sink) const;
    std::vector<std::optional<SectionHandle>> beginSections(RecordSink& sink) const;
    std::vector<ResolvedAddress> resolveFrames(Symbolizer& symbolizer) const;
    std::string objectOf(const AddressFrame& frame) const;

    std::string inputName_;
    TimeOrder<Held> order_;
    uint64_t lastTime_ = 0; ///< stands in for records without a time
    AddressSpace space_;
    uint32_t generation_ = 1; ///< of the mappings; cached frames of an older one do not count
    std::vector<CachedFrame> cache_;
    std::vector<AddressFrameId> chainFrames_; ///< of the sample at hand; kept for its storage
    std::vector<EventState> events_;
    PerfHostFacts host_;
    StringInterner strings_;
    std::unordered_map<uint32_t, StringId> commOfThread_;
    Interner<AddressFrame, AddressFrameId> frames_;
    Interner<AddressStack, AddressStackId> stacks_;
    Interner<CellKey, CellId> cells_;
    std::vector<CellSum> sums_; ///< of cells_ row i + 1
    uint64_t lost_ = 0;
    uint64_t withoutEvent_ = 0;
    std::vector<Diagnostic> diagnostics_;
};

/// Reads a recording and hands its profile to `sink`. Like load(): never throws for bad input.
LoadedInput loadPerfRecording(Source& source, Symbolizer& symbolizer, RecordSink& sink);

} // namespace whichlock
