// SPDX-License-Identifier: GPL-3.0-or-later
// Collects records into a profile. One builder a worker; freeze() brings the content into canonical order.
#pragma once

#include "analyzer/model/interner.h"
#include "analyzer/model/profile.h"

#include <map>

namespace whichlock {

inline uint64_t hashOf(const Frame& frame)
{
    return mixBits((static_cast<uint64_t>(frame.symbol.v) << 32 | frame.object.v)
        ^ mixBits(frame.symbolOffset + (frame.inlined ? 1 : 0)));
}

inline uint64_t hashOf(const Stack& stack)
{
    return mixBits(static_cast<uint64_t>(stack.parent.v) << 32 | stack.frame.v);
}

inline uint64_t hashOf(const ThreadGroup& group)
{
    return mixBits(static_cast<uint64_t>(group.comm.v) << 32 | static_cast<uint32_t>(group.pid));
}

/// MT: one thread.
class ProfileBuilder final : public RecordSink {
public:
    /// The records that follow belong to this input. Call finishInput() when it was read.
    void beginInput(std::string name);
    /// Takes over what the frame found out about the input, diagnostics included.
    void finishInput(const LoadedInput& loaded);
    /// Adds the content of another profile, as if its records had been read here: inputs of the same name
    /// and index, and sections of the same place, become one.
    void merge(const Profile& profile);
    /// The profile in canonical order; the builder is empty afterwards.
    Profile freeze();

    SectionHandle section(const SectionRecord& record) override;
    void total(SectionHandle section, uint64_t value) override;
    void row(SectionHandle section, const ProfileRow& row) override;
    void sample(SectionHandle section, const SampleRecord& sample) override;
    void counterColumns(SectionHandle section, std::span<const std::string_view> columns) override;
    void counterRow(SectionHandle section, std::span<const int64_t> values) override;
    void table(SectionHandle section, const TableRecord& table) override;
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

    void addToCell(const CellKey& key, uint64_t weight, uint64_t samples, Share printed);
    StackId flatStack(std::string_view symbol, std::string_view object);
    static uint32_t findSection(const std::vector<Section>& sections, const Section& wanted);

    std::vector<InputInfo> inputs_;
    uint32_t input_ = 0;
    std::vector<Section> sections_;
    std::vector<ScoreRecord> scores_;
    std::vector<Diagnostic> diagnostics_;
    std::map<std::pair<DiagnosticCode, std::string>, size_t> diagnosticIndex_;

    StringInterner strings_;
    Interner<Frame, FrameId> frames_;
    Interner<Stack, StackId> stacks_;
    Interner<ThreadGroup, ThreadGroupId> groups_;
    Interner<CellKey, CellId> cellKeys_;
    std::vector<Cell> cells_; ///< of cellKeys_ row i + 1
};

} // namespace whichlock
