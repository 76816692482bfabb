// SPDX-License-Identifier: GPL-3.0-or-later
// readprofile(8) text: `ticks symbol ticks/byte`, with addresses (-v), and with bins (-b); also pasted as a
// paragraph or with all line ends lost. The last column is ticks per byte of the function, no percentage.
#include "parsers/format.h"
#include "parsers/formats/readprofile_rows.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <set>

namespace whichlock {
namespace {

using namespace readprofile;

constexpr std::string_view kName = "readprofile";

/// Rows in a row from which a flat or re-filled paragraph is believed to be a profile.
constexpr size_t kFewestFlatRows = 3;

SectionHandle beginSection(const TextLine& line, BlockContext& context, uint64_t offsetInLine = 0)
{
    SectionRecord record = context.sectionAt(line, kName);
    record.kind = SectionKind::CpuProfile;
    record.quantity = QuantityKind::Cpu;
    record.unit = Unit::Ticks;
    if (offsetInLine != 0) {
        record.position.offset += offsetInLine;
        record.position.column = offsetInLine + 1;
    }
    return context.sink.section(record);
}

/// Collects rows of one section and hands over its total at the end.
class ProfileWriter {
public:
    ProfileWriter(SectionHandle section, BlockContext& context)
        : section_(section)
        , context_(context)
    {
    }

    bool hasTotal() const { return hasTotal_; }

    void add(const Row& row, const TextLine& line)
    {
        if (row.symbol == "total") {
            hasTotal_ = true;
            total_ = row.ticks;
            return;
        }
        if (row.symbol == "*unknown*")
            unknown_ += row.ticks;
        context_.sink.row(section_,
            {.symbol = row.symbol, .image = {}, .value = row.ticks, .share = {}, .line = line.number});
    }

    void cutHere(const TextLine& line)
    {
        context_.sink.fact(section_, FactKind::CutMark, trimmed(line.text));
    }

    void repaired(std::string_view how) { context_.sink.fact(section_, FactKind::Repair, how); }

    void finish()
    {
        // The printed total counts kernel text only; ticks outside of it stand in `*unknown*`.
        uint64_t total = 0;
        if (hasTotal_ && !__builtin_add_overflow(total_, unknown_, &total))
            context_.sink.total(section_, total);
    }

private:
    SectionHandle section_;
    BlockContext& context_;
    uint64_t total_ = 0;
    uint64_t unknown_ = 0;
    bool hasTotal_ = false;
};

// --- one row a line ---------------------------------------------------------------------------------------

Claim claimRows(TextCursor& cursor)
{
    constexpr size_t kLookAhead = 60;
    const auto first = parseRow(cursor.peek()->text);
    if (!first)
        return {};
    size_t rows = 0;
    bool total = false;
    for (size_t i = 0; i < kLookAhead; ++i) {
        const TextLine* line = cursor.peek(i);
        if (line == nullptr)
            break;
        const auto row = parseRow(line->text);
        if (!row || row->shape != first->shape)
            break;
        ++rows;
        total = total || row->symbol == "total";
    }
    constexpr size_t kManyRows = 3;
    if (first->shape == RowShape::TicksOnly) {
        // `count symbol` alone is what uniq -c prints, too: the total row makes it a profile.
        return total && rows >= kManyRows ? Claim{Confidence::Likely, "rows `ticks symbol` with a total"}
                                          : Claim{};
    }
    if (rows >= kManyRows || (total && rows >= 2))
        return {Confidence::Certain, "rows `ticks symbol ticks/byte`"};
    if (rows == 2 || total)
        return {Confidence::Likely, "rows `ticks symbol ticks/byte`"};
    return {};
}

/// What a line that is no row is to the table that it stands in.
enum class Interruption { EndsTable, Cut, Remark, BrokenRow, Bucket };

Interruption interruptionBy(TextCursor& cursor, RowShape shape)
{
    const std::string_view text = trimmed(cursor.peek()->text);
    if (isCutMark(text))
        return Interruption::Cut;
    if (text.starts_with("0x") && tokensOf(text).size() == 3)
        return Interruption::Bucket; // -s prints the buckets below each row; the row has their sum
    const TextLine* next = cursor.peek(1);
    const auto row = next == nullptr ? std::nullopt : parseRow(next->text);
    const bool tableGoesOn =
        row && row->shape == shape && row->symbol != "total" && next->quoteDepth == cursor.peek()->quoteDepth;
    if (!text.empty() && isDigit(text[0]))
        return tableGoesOn || next == nullptr ? Interruption::BrokenRow : Interruption::EndsTable;
    return tableGoesOn && !text.ends_with(':') ? Interruption::Remark : Interruption::EndsTable;
}

/// A last row without the column that the others have is cut off: its symbol may be, too.
bool isCutOff(const Row& row, RowShape shape, TextCursor& cursor)
{
    return row.shape == RowShape::TicksOnly && shape != RowShape::TicksOnly && row.symbol != "*unknown*"
        && row.symbol != "total" && cursor.peek(1) == nullptr;
}

void readRows(TextCursor& cursor, BlockContext& context)
{
    const RowShape shape = parseRow(cursor.peek()->text)->shape;
    ProfileWriter writer(beginSection(*cursor.peek(), context), context);
    bool remarked = false;
    for (const TextLine* line = cursor.peek(); line != nullptr; line = cursor.peek()) {
        const auto row = parseRow(line->text);
        if (row && isCutOff(*row, shape, cursor)) {
            context.report(DiagnosticCode::RowUnreadable,
                "the input ends within this row; it was skipped, the others kept", *line);
            cursor.advance();
            break;
        }
        if (row && (row->shape == shape || row->shape == RowShape::TicksOnly)) {
            if (row->symbol == "total" && writer.hasTotal())
                break; // the next profile
            if (row->overflow)
                context.report(DiagnosticCode::NumberOverflow,
                    "the ticks do not fit into 64 bits; the row was skipped, the others kept", *line);
            else
                writer.add(*row, *line);
            if (row->remark && !remarked)
                context.report(
                    DiagnosticCode::RemarkInTable, "what stands behind a row was passed over", *line);
            remarked = remarked || row->remark;
            cursor.advance();
            continue;
        }
        const Interruption what = interruptionBy(cursor, shape);
        if (what == Interruption::EndsTable)
            break;
        if (what == Interruption::Cut)
            writer.cutHere(*line);
        else if (what == Interruption::BrokenRow)
            context.report(DiagnosticCode::RowUnreadable,
                "the row cannot be read and was skipped, the others kept", *line);
        else if (what == Interruption::Remark && !trimmed(line->text).empty())
            context.report(DiagnosticCode::RemarkInTable, "a remark between two rows was passed over", *line);
        cursor.advance();
    }
    writer.finish();
}

// --- -b: bins below each symbol ---------------------------------------------------------------------------

Claim claimBins(TextCursor& cursor)
{
    if (binSymbol(cursor.peek()->text).empty())
        return {};
    const TextLine* next = cursor.peek(1);
    return next != nullptr && parseBin(next->text) ? Claim{Confidence::Certain, "`symbol:` and bins below it"}
                                                   : Claim{};
}

void readBins(TextCursor& cursor, BlockContext& context)
{
    ProfileWriter writer(beginSection(*cursor.peek(), context), context);
    std::set<uint64_t> seen;
    std::string symbol;
    for (const TextLine* line = cursor.peek(); line != nullptr; line = cursor.peek()) {
        if (const auto bin = parseBin(line->text); bin && !symbol.empty()) {
            Row row{.symbol = symbol, .ticks = bin->ticks};
            if (!seen.insert(bin->address).second) {
                context.report(DiagnosticCode::BinCountedTwice,
                    fmt::format("the bin {:x} is listed under two symbols; its {} ticks were counted once",
                        bin->address, bin->ticks),
                    *line);
                row.ticks = 0;
            }
            writer.add(row, *line);
        } else if (const auto name = binSymbol(line->text); !name.empty()) {
            const TextLine* next = cursor.peek(1);
            if (next == nullptr || !parseBin(next->text))
                break;
            symbol = name;
        } else if (const auto tokens = tokensOf(line->text, 3); tokens.size() == 2 && tokens[0] == "total") {
            if (const auto ticks = parseUnsigned(tokens[1]))
                writer.add({.symbol = "total", .ticks = *ticks}, *line);
        } else {
            break;
        }
        cursor.advance();
    }
    writer.finish();
}

// --- a paragraph: re-filled by an editor, or with all line ends lost --------------------------------------

/// The lines from the cursor to the next blank one at the same quote depth, as one list of tokens. Ends early
/// when it is large; what follows is then a paragraph of its own.
struct Paragraph {
    std::vector<std::string_view> tokens;
    std::vector<size_t> lineOf; ///< line (ahead of the cursor) of each token
    size_t lines = 0;
};

/// `tokensNeeded`: no further lines are looked at when there are so many behind the first line.
Paragraph paragraphAt(TextCursor& cursor, size_t tokensNeeded)
{
    constexpr size_t kMostLines = 200;
    constexpr size_t kMostBytes = 2 * TextCursor::kMaxLineBytes;
    Paragraph paragraph;
    size_t bytes = 0;
    size_t onFirstLine = 0;
    const unsigned depth = cursor.peek()->quoteDepth;
    for (size_t i = 0; i < kMostLines; ++i) {
        const TextLine* line = cursor.peek(i);
        if (line == nullptr || line->quoteDepth != depth || trimmed(line->text).empty())
            break;
        bytes += line->text.size();
        if (i > 0 && (bytes > kMostBytes || paragraph.tokens.size() - onFirstLine >= tokensNeeded))
            break;
        for (const std::string_view token : tokensOf(line->text)) {
            paragraph.tokens.push_back(token);
            paragraph.lineOf.push_back(i);
        }
        if (i == 0)
            onFirstLine = paragraph.tokens.size();
        ++paragraph.lines;
    }
    return paragraph;
}

/// Rows that follow one another from token `at`.
size_t rowsFrom(const Paragraph& paragraph, size_t at)
{
    size_t rows = 0;
    while (tripleAt(paragraph.tokens, at + 3 * rows))
        ++rows;
    return rows;
}

/// The token at which a flat profile begins, or the number of tokens if there is none. It must begin on the
/// first line. A row `total` is a sure start; the count of `head -30` in front of it is not eaten.
size_t flatStart(const Paragraph& paragraph)
{
    for (size_t at = 0; at < paragraph.tokens.size() && paragraph.lineOf[at] == 0; ++at) {
        if (tripleAt(paragraph.tokens, at) && rowsFrom(paragraph, at) >= kFewestFlatRows)
            return at;
    }
    return paragraph.tokens.size();
}

/// Whether the line itself holds the beginning of a flat row; cheap, for it is asked of all prose.
bool mayHoldFlatRow(std::string_view text)
{
    std::string_view rest = text;
    std::string_view before;
    for (std::string_view token = nextToken(rest); !token.empty(); token = nextToken(rest)) {
        if (isAllDigits(before) && isSymbol(token)) {
            std::string_view look = rest;
            const std::string_view load = nextToken(look);
            if (load.empty() || isLoad(load))
                return true;
        }
        before = token;
    }
    return isAllDigits(before);
}

Claim claimFlat(TextCursor& cursor)
{
    if (!mayHoldFlatRow(cursor.peek()->text))
        return {};
    // Asked of all prose: no more of it is looked at than the fewest rows need.
    const Paragraph paragraph = paragraphAt(cursor, 3 * kFewestFlatRows);
    return flatStart(paragraph) < paragraph.tokens.size()
        ? Claim{Confidence::Likely, "`ticks symbol ticks/byte` over and over in a paragraph"}
        : Claim{};
}

void readFlat(TextCursor& cursor, BlockContext& context)
{
    const TextLine firstLine = *cursor.peek();
    const Paragraph paragraph = paragraphAt(cursor, SIZE_MAX);
    size_t at = flatStart(paragraph);
    const auto offset = static_cast<uint64_t>(paragraph.tokens[at].data() - firstLine.text.data());
    ProfileWriter writer(beginSection(firstLine, context, offset), context);
    size_t rows = 0;
    size_t wholeSizes = 0;
    size_t lastLine = 0;
    for (auto row = tripleAt(paragraph.tokens, at); row; row = tripleAt(paragraph.tokens, at)) {
        lastLine = paragraph.lineOf[at + 2];
        if (row->symbol == "total" && writer.hasTotal())
            break;
        if (row->overflow)
            context.report(DiagnosticCode::NumberOverflow,
                "the ticks do not fit into 64 bits; the row was skipped, the others kept", firstLine);
        else
            writer.add(*row, firstLine);
        wholeSizes += row->symbol != "total" && sizeIsWhole(*row) ? 1 : 0;
        rows += row->symbol != "total" ? 1 : 0;
        at += 3;
    }
    const std::string how =
        fmt::format("{} rows recovered from {} (ticks / load is a whole size in {} of {})", rows,
            lastLine == 0 ? "one line" : "a re-filled paragraph", wholeSizes, rows);
    writer.repaired(how);
    context.report(DiagnosticCode::LineEndsLost, "line ends were lost: " + how, firstLine);
    writer.finish();
    cursor.advance(lastLine + 1);
}

Claim claim(TextCursor& cursor)
{
    if (const Claim rows = claimRows(cursor); rows.confidence != Confidence::No)
        return rows;
    if (const Claim bins = claimBins(cursor); bins.confidence != Confidence::No)
        return bins;
    return claimFlat(cursor);
}

void read(TextCursor& cursor, BlockContext& context)
{
    if (claimRows(cursor).confidence != Confidence::No)
        readRows(cursor, context);
    else if (claimBins(cursor).confidence != Confidence::No)
        readBins(cursor, context);
    else
        readFlat(cursor, context);
}

} // namespace

extern const TextFormat readprofileFormat;
const TextFormat readprofileFormat = {kName,
    "readprofile text: kernel-mode ticks by function (-v, -b, flattened)", claim, read, Yields::Profiles};

} // namespace whichlock
