// SPDX-License-Identifier: GPL-3.0-or-later
// vmstat(8) of Linux and the BSDs. The words of the header line decide what the columns are; mailers wrap
// header and rows, and people cut columns away, so rows are put together by their number of fields.
#include "parsers/format.h"
#include "parsers/formats/vmstat_block.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {
namespace {

using namespace vmstat;

constexpr std::string_view kName = "vmstat";

// --- reading ----------------------------------------------------------------------------------------------

/// Reads the rows of one block into a section.
class BlockReader {
public:
    BlockReader(TextCursor& cursor, BlockContext& context, const TextLine& first, Columns columns)
        : cursor_(cursor)
        , context_(context)
        , columns_(std::move(columns))
    {
        SectionRecord record = context.sectionAt(first, kName);
        record.kind = SectionKind::Counters;
        record.quantity = QuantityKind::Count;
        record.unit = Unit::Count;
        section_ = context.sink.section(record);
        const std::vector<std::string_view> words(columns_.words.begin(), columns_.words.end());
        context.sink.counterColumns(section_, words);
        if (columns_.hasProcs())
            context.report(DiagnosticCode::FirstRowSinceBoot, "the first row is the mean since boot", first);
        else
            context.report(DiagnosticCode::ColumnsPartial,
                "columns were cut away, those for processes too; nothing says that the first row is the mean "
                "since boot",
                first);
    }

    void read()
    {
        const unsigned depth = cursor_.peek()->quoteDepth;
        for (const TextLine* line = cursor_.peek(); line != nullptr && line->quoteDepth == depth;
             line = cursor_.peek()) {
            const RowLines row = rowAt(cursor_, 0, columns_);
            if (isReadable(row.kind)) {
                take(row, *line);
                cursor_.advance(row.lines);
                continue;
            }
            const size_t passed = linesPassed(row.kind, *line);
            if (passed == 0)
                break;
            cursor_.advance(passed);
        }
    }

private:
    void take(const RowLines& row, const TextLine& line)
    {
        if (row.kind == RowKind::Rejoined)
            once(rejoined_, DiagnosticCode::RowsRejoined, "rows that a mailer had wrapped were joined", line);
        if (row.remark && !columns_.timestamp)
            once(remarked_, DiagnosticCode::RemarkInTable,
                "what stands behind the last column was passed over", line);
        const size_t missing = columns_.words.size() - row.values.size();
        std::vector<int64_t> values(columns_.words.size(), kNoCounter);
        for (size_t i = 0; i < columns_.words.size(); ++i) {
            if (row.kind == RowKind::CpuOnly && i < columns_.cpuBegin)
                continue;
            const auto value = counterOf(row.values[i - missing]);
            if (!value) {
                context_.report(DiagnosticCode::NumberOverflow,
                    "a counter does not fit into 63 bits; the row was skipped, the others kept", line);
                return;
            }
            values[i] = *value;
        }
        if (row.kind == RowKind::CpuOnly)
            context_.report(DiagnosticCode::ValuesRunTogether,
                "values ran together; only the CPU columns of the row were kept", line);
        context_.sink.counterRow(section_, values);
    }

    /// Lines to pass over at a line that is no row; 0 when the block ends.
    size_t linesPassed(RowKind kind, const TextLine& line)
    {
        const std::string_view text = trimmed(line.text);
        if (kind != RowKind::None) {
            if (kind == RowKind::Short && !isMostOfARow() && !rowFollows(1) && cursor_.peek(1) != nullptr)
                return 0;
            context_.report(DiagnosticCode::RowUnreadable,
                "the row has not as many values as there are columns and was skipped, the others kept", line);
            return 1;
        }
        if (isCutMark(text)) {
            context_.sink.fact(section_, FactKind::CutMark, text);
            return 1;
        }
        // The header comes again after each screenful; after a blank line it begins another run.
        const size_t groups = groupLinesAt(cursor_, 0);
        if (const auto header = headerAt(cursor_, groups); header && header->columns.words == columns_.words)
            return groups + header->lines;
        if (text.empty() || text.ends_with(':') || groups > 0 || headerAt(cursor_, 0) || !rowFollows(1))
            return 0;
        if (isDigit(text.front()))
            context_.report(DiagnosticCode::RowUnreadable,
                "the row cannot be read and was skipped, the others kept", line);
        else
            context_.report(DiagnosticCode::RemarkInTable, "a remark between two rows was passed over", line);
        return 1;
    }

    bool rowFollows(size_t ahead) { return isReadable(rowAt(cursor_, ahead, columns_).kind); }
    bool isMostOfARow() { return 2 * rowAt(cursor_, 0, columns_).values.size() > columns_.words.size(); }

    void once(bool& done, DiagnosticCode code, std::string_view message, const TextLine& line)
    {
        if (!done)
            context_.report(code, std::string(message), line);
        done = true;
    }

    TextCursor& cursor_;
    BlockContext& context_;
    Columns columns_;
    SectionHandle section_;
    bool rejoined_ = false;
    bool remarked_ = false;
};

void readHead(TextCursor& cursor, BlockContext& context, Head head)
{
    const TextLine first = *cursor.peek();
    context.memory.vmstatColumns = head.columns.words;
    cursor.advance(head.lines);
    BlockReader(cursor, context, first, std::move(head.columns)).read();
}

void readBare(TextCursor& cursor, BlockContext& context)
{
    const Rows rows = bareRows(cursor);
    const size_t fields = rows.front().size();
    auto columns = columnsOf(context.memory.vmstatColumns);
    const bool remembered = columns && columns->words.size() == fields
        && std::all_of(rows.begin(), rows.end(),
            [&](const auto& row) { return cpuAddsUp(row, fields - columns->cpuBegin); });
    if (!remembered)
        columns = guessColumns(rows);
    const TextLine first = *cursor.peek();
    if (columns) {
        context.report(DiagnosticCode::HeaderMissing,
            remembered ? "the block has no header; its columns are those of the block before it"
                       : "the block has no header; its columns were told from their number and the CPU part",
            first);
        BlockReader(cursor, context, first, std::move(*columns)).read();
        return;
    }
    size_t passed = 0;
    for (auto line = lineAt(cursor, 0); line && cursor.peek()->quoteDepth == first.quoteDepth;
         line = lineAt(cursor, 0)) {
        const RowTokens tokens = rowTokens(*line, fields);
        if (tokens.values.empty() || tokens.foreign)
            break;
        ++passed;
        cursor.advance();
    }
    context.report(DiagnosticCode::HeaderMissing,
        fmt::format(
            "{} lines of numbers that may be vmstat were passed over: no header says what they are", passed),
        first);
}

// --- systems whose vmstat is not read ---------------------------------------------------------------------

void refuse(TextCursor& cursor, BlockContext& context, std::string_view system)
{
    const TextLine first = *cursor.peek();
    bool headerSeen = false;
    for (auto line = lineAt(cursor, 0); line && cursor.peek()->quoteDepth == first.quoteDepth;
         line = lineAt(cursor, 0)) {
        const std::string_view text = trimmed(*line);
        if (headerSeen && (text.empty() || !(isDigit(text.front()) || text.front() == '-')))
            break;
        headerSeen = headerSeen || !foreignSystem(tokensOf(text)).empty();
        cursor.advance();
    }
    context.report(DiagnosticCode::ShapeUnread,
        fmt::format("vmstat of {} is not read yet; the block was skipped", system), first);
}

Claim claim(TextCursor& cursor)
{
    if (headAt(cursor))
        return {Confidence::Certain, "header `us sy id` and rows of as many numbers"};
    if (!foreignAt(cursor).empty())
        return {Confidence::Certain, "header of a vmstat that is not read yet"};
    if (!bareRows(cursor).empty())
        return {Confidence::Weak, "rows of many numbers whose last ones add up to 100"};
    return {};
}

void read(TextCursor& cursor, BlockContext& context)
{
    if (auto head = headAt(cursor))
        readHead(cursor, context, std::move(*head));
    else if (const std::string_view system = foreignAt(cursor); !system.empty())
        refuse(cursor, context, system);
    else
        readBare(cursor, context);
}

} // namespace

extern const TextFormat vmstatFormat;
const TextFormat vmstatFormat = {
    kName, "vmstat of Linux and the BSDs: counters, one row an interval", claim, read};

} // namespace whichlock
