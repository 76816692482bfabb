// SPDX-License-Identifier: GPL-3.0-or-later
// AIM7 tables: `Tasks Jobs/Min JTI Real CPU Jobs/sec/task ...` and a row for each number of tasks.
#include "parsers/format.h"
#include "parsers/formats/benchmark_scan.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>

namespace whichlock {
namespace {

constexpr std::string_view kName = "aim7";
constexpr size_t kMostColumns = 24;

std::vector<std::string_view> headerWords(std::string_view line)
{
    auto words = tokensOf(line, kMostColumns + 1);
    const bool isHeader = words.size() >= 3 && words.size() <= kMostColumns
        && benchmark::sameWord(words[0], "tasks") && benchmark::sameWord(words[1], "jobs/min");
    return isHeader ? words : std::vector<std::string_view>();
}

/// The words of a line that holds nothing but numbers, the first of them whole.
std::vector<std::string_view> numbersOf(std::string_view line)
{
    auto words = tokensOf(line, kMostColumns + 1);
    const bool numbers = words.size() >= 2 && words.size() <= kMostColumns && isAllDigits(words[0])
        && benchmark::numbersAt(words, 1, words.size() - 1);
    return numbers ? words : std::vector<std::string_view>();
}

/// How many lines below the header the first row stands (a rule may be between); 0 when there is none.
size_t firstRow(TextCursor& cursor, size_t columns)
{
    const TextLine* line = cursor.peek(1);
    const size_t ahead = line != nullptr && isRule(line->text) ? 2 : 1;
    line = cursor.peek(ahead);
    return line != nullptr && numbersOf(line->text).size() == columns ? ahead : 0;
}

Claim claim(TextCursor& cursor)
{
    const auto header = headerWords(cursor.peek()->text);
    return !header.empty() && firstRow(cursor, header.size()) > 0
        ? Claim{Confidence::Certain, "header `Tasks Jobs/Min` and rows"}
        : Claim{};
}

/// Appends the row on the line; false when the line ends the table.
bool readRow(TextCursor& cursor, BlockContext& context, TableRecord& table)
{
    const TextLine& line = *cursor.peek();
    const auto words = numbersOf(line.text);
    const size_t expected = table.columns.size() + 1;
    if (words.size() == expected) {
        TableRow row{.label = std::string(words[0]), .values = {}, .line = line.number};
        for (size_t i = 1; i < words.size(); ++i)
            row.values.push_back(parseFixedPoint(words[i]));
        table.rows.push_back(std::move(row));
        return true;
    }
    const TextLine* next = cursor.peek(1);
    const bool goesOn = next != nullptr && numbersOf(next->text).size() == expected;
    if (words.empty() && (!goesOn || trimmed(line.text).empty()))
        return false;
    context.report(DiagnosticCode::RowUnreadable,
        words.empty() ? "the row cannot be read and was skipped, the others kept"
                      : fmt::format("the row has {} figures, the header {} words; it was skipped",
                          words.size(), expected),
        line);
    return true;
}

void read(TextCursor& cursor, BlockContext& context)
{
    const TextLine& first = *cursor.peek();
    const auto header = headerWords(first.text);
    SectionRecord record = context.sectionAt(first, kName);
    record.kind = SectionKind::Measurements;
    record.quantity = QuantityKind::Count;
    record.unit = Unit::Count;
    TableRecord table;
    table.shape = TableShape::Scaling;
    table.rowName = "tasks";
    table.columns.assign(header.begin() + 1, header.end());
    cursor.advance(firstRow(cursor, header.size()));
    while (cursor.peek() != nullptr && readRow(cursor, context, table))
        cursor.advance();
    context.sink.table(context.sink.section(record), table);
}

} // namespace

extern const TextFormat aim7Format;
const TextFormat aim7Format = {kName, "AIM7: jobs per minute over the number of tasks", claim, read};

} // namespace whichlock
