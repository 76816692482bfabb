// SPDX-License-Identifier: GPL-3.0-or-later
// vmstat(8) of Linux and the BSDs. The words of the header line decide what the columns are; mailers wrap
// header and rows, and people cut columns away, so rows are put together by their number of fields.
#include "parsers/format.h"
#include "parsers/formats/vmstat_rows.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace whichlock {
namespace {

using namespace vmstat;

constexpr std::string_view kName = "vmstat";

/// Lines that one wrapped header or row may stand on.
constexpr size_t kMostWrapped = 4;
constexpr size_t kLongestLine = 4096;

std::optional<std::string_view> lineAt(TextCursor& cursor, size_t ahead)
{
    const TextLine* line = cursor.peek(ahead);
    if (line == nullptr || line->quoteDepth != cursor.peek()->quoteDepth || line->text.size() > kLongestLine)
        return std::nullopt;
    return line->text;
}

// --- looking ahead ----------------------------------------------------------------------------------------

struct HeaderLines {
    Columns columns;
    size_t lines = 0;
};

/// The header line at `ahead`, put together from up to kMostWrapped lines.
std::optional<HeaderLines> headerAt(TextCursor& cursor, size_t ahead)
{
    std::optional<HeaderLines> header;
    std::vector<std::string_view> words;
    for (size_t i = 0; i < kMostWrapped; ++i) {
        const auto line = lineAt(cursor, ahead + i);
        if (!line)
            break;
        const auto more = tokensOf(*line, kLongestLine);
        if (!areHeaderWords(more) || (i > 0 && more.front() == "r"))
            break;
        words.insert(words.end(), more.begin(), more.end());
        if (auto columns = columnsOf(words))
            header = {std::move(*columns), i + 1};
    }
    return header;
}

/// How many lines from `ahead` on are group lines (`procs memory ... cpu`).
size_t groupLinesAt(TextCursor& cursor, size_t ahead)
{
    size_t lines = 0;
    while (lines < kMostWrapped) {
        const auto line = lineAt(cursor, ahead + lines);
        if (!line || !isGroupLine(*line))
            break;
        ++lines;
    }
    return lines;
}

enum class RowKind : uint8_t {
    None,
    Whole,
    Rejoined, ///< from several lines
    CpuOnly,  ///< values ran together; the CPU columns can be read
    Short,    ///< values ran together or are missing; nothing can be read
    TooLong,
};

struct RowLines {
    RowKind kind = RowKind::None;
    size_t lines = 1;
    std::vector<std::string_view> values;
    bool remark = false;
};

/// The row that begins at `ahead`.
RowLines rowAt(TextCursor& cursor, size_t ahead, const Columns& columns)
{
    const size_t fields = columns.words.size();
    const size_t cpuColumns = fields - columns.cpuBegin;
    RowLines row;
    const auto first = lineAt(cursor, ahead);
    if (!first)
        return row;
    RowTokens tokens = rowTokens(*first, fields);
    if (tokens.values.empty() || (tokens.foreign && tokens.values.size() < fields))
        return row;
    row.values = tokens.values;
    row.remark = tokens.remark;
    if (tokens.values.size() == fields) {
        row.kind = tokens.foreign ? RowKind::TooLong : RowKind::Whole;
        return row;
    }
    std::vector<std::string_view> joined = tokens.values;
    for (size_t i = 1; i < kMostWrapped; ++i) {
        const auto next = lineAt(cursor, ahead + i);
        if (!next)
            break;
        const RowTokens more = rowTokens(*next, fields - joined.size());
        if (more.values.empty() || more.foreign)
            break;
        joined.insert(joined.end(), more.values.begin(), more.values.end());
        if (joined.size() < fields)
            continue;
        if (!cpuAddsUp(joined, cpuColumns))
            break;
        return {RowKind::Rejoined, i + 1, std::move(joined), more.remark};
    }
    const bool tailStands = row.values.size() > cpuColumns && cpuAddsUp(row.values, cpuColumns);
    row.kind = tailStands ? RowKind::CpuOnly : RowKind::Short;
    return row;
}

bool isReadable(RowKind kind)
{
    return kind == RowKind::Whole || kind == RowKind::Rejoined || kind == RowKind::CpuOnly;
}

/// A header with the lines around it, up to its first row.
struct Head {
    Columns columns;
    size_t lines = 0; ///< to the first row
};

/// The group lines, if any, and the header that begin at the current line, if a row follows.
std::optional<Head> headAt(TextCursor& cursor)
{
    const size_t groups = groupLinesAt(cursor, 0);
    auto header = headerAt(cursor, groups);
    if (!header)
        return std::nullopt;
    constexpr size_t kMostBetween = 2;
    size_t lines = groups + header->lines;
    for (size_t i = 0; i <= kMostBetween; ++i, ++lines) {
        const auto line = lineAt(cursor, lines);
        if (!line)
            return std::nullopt;
        if (isReadable(rowAt(cursor, lines, header->columns).kind))
            return Head{std::move(header->columns), lines};
        if (line->find_first_not_of(" \t-") != std::string_view::npos)
            return std::nullopt;
    }
    return std::nullopt;
}

// --- rows without a header --------------------------------------------------------------------------------

using Rows = std::vector<std::vector<std::string_view>>;

/// The rows of exactly `fields` values that follow one another from the current line on.
Rows rowsOf(TextCursor& cursor, size_t fields)
{
    constexpr size_t kLookAhead = 12;
    Rows rows;
    size_t at = 0;
    while (at < kLookAhead) {
        std::vector<std::string_view> values;
        for (size_t i = 0; i < kMostWrapped && values.size() < fields; ++i) {
            const auto line = lineAt(cursor, at);
            const RowTokens more = line ? rowTokens(*line, fields - values.size()) : RowTokens{};
            if (more.values.empty() || more.foreign || more.remark)
                return rows;
            values.insert(values.end(), more.values.begin(), more.values.end());
            ++at;
        }
        if (values.size() != fields)
            return rows;
        rows.push_back(std::move(values));
    }
    return rows;
}

bool tailsAddUp(const Rows& rows)
{
    constexpr size_t kFewestCpu = 3;
    constexpr size_t kMostCpu = 6;
    for (size_t cpu = kFewestCpu; cpu <= kMostCpu; ++cpu) {
        if (std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return cpuAddsUp(row, cpu); }))
            return true;
    }
    return false;
}

/// The rows that begin at the current line, if they look like vmstat without its header: many whole numbers,
/// of which the last ones add up to 100 in every row.
Rows bareRows(TextCursor& cursor)
{
    constexpr size_t kFewestFields = 12;
    constexpr size_t kMostFields = 24;
    constexpr size_t kFewestRows = 2;
    constexpr size_t kFewestOnALine = 8;
    const auto first = lineAt(cursor, 0);
    if (!first || first->empty() || !isDigit(trimmed(*first).empty() ? ' ' : trimmed(*first).front()))
        return {};
    const RowTokens tokens = rowTokens(*first, kMostFields);
    if (tokens.foreign || tokens.remark || tokens.values.size() < kFewestOnALine)
        return {};
    for (size_t fields = std::max(kFewestFields, tokens.values.size()); fields <= kMostFields; ++fields) {
        Rows rows = rowsOf(cursor, fields);
        if (rows.size() >= kFewestRows && tailsAddUp(rows))
            return rows;
    }
    return {};
}

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
        while (const TextLine* line = cursor_.peek()) {
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
            if (!rowFollows(1) && cursor_.peek(1) != nullptr && kind == RowKind::Short && !afterARow())
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
    /// A row of which half the values are there still belongs to the block.
    bool afterARow() { return 2 * rowAt(cursor_, 0, columns_).values.size() > columns_.words.size(); }

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
    while (const auto line = lineAt(cursor, 0)) {
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

/// The system that prints the block which begins at the current line, or empty.
std::string_view foreignAt(TextCursor& cursor)
{
    constexpr size_t kMostWords = 40;
    constexpr size_t kLookAhead = 3;
    const auto first = lineAt(cursor, 0);
    if (!first || first->empty())
        return {};
    const bool group = isForeignGroupLine(*first) || isGroupLine(*first);
    for (size_t i = 0; i <= (group ? kLookAhead : 0); ++i) {
        const auto line = lineAt(cursor, i);
        const auto system = line ? foreignSystem(tokensOf(*line, kMostWords)) : std::string_view();
        if (!system.empty())
            return system;
    }
    return {};
}

void refuse(TextCursor& cursor, BlockContext& context, std::string_view system)
{
    const TextLine first = *cursor.peek();
    bool headerSeen = false;
    while (const auto line = lineAt(cursor, 0)) {
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
