// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/document_cells.h"

#include "analyzer/report/section_builders.h"
#include "analyzer/report/value_format.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {
namespace {

void addShareCells(const Part& part, const ReportSection& section, const std::string& pointer,
    std::vector<DocumentCell>& row)
{
    row.push_back(shareCell(part.ofTotal, pointer + "/share_of_total_percent", 2));
    if (section.busyKnown)
        row.push_back(shareCell(part.ofBusy, pointer + "/share_of_busy_percent", 2));
}

void addShareColumns(const ReportSection& section, std::vector<DocumentColumn>& columns)
{
    columns.push_back({section.totalBasis == "sum of the listed rows" ? "of listed" : "of all"});
    if (section.busyKnown)
        columns.push_back({"of busy"});
}

/// Millionths; what does not fit stays at the largest number.
FixedPoint decimalOf(uint64_t millionths)
{
    return {millionths > INT64_MAX ? INT64_MAX : static_cast<int64_t>(millionths)};
}

} // namespace

DocumentCell labelCell(std::string text)
{
    return {.text = std::move(text), .format = CellFormat::Text};
}

DocumentCell countCell(uint64_t value, std::string pointer)
{
    return {.text = formatCount(value), .format = CellFormat::Count, .pointer = std::move(pointer)};
}

DocumentCell timeCell(uint64_t ns, std::string pointer)
{
    return {
        .text = formatMilliseconds(ns), .format = CellFormat::Milliseconds, .pointer = std::move(pointer)};
}

DocumentCell smallTimeCell(uint64_t ns, std::string pointer)
{
    return {
        .text = formatMicroseconds(ns), .format = CellFormat::Microseconds, .pointer = std::move(pointer)};
}

DocumentCell shareCell(const std::optional<Share>& share, std::string pointer, int decimals)
{
    if (!share)
        return {.text = "", .format = CellFormat::Text};
    return {.text = formatShare(*share, decimals),
        .format = decimals == 1 ? CellFormat::Share1 : CellFormat::Share2,
        .pointer = std::move(pointer)};
}

DocumentCell numberCell(const std::optional<FixedPoint>& value, std::string pointer)
{
    if (!value)
        return {.text = "-", .format = CellFormat::Text};
    return {.text = formatNumber(*value), .format = CellFormat::Number, .pointer = std::move(pointer)};
}

void addPartCells(const Part& part, const ReportSection& section, const std::string& pointer,
    std::vector<DocumentCell>& row)
{
    if (section.listed != 0 && section.unit == Unit::Millionths)
        row.push_back(numberCell(decimalOf(part.value), pointer + "/value"));
    else if (section.listed != 0 && section.kind == SectionKind::WaitProfile)
        row.push_back(timeCell(part.value, pointer + "/value"));
    else if (section.listed != 0)
        row.push_back(countCell(part.value, pointer + "/value"));
    addShareCells(part, section, pointer, row);
}

void addPartColumns(const ReportSection& section, std::vector<DocumentColumn>& columns)
{
    if (section.listed != 0)
        columns.push_back({section.kind == SectionKind::WaitProfile ? "ms"
                : section.unit == Unit::Nanoseconds                 ? "ns"
                                                                    : std::string(unitName(section.unit))});
    addShareColumns(section, columns);
}

std::string sectionPointer(size_t index)
{
    return fmt::format("/sections/{}", index);
}

void alignDecimals(DocumentTable& table)
{
    const auto decimals = [](const std::string& text) {
        const size_t point = text.find('.');
        return point == std::string::npos ? size_t{0} : text.size() - point - 1;
    };
    for (size_t column = 0; column < table.columns.size(); ++column) {
        size_t most = 0;
        for (const auto& row : table.rows) {
            if (column < row.size() && row[column].format == CellFormat::Number)
                most = std::max(most, decimals(row[column].text));
        }
        for (auto& row : table.rows) {
            if (column >= row.size() || row[column].format != CellFormat::Number || most == 0)
                continue;
            std::string& text = row[column].text;
            const size_t own = decimals(text);
            text += (own == 0 ? "." : "") + std::string(most - own, '0');
        }
    }
}

} // namespace whichlock
