// SPDX-License-Identifier: GPL-3.0-or-later
// What --by asks for: a row a thread, process, processor, function or call site.
#include "analyzer/report/document_cells.h"
#include "analyzer/report/document_sections.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {
namespace {

const char* titleOf(GroupBy by)
{
    switch (by) {
    case GroupBy::Lock:
        return "Lock";
    case GroupBy::Site:
        return "Lock waited for at";
    case GroupBy::Holder:
        return "Holder";
    case GroupBy::Thread:
        return "Thread";
    case GroupBy::Comm:
        return "Threads named";
    case GroupBy::Process:
        return "Process";
    case GroupBy::Cpu:
        return "CPU";
    case GroupBy::Symbol:
        return "Function";
    }
    return "";
}

std::string labelOf(const ReportGroup& group)
{
    if (!group.recorded)
        return "(not recorded)";
    if (group.cpu >= 0)
        return fmt::format("CPU {}", group.cpu);
    const std::string name = group.name.empty() ? "?" : group.name;
    if (group.tid >= 0)
        return fmt::format("{} {}", name, group.tid);
    return group.pid >= 0 ? fmt::format("{} {}", name, group.pid) : name;
}

} // namespace

DocumentTable groupTable(const ReportSection& section, size_t index, size_t most)
{
    DocumentTable table{
        .caption = {}, .id = "groups", .columns = {{titleOf(section.groupedBy), Align::Left}}, .rows = {}};
    addPartColumns(section, table.columns);
    // Of call sites everything is waiting; without locks in the section the columns would be empty.
    const bool waiting = section.groupedBy != GroupBy::Site && section.contention.value != 0;
    if (waiting) {
        table.columns.push_back({"lock wait", Align::Right, 1});
        table.columns.push_back({section.busyKnown ? "of its busy" : "of its own"});
    }
    constexpr const char* kOfRow[] = {
        "/contention_share_of_row_percent", "/contention_share_of_row_busy_percent"};
    for (size_t i = 0; i < std::min(section.groups.size(), most); ++i) {
        const ReportGroup& group = section.groups[i];
        const std::string pointer = fmt::format("{}/groups/{}", sectionPointer(index), i);
        std::vector<DocumentCell> row{labelCell(labelOf(group))};
        addPartCells(group.part, section, pointer, row);
        if (waiting) {
            row.push_back(countCell(group.contention.value, pointer + "/contention"));
            row.push_back(shareCell(group.contentionOfRow, pointer + kOfRow[section.busyKnown ? 1 : 0], 1));
        }
        table.rows.push_back(std::move(row));
    }
    if (section.groups.size() > most)
        table.rows.push_back({labelCell(fmt::format("  {} more", section.groups.size() - most))});
    return table;
}

} // namespace whichlock
