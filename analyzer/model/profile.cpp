// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/model/profile.h"

#include <fmt/format.h>

namespace whichlock {
namespace {

/// Appends values so that no two different contents give the same bytes: numbers in full width, texts with
/// their length.
class ByteWriter {
public:
    std::string bytes;

    void number(uint64_t value)
    {
        for (int shift = 0; shift < 64; shift += 8)
            bytes += static_cast<char>(value >> shift & 0xff);
    }
    void text(std::string_view value)
    {
        number(value.size());
        bytes += value;
    }
    void position(const Position& value)
    {
        text(value.chain);
        number(value.line);
        number(value.column);
        number(value.offset);
    }
    void facts(const std::vector<Fact>& values)
    {
        number(values.size());
        for (const Fact& value : values) {
            number(static_cast<uint64_t>(value.kind));
            text(value.value);
            position(value.position);
        }
    }
};

void writeTable(ByteWriter& out, const TableRecord& table)
{
    out.number(static_cast<uint64_t>(table.shape));
    out.text(table.rowName);
    out.text(table.unit);
    out.text(table.about);
    out.number(table.columns.size());
    for (const std::string& column : table.columns)
        out.text(column);
    out.number(table.rows.size());
    for (const TableRow& row : table.rows) {
        out.text(row.label);
        out.number(row.line);
        out.number(row.values.size());
        for (const auto& value : row.values) {
            out.number(value.has_value() ? 1 : 0);
            out.number(static_cast<uint64_t>(value.value_or(FixedPoint{}).millionths));
        }
        out.number(row.spreads.size());
        for (const auto& spread : row.spreads) {
            out.number(spread.has_value() ? 1 : 0);
            out.number(static_cast<uint64_t>(spread.value_or(FixedPoint{}).millionths));
        }
        out.number(row.percent ? 1 : 0);
    }
}

void writeSection(ByteWriter& out, const Section& section)
{
    const SectionRecord& record = section.record;
    for (const auto value : {static_cast<uint64_t>(record.kind), static_cast<uint64_t>(record.quantity),
             static_cast<uint64_t>(record.unit), static_cast<uint64_t>(record.waits),
             static_cast<uint64_t>(record.quoteDepth), static_cast<uint64_t>(record.column),
             static_cast<uint64_t>(section.input), section.rows, section.samples, section.weight,
             section.leftOut.samples, section.leftOut.weight, section.leftOut.untold,
             section.total.value_or(0), static_cast<uint64_t>(section.total.has_value()),
             static_cast<uint64_t>(section.sharesPrinted)})
        out.number(value);
    for (const std::string* text :
        {&record.format, &record.title, &record.heading, &record.command, &record.event})
        out.text(*text);
    out.position(record.position);
    out.number(section.cells.size());
    for (const Cell& cell : section.cells) {
        for (const auto value : {static_cast<uint64_t>(cell.stack.v), static_cast<uint64_t>(cell.group.v),
                 static_cast<uint64_t>(cell.phase), cell.weight, cell.samples,
                 static_cast<uint64_t>(cell.printed.ppb)})
            out.number(value);
    }
    out.number(section.counterColumns.size());
    for (const std::string& column : section.counterColumns)
        out.text(column);
    out.number(section.counterRows.size());
    for (const auto& row : section.counterRows) {
        out.number(row.size());
        for (const int64_t value : row)
            out.number(static_cast<uint64_t>(value));
    }
    out.number(section.tables.size());
    for (const TableRecord& table : section.tables)
        writeTable(out, table);
    out.text(section.trace ? bytesOf(*section.trace) : std::string());
    out.text(section.lockTable ? bytesOf(*section.lockTable) : std::string());
    out.facts(section.facts);
}

} // namespace

std::string Profile::check() const
{
    for (uint32_t i = 0; i < stacks_.size(); ++i) {
        if (stacks_[i].parent.v > i || stacks_[i].frame.v == 0 || stacks_[i].frame.v > frames_.size())
            return fmt::format("stack {} refers to a stack behind it or to no frame", i + 1);
    }
    for (const Section& section : sections) {
        uint64_t weight = 0;
        uint64_t samples = 0;
        for (const Cell& cell : section.cells) {
            weight += cell.weight;
            samples += cell.samples;
            if (cell.stack.v > stacks_.size() || cell.group.v > groups_.size())
                return "a cell refers to a stack or thread group that is not there";
        }
        if (weight != section.weight)
            return fmt::format("{}: cells hold {}, {} was put in", toString(section.record.position), weight,
                section.weight);
        if (section.samples != 0 && samples != section.samples)
            return fmt::format("{}: cells hold {} samples of {}", toString(section.record.position), samples,
                section.samples);
    }
    return {};
}

std::string Profile::canonicalBytes() const
{
    ByteWriter out;
    out.number(inputs.size());
    for (const InputInfo& input : inputs) {
        out.text(input.name);
        out.text(input.format);
        out.number(static_cast<uint64_t>(input.confidence));
        out.number(input.bytes);
        out.number(input.failed ? 1 : 0);
        out.facts(input.facts);
    }
    for (const size_t count : {strings_.size(), frames_.size(), stacks_.size(), groups_.size(),
             sections.size(), scores.size(), diagnostics.size()})
        out.number(count);
    for (const std::string& text : strings_)
        out.text(text);
    for (const Frame& frame : frames_) {
        out.number(frame.symbol.v);
        out.number(frame.object.v);
        out.number(frame.symbolOffset);
        out.number((frame.inlined ? 1U : 0U) | (frame.recovered ? 2U : 0U) | (frame.calleeMissing ? 4U : 0U)
            | (frame.waitLoop ? 8U : 0U));
        out.number(static_cast<uint64_t>(frame.lockSource) << 1 | (frame.lockVerified ? 1 : 0));
        out.number(static_cast<uint64_t>(frame.lock.v) << 32 | frame.lockExpression.v);
    }
    for (const Stack& stack : stacks_)
        out.number(static_cast<uint64_t>(stack.parent.v) << 32 | stack.frame.v);
    for (const ThreadGroup& group : groups_) {
        out.number(static_cast<uint64_t>(group.comm.v) << 32 | static_cast<uint32_t>(group.pid));
        out.number(
            static_cast<uint64_t>(static_cast<uint32_t>(group.tid)) << 32 | static_cast<uint32_t>(group.cpu));
    }
    for (const Section& section : sections)
        writeSection(out, section);
    for (const ScoreRecord& score : scores) {
        out.text(score.name);
        out.number(static_cast<uint64_t>(score.value.millionths));
        out.text(score.unit);
        out.text(score.heading);
        out.position(score.position);
    }
    for (const Diagnostic& one : diagnostics) {
        out.number(static_cast<uint64_t>(one.code));
        out.number(static_cast<uint64_t>(one.severity));
        out.text(one.message);
        out.position(one.position);
        out.number(one.count);
    }
    return out.bytes;
}

} // namespace whichlock
