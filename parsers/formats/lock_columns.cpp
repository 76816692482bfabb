// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/lock_columns.h"

#include "parsers/input/text_scan.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace whichlock::locktable {
namespace {

struct ColumnName {
    std::string_view name; ///< in lower case
    Column column;
};

constexpr ColumnName kNames[] = {{"acquired", Column::Acquired}, {"contended", Column::Contended},
    {"count", Column::Contended}, {"total wait", Column::TotalWait}, {"avg wait", Column::MeanWait},
    {"max wait", Column::MaxWait}, {"min wait", Column::MinWait}, {"total spin", Column::TotalWait},
    {"avg spin", Column::MeanWait}, {"max spin", Column::MaxWait}, {"total hold", Column::TotalHold},
    {"avg hold", Column::MeanHold}, {"max hold", Column::MaxHold}};

std::string lowerCase(std::string_view text)
{
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return lower;
}

/// The column name that begins at `at`, with its unit in brackets.
const ColumnName* nameAt(std::string_view lower, size_t at, size_t& end)
{
    for (const ColumnName& one : kNames) {
        const std::string_view rest = lower.substr(at);
        if (!rest.starts_with(one.name))
            continue;
        end = at + one.name.size();
        if (end < lower.size() && !isBlank(lower[end]))
            continue;
        constexpr std::string_view kUnit = " (ns)";
        if (lower.substr(end).starts_with(kUnit))
            end += kUnit.size();
        return &one;
    }
    return nullptr;
}

std::optional<uint64_t>* fieldOf(Column column, LockTableRow& row)
{
    switch (column) {
    case Column::Acquired:
        return &row.acquisitions;
    case Column::Contended:
        return &row.contentions;
    case Column::TotalWait:
        return &row.wait.totalNs;
    case Column::MeanWait:
        return &row.wait.meanNs;
    case Column::MaxWait:
        return &row.wait.maxNs;
    case Column::MinWait:
        return &row.wait.minNs;
    case Column::TotalHold:
        return &row.hold.totalNs;
    case Column::MeanHold:
        return &row.hold.meanNs;
    case Column::MaxHold:
        return &row.hold.maxNs;
    }
    return &row.contentions;
}

bool timesBroken(const LockTableRow& row)
{
    const auto isBroken = [](const std::optional<uint64_t>& ns) { return ns && *ns >= kBrokenNs; };
    for (const LockTimes* times : {&row.wait, &row.hold}) {
        if (isBroken(times->totalNs) || isBroken(times->maxNs) || isBroken(times->meanNs)
            || isBroken(times->minNs))
            return true;
    }
    return false;
}

} // namespace

std::optional<Header> headerOf(std::string_view line, size_t fewest)
{
    constexpr size_t kWidest = 400;
    if (line.size() > kWidest)
        return std::nullopt;
    const std::string lower = lowerCase(line);
    Header header;
    size_t first = std::string::npos;
    size_t end = 0;
    for (size_t at = 0; at < lower.size();) {
        if (isBlank(lower[at])) {
            ++at;
            continue;
        }
        size_t behind = 0;
        const ColumnName* name = nameAt(lower, at, behind);
        if (name == nullptr) {
            if (!header.columns.empty())
                break;
            at = std::min(lower.find_first_of(" \t", at), lower.size());
            continue;
        }
        first = std::min(first, at);
        header.columns.push_back(name->column);
        at = end = behind;
    }
    if (header.columns.size() < fewest)
        return std::nullopt;
    const std::string_view before = trimmed(line.substr(0, first));
    const std::string_view after = trimmed(line.substr(end));
    if (before.empty() == after.empty())
        return std::nullopt;
    header.namesFirst = after.empty();
    header.keys = header.namesFirst ? before : after;
    return header;
}

bool setFigures(const std::vector<Column>& columns, const std::vector<Cell>& cells, LockTableRow& row)
{
    if (columns.size() != cells.size())
        return false;
    for (size_t i = 0; i < cells.size(); ++i) {
        const bool isCount = columns[i] == Column::Acquired || columns[i] == Column::Contended;
        if (isCount && cells[i].hasUnit)
            return false;
        *fieldOf(columns[i], row) = cells[i].value;
    }
    return true;
}

SectionRecord lockTableSection(const TextLine& line, std::string_view format, const BlockContext& context)
{
    SectionRecord record = context.sectionAt(line, format);
    record.kind = SectionKind::LockTable;
    record.quantity = QuantityKind::Wait;
    record.unit = Unit::Nanoseconds;
    return record;
}

void addRow(LockTableRow row, const TextLine& line, LockTableRecord& table)
{
    row.line = line.number;
    table.timesBroken = table.timesBroken || timesBroken(row);
    table.rows.push_back(std::move(row));
}

void handOver(LockTableRecord& table, SectionHandle section, const BlockContext& context)
{
    table.rowsPrinted = table.rows.size();
    context.sink.lockTable(section, table);
}

} // namespace whichlock::locktable
