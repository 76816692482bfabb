// SPDX-License-Identifier: GPL-3.0-or-later
// Stands before a sink and lets through the samples of one text that a filter keeps; counts the others.
#pragma once

#include "analyzer/model/sample_filter.h"
#include "parsers/record.h"

#include <unordered_map>

namespace whichlock {

/// MT: one thread.
class FilteringSink final : public RecordSink {
public:
    FilteringSink(RecordSink& next, const SampleFilter& filter)
        : next_(next)
        , gate_(filter)
    {
    }

    void sample(SectionHandle section, const SampleRecord& sample) override;

    SectionHandle section(const SectionRecord& record) override { return next_.section(record); }
    void total(SectionHandle section, uint64_t value) override { next_.total(section, value); }
    void row(SectionHandle section, const ProfileRow& row) override { next_.row(section, row); }
    void leftOut(SectionHandle section, const LeftOut& samples) override { next_.leftOut(section, samples); }
    void counterColumns(SectionHandle section, std::span<const std::string_view> columns) override
    {
        next_.counterColumns(section, columns);
    }
    void counterRow(SectionHandle section, std::span<const int64_t> values) override
    {
        next_.counterRow(section, values);
    }
    void table(SectionHandle section, const TableRecord& table) override { next_.table(section, table); }
    void lockTrace(SectionHandle section, const LockTraceRecord& trace) override
    {
        next_.lockTrace(section, trace);
    }
    void lockTable(SectionHandle section, const LockTableRecord& table) override
    {
        next_.lockTable(section, table);
    }
    void score(const ScoreRecord& score) override { next_.score(score); }
    void fact(SectionHandle section, FactKind kind, std::string_view value) override
    {
        next_.fact(section, kind, value);
    }
    void inputFact(FactKind kind, std::string_view value, const Position& position) override
    {
        next_.inputFact(kind, value, position);
    }
    void diagnostic(Diagnostic diagnostic) override { next_.diagnostic(std::move(diagnostic)); }

private:
    std::string_view processOf(const SampleRecord& sample);

    RecordSink& next_;
    SampleGate gate_;
    std::unordered_map<int32_t, std::string> processes_; ///< names of first threads that were seen
};

} // namespace whichlock
