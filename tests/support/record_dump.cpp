// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/record_dump.h"

#include <fmt/format.h>

namespace whichlock::test {
namespace {

using Lines = std::vector<std::string>;

std::string dump(const KeptRow& row)
{
    return fmt::format("row {} | {} | {} | {} | {} | {}{}", row.symbol, row.image, row.comm,
        row.value ? std::to_string(*row.value) : "-", row.share ? std::to_string(row.share->ppb) : "-",
        fmt::join(row.callers, " "), row.furtherPart ? " | part" : "");
}

std::string dump(const KeptSample& sample)
{
    std::string text = fmt::format("sample {} {}/{} cpu {} at {} weight {}", sample.comm, sample.pid,
        sample.tid, sample.cpu, sample.timeNs ? std::to_string(*sample.timeNs) : "-", sample.weight);
    for (const KeptFrame& frame : sample.frames)
        text += fmt::format(" ; {}+{} ({}){}", frame.symbol, frame.symbolOffset, frame.object,
            frame.inlined ? " inlined" : "");
    return text;
}

void dump(const TableRecord& table, Lines& out)
{
    out.push_back(fmt::format("table {} | {} | {} | {} | {}", static_cast<int>(table.shape), table.rowName,
        table.unit, table.about, fmt::join(table.columns, " | ")));
    for (const TableRow& row : table.rows) {
        std::string text = "table row " + row.label;
        for (const auto& value : row.values)
            text += " | " + (value ? std::to_string(value->millionths) : "-");
        for (const auto& spread : row.spreads)
            text += " ± " + (spread ? std::to_string(spread->millionths) : "-");
        out.push_back(std::move(text));
    }
}

/// Its rows without their lines, one a piece, so that a table cut short is the beginning of a whole one.
Lines dumpOf(LockTableRecord table)
{
    Lines out;
    std::vector<LockTableRow> rows;
    std::swap(rows, table.rows);
    table.rowsPrinted = 0;
    if (table.total)
        table.total->line = 0;
    out.push_back("lock table " + bytesOf(table));
    for (LockTableRow& row : rows) {
        row.line = 0;
        out.push_back("lock row " + bytesOf({.total = row}));
    }
    return out;
}

std::string dump(const Diagnostic& diagnostic)
{
    return fmt::format("diagnostic {} x {}: {} @ {}:{}", codeName(diagnostic.code), diagnostic.count,
        diagnostic.message, toString(diagnostic.position), diagnostic.position.offset);
}

std::string dump(const KeptFact& fact)
{
    return fmt::format("fact {} {}", static_cast<int>(fact.kind), fact.value);
}

std::string dump(const ScoreRecord& score)
{
    return fmt::format("score {} {} {}", score.name, score.value.millionths, score.unit);
}

/// Line numbers of rows and places of sections.
void dumpPlaces(const KeptSection& section, Lines& out)
{
    const SectionRecord& record = section.record;
    out.push_back(fmt::format("place {}:{} depth {} | {} | {} | {}", toString(record.position),
        record.position.offset, record.quoteDepth, record.title, record.heading, record.command));
    std::string lines = "lines";
    for (const KeptRow& row : section.rows)
        lines += ' ' + std::to_string(row.line);
    if (section.lockTable) {
        for (const LockTableRow& row : section.lockTable->rows)
            lines += ' ' + std::to_string(row.line);
    }
    for (const TableRecord& table : section.tables) {
        for (const TableRow& row : table.rows)
            lines += ' ' + std::to_string(row.line);
    }
    out.push_back(std::move(lines));
}

void append(Lines& out, Lines more)
{
    out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

} // namespace

std::string dumpHead(const KeptSection& section)
{
    const SectionRecord& record = section.record;
    return fmt::format("section {} kind {} quantity {} unit {} event {}", record.format,
        static_cast<int>(record.kind), static_cast<int>(record.quantity), static_cast<int>(record.unit),
        record.event);
}

Lines dumpRows(const KeptSection& section)
{
    Lines out;
    if (section.total)
        out.push_back("total " + std::to_string(*section.total));
    for (const KeptRow& row : section.rows)
        out.push_back(dump(row));
    for (const KeptSample& sample : section.samples)
        out.push_back(dump(sample));
    if (!section.counterColumns.empty())
        out.push_back(fmt::format("columns {}", fmt::join(section.counterColumns, " ")));
    for (const auto& row : section.counterRows)
        out.push_back(fmt::format("counters {}", fmt::join(row, " ")));
    for (const TableRecord& table : section.tables)
        dump(table, out);
    if (section.lockTable)
        append(out, dumpOf(*section.lockTable));
    return out;
}

Lines dumpContent(const RecordingSink& sink)
{
    Lines out;
    // In input order: a text read twice over then gives its content twice over.
    auto score = sink.scores.begin();
    for (const KeptSection& section : sink.sections) {
        for (; score != sink.scores.end() && score->position.line < section.record.position.line; ++score)
            out.push_back(dump(*score));
        out.push_back(dumpHead(section));
        append(out, dumpRows(section));
    }
    for (; score != sink.scores.end(); ++score)
        out.push_back(dump(*score));
    return out;
}

Lines dumpEverything(const RecordingSink& sink, const LoadedInput& loaded)
{
    Lines out = dumpContent(sink);
    for (const KeptSection& section : sink.sections) {
        dumpPlaces(section, out);
        for (const KeptFact& fact : section.facts)
            out.push_back(dump(fact));
    }
    for (const ScoreRecord& score : sink.scores)
        out.push_back(fmt::format("score of {} @ {}", score.heading, toString(score.position)));
    for (const KeptFact& fact : sink.inputFacts)
        out.push_back("input " + dump(fact));
    for (const Diagnostic& diagnostic : sink.diagnostics)
        out.push_back(dump(diagnostic));
    for (const Diagnostic& diagnostic : loaded.diagnostics)
        out.push_back("input " + dump(diagnostic));
    for (const FormatScore& score : loaded.scores)
        out.push_back(fmt::format("format {}: {} ({}), {} blocks, {} lines from {}", score.format,
            confidenceName(score.best.confidence), score.best.why, score.blocks, score.lines,
            score.firstLine));
    out.push_back(fmt::format("loaded {} {} {} {} bytes{}", loaded.name, loaded.format,
        confidenceName(loaded.confidence), loaded.bytes, loaded.failed ? " failed" : ""));
    return out;
}

} // namespace whichlock::test
