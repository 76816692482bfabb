// SPDX-License-Identifier: GPL-3.0-or-later
// klockstat of bcc and libbpf and tools that print as it does: per caller how long a lock was spun or waited
// for, in a table of its own how long it was held.
#include "parsers/format.h"
#include "parsers/formats/damage_counter.h"
#include "parsers/formats/lock_columns.h"
#include "parsers/input/text_scan.h"

namespace whichlock {
namespace {

using namespace locktable;

constexpr std::string_view kName = "klockstat";
constexpr size_t kColumns = 4;

struct Head {
    std::vector<Column> columns;
    bool byTask = false;
};

/// Names stand first: `Caller`, or `Tid Comm`.
std::optional<Head> headOf(std::string_view line)
{
    const auto header = headerOf(line, kColumns);
    if (!header || !header->namesFirst || header->columns.size() != kColumns)
        return std::nullopt;
    std::string_view rest = header->keys;
    const std::string_view first = nextToken(rest);
    const std::string_view second = nextToken(rest);
    const bool known = (first == "Caller" && second.empty()) || (first == "Tid" && second == "Comm");
    return known && nextToken(rest).empty() ? std::optional(Head{header->columns, first == "Tid"})
                                            : std::nullopt;
}

std::optional<LockTableRow> rowOf(std::string_view line, const Head& header)
{
    LockTableRow row;
    std::string_view name = line;
    const auto cells = cellsAtBack(name, header.columns.size());
    name = trimmed(name);
    if (cells.empty() || name.empty() || !setFigures(header.columns, cells, row))
        return std::nullopt;
    if (header.byTask) {
        const auto tid = parseUnsigned(nextToken(name));
        if (!tid || *tid > INT32_MAX)
            return std::nullopt;
        row.tid = static_cast<int64_t>(*tid);
        row.name = trimmed(name);
    } else {
        if (name.find_first_of(" \t") != std::string_view::npos)
            return std::nullopt;
        row.site = name;
    }
    return row;
}

/// `Max PID 12, COMM x, Lock name (0xaddr)` of libbpf below a row.
bool addLock(std::string_view text, LockTableRow& row)
{
    constexpr std::string_view kLock = "Lock ";
    const size_t at = text.rfind(kLock);
    if (!text.starts_with("Max PID ") || at == std::string_view::npos)
        return false;
    std::string_view lock = trimmed(text.substr(at + kLock.size()));
    if (const size_t open = lock.rfind("(0x"); open != std::string_view::npos && lock.ends_with(')')) {
        row.address = lock.substr(open + 1, lock.size() - open - 2);
        lock = trimmed(lock.substr(0, open));
    }
    if (lock != "no-ksym" && !lock.empty())
        row.name = lock;
    return true;
}

class TableReader {
public:
    TableReader(TextCursor& cursor, BlockContext& context, Head header)
        : cursor_(cursor)
        , context_(context)
        , header_(std::move(header))
        , first_(*cursor.peek())
        , section_(context.sink.section(lockTableSection(first_, kName, context)))
    {
        table_.key = header_.byTask ? LockTableKey::Thread : LockTableKey::Site;
        for (const Column column : header_.columns)
            table_.holdsOnly = table_.holdsOnly || column == Column::TotalHold;
        cursor_.advance();
    }

    void run()
    {
        while (const TextLine* line = cursor_.peek()) {
            const std::string_view text = trimmed(line->text);
            if (auto row = rowOf(line->text, header_)) {
                addRow(std::move(*row), *line, table_);
            } else if (!table_.rows.empty() && isFrame(text)) {
                if (!addLock(text, table_.rows.back()))
                    table_.rows.back().stack.emplace_back(text);
            } else if (isCutMark(text)) {
                context_.sink.fact(section_, FactKind::CutMark, text);
            } else {
                break;
            }
            cursor_.advance();
        }
        if (table_.timesBroken)
            context_.report(DiagnosticCode::NumberOverflow,
                "times of 2^64 ns or nearly so: the tool subtracted a later time from an earlier one; the "
                "times of this table are not used, its counts are",
                first_);
        handOver(table_, section_, context_);
    }

private:
    /// A line of a stack is one word: a symbol, or an address.
    static bool isFrame(std::string_view text)
    {
        return !text.empty()
            && (text.find_first_of(" \t") == std::string_view::npos || text.starts_with("Max PID "))
            && !text.starts_with('^') && !isRule(text) && !text.starts_with("```");
    }

    TextCursor& cursor_;
    BlockContext& context_;
    Head header_;
    TextLine first_; ///< its text is gone once it was passed
    SectionHandle section_;
    LockTableRecord table_;
};

Claim claim(TextCursor& cursor)
{
    const auto header = headOf(cursor.peek()->text);
    if (!header)
        return {};
    const TextLine* next = cursor.peek(1);
    return next != nullptr && rowOf(next->text, *header)
        ? Claim{Confidence::Certain, "`Caller  Avg Wait  Count  Max Wait  Total Wait` and a row"}
        : Claim{};
}

void read(TextCursor& cursor, BlockContext& context)
{
    auto header = headOf(cursor.peek()->text);
    if (!header) { // it was claimed by the same look, so it is there
        cursor.advance();
        return;
    }
    TableReader(cursor, context, std::move(*header)).run();
}

} // namespace

extern const TextFormat klockstatFormat;
const TextFormat klockstatFormat = {kName,
    "klockstat and tools like it: waiting and holding by caller or task", claim, read, Yields::Profiles};

} // namespace whichlock
