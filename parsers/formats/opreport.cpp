// SPDX-License-Identifier: GPL-3.0-or-later
// opreport(1) symbol lists: one section per event, rows `samples % [line info] [image] [application] symbol`,
// also the early `vma samples % symbol image`, with or without the lines above. Call graphs, differences and
// summaries by image have percentages of something else; they are refused with a diagnostic, never misread.
#include "parsers/format.h"
#include "parsers/formats/opreport_writer.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {
namespace {

using namespace opreport;

const TextLine* lineAtDepth(TextCursor& cursor, size_t ahead)
{
    const TextLine* line = cursor.peek(ahead);
    return line != nullptr && line->quoteDepth == cursor.peek()->quoteDepth ? line : nullptr;
}

// --- shapes that are not read -----------------------------------------------------------------------------

bool isSelfRow(std::string_view symbol)
{
    return symbol.ends_with(" [self]");
}

/// Whether the rows from `from` on are the blocks of a call graph: percentages there are of a symbol.
bool isCallGraph(TextCursor& cursor, size_t from, const Layout& layout)
{
    constexpr size_t kLookAhead = 400;
    size_t least = SIZE_MAX;
    size_t most = 0;
    ImpliedTotal total;
    int64_t shares = 0;
    size_t foreign = 0;
    for (size_t at = from; at < from + kLookAhead && foreign < 2;) {
        const TextLine* line = lineAtDepth(cursor, at);
        if (line == nullptr || trimmed(line->text).empty() || headerAt(cursor, at))
            break;
        if (isCallGraphRule(line->text))
            return true;
        const auto lines = isDetail(line->text, layout) ? std::nullopt : rowAt(cursor, at, layout);
        if (!lines) {
            foreign += isDetail(line->text, layout) ? 0 : 1;
            ++at;
            continue;
        }
        foreign = 0;
        const Row row = parseRow(lines->text(), layout);
        if (isSelfRow(row.symbol))
            return true;
        least = std::min(least, indentOf(line->text));
        most = std::max(most, indentOf(line->text));
        total.add(row.figures.front());
        if (row.figures.front().share)
            shares += row.figures.front().share->ppb;
        at += lines->lines;
    }
    const bool nested = least < most;
    return !total.consistent() && (nested || shares > Share::kWhole + Share::kPercent);
}

bool belongsToUnread(TextCursor& cursor, size_t ahead)
{
    const TextLine* line = lineAtDepth(cursor, ahead);
    if (line == nullptr)
        return false;
    const std::string_view text = trimmed(line->text);
    return !text.empty()
        && (isDigit(text.front()) || isCutRow(text) || text.ends_with('|')
            || text.find_first_not_of('-') == std::string_view::npos);
}

/// Passes over a block of a shape that is not read, beginning `lines` ahead; says so once.
void refuse(TextCursor& cursor, BlockContext& context, size_t lines, std::string_view shape)
{
    const TextLine first = *cursor.peek();
    cursor.advance(lines);
    size_t passed = 0;
    while (cursor.peek() != nullptr && cursor.peek()->quoteDepth == first.quoteDepth
        && (belongsToUnread(cursor, 0)
            || (!trimmed(cursor.peek()->text).empty() && !headerAt(cursor, 0) && belongsToUnread(cursor, 1)
                && indentOf(cursor.peek(1)->text) > 0))) {
        ++passed;
        cursor.advance();
    }
    context.report(DiagnosticCode::ShapeUnread,
        fmt::format("{} of opreport is not read yet; its {} lines were skipped, give the list of "
                    "`opreport -l`",
            shape, passed),
        first);
}

// --- lists --------------------------------------------------------------------------------------------

/// What a line that is no row is to the list that it stands in.
enum class Interruption { EndsList, Blank, Cut, Detail, Remark, BrokenRow };

Interruption interruptionBy(TextCursor& cursor, const Layout& layout, uint64_t lastSamples)
{
    const std::string_view text = trimmed(cursor.peek()->text);
    if (isCallGraphRule(text) || headerAt(cursor, 0))
        return Interruption::EndsList;
    if (!text.empty() && isCutRow(text))
        return Interruption::Cut;
    if (isDetail(cursor.peek()->text, layout))
        return Interruption::Detail;
    const auto next = rowAt(cursor, 1, layout);
    if (!next)
        return !text.empty() && cursor.peek(1) == nullptr && parseRow(text, layout).fit == Fit::Incomplete
            ? Interruption::BrokenRow
            : Interruption::EndsList;
    if (text.empty()) {
        // Lists are sorted: after a blank line a larger count begins another one.
        const Row row = parseRow(next->text(), layout);
        const bool descends = row.figures.front().samples && *row.figures.front().samples <= lastSamples;
        return descends ? Interruption::Blank : Interruption::EndsList;
    }
    if (isDigit(text.front()))
        return Interruption::BrokenRow;
    return text.ends_with(':') ? Interruption::EndsList : Interruption::Remark;
}

/// Reads the rows from the current line on. Stops before the first line that does not belong to them.
void readRows(TextCursor& cursor, BlockContext& context, const Layout& layout, ListWriter& writer)
{
    bool rejoinedReported = false;
    bool detailsReported = false;
    uint64_t lastSamples = UINT64_MAX;
    const unsigned depth = cursor.peek()->quoteDepth;
    for (const TextLine* line = cursor.peek(); line != nullptr && line->quoteDepth == depth;
         line = cursor.peek()) {
        if (const auto lines = rowAt(cursor, 0, layout); lines && !isDetail(line->text, layout)) {
            const Row row = parseRow(lines->text(), layout);
            if (isSelfRow(row.symbol)) {
                writer.rowLost();
                refuse(cursor, context, 0, "a call graph");
                return;
            }
            if (lines->lines > 1 && !rejoinedReported) {
                context.report(
                    DiagnosticCode::RowsRejoined, "rows that a mailer had wrapped were joined", *line);
                writer.repaired("wrapped rows were joined");
                rejoinedReported = true;
            }
            writer.add(row, *line);
            lastSamples = row.figures.front().samples.value_or(lastSamples);
            cursor.advance(lines->lines);
            continue;
        }
        const Interruption what = interruptionBy(cursor, layout, lastSamples);
        if (what == Interruption::EndsList)
            return;
        if (what == Interruption::Cut) {
            writer.cutHere(line->text);
        } else if (what == Interruption::BrokenRow) {
            writer.rowLost();
            context.report(DiagnosticCode::RowUnreadable,
                "the row cannot be read and was skipped, the others kept", *line);
        } else if (what == Interruption::Remark) {
            context.report(DiagnosticCode::RemarkInTable, "a remark between two rows was passed over", *line);
        } else if (what == Interruption::Detail && !detailsReported) {
            context.report(DiagnosticCode::RemarkInTable,
                "the addresses below each symbol were passed over; the row has their sum", *line);
            detailsReported = true;
        }
        cursor.advance();
    }
}

/// Reads the list whose first row is the current line; the block began at `first`.
void readList(
    TextCursor& cursor, BlockContext& context, const TextLine& first, const Head& head, const Layout& layout)
{
    ListWriter writer(head, layout, first, context);
    readRows(cursor, context, layout, writer);
    writer.finish();
}

// --- with a line of column names
// ----------------------------------------------------------------------------

/// Lines between the column names and the first row, or empty if no row follows.
std::optional<size_t> linesToFirstRow(TextCursor& cursor, size_t from, const Layout& layout)
{
    constexpr size_t kMostBetween = 3;
    for (size_t i = 0; i <= kMostBetween; ++i) {
        if (rowAt(cursor, from + i, layout))
            return i;
        if (headerAt(cursor, from + i))
            break;
    }
    return std::nullopt;
}

Claim claimHead(TextCursor& cursor)
{
    const auto head = headAt(cursor);
    if (!head)
        return {};
    if (!head->layout)
        return {Confidence::Certain, "box `samples| %|`"};
    if (head->layout->differential || linesToFirstRow(cursor, head->lines + head->headerLines, *head->layout))
        return {Confidence::Certain, "header `samples % ... symbol name`"};
    return {};
}

void readHead(TextCursor& cursor, BlockContext& context)
{
    const Head head = *headAt(cursor);
    if (!head.layout) {
        refuse(cursor, context, head.lines, "the summary by image");
        return;
    }
    const size_t firstLine = head.lines + head.headerLines;
    if (head.layout->differential) {
        refuse(cursor, context, firstLine, "a differential profile");
        return;
    }
    if (isCallGraph(cursor, firstLine, *head.layout)) {
        refuse(cursor, context, firstLine, "a call graph");
        return;
    }
    const TextLine first = *cursor.peek();
    cursor.advance(firstLine + *linesToFirstRow(cursor, firstLine, *head.layout));
    readList(cursor, context, first, head, *head.layout);
}

// --- without -----------------------------------------------------------------------------------------------

/// Whether a line may be a row without a header; cheap, for it is asked of all prose.
bool mayBeBareRow(std::string_view text)
{
    const auto tokens = tokensOf(text.substr(0, kLongestRow), 3);
    if (tokens.size() < 3)
        return false;
    const bool vma = isAllHex(tokens[0]) && isAllDigits(tokens[1]) && isDecimal(tokens[2]);
    return vma || (isAllDigits(tokens[0]) && isDecimal(tokens[1]));
}

struct BareRows {
    std::vector<std::string_view> rows;
    size_t lines = 0; ///< up to the last row
};

/// Lines among the next `lookAhead` ones that may be rows; one foreign line between two is a wrapped part.
BareRows bareRows(TextCursor& cursor, size_t lookAhead)
{
    BareRows bare;
    size_t foreign = 0;
    for (size_t i = 0; i < lookAhead && foreign < 2; ++i) {
        const TextLine* line = lineAtDepth(cursor, i);
        if (line == nullptr || trimmed(line->text).empty())
            break;
        const bool row = mayBeBareRow(line->text);
        foreign = row ? 0 : foreign + 1;
        if (row) {
            bare.rows.push_back(line->text);
            bare.lines = i + 1;
        }
    }
    return bare;
}

/// Whether the rows are an excerpt of one sorted list: samples and percentages of the same whole.
bool areOfOneList(const std::vector<std::string_view>& rows, const Layout& layout)
{
    ImpliedTotal total;
    uint64_t last = UINT64_MAX;
    for (const std::string_view text : rows) {
        const Row row = parseRow(text, layout);
        if (row.figures.empty())
            return false;
        const Figure& figure = row.figures.front();
        constexpr size_t kDecimals = 4;
        const size_t point = figure.percentText.find_first_of(".,");
        const bool printedByTool = point == std::string_view::npos
            || figure.percentText.size() - point > kDecimals || figure.percentText == "100.000";
        if (!layout.hasVma() && (!printedByTool || !figure.samples || *figure.samples > last))
            return false;
        last = figure.samples.value_or(last);
        total.add(figure);
    }
    return total.consistent();
}

/// The layout of the rows without header that begin at the current line.
std::optional<Layout> bareLayout(TextCursor& cursor)
{
    constexpr size_t kFirstLook = 4; // enough to turn away other tables of numbers
    constexpr size_t kLookAhead = 16;
    if (!mayBeBareRow(cursor.peek()->text))
        return std::nullopt;
    for (const size_t lookAhead : {kFirstLook, kLookAhead}) {
        const auto [rows, lines] = bareRows(cursor, lookAhead);
        // The last line of an input may be cut anywhere: it does not tell which columns there are.
        const bool mayBeCut = rows.size() > 1 && cursor.peek(lines) == nullptr;
        auto layout =
            guessLayout(mayBeCut ? std::vector<std::string_view>(rows.begin(), rows.end() - 1) : rows);
        if (!layout || !areOfOneList(rows, *layout))
            return std::nullopt;
        const size_t fewest = layout->hasVma() ? 2 : 3;
        if (lookAhead == kLookAhead && rows.size() >= fewest && rowAt(cursor, 0, *layout))
            return layout;
    }
    return std::nullopt;
}

/// A piece of a call graph without its header: indented rows, a row that is not, a rule of dashes below.
bool isGraphFragment(TextCursor& cursor)
{
    constexpr size_t kLookAhead = 30;
    const std::string_view first = cursor.peek()->text;
    if (indentOf(first) != 2 || !mayBeBareRow(first))
        return false;
    size_t outer = 0;
    for (size_t i = 1; i < kLookAhead; ++i) {
        const TextLine* line = lineAtDepth(cursor, i);
        if (line == nullptr || trimmed(line->text).empty())
            return false;
        if (isCallGraphRule(line->text))
            return outer == 1;
        if (mayBeBareRow(line->text) && indentOf(line->text) == 0)
            ++outer;
    }
    return false;
}

Claim claim(TextCursor& cursor)
{
    if (const Claim head = claimHead(cursor); head.confidence != Confidence::No)
        return head;
    if (isGraphFragment(cursor))
        return {Confidence::Likely, "a piece of a call graph without its header"};
    if (const auto layout = bareLayout(cursor))
        return layout->hasVma() ? Claim{Confidence::Certain, "rows `vma samples % symbol` of one whole"}
                                : Claim{Confidence::Likely, "rows `samples % image symbol` of one whole"};
    return {};
}

void read(TextCursor& cursor, BlockContext& context)
{
    if (claimHead(cursor).confidence != Confidence::No) {
        readHead(cursor, context);
        return;
    }
    if (isGraphFragment(cursor)) {
        refuse(cursor, context, 1, "a call graph");
        return;
    }
    const auto layout = bareLayout(cursor);
    context.report(DiagnosticCode::HeaderMissing,
        "the list has no line of column names; the columns were told from the rows", *cursor.peek());
    readList(cursor, context, *cursor.peek(), {}, *layout);
}

} // namespace

extern const TextFormat opreportFormat;
const TextFormat opreportFormat = {
    kFormatName, "opreport -l text: samples by symbol, one or several events", claim, read, Yields::Profiles};

} // namespace whichlock
