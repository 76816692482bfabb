// SPDX-License-Identifier: GPL-3.0-or-later
// /proc/lock_stat of versions 0.1 to 0.4: classes of locks with their waiting, holding and call sites; also
// cut by hand, wrapped, numbered, and with one field a line.
#include "parsers/format.h"
#include "parsers/formats/damage_counter.h"
#include "parsers/formats/lock_columns.h"
#include "parsers/formats/lock_stat_rows.h"
#include "parsers/input/text_scan.h"

namespace whichlock {
namespace {

using namespace lockstat;

constexpr std::string_view kName = "lock-stat";
constexpr size_t kFewestFields = 3;

/// How many lines from `ahead` on are fields of one row.
size_t fieldLines(TextCursor& cursor, LockTableRow& row)
{
    size_t lines = 0;
    while (const TextLine* line = cursor.peek(lines)) {
        if (!addField(line->text, row))
            break;
        ++lines;
    }
    return lines;
}

/// Whether the table goes on within a few lines.
bool goesOn(TextCursor& cursor)
{
    constexpr size_t kMostBetween = 8;
    for (size_t ahead = 0; ahead < kMostBetween; ++ahead) {
        const TextLine* line = cursor.peek(ahead);
        if (line == nullptr || isVersion(line->text))
            return false;
        if (rowAt(cursor, ahead) || siteAt(cursor, ahead))
            return true;
        const std::string_view text = trimmed(line->text);
        if (!text.empty() && !isHead(text) && !isCutMark(text))
            return false;
    }
    return false;
}

class TableReader {
public:
    TableReader(TextCursor& cursor, BlockContext& context)
        : cursor_(cursor)
        , context_(context)
        , first_(*cursor.peek())
        , section_(context.sink.section(locktable::lockTableSection(first_, kName, context)))
    {
    }

    void run()
    {
        while (const TextLine* line = cursor_.peek()) {
            if (isVersion(line->text) && !table_.rows.empty())
                break;
            if (!readLine(*line))
                break;
        }
        table_.rowsPrinted = table_.rows.size();
        rejoined_.finish(context_, cursor_.inputName(), "more rows that were wrapped were joined");
        context_.sink.lockTable(section_, table_);
    }

private:
    /// Takes the row, place or other line at the cursor; false where the table ends.
    bool readLine(const TextLine& line)
    {
        if (auto found = rowAt(cursor_, 0)) {
            if (found->lines > 1)
                rejoined_.add(context_, line, "a row that was wrapped was joined");
            table_.rows.push_back(std::move(found->row));
            holders_ = false;
            rules_ = 0;
            cursor_.advance(found->lines);
            return true;
        }
        if (auto found = siteAt(cursor_, 0)) {
            addSite(std::move(*found));
            return true;
        }
        const std::string_view text = trimmed(line.text);
        if (text.find("lock debugging disabled") != std::string_view::npos)
            table_.warnings.emplace_back("lock debugging was disabled: the figures are those of that moment");
        else if (isCutMark(text) && !text.starts_with("....")) {
            context_.sink.fact(section_, FactKind::CutMark, text);
        } else if (isHead(line.text)) {
            // A rule of dashes stands before each of the two lists of places.
            if (!table_.rows.empty() && trimmed(withoutLineNumber(line.text)).starts_with('-'))
                holders_ = ++rules_ > 1;
        } else if (!goesOn(cursor_)) {
            return false;
        } else if (!text.empty()) {
            context_.report(DiagnosticCode::RowUnreadable,
                "the row cannot be read and was skipped, the others kept", line);
        }
        cursor_.advance();
        return true;
    }

    void addSite(FoundSite found)
    {
        if (!table_.rows.empty()) {
            found.site.holder = holders_;
            table_.rows.back().sites.push_back(std::move(found.site));
        }
        cursor_.advance(found.lines);
    }

    TextCursor& cursor_;
    BlockContext& context_;
    TextLine first_;
    SectionHandle section_;
    LockTableRecord table_;
    DamageCounter rejoined_{DiagnosticCode::RowsRejoined, 1};
    size_t rules_ = 0;     ///< since the last row
    bool holders_ = false; ///< the places that follow are those of who had the lock
};

void readFields(TextCursor& cursor, BlockContext& context)
{
    LockTableRecord table;
    LockTableRow row{.line = cursor.peek()->number};
    const SectionHandle section =
        context.sink.section(locktable::lockTableSection(*cursor.peek(), kName, context));
    const size_t lines = fieldLines(cursor, row);
    table.rows.push_back(std::move(row));
    table.rowsPrinted = 1;
    context.sink.lockTable(section, table);
    cursor.advance(lines);
}

Claim claim(TextCursor& cursor)
{
    const std::string_view text = cursor.peek()->text;
    if (isVersion(text))
        return {Confidence::Certain, "`lock_stat version`"};
    if (text.find(':') == std::string_view::npos) {
        const bool head = trimmed(withoutLineNumber(text)).starts_with("class name");
        return head && goesOn(cursor) ? Claim{Confidence::Certain, "`class name con-bounces` and rows"}
                                      : Claim{};
    }
    if (rowAt(cursor, 0))
        return {Confidence::Certain, "rows of lock classes with counts and times"};
    LockTableRow row;
    return fieldLines(cursor, row) >= kFewestFields
        ? Claim{Confidence::Certain, "fields of lock_stat, one a line"}
        : Claim{};
}

void read(TextCursor& cursor, BlockContext& context)
{
    LockTableRow row;
    if (!isVersion(cursor.peek()->text) && !rowAt(cursor, 0) && fieldLines(cursor, row) >= kFewestFields)
        readFields(cursor, context);
    else
        TableReader(cursor, context).run();
}

} // namespace

extern const TextFormat lock_statFormat;
const TextFormat lock_statFormat = {kName,
    "/proc/lock_stat: lock classes with waiting, holding and call sites", claim, read, Yields::Profiles};

} // namespace whichlock
