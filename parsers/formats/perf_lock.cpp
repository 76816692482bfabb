// SPDX-License-Identifier: GPL-3.0-or-later
// perf lock contention and perf lock report in all their modes: by caller, lock, address, task, owner and
// cgroup, with call stacks below the rows, and as separated values.
#include "parsers/format.h"
#include "parsers/formats/damage_counter.h"
#include "parsers/formats/lock_columns.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace whichlock {
namespace {

using namespace locktable;

constexpr std::string_view kName = "perf-lock";
constexpr std::string_view kSeparatedHead = "# output: ";

/// What stands beside the figures of a row.
enum class Keys : uint8_t { TypeCaller, PidComm, AddressSymbol, Owner, Group, Name };

std::optional<Keys> keysOf(std::string_view names)
{
    std::string words;
    std::string_view rest = names;
    for (std::string_view word = nextToken(rest); !word.empty(); word = nextToken(rest)) {
        if (word.front() == '[' || word == "stacktrace")
            break;
        words += words.empty() ? "" : " ";
        words += word;
    }
    constexpr std::pair<std::string_view, Keys> kKeys[] = {{"type caller", Keys::TypeCaller},
        {"pid comm", Keys::PidComm}, {"address symbol", Keys::AddressSymbol},
        {"address symbol type", Keys::AddressSymbol}, {"owner", Keys::Owner}, {"cgroup", Keys::Group},
        {"Name", Keys::Name}};
    for (const auto& [text, keys] : kKeys) {
        if (words == text)
            return keys;
    }
    return std::nullopt;
}

struct Head {
    std::vector<Column> columns;
    Keys keys = Keys::TypeCaller;
    std::string separator{}; ///< of separated values, else empty
};

/// `contended, total wait, max wait, avg wait, type, caller` after `# output: `.
std::optional<Head> separatedHead(std::string_view line)
{
    if (!line.starts_with(kSeparatedHead))
        return std::nullopt;
    line.remove_prefix(kSeparatedHead.size());
    constexpr std::string_view kFirst = "contended";
    if (!line.starts_with(kFirst))
        return std::nullopt;
    const size_t next = line.find_first_of("abcdefghijklmnopqrstuvwxyz", kFirst.size());
    if (next == std::string_view::npos)
        return std::nullopt;
    Head head;
    const std::string_view separator = trimmed(line.substr(kFirst.size(), next - kFirst.size()));
    if (separator.empty())
        return std::nullopt;
    head.separator = separator;
    std::string plain(line);
    for (size_t at = plain.find(separator); at != std::string::npos; at = plain.find(separator, at))
        plain.replace(at, separator.size(), " ");
    const auto header = headerOf(plain, 1);
    const auto keys = header ? keysOf(header->keys) : std::nullopt;
    if (!keys)
        return std::nullopt;
    head.columns = header->columns;
    head.keys = *keys;
    return head;
}

std::optional<Head> headOf(std::string_view line)
{
    if (auto head = separatedHead(trimmed(line)))
        return head;
    const auto header = headerOf(line, 2);
    const auto keys = header ? keysOf(header->keys) : std::nullopt;
    if (!keys || header->namesFirst != (*keys == Keys::Name))
        return std::nullopt;
    return Head{header->columns, *keys};
}

/// `rwsem:R` is a kind and a side.
void setKind(std::string_view kind, LockTableRow& row)
{
    const size_t colon = kind.find(':');
    row.kind = kind.substr(0, colon);
    if (colon == std::string_view::npos)
        return;
    const std::string_view side = kind.substr(colon + 1);
    row.side = side == "R" ? "read" : side == "W" ? "write" : "";
}

/// `mmap_lock (rwsem)`, `(mutex)`.
void setSymbol(std::string_view text, LockTableRow& row)
{
    if (text.ends_with(')')) {
        const size_t open = text.rfind('(');
        if (open != std::string_view::npos) {
            setKind(text.substr(open + 1, text.size() - open - 2), row);
            text = trimmed(text.substr(0, open));
        }
    }
    row.name = text;
}

bool setKeys(Keys keys, std::string_view text, LockTableRow& row)
{
    std::string_view rest = trimmed(text);
    if (rest.empty())
        return false;
    switch (keys) {
    case Keys::TypeCaller:
        setKind(nextToken(rest), row);
        row.site = trimmed(rest);
        return !row.site.empty();
    case Keys::PidComm: {
        const std::string_view pid = nextToken(rest);
        const auto number = parseFixedPoint(pid);
        if (!number || pid.find('.') != std::string_view::npos)
            return false;
        row.tid = number->millionths / FixedPoint::kScale;
        row.name = trimmed(rest);
        return true;
    }
    case Keys::AddressSymbol: {
        const std::string_view address = nextToken(rest);
        if (!isAllHex(address.starts_with("0x") ? address.substr(2) : address))
            return false;
        row.address = address;
        setSymbol(trimmed(rest), row);
        return true;
    }
    case Keys::Owner:
    case Keys::Group:
        row.name = rest;
        return true;
    case Keys::Name:
        row.nameCut = rest.ends_with("...");
        row.name = rest;
        return true;
    }
    return false;
}

/// The row that a line is.
std::optional<LockTableRow> rowOf(std::string_view line, const Head& head)
{
    LockTableRow row;
    std::string_view rest = line;
    std::vector<Cell> cells;
    std::string plain;
    if (!head.separator.empty()) {
        // Figures and keys are separated alike; stacks behind them go with the caller.
        size_t at = 0;
        for (size_t i = 0;
             i < head.columns.size() + (head.keys == Keys::Group || head.keys == Keys::Owner ? 0 : 1); ++i) {
            const size_t found = line.find(head.separator, at);
            if (found == std::string_view::npos)
                return std::nullopt;
            plain += trimmed(line.substr(at, found - at));
            plain += ' ';
            at = found + head.separator.size();
        }
        const std::string_view last = line.substr(at);
        plain += trimmed(last.substr(0, last.find(head.separator)));
        rest = plain;
    }
    cells = head.keys == Keys::Name ? cellsAtBack(rest, head.columns.size())
                                    : cellsAtFront(rest, head.columns.size());
    if (cells.size() != head.columns.size() || !setFigures(head.columns, cells, row)
        || !setKeys(head.keys, rest, row))
        return std::nullopt;
    return row;
}

/// `0xffffffff9d0407c0  _raw_spin_lock+0x30` below a row; empty for other lines.
std::string_view stackFrame(std::string_view line)
{
    std::string_view rest = line;
    const std::string_view address = nextToken(rest);
    if (!address.starts_with("0x") || !isAllHex(address.substr(2)))
        return {};
    return trimmed(rest);
}

class TableReader {
public:
    TableReader(TextCursor& cursor, BlockContext& context, Head head)
        : cursor_(cursor)
        , context_(context)
        , head_(std::move(head))
        , section_(context.sink.section(lockTableSection(*cursor.peek(), kName, context)))
    {
        constexpr std::pair<Keys, LockTableKey> kKeys[] = {{Keys::TypeCaller, LockTableKey::Site},
            {Keys::PidComm, LockTableKey::Thread}, {Keys::AddressSymbol, LockTableKey::Lock},
            {Keys::Owner, LockTableKey::Thread}, {Keys::Group, LockTableKey::Group},
            {Keys::Name, LockTableKey::Lock}};
        for (const auto& [keys, key] : kKeys)
            table_.key = keys == head_.keys ? key : table_.key;
        const std::string_view command = context.around.command();
        table_.holders = head_.keys == Keys::Owner || ownersAreAskedFor(command);
        if (head_.keys == Keys::Name && asks(command, 't', "threads"))
            table_.key = LockTableKey::Thread;
        cursor_.advance();
    }

    void run()
    {
        while (const TextLine* line = cursor_.peek()) {
            if (!readLine(*line))
                break;
        }
        damage_.finish(context_, cursor_.inputName(), "more rows cannot be read and were skipped");
        handOver(table_, section_, context_);
    }

private:
    /// Whether a command has the option, alone or among others: `-abt`.
    static bool asks(std::string_view command, char letter, std::string_view longName)
    {
        std::string_view rest = command;
        for (std::string_view word = nextToken(rest); !word.empty(); word = nextToken(rest)) {
            const bool isShort = word.size() > 1 && word[0] == '-' && word[1] != '-';
            if (isShort ? word.find(letter) != std::string_view::npos
                        : word.starts_with("--") && word.substr(2) == longName)
                return true;
        }
        return false;
    }

    static bool ownersAreAskedFor(std::string_view command) { return asks(command, 'o', "lock-owner"); }

    bool readLine(const TextLine& line)
    {
        const std::string_view text = trimmed(line.text);
        if (text.starts_with("=== output for debug")) {
            skipDebugOutput();
            return false;
        }
        if (headOf(line.text))
            return false;
        if (auto row = rowOf(line.text, head_)) {
            addRow(std::move(*row), line, table_);
        } else if (const std::string_view frame = stackFrame(text); !frame.empty() && !table_.rows.empty()) {
            table_.rows.back().stack.emplace_back(frame);
        } else if (isCutMark(text) || text == "...snip...") {
            context_.sink.fact(section_, FactKind::CutMark, text);
        } else if (!text.starts_with("# debug:") && !goesOn()) {
            return false;
        } else if (!text.empty() && !text.starts_with('#')) {
            damage_.add(context_, line, "the row cannot be read and was skipped, the others kept");
        }
        cursor_.advance();
        return true;
    }

    /// Whether one of the next lines is a row: a blank one, or one damaged row, does not end a table.
    bool goesOn()
    {
        constexpr size_t kMostBetween = 2;
        const bool blank = trimmed(cursor_.peek()->text).empty();
        for (size_t ahead = 1; ahead <= kMostBetween; ++ahead) {
            const TextLine* line = cursor_.peek(ahead);
            if (line == nullptr || headOf(line->text) || promptedCommand(line->text).size() > 0)
                return false;
            if (rowOf(line->text, head_))
                return true;
            if (!blank || !trimmed(line->text).empty())
                return trimmed(line->text).starts_with("=== output for debug");
        }
        return false;
    }

    /// Counters for the authors of perf.
    void skipDebugOutput()
    {
        constexpr size_t kMostLines = 12;
        for (size_t i = 0; i < kMostLines && cursor_.peek() != nullptr; ++i) {
            const std::string_view text = trimmed(cursor_.peek()->text);
            const bool known = text.empty() || text.starts_with("=== output for debug")
                || text.starts_with("bad") || text.starts_with("histogram")
                || (text.find(": ") != std::string_view::npos && isDigit(text.back()));
            if (!known)
                return;
            cursor_.advance();
        }
    }

    TextCursor& cursor_;
    BlockContext& context_;
    Head head_;
    SectionHandle section_;
    LockTableRecord table_;
    DamageCounter damage_{DiagnosticCode::RowUnreadable, 3};
};

Claim claim(TextCursor& cursor)
{
    const std::string_view text = cursor.peek()->text;
    if (text.find("contended") == std::string_view::npos)
        return {};
    const auto head = headOf(text);
    if (!head)
        return {};
    constexpr size_t kMostBetween = 6;
    for (size_t ahead = 1; ahead <= kMostBetween; ++ahead) {
        const TextLine* line = cursor.peek(ahead);
        if (line == nullptr)
            break;
        if (rowOf(line->text, *head))
            return {Confidence::Certain, "columns of perf lock and rows"};
    }
    return {};
}

void read(TextCursor& cursor, BlockContext& context)
{
    auto head = headOf(cursor.peek()->text);
    if (!head) { // it was claimed by the same look, so it is there
        cursor.advance();
        return;
    }
    TableReader(cursor, context, std::move(*head)).run();
}

} // namespace

extern const TextFormat perf_lockFormat;
const TextFormat perf_lockFormat = {kName,
    "perf lock contention and perf lock report, by caller, lock, address, task, owner, cgroup", claim, read,
    Yields::Profiles};

} // namespace whichlock
