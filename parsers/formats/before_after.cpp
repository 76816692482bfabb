// SPDX-License-Identifier: GPL-3.0-or-later
// Tables that put variants side by side: a header that names them (`base`, `patched`, a version), a rule,
// rows of a label and one figure a variant. Rows of functions and counts are profiles, one a column.
#include "parsers/format.h"
#include "parsers/formats/before_after_rows.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {
namespace {

using namespace before_after;
using benchmark::Words;
using WordSpan = std::span<const std::string_view>;

constexpr std::string_view kName = "before-after";
constexpr size_t kMostColumns = 12;
constexpr size_t kFewestRows = 2;

std::vector<std::string_view> wordsOf(const TextLine* line)
{
    return line == nullptr ? std::vector<std::string_view>() : tokensOf(line->text, kMostColumns + 2);
}

// --- what was found is handed over ------------------------------------------------------------------------

/// Compares a printed sum with the rows above it.
void checkSum(const Table& table, size_t column, const TextLine& first, BlockContext& context)
{
    int64_t sum = 0;
    for (const Row& row : table.rows) {
        if (__builtin_add_overflow(sum, row.cells[column].value.millionths, &sum))
            return;
    }
    const int64_t printed = table.sums[column].value.millionths;
    if (printed == sum)
        return;
    context.report(printed < sum ? DiagnosticCode::TotalBelowRows : DiagnosticCode::PrintedFigureDiffers,
        fmt::format("the sum printed below `{}` is {}; its rows add up to {}", table.columns[column],
            printed / FixedPoint::kScale, sum / FixedPoint::kScale),
        first);
}

void handOverProfiles(
    const Table& table, const SectionRecord& place, const TextLine& first, BlockContext& context)
{
    for (size_t column = 0; column < table.columns.size(); ++column) {
        SectionRecord record = place;
        record.kind = SectionKind::CpuProfile;
        record.quantity = QuantityKind::Cpu;
        record.unit = Unit::Samples;
        record.title = table.columns[column];
        const SectionHandle section = context.sink.section(record);
        for (const Row& row : table.rows) {
            const Cell& cell = row.cells[column];
            if (cell.kind != CellKind::Missing)
                context.sink.row(section,
                    {.symbol = row.label,
                        .image = {},
                        .value = parseUnsigned(cell.text),
                        .share = {},
                        .line = row.line});
        }
        if (table.sums.empty())
            continue;
        if (const auto total = parseUnsigned(table.sums[column].text))
            context.sink.total(section, *total);
        checkSum(table, column, first, context);
    }
}

/// Whether the last of three columns is the printed change between the first two. A text that was cut may
/// have lost the sign of the last one.
bool endsInChange(const Table& table)
{
    if (table.columns.size() != 3 || !isChange(table.columns[2]))
        return false;
    const auto percents = std::count_if(table.rows.begin(), table.rows.end(),
        [](const Row& row) { return row.cells[2].kind == CellKind::Percent; });
    return static_cast<size_t>(percents) * 2 >= table.rows.size();
}

void reportMisprints(const Table& table, const TextLine& first, BlockContext& context)
{
    constexpr size_t kMostListed = 12;
    std::vector<std::string> cut;
    std::vector<std::string> wrong;
    for (const Misprint& misprint : misprintedChanges(table.rows))
        (misprint.cut ? cut : wrong).push_back(misprint.text);
    const auto report = [&](std::string_view what, std::vector<std::string>& list) {
        if (list.empty())
            return;
        const size_t more = list.size() > kMostListed ? list.size() - kMostListed : 0;
        list.resize(list.size() - more);
        context.report(DiagnosticCode::PrintedFigureDiffers,
            fmt::format("the printed {} {}: {}{}", table.columns.back(), what, fmt::join(list, ", "),
                more > 0 ? fmt::format(" and {} more", more) : ""),
            first);
    };
    report("figures are cut and not rounded", cut);
    report("figures do not follow from the columns", wrong);
}

void handOverMeasurements(const Table& table, const SectionRecord& place, std::string about,
    const TextLine& first, BlockContext& context)
{
    TableRecord record;
    record.shape = TableShape::ColumnsAreVariants;
    record.rowName = table.rowName.empty() ? "test" : benchmark::lowered(table.rowName);
    record.about = std::move(about);
    const bool change = endsInChange(table);
    const size_t columns = table.columns.size() - (change ? 1 : 0);
    record.columns.assign(
        table.columns.begin(), table.columns.begin() + static_cast<std::ptrdiff_t>(columns));
    for (const Row& row : table.rows) {
        TableRow& kept = record.rows.emplace_back();
        kept.label = row.label;
        kept.line = row.line;
        for (size_t column = 0; column < columns; ++column) {
            const Cell& cell = row.cells[column];
            kept.values.push_back(cell.kind == CellKind::Missing ? std::nullopt : std::optional(cell.value));
        }
    }
    if (change)
        reportMisprints(table, first, context);
    for (size_t column = 0; column < table.sums.size(); ++column)
        checkSum(table, column, first, context);
    context.sink.table(context.sink.section(place), record);
}

void handOver(
    const Table& table, SectionRecord place, std::string about, const TextLine& first, BlockContext& context)
{
    if (isProfile(table))
        return handOverProfiles(table, place, first, context);
    place.kind = SectionKind::Measurements;
    place.quantity = QuantityKind::Count;
    place.unit = Unit::Count;
    handOverMeasurements(table, place, std::move(about), first, context);
}

// --- one row a line ---------------------------------------------------------------------------------------

bool isRuler(std::string_view line)
{
    constexpr size_t kShortest = 3;
    line = trimmed(line);
    return line.size() >= kShortest
        && (line.find_first_not_of("- \t") == std::string_view::npos
            || line.find_first_not_of("= \t") == std::string_view::npos);
}

/// The header on the cursor's line, with a rule and rows below it; empty columns when there is none.
Table headerHere(TextCursor& cursor)
{
    const TextLine* rule = cursor.peek(1);
    if (rule == nullptr || !isRuler(rule->text))
        return {};
    const auto header = wordsOf(cursor.peek());
    const auto row = wordsOf(cursor.peek(2));
    if (header.size() < 2 || header.size() > kMostColumns
        || (row.size() != header.size() && row.size() != header.size() + 1))
        return {};
    Table table;
    const bool labelled = row.size() == header.size();
    if (labelled)
        table.rowName = header[0];
    table.columns.assign(header.begin() + (labelled ? 1 : 0), header.end());
    const auto next = wordsOf(cursor.peek(3));
    const size_t words = table.columns.size() + 1;
    const bool rows = table.columns.size() >= 2 && rowOf(row, words - 1, labelled) && next.size() == words
        && rowOf(next, words - 1, labelled);
    return rows && namesVariants(table) ? table : Table{};
}

/// Reads rows into the table; returns false at a line that is none of its.
bool readLine(TextCursor& cursor, BlockContext& context, Table& table)
{
    const TextLine& line = *cursor.peek();
    const size_t columns = table.columns.size();
    const bool labelMayBeNumber = !table.rowName.empty();
    const auto isRow = [&](const TextLine* at) {
        const auto words = wordsOf(at);
        return words.size() == columns + 1 && rowOf(words, columns, labelMayBeNumber).has_value();
    };
    const auto words = wordsOf(&line);
    if (isRow(&line)) {
        auto row = rowOf(words, columns, labelMayBeNumber);
        row->line = line.number;
        table.rows.push_back(std::move(*row));
        return true;
    }
    if (words.empty())
        return false;
    const bool goesOn = isRow(cursor.peek(1));
    if (isRuler(line.text))
        return goesOn || !sumsOf(wordsOf(cursor.peek(1)), columns).empty();
    if (auto sums = sumsOf(words, columns); !sums.empty() && !table.rows.empty() && !goesOn) {
        table.sums = std::move(sums);
        return true;
    }
    if (isCutMark(line.text) && goesOn) {
        context.report(DiagnosticCode::ListCut, "rows were cut out of the table by its author", line);
        return true;
    }
    if (!goesOn && !isBrokenRow(words, columns))
        return false;
    context.report(
        DiagnosticCode::RowUnreadable, "the row cannot be read and was skipped, the others kept", line);
    return true;
}

void readLines(TextCursor& cursor, BlockContext& context, Table table)
{
    const TextLine first = *cursor.peek();
    const SectionRecord place = context.sectionAt(first, kName);
    const std::string about = whatIsCounted(" " + context.around.paragraphAbove());
    cursor.advance(2);
    while (cursor.peek() != nullptr && table.sums.empty() && readLine(cursor, context, table))
        cursor.advance();
    handOver(table, place, about, first, context);
}

// --- header, dashes and rows in a paragraph ---------------------------------------------------------------

/// A table in a text without line ends: its header begins at word `begin`, its last row ends before `end`.
struct FlatTable {
    Table table;
    size_t begin = 0;
    size_t end = 0;
};

/// The table whose header has its words right before as many words of dashes, and begins on the first line.
std::optional<FlatTable> flatTableIn(const Words& paragraph)
{
    constexpr size_t kFewestColumns = 3;
    constexpr size_t kFewestDashes = 2;
    const WordSpan words(paragraph.text);
    for (size_t at = 0; at < words.size(); ++at) {
        size_t count = 0;
        while (at + count < words.size() && benchmark::isDashes(words[at + count], kFewestDashes))
            ++count;
        if (count < kFewestColumns || count > kMostColumns + 1 || at < count
            || paragraph.lineOf[at - count] != 0) {
            at += count;
            continue;
        }
        FlatTable found{.table = {}, .begin = at - count, .end = at + count};
        const WordSpan header = words.subspan(found.begin, count);
        found.table.rowName = header[0];
        found.table.columns.assign(header.begin() + 1, header.end());
        at += count;
        if (!namesVariants(found.table))
            continue;
        while (auto row = rowOf(words.subspan(found.end), count - 1, true)) {
            row->line = paragraph.lineOf[found.end];
            found.table.rows.push_back(std::move(*row));
            found.end += count;
        }
        if (found.table.rows.size() >= kFewestRows)
            return found;
    }
    return std::nullopt;
}

void readFlat(TextCursor& cursor, BlockContext& context)
{
    const TextLine first = *cursor.peek();
    const Words paragraph = benchmark::paragraphAsFarAsUsed(cursor, [](const Words& words) {
        const auto found = flatTableIn(words);
        return found ? words.lineOf[found->end - 1] : 0;
    });
    auto found = flatTableIn(paragraph);
    if (!found) { // it was claimed by the same look ahead, so it is there
        cursor.advance();
        return;
    }
    for (Row& row : found->table.rows)
        row.line += first.number;
    SectionRecord place = context.sectionAt(first, kName);
    const auto column = static_cast<uint64_t>(paragraph.text[found->begin].data() - first.text.data());
    place.position.offset += column;
    place.position.column = column + 1;
    // The sentence that says what is counted stands close before the table.
    constexpr size_t kNear = 2048;
    const size_t from = column > kNear ? column - kNear : 0;
    const std::string near =
        context.around.paragraphAbove() + " " + std::string(first.text.substr(from, column - from));
    const size_t lastLine = paragraph.lineOf[found->end - 1];
    context.report(DiagnosticCode::LineEndsLost,
        fmt::format("line ends were lost: {} rows recovered from {}", found->table.rows.size(),
            lastLine == 0 ? "one line" : "a re-filled paragraph"),
        first, column + 1);
    handOver(found->table, place, whatIsCounted(near), first, context);
    cursor.advance(lastLine + 1);
}

/// Whether words of dashes follow one another on this line or the next one.
bool mayHoldFlatTable(TextCursor& cursor)
{
    constexpr std::string_view kDashes = "-- --";
    const TextLine* next = cursor.peek(1);
    return cursor.peek()->text.find(kDashes) != std::string_view::npos
        || (next != nullptr && next->text.find(kDashes) != std::string_view::npos);
}

Claim claim(TextCursor& cursor)
{
    if (!headerHere(cursor).columns.empty())
        return {Confidence::Likely, "variants side by side, a rule and rows"};
    return mayHoldFlatTable(cursor)
            && flatTableIn(benchmark::paragraphWords(cursor, benchmark::kLinesOfClaim))
        ? Claim{Confidence::Likely, "variants side by side, dashes and rows in a paragraph"}
        : Claim{};
}

void read(TextCursor& cursor, BlockContext& context)
{
    Table table = headerHere(cursor);
    if (!table.columns.empty())
        readLines(cursor, context, std::move(table));
    else
        readFlat(cursor, context);
}

} // namespace

extern const TextFormat before_afterFormat;
const TextFormat before_afterFormat = {
    kName, "variants side by side: counts of functions, or tests with a printed change", claim, read};

} // namespace whichlock
