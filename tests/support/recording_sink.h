// SPDX-License-Identifier: GPL-3.0-or-later
// A record sink for tests that keeps everything it is given, with its own copies of all text.
#pragma once

#include "parsers/load.h"

#include <string>
#include <vector>

namespace whichlock::test {

struct KeptRow {
    std::string symbol;
    std::string image;
    std::optional<uint64_t> value;
    std::optional<Share> share;
    uint64_t line = 0;
    std::string comm{};
    std::vector<std::string> callers{};
    bool furtherPart = false;
};

struct KeptFrame {
    std::string symbol;
    std::string object;
    uint64_t symbolOffset = TextFrame::kNoOffset;
    bool inlined = false;
};

struct KeptSample {
    std::string comm;
    int32_t pid = -1;
    int32_t tid = -1;
    int32_t cpu = -1;
    std::optional<uint64_t> timeNs;
    uint64_t weight = 0;
    std::vector<KeptFrame> frames;
};

struct KeptFact {
    FactKind kind{};
    std::string value;
};

struct KeptSection {
    SectionRecord record;
    std::optional<uint64_t> total;
    std::vector<KeptRow> rows;
    std::vector<KeptSample> samples;
    LeftOut leftOut;
    std::vector<std::string> counterColumns;
    std::vector<std::vector<int64_t>> counterRows;
    std::vector<TableRecord> tables;
    std::optional<LockTableRecord> lockTable;
    std::vector<KeptFact> facts;
};

class RecordingSink final : public RecordSink {
public:
    std::vector<KeptSection> sections;
    std::vector<ScoreRecord> scores;
    std::vector<KeptFact> inputFacts;
    std::vector<Diagnostic> diagnostics;

    SectionHandle section(const SectionRecord& record) override
    {
        sections.emplace_back().record = record;
        return {static_cast<uint32_t>(sections.size() - 1)};
    }
    void total(SectionHandle section, uint64_t value) override { sections[section.index].total = value; }
    void row(SectionHandle section, const ProfileRow& row) override
    {
        KeptRow kept{std::string(row.symbol), std::string(row.image), row.value, row.share, row.line,
            std::string(row.comm), {}, row.furtherPart};
        for (const TextFrame& caller : row.callers)
            kept.callers.emplace_back(caller.symbol);
        sections[section.index].rows.push_back(std::move(kept));
    }
    void sample(SectionHandle section, const SampleRecord& sample) override
    {
        KeptSample kept{
            std::string(sample.comm), sample.pid, sample.tid, sample.cpu, sample.timeNs, sample.weight, {}};
        for (const TextFrame& frame : sample.frames)
            kept.frames.push_back(
                {std::string(frame.symbol), std::string(frame.object), frame.symbolOffset, frame.inlined});
        sections[section.index].samples.push_back(std::move(kept));
    }
    void leftOut(SectionHandle section, const LeftOut& samples) override
    {
        sections[section.index].leftOut += samples;
    }
    void counterColumns(SectionHandle section, std::span<const std::string_view> columns) override
    {
        sections[section.index].counterColumns.assign(columns.begin(), columns.end());
    }
    void counterRow(SectionHandle section, std::span<const int64_t> values) override
    {
        sections[section.index].counterRows.emplace_back(values.begin(), values.end());
    }
    void table(SectionHandle section, const TableRecord& table) override
    {
        sections[section.index].tables.push_back(table);
    }
    void lockTable(SectionHandle section, const LockTableRecord& table) override
    {
        sections[section.index].lockTable = table;
    }
    void score(const ScoreRecord& score) override { scores.push_back(score); }
    void fact(SectionHandle section, FactKind kind, std::string_view value) override
    {
        sections[section.index].facts.push_back({kind, std::string(value)});
    }
    void inputFact(FactKind kind, std::string_view value, const Position&) override
    {
        inputFacts.push_back({kind, std::string(value)});
    }
    void diagnostic(Diagnostic diagnostic) override { diagnostics.push_back(std::move(diagnostic)); }
};

/// Loads `text` as an input named `input.txt`, delivered `pieceBytes` at a time.
inline LoadedInput loadText(
    std::string_view text, RecordSink& sink, size_t pieceBytes = SIZE_MAX, const LoadOptions& options = {})
{
    const auto source = Source::fromMemory("input.txt", text, pieceBytes);
    return load(*source, sink, options);
}

} // namespace whichlock::test
