// SPDX-License-Identifier: GPL-3.0-or-later
// Collects records into a profile. One builder a worker; freeze() brings the content into canonical order.
#pragma once

#include "analyzer/model/interner.h"
#include "analyzer/model/profile.h"

#include <map>
#include <tuple>

namespace whichlock {

inline uint64_t hashOf(const Frame& frame)
{
    const unsigned marks = (frame.inlined ? 1U : 0U) | (frame.recovered ? 2U : 0U)
        | (frame.calleeMissing ? 4U : 0U) | (frame.waitLoop ? 8U : 0U);
    return mixBits((static_cast<uint64_t>(frame.symbol.v) << 32 | frame.object.v)
        ^ mixBits(frame.symbolOffset + marks)
        ^ mixBits(static_cast<uint64_t>(frame.lock.v) << 32 | frame.lockExpression.v));
}

inline uint64_t hashOf(const Stack& stack)
{
    return mixBits(static_cast<uint64_t>(stack.parent.v) << 32 | stack.frame.v);
}

inline uint64_t hashOf(const ThreadGroup& group)
{
    return mixBits((static_cast<uint64_t>(group.comm.v) << 32 | static_cast<uint32_t>(group.pid))
        ^ mixBits(static_cast<uint64_t>(static_cast<uint32_t>(group.tid)) << 32
            | static_cast<uint32_t>(group.cpu)));
}

/// MT: one thread.
class ProfileBuilder final : public RecordSink {
public:
    /// Tells samples apart by thread or processor, too; costs memory. Before the first sample.
    void tellApart(bool threads, bool cpus)
    {
        tellThreads_ = threads;
        tellCpus_ = cpus;
    }
    /// The records that follow belong to this input. Call finishInput() when it was read.
    void beginInput(std::string name);
    /// Takes over what the frame found out about the input, diagnostics included.
    void finishInput(const LoadedInput& loaded);
    /// Adds the content of another profile, as if its records had been read here: the first input of a name
    /// and the first of the same name there become one, as do sections of the same place, column, event and
    /// title. What a section has once (total, tables, counters) may come from any of the profiles. The order
    /// of merging does not matter if all builders began the same inputs and no sum exceeds 64 bits.
    void merge(const Profile& profile);
    /// The profile in canonical order; the builder is empty afterwards.
    Profile freeze();

    /// A record of the same place, column, event and title as an earlier one refers to the same section.
    SectionHandle section(const SectionRecord& record) override;
    void total(SectionHandle section, uint64_t value) override;
    void row(SectionHandle section, const ProfileRow& row) override;
    void sample(SectionHandle section, const SampleRecord& sample) override;
    void leftOut(SectionHandle section, const LeftOut& samples) override;
    void counterColumns(SectionHandle section, std::span<const std::string_view> columns) override;
    void counterRow(SectionHandle section, std::span<const int64_t> values) override;
    void table(SectionHandle section, const TableRecord& table) override;
    void lockTrace(SectionHandle section, const LockTraceRecord& trace) override;
    void lockTable(SectionHandle section, const LockTableRecord& table) override;
    void score(const ScoreRecord& score) override;
    void fact(SectionHandle section, FactKind kind, std::string_view value) override;
    void inputFact(FactKind kind, std::string_view value, const Position& position) override;
    void diagnostic(Diagnostic diagnostic) override;

private:
    /// Where a weight goes.
    struct CellKey {
        uint32_t section = 0;
        StackId stack;
        ThreadGroupId group;
        Phase phase = Phase::Run;

        bool operator==(const CellKey&) const = default;
    };
    using CellId = Id<struct CellTag>;
    friend uint64_t hashOf(const CellKey& key)
    {
        return mixBits((static_cast<uint64_t>(key.section) << 32 | key.stack.v)
            ^ mixBits(static_cast<uint64_t>(key.group.v) << 8 | static_cast<uint64_t>(key.phase)));
    }

    /// A frame that came lately, by where its texts were: compared as a whole, hashed by that alone.
    struct RecentFrame {
        FrameId frame{};
        uint64_t place = 0;
    };
    /// A frame of the sample before, with the stack that ends in it.
    struct PathStep {
        FrameId frame{};
        StackId stack{};
    };

    FrameId frameOf(const TextFrame& frame);
    bool hasLock(const Frame& frame, const CalledLock& lock) const;
    StackId stackOf(std::span<const TextFrame> frames);
    void addToCell(const CellKey& key, uint64_t weight, uint64_t samples, Share printed);
    StringId internIfAny(std::string_view text);
    StackId rowStack(const ProfileRow& row);
    uint32_t sectionIndex(uint32_t input, const SectionRecord& record);
    void addInputFact(uint32_t input, const Fact& fact);
    std::vector<uint32_t> mergeInputs(const Profile& profile);
    std::vector<StackId> mergeStacks(const Profile& profile);
    static void mergeSection(const Section& from, Section& to);

    /// Input, offset, position, column, kind, event, title, format: equal for records of the same section,
    /// and in canonical order.
    using SectionKey = std::tuple<uint32_t, uint64_t, Position, unsigned, SectionKind, std::string,
        std::string, std::string>;

    bool tellThreads_ = false;
    bool tellCpus_ = false;
    std::vector<InputInfo> inputs_;
    uint32_t input_ = 0;
    std::vector<Section> sections_;
    std::map<SectionKey, uint32_t> sectionIndex_;
    std::vector<ScoreRecord> scores_;
    std::vector<Diagnostic> diagnostics_;
    std::map<std::tuple<DiagnosticCode, std::string, std::string>, size_t> diagnosticIndex_;

    StringInterner strings_;
    std::vector<RecentFrame> recentFrames_;
    std::vector<PathStep> lastPath_; ///< outermost first
    Interner<Frame, FrameId> frames_;
    Interner<Stack, StackId> stacks_;
    Interner<ThreadGroup, ThreadGroupId> groups_;
    Interner<CellKey, CellId> cellKeys_;
    std::vector<Cell> cells_; ///< of cellKeys_ row i + 1
};

} // namespace whichlock
