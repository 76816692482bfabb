// SPDX-License-Identifier: GPL-3.0-or-later
// kernbench: rows `label time user system %cpu ctx sleeps` below their header or flattened into one line,
// and the blocks `Average Half load -j 4 Run (std deviation):` of its later versions.
#include "parsers/format.h"
#include "parsers/formats/kernbench_rows.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {
namespace {

using namespace kernbench;
using benchmark::Words;

constexpr std::string_view kName = "kernbench";

SectionRecord sectionRecord(const TextLine& line, BlockContext& context)
{
    SectionRecord record = context.sectionAt(line, kName);
    record.kind = SectionKind::Measurements;
    record.quantity = QuantityKind::Count;
    record.unit = Unit::Count;
    return record;
}

/// Collects the rows of one table and hands it over.
class TableWriter {
public:
    TableWriter(std::span<const std::string_view> header, BlockContext& context)
        : context_(context)
    {
        table_.shape = TableShape::RowsAreVariants;
        table_.rowName = "variant";
        table_.columns.assign(header.begin(), header.end());
    }

    void add(std::span<const std::string_view> words, size_t labelWords, const TextLine& line)
    {
        TableRow row{.label = benchmark::joined(words.first(labelWords)), .values = {}, .line = line.number};
        if (row.label.empty())
            row.label = fmt::format("run {}", table_.rows.size() + 1);
        for (const std::string_view word : words.subspan(labelWords))
            row.values.push_back(figure(word));
        if (!percentFits(row.values))
            context_.report(DiagnosticCode::PrintedFigureDiffers,
                fmt::format("%cpu of `{}` is not (user + system) / time", row.label), line);
        table_.rows.push_back(std::move(row));
    }

    size_t rows() const { return table_.rows.size(); }
    void finish(SectionHandle section) { context_.sink.table(section, table_); }

private:
    BlockContext& context_;
    TableRecord table_;
};

// --- one row a line ---------------------------------------------------------------------------------------

/// Words in front of the header that may name the column of labels.
constexpr size_t kMostHeadWords = 2;

std::vector<std::string_view> wordsOf(const TextLine* line)
{
    constexpr size_t kMostWords = 16;
    return line == nullptr ? std::vector<std::string_view>() : tokensOf(line->text, kMostWords);
}

/// The header of a table with one row a line, if the cursor stands on it.
std::optional<Header> lineHeader(TextCursor& cursor)
{
    const auto words = wordsOf(cursor.peek());
    const auto header = headerIn(words);
    if (!header || header->at > kMostHeadWords || header->at + header->columns != words.size())
        return std::nullopt;
    return header;
}

/// How many lines the row at `ahead` takes: 1, or 2 when a mailer wrapped it; 0 when there is none.
size_t linesOfRow(TextCursor& cursor, size_t ahead, size_t columns, std::vector<std::string_view>& words)
{
    const TextLine* line = cursor.peek(ahead);
    words = wordsOf(line);
    if (words.empty())
        return 0;
    if (rowOf(words, columns))
        return 1;
    const TextLine* next = cursor.peek(ahead + 1);
    if (next == nullptr || next->quoteDepth != line->quoteDepth)
        return 0;
    const auto rest = wordsOf(next);
    if (rest.empty() || rest.size() >= columns || words.size() > columns || !figure(rest.back()))
        return 0;
    words.insert(words.end(), rest.begin(), rest.end());
    return rowOf(words, columns) ? 2 : 0;
}

/// The first row of a table with one row a line; 0 when there is none. A rule may stand above it.
size_t firstRow(TextCursor& cursor, size_t columns)
{
    std::vector<std::string_view> words;
    const TextLine* below = cursor.peek(1);
    const size_t ahead = below != nullptr && isRule(below->text) ? 2 : 1;
    return linesOfRow(cursor, ahead, columns, words) > 0 ? ahead : 0;
}

void readLines(TextCursor& cursor, BlockContext& context, const Header& header)
{
    const auto headWords = wordsOf(cursor.peek());
    const std::span<const std::string_view> head(headWords);
    TableWriter writer(head.subspan(header.at, header.columns), context);
    const SectionHandle section = context.sink.section(sectionRecord(*cursor.peek(), context));
    cursor.advance(firstRow(cursor, header.columns));
    std::vector<std::string_view> words;
    while (const TextLine* line = cursor.peek()) {
        size_t lines = linesOfRow(cursor, 0, header.columns, words);
        if (lines > 0) {
            writer.add(words, words.size() - header.columns, *line);
            if (lines > 1)
                context.report(
                    DiagnosticCode::RowsRejoined, "a row that was wrapped over two lines was joined", *line);
        } else if (!trimmed(line->text).empty() && linesOfRow(cursor, 1, header.columns, words) > 0) {
            if (isCutMark(line->text))
                context.sink.fact(section, FactKind::CutMark, trimmed(line->text));
            else if (!isRule(line->text))
                context.report(DiagnosticCode::RowUnreadable,
                    "the row cannot be read and was skipped, the others kept", *line);
            lines = 1;
        } else {
            break;
        }
        cursor.advance(lines);
    }
    writer.finish(section);
}

// --- header and rows in one line or paragraph -------------------------------------------------------------

/// A header and its rows among the words of a paragraph.
struct FlatTable {
    Header header;
    std::vector<std::pair<size_t, Row>> rows; ///< the word that each begins at

    size_t end() const { return rows.back().first + rows.back().second.words; }
};

/// The table whose header begins on the first line; empty without a row.
std::optional<FlatTable> flatTableIn(const Words& paragraph)
{
    const std::span<const std::string_view> words(paragraph.text);
    const auto header = headerIn(words);
    if (!header || paragraph.lineOf[header->at] != 0)
        return std::nullopt;
    FlatTable table{*header, {}};
    size_t at = header->at + header->columns;
    while (const auto row = flatRowAt(words.subspan(at), header->columns)) {
        table.rows.emplace_back(at, *row);
        at += row->words;
    }
    return table.rows.empty() ? std::nullopt : std::optional(std::move(table));
}

void readFlat(TextCursor& cursor, BlockContext& context)
{
    const TextLine first = *cursor.peek();
    const Words paragraph = benchmark::paragraphAsFarAsUsed(cursor, [](const Words& words) {
        const auto table = flatTableIn(words);
        return table ? words.lineOf[table->end() - 1] : 0;
    });
    const auto table = flatTableIn(paragraph);
    if (!table) { // it was claimed by the same look ahead, so it is there
        cursor.advance();
        return;
    }
    const std::span<const std::string_view> words(paragraph.text);
    SectionRecord record = sectionRecord(first, context);
    const auto column = static_cast<uint64_t>(words[table->header.at].data() - first.text.data());
    record.position.offset += column;
    record.position.column = column + 1;
    const SectionHandle section = context.sink.section(record);
    TableWriter writer(words.subspan(table->header.at, table->header.columns), context);
    for (const auto& [at, row] : table->rows) {
        TextLine line = first;
        line.number += paragraph.lineOf[at];
        writer.add(words.subspan(at, row.words), row.labelWords, line);
    }
    const size_t lastLine = paragraph.lineOf[table->end() - 1];
    const std::string how = fmt::format(
        "{} rows recovered from {}", writer.rows(), lastLine == 0 ? "one line" : "a re-filled paragraph");
    context.sink.fact(section, FactKind::Repair, how);
    context.report(DiagnosticCode::LineEndsLost, "line ends were lost: " + how, first);
    writer.finish(section);
    cursor.advance(lastLine + 1);
}

// --- blocks `Average ... load -jN Run` --------------------------------------------------------------------

bool loadBlockAt(TextCursor& cursor, size_t ahead)
{
    const TextLine* line = cursor.peek(ahead);
    const TextLine* next = cursor.peek(ahead + 1);
    return line != nullptr && next != nullptr && !loadLabel(line->text).empty() && loadFigure(next->text);
}

/// Reads the lines of one block below its head.
TableRow readLoadBlock(TextCursor& cursor, BlockContext& context)
{
    TableRow row{.label = loadLabel(cursor.peek()->text), .values = {}, .line = cursor.peek()->number};
    row.values.resize(kLoadFigures.size());
    cursor.advance();
    while (const TextLine* line = cursor.peek()) {
        const auto value = loadFigure(line->text);
        if (!value)
            break;
        if (!value->value)
            context.report(
                DiagnosticCode::RowUnreadable, "the figure cannot be read and was left out", *line);
        row.values[value->index] = value->value;
        cursor.advance();
    }
    return row;
}

void readLoads(TextCursor& cursor, BlockContext& context)
{
    const SectionHandle section = context.sink.section(sectionRecord(*cursor.peek(), context));
    TableRecord table;
    table.shape = TableShape::Scaling;
    table.rowName = "jobs";
    table.columns.assign(kLoadFigures.begin(), kLoadFigures.end());
    const auto isNew = [&](std::string_view line) {
        const std::string label = loadLabel(line);
        return std::none_of(
            table.rows.begin(), table.rows.end(), [&](const TableRow& row) { return row.label == label; });
    };
    while (loadBlockAt(cursor, 0) && isNew(cursor.peek()->text)) {
        table.rows.push_back(readLoadBlock(cursor, context));
        const TextLine* blank = cursor.peek();
        if (blank != nullptr && trimmed(blank->text).empty() && loadBlockAt(cursor, 1)
            && isNew(cursor.peek(1)->text))
            cursor.advance();
    }
    context.sink.table(section, table);
}

Claim claim(TextCursor& cursor)
{
    const std::string_view text = cursor.peek()->text;
    if (loadBlockAt(cursor, 0))
        return {Confidence::Certain, "`Average ... load Run:` and its figures"};
    if (!mayHoldHeader(text))
        return {};
    if (const auto header = lineHeader(cursor); header && firstRow(cursor, header->columns) > 0)
        return {Confidence::Certain, "header `time user system %cpu` and rows"};
    return flatTableIn(benchmark::paragraphWords(cursor, benchmark::kLinesOfClaim))
        ? Claim{Confidence::Likely, "`time user system %cpu` and rows in a paragraph"}
        : Claim{};
}

void read(TextCursor& cursor, BlockContext& context)
{
    if (loadBlockAt(cursor, 0)) {
        readLoads(cursor, context);
        return;
    }
    const auto header = lineHeader(cursor);
    if (header && firstRow(cursor, header->columns) > 0)
        readLines(cursor, context, *header);
    else
        readFlat(cursor, context);
}

} // namespace

extern const TextFormat kernbenchFormat;
const TextFormat kernbenchFormat = {
    kName, "kernbench: rows of time, user, system, %cpu, context switches, sleeps", claim, read};

} // namespace whichlock
