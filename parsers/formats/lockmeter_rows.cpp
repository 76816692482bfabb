// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/lockmeter_rows.h"

#include "parsers/formats/lock_figures.h"
#include "parsers/input/text_scan.h"

#include <string>
#include <vector>

namespace whichlock::lockmeter {
namespace {

__extension__ using Wide = unsigned __int128;

/// A mean with its maximum, and for waits the share of processor time.
struct TimeCell {
    std::optional<uint64_t> meanNs{};
    std::optional<uint64_t> maxNs{};
    std::optional<Share> cpuShare{};
};

struct Cells {
    std::vector<Share> before{}; ///< percentages before the times: UTIL, CON
    std::vector<TimeCell> times{};
    std::vector<uint64_t> counts{};
    std::vector<Share> after{}; ///< percentages behind TOTAL: NOWAIT, SPIN, RJECT
    std::string_view name{};
    size_t gap = 0; ///< blanks before the name
};

/// What stands in brackets at the front of `rest`; empty where none begins.
std::string_view bracketAtFront(std::string_view& rest)
{
    std::string_view text = rest;
    while (!text.empty() && isBlank(text.front()))
        text.remove_prefix(1);
    const size_t close = text.starts_with('(') ? text.find(')') : std::string_view::npos;
    if (close == std::string_view::npos)
        return {};
    rest = text.substr(close + 1);
    return trimmed(text.substr(1, close - 1));
}

std::optional<Share> percentOf(std::string_view word)
{
    if (!word.ends_with('%'))
        return std::nullopt;
    return parsePercent(trimmed(word.substr(0, word.size() - 1)));
}

/// Word up to a blank or a bracket.
std::string_view wordAtFront(std::string_view& rest)
{
    size_t begin = 0;
    while (begin < rest.size() && isBlank(rest[begin]))
        ++begin;
    const size_t end = std::min(rest.find_first_of(" \t(", begin), rest.size());
    const std::string_view word = rest.substr(begin, end - begin);
    rest.remove_prefix(end);
    return word;
}

bool takeTime(std::string_view word, std::string_view& rest, Cells& cells)
{
    const auto mean = locktable::gluedTimeNs(word);
    if (!mean)
        return false;
    TimeCell cell{.meanNs = mean};
    if (const std::string_view most = bracketAtFront(rest); !most.empty()) {
        cell.maxNs = locktable::gluedTimeNs(most);
        if (!cell.maxNs)
            return false;
        std::string_view behind = rest;
        if (const auto share = percentOf(bracketAtFront(behind))) {
            cell.cpuShare = share;
            rest = behind;
        }
    }
    cells.times.push_back(cell);
    return true;
}

bool isNameStart(char c)
{
    return c == '*' || c == '[' || c == '_' || c == '.' || c == '&' || (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z');
}

/// All cells up to the name, which is the first word that is no figure.
std::optional<Cells> cellsOf(std::string_view text)
{
    Cells cells;
    std::string_view rest = text;
    while (true) {
        const std::string_view here = rest;
        const std::string_view word = wordAtFront(rest);
        if (word.empty())
            return std::nullopt;
        if (const auto share = percentOf(word)) {
            (cells.counts.empty() ? cells.before : cells.after).push_back(*share);
            std::string_view behind = rest;
            if (percentOf(bracketAtFront(behind))) // SPIN(WW)
                rest = behind;
        } else if (isAllDigits(word)) {
            const auto count = parseUnsigned(word);
            if (!count)
                return std::nullopt;
            cells.counts.push_back(*count);
        } else if (!takeTime(word, rest, cells)) {
            if (!isNameStart(word.front()))
                return std::nullopt;
            cells.name = trimmed(here);
            cells.gap = static_cast<size_t>(word.data() - here.data());
            return cells;
        }
    }
}

/// TOTAL * SPIN * mean wait: the report prints no sum.
std::optional<uint64_t> waitingNs(uint64_t total, Share spin, uint64_t meanNs)
{
    if (spin.ppb < 0)
        return std::nullopt;
    const Wide waits = static_cast<Wide>(total) * static_cast<uint64_t>(spin.ppb);
    if (waits > UINT64_MAX)
        return std::nullopt;
    const Wide ns = waits * meanNs / Share::kWhole;
    return ns > UINT64_MAX ? std::nullopt : std::optional(static_cast<uint64_t>(ns));
}

std::optional<uint64_t> partOf(uint64_t total, Share part)
{
    if (part.ppb < 0)
        return std::nullopt;
    const Wide count =
        (static_cast<Wide>(total) * static_cast<uint64_t>(part.ppb) + Share::kWhole / 2) / Share::kWhole;
    return count > UINT64_MAX ? std::nullopt : std::optional(static_cast<uint64_t>(count));
}

const TimeCell* waitCell(const Cells& cells, Table table)
{
    // Writers have the wait for all and behind it that for other writers.
    const size_t fromBack = table == Table::Write ? 2 : 1;
    return cells.times.size() < fromBack ? nullptr : &cells.times[cells.times.size() - fromBack];
}

std::optional<LockTableRow> rowOf(const Cells& cells, Table table)
{
    constexpr size_t kNoWaitAndSpin = 2;
    if (cells.counts.empty() || cells.after.size() < kNoWaitAndSpin)
        return std::nullopt;
    LockTableRow row{.kind = table == Table::Spin ? "spinlock"
            : table == Table::Semaphore           ? "semaphore"
                                                  : "rwlock"};
    row.side = table == Table::Read ? "read" : table == Table::Write ? "write" : "";
    const uint64_t total = cells.counts.back();
    const Share spin = cells.after[1];
    row.acquisitions = total;
    row.contentions = partOf(total, spin);
    if (table == Table::Spin && cells.after.size() > kNoWaitAndSpin)
        row.rejected = partOf(total, cells.after[kNoWaitAndSpin]);
    if (cells.before.size() > 1)
        row.utilisation = cells.before.front();
    const TimeCell* wait = waitCell(cells, table);
    if (wait == nullptr)
        return table == Table::Semaphore ? std::optional(row) : std::nullopt;
    row.wait.meanNs = wait->meanNs;
    row.wait.maxNs = wait->maxNs;
    row.wait.totalNs = waitingNs(total, spin, *wait->meanNs);
    row.cpuShare = wait->cpuShare ? wait->cpuShare : std::optional(Share{});
    if (wait != &cells.times.front()) {
        row.hold.meanNs = cells.times.front().meanNs;
        row.hold.maxNs = cells.times.front().maxNs;
    }
    return row;
}

void setName(std::string_view name, LockTableRow& row)
{
    if (name.starts_with('[') && name.ends_with(']'))
        row.address = name.substr(1, name.size() - 2);
    else if (name.find("+0x") != std::string_view::npos)
        row.site = name;
    else
        row.name = name;
}

} // namespace

std::optional<Table> titleAt(std::string_view line)
{
    const std::string_view text = trimmed(line);
    if (text.starts_with("SPINLOCKS ") && text.find("HOLD") != std::string_view::npos)
        return Table::Spin;
    if (text.starts_with("RWLOCK READS ") && text.find("HOLD") != std::string_view::npos)
        return Table::Read;
    if (text.starts_with("RWLOCK WRITES ") && text.find("HOLD") != std::string_view::npos)
        return Table::Write;
    if (text.starts_with("SEMAPHORES ") && text.find("HOLD") != std::string_view::npos)
        return Table::Semaphore;
    return std::nullopt;
}

std::optional<FoundRow> rowAt(TextCursor& cursor, Table table)
{
    constexpr size_t kMostLines = 3;
    constexpr size_t kMemberGap = 4;
    std::string joined;
    const TextLine* first = cursor.peek();
    for (size_t lines = 1; lines <= kMostLines; ++lines) {
        const TextLine* line = cursor.peek(lines - 1);
        if (line == nullptr || line->quoteDepth != first->quoteDepth || trimmed(line->text).empty())
            return std::nullopt;
        constexpr size_t kWidest = 400;
        if (line->text.size() > kWidest)
            return std::nullopt;
        joined += joined.empty() ? "" : "  ";
        joined += line->text;
        const auto cells = cellsOf(joined);
        if (!cells)
            continue;
        auto row = rowOf(*cells, table);
        if (!row)
            return std::nullopt;
        row->line = first->number;
        setName(cells->name, *row);
        return FoundRow{std::move(*row), cells->name == "*TOTAL*", cells->gap >= kMemberGap, lines};
    }
    return std::nullopt;
}

} // namespace whichlock::lockmeter
