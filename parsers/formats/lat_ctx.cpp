// SPDX-License-Identifier: GPL-3.0-or-later
// Context switch times of lmbench: tables `Test case: lat_ctx -s 16 2 4 8 ...` with one column a kernel,
// whose names may stand in two header lines, and the raw output `"size=16k ovr=1.23` with rows `processes
// us`.
#include "parsers/format.h"
#include "parsers/formats/benchmark_scan.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {
namespace {

constexpr std::string_view kName = "lat-ctx";

/// Lines between the command and the first row: a blank one and the header lines.
constexpr size_t kMostHeaderLines = 6;
constexpr size_t kMostColumns = 64;

/// The command of a table, taken apart.
struct Command {
    std::string_view text; ///< from `lat_ctx` to the end of the line
    std::string_view size; ///< of the data, in KB
    std::vector<std::string_view> processes;
};

/// The command `lat_ctx -s SIZE N N ...` on the line, with at least one number of processes.
std::optional<Command> commandIn(std::string_view line)
{
    const size_t at = line.find("lat_ctx ");
    if (at == std::string_view::npos || (at > 0 && !isBlank(line[at - 1]) && line[at - 1] != '/'))
        return std::nullopt;
    Command command{.text = line.substr(at), .size = {}, .processes = {}};
    std::string_view rest = command.text;
    nextToken(rest);
    for (std::string_view word = nextToken(rest); !word.empty(); word = nextToken(rest)) {
        if (word == "-s")
            command.size = nextToken(rest);
        else if (word == "-P" || word == "-W" || word == "-N")
            nextToken(rest);
        else if (isAllDigits(word) && command.processes.size() < kMostColumns)
            command.processes.push_back(word);
        else
            return std::nullopt; // prose about lat_ctx
    }
    const bool whole = !command.size.empty() && isDigit(command.size[0]) && !command.processes.empty();
    return whole ? std::optional(command) : std::nullopt;
}

/// A row `processes us us ...`: the words, or none.
std::vector<std::string_view> rowWords(std::string_view line)
{
    auto words = tokensOf(line, kMostColumns + 2);
    const bool isRow = words.size() >= 2 && words.size() <= kMostColumns + 1 && isAllDigits(words[0])
        && benchmark::numbersAt(words, 1, words.size() - 1);
    return isRow ? words : std::vector<std::string_view>();
}

/// How many lines further the first row stands; 0 when there is none.
size_t firstRow(TextCursor& cursor)
{
    bool headerSeen = false;
    for (size_t i = 1; i <= kMostHeaderLines; ++i) {
        const TextLine* line = cursor.peek(i);
        if (line == nullptr)
            return 0;
        if (!rowWords(line->text).empty())
            return i;
        const bool blank = trimmed(line->text).empty();
        if (blank && headerSeen)
            return 0;
        headerSeen = headerSeen || !blank;
    }
    return 0;
}

/// The names of the columns: the last words of the header lines, joined from above by position.
std::vector<std::string> columnNames(
    TextCursor& cursor, size_t headerEnd, size_t columns, BlockContext& context, std::string& rowName)
{
    std::vector<std::string> names(columns);
    for (size_t i = 1; i < headerEnd; ++i) {
        const TextLine* line = cursor.peek(i);
        const auto words = tokensOf(line->text, 2 * kMostColumns);
        if (words.empty() || isRule(line->text))
            continue;
        const bool last = i + 1 == headerEnd || isRule(cursor.peek(i + 1)->text);
        if (words.size() != columns && !(last && words.size() > columns)) {
            context.report(DiagnosticCode::RemarkInTable, "a line above the rows names no columns", *line);
            continue;
        }
        const size_t label = words.size() - columns;
        if (label > 0 && words[label - 1].find("process") == std::string_view::npos)
            rowName = benchmark::joined(std::span(words.data(), label));
        for (size_t column = 0; column < columns; ++column)
            names[column] += (names[column].empty() ? "" : " ") + std::string(words[label + column]);
    }
    if (std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.empty(); })) {
        context.report(DiagnosticCode::HeaderMissing, "the columns have no names", *cursor.peek());
        for (size_t column = 0; column < columns; ++column)
            names[column] = fmt::format("column {}", column + 1);
    }
    return names;
}

/// Reads rows from the cursor to the first line that is none.
void readRows(TextCursor& cursor, BlockContext& context, TableRecord& table)
{
    while (const TextLine* line = cursor.peek()) {
        const auto words = rowWords(line->text);
        if (words.empty()) {
            const std::string_view text = trimmed(line->text);
            const TextLine* next = cursor.peek(1);
            if (text.empty() || next == nullptr || rowWords(next->text).size() != table.columns.size() + 1)
                break;
            context.report(DiagnosticCode::RowUnreadable,
                "the row cannot be read and was skipped, the others kept", *line);
        } else if (words.size() != table.columns.size() + 1) {
            context.report(DiagnosticCode::RowUnreadable,
                fmt::format("the row has {} figures and the table {} columns; it was skipped",
                    words.size() - 1, table.columns.size()),
                *line);
        } else {
            TableRow row{.label = std::string(words[0]), .values = {}, .line = line->number};
            for (size_t i = 1; i < words.size(); ++i)
                row.values.push_back(parseFixedPoint(words[i]));
            table.rows.push_back(std::move(row));
        }
        cursor.advance();
    }
}

/// The rows must be those that the command asks for.
void checkKeys(const std::vector<std::string>& asked, const TableRecord& table, const TextLine& line,
    BlockContext& context)
{
    std::vector<std::string> found;
    for (const TableRow& row : table.rows)
        found.push_back(row.label);
    if (found == asked)
        return;
    const bool cut = found.size() < asked.size() && std::equal(found.begin(), found.end(), asked.begin());
    context.report(cut ? DiagnosticCode::TableTruncated : DiagnosticCode::PrintedFigureDiffers,
        fmt::format("the command asks for {} processes, the rows are for {}", fmt::join(asked, " "),
            fmt::join(found, " ")),
        line);
}

SectionRecord sectionRecord(const TextLine& line, BlockContext& context)
{
    SectionRecord record = context.sectionAt(line, kName);
    record.kind = SectionKind::Measurements;
    record.quantity = QuantityKind::Count;
    record.unit = Unit::Count;
    return record;
}

void readTable(TextCursor& cursor, BlockContext& context, const Command& command)
{
    const TextLine first = *cursor.peek();
    SectionRecord record = sectionRecord(first, context);
    record.title = fmt::format("lat_ctx -s {}", command.size);
    record.command = command.text;
    const std::vector<std::string> asked(command.processes.begin(), command.processes.end());
    const size_t headerEnd = firstRow(cursor);
    TableRecord table;
    table.shape = TableShape::ColumnsAreVariants;
    table.rowName = "processes";
    table.unit = "us";
    const size_t columns = rowWords(cursor.peek(headerEnd)->text).size() - 1;
    table.columns = columnNames(cursor, headerEnd, columns, context, table.rowName);
    const SectionHandle section = context.sink.section(record);
    cursor.advance(headerEnd);
    readRows(cursor, context, table);
    checkKeys(asked, table, first, context);
    context.sink.table(section, table);
}

// --- raw output -------------------------------------------------------------------------------------------

bool isRawHead(std::string_view line)
{
    line = trimmed(line);
    constexpr size_t kLongest = 60;
    return line.starts_with("\"size=") && line.size() <= kLongest
        && line.find(" ovr=") != std::string_view::npos;
}

void readRaw(TextCursor& cursor, BlockContext& context)
{
    SectionRecord record = sectionRecord(*cursor.peek(), context);
    std::string_view head = trimmed(cursor.peek()->text).substr(1);
    record.title = fmt::format("lat_ctx {}", nextToken(head));
    TableRecord table;
    table.shape = TableShape::ColumnsAreVariants;
    table.rowName = "processes";
    table.unit = "us";
    table.columns = {"latency"};
    const SectionHandle section = context.sink.section(record);
    cursor.advance();
    readRows(cursor, context, table);
    context.sink.table(section, table);
}

bool rawAt(TextCursor& cursor)
{
    if (!isRawHead(cursor.peek()->text))
        return false;
    const TextLine* next = cursor.peek(1);
    return next != nullptr && rowWords(next->text).size() == 2;
}

Claim claim(TextCursor& cursor)
{
    if (rawAt(cursor))
        return {Confidence::Certain, "`\"size=` and rows `processes us`"};
    return commandIn(cursor.peek()->text) && firstRow(cursor) > 0
        ? Claim{Confidence::Certain, "`lat_ctx -s SIZE N ...` and rows"}
        : Claim{};
}

void read(TextCursor& cursor, BlockContext& context)
{
    const auto command = commandIn(cursor.peek()->text);
    if (command)
        readTable(cursor, context, *command);
    else
        readRaw(cursor, context);
}

} // namespace

extern const TextFormat lat_ctxFormat;
const TextFormat lat_ctxFormat = {
    kName, "context switch times of lmbench: one column a kernel, or the raw output", claim, read};

} // namespace whichlock
