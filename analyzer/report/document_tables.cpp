// SPDX-License-Identifier: GPL-3.0-or-later
// Counters, benchmark tables, counted events, and comparisons.
#include "analyzer/report/document_cells.h"
#include "analyzer/report/document_sections.h"
#include "analyzer/report/value_format.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {

void addCounterSection(const ReportSection& section, size_t index, Document& document)
{
    const ReportCounters& counters = *section.counters;
    DocumentTable table{.caption = {}, .id = "counters", .columns = {{"Means", Align::Left}}, .rows = {}};
    std::vector<std::string> names;
    const auto meanRow = [&](std::string what, const std::vector<std::optional<FixedPoint>>& means,
                             const char* field) {
        std::vector<DocumentCell> row{labelCell(std::move(what))};
        for (size_t i = 0; i < counters.columns.size(); ++i) {
            const std::string& name = counters.columns[i];
            if (std::find(names.begin(), names.end(), name) == names.end())
                continue;
            const bool again =
                std::find(counters.columns.begin(), counters.columns.begin() + static_cast<long>(i), name)
                != counters.columns.begin() + static_cast<long>(i);
            const std::string key = again ? name + "_" + std::to_string(i + 1) : name;
            row.push_back(
                numberCell(means[i], fmt::format("{}/counters/{}/{}", sectionPointer(index), field, key)));
        }
        table.rows.push_back(std::move(row));
    };
    // What speaks about locks: who runs and waits, switches, the CPU. Memory is in the JSON.
    for (const char* wanted : {"r", "b", "in", "int", "cs", "us", "sy", "usr", "sys", "id", "wa", "st", "gu"})
        names.emplace_back(wanted);
    for (const std::string& name : counters.columns) {
        if (std::find(names.begin(), names.end(), name) != names.end())
            table.columns.push_back({name});
    }
    meanRow(fmt::format("all {} rows", counters.rows), counters.means, "means");
    if (!counters.meansWithoutFirst.empty())
        meanRow("without the first", counters.meansWithoutFirst, "means_without_first");
    alignDecimals(table);
    document.blocks.emplace_back(std::move(table));
}

void addMeasurementSection(const ReportSection& section, size_t index, Document& document)
{
    constexpr size_t kMostRows = 20;
    for (size_t t = 0; t < section.tables.size(); ++t) {
        const ReportTable& source = section.tables[t];
        if (!source.rows.empty() && !source.rows.front().spreads.empty())
            continue; // the comparison below shows its figures with their deviations
        const std::string unit = source.unit.empty() ? "" : " (" + source.unit + ")";
        DocumentTable table{
            .caption = {}, .id = "table", .columns = {{source.rowName + unit, Align::Left}}, .rows = {}};
        for (const std::string& column : source.columns)
            table.columns.push_back({column});
        for (size_t r = 0; r < std::min(source.rows.size(), kMostRows); ++r) {
            std::vector<DocumentCell> row{labelCell(source.rows[r].label)};
            for (size_t c = 0; c < source.rows[r].values.size(); ++c)
                row.push_back(numberCell(source.rows[r].values[c],
                    fmt::format("{}/tables/{}/rows/{}/values/{}", sectionPointer(index), t, r, c)));
            table.rows.push_back(std::move(row));
        }
        if (source.rows.size() > kMostRows)
            table.rows.push_back({labelCell(fmt::format("{} more rows", source.rows.size() - kMostRows))});
        alignDecimals(table);
        document.blocks.emplace_back(std::move(table));
    }
    addCandidates(section, document);
    if (!section.notes.empty())
        document.blocks.emplace_back(DocumentText{.label = "Finding", .lines = section.notes});
}

void addEventSection(const ReportSection& section, size_t index, Document& document)
{
    DocumentTable table{
        .caption = {}, .id = kEventCountsId, .columns = {{"Event", Align::Left}, {"counted"}}, .rows = {}};
    table.rows.push_back(
        {labelCell(section.event), countCell(section.total.value_or(0), sectionPointer(index) + "/total")});
    document.blocks.emplace_back(std::move(table));
    if (!section.groups.empty()) {
        constexpr size_t kMostGroups = 20;
        document.blocks.emplace_back(groupTable(section, index, kMostGroups));
    }
}

namespace {

DocumentCell changeCell(const ComparisonRow& row, const std::string& pointer)
{
    return row.changePercent ? DocumentCell{.text = formatChange(*row.changePercent),
               .format = CellFormat::Change,
               .pointer = pointer + "/change_percent"}
                             : labelCell("");
}

DocumentCell pointsCell(const ComparisonRow& row, const std::string& pointer)
{
    return {.text = formatPoints(*row.changePoints),
        .format = CellFormat::Points,
        .pointer = pointer + "/change_points"};
}

using Columns = std::vector<DocumentColumn>;

/// Before, after, change, and points where some rows have them.
Columns plainColumns(const ReportComparison& comparison)
{
    Columns columns{{comparison.about, Align::Left}, {"before"}, {"after"}, {"change"}};
    if (std::any_of(comparison.rows.begin(), comparison.rows.end(),
            [](const ComparisonRow& row) { return row.changePoints.has_value(); }))
        columns.push_back({"points"});
    return columns;
}

std::vector<DocumentCell> plainCells(const ComparisonRow& row, const std::string& pointer)
{
    std::vector<DocumentCell> cells{labelCell(row.what), numberCell(row.before, pointer + "/before"),
        numberCell(row.after, pointer + "/after"), changeCell(row, pointer)};
    if (row.changePoints)
        cells.push_back(pointsCell(row, pointer));
    return cells;
}

/// Each value with its deviation, and the change in points for percentages, else in percent.
Columns spreadColumns(const ReportComparison& comparison)
{
    const bool allPoints = std::all_of(comparison.rows.begin(), comparison.rows.end(),
        [](const ComparisonRow& row) { return row.changePoints.has_value(); });
    return {{comparison.about, Align::Left}, {"before"}, {"± %"}, {"after"}, {"± %"},
        {allPoints ? "points" : "change"}, {"", Align::Left}};
}

std::vector<DocumentCell> spreadCells(const ComparisonRow& row, const std::string& pointer)
{
    const auto spread = [&](const std::optional<FixedPoint>& value, const char* field) {
        return value ? numberCell(value, pointer + field) : labelCell("");
    };
    return {labelCell(row.what), numberCell(row.before, pointer + "/before"),
        spread(row.beforeSpread, "/before_spread_percent"), numberCell(row.after, pointer + "/after"),
        spread(row.afterSpread, "/after_spread_percent"),
        row.changePoints ? pointsCell(row, pointer) : changeCell(row, pointer),
        labelCell(row.significant.value_or(true) ? "" : "in spread")};
}

} // namespace

void addComparisons(const Report& report, size_t index, Document& document)
{
    constexpr size_t kMostRows = 10;
    for (size_t c = 0; c < report.comparisons.size(); ++c) {
        const ReportComparison& comparison = report.comparisons[c];
        if (comparison.section != index)
            continue;
        const bool spreads = std::any_of(comparison.rows.begin(), comparison.rows.end(),
            [](const ComparisonRow& row) { return row.beforeSpread || row.afterSpread; });
        DocumentTable table{.caption = fmt::format("{} -> {}", comparison.before, comparison.after),
            .id = "comparison",
            .columns = spreads ? spreadColumns(comparison) : plainColumns(comparison),
            .rows = {}};
        for (size_t r = 0; r < std::min(comparison.rows.size(), kMostRows); ++r) {
            const std::string pointer = fmt::format("/comparisons/{}/rows/{}", c, r);
            table.rows.push_back(
                spreads ? spreadCells(comparison.rows[r], pointer) : plainCells(comparison.rows[r], pointer));
        }
        if (comparison.rows.size() > kMostRows)
            table.rows.push_back(
                {labelCell(fmt::format("{} more rows", comparison.rows.size() - kMostRows))});
        document.blocks.emplace_back(std::move(table));
        if (!comparison.note.empty())
            document.blocks.emplace_back(DocumentText{.label = {}, .lines = {comparison.note}, .indent = 2});
    }
}

} // namespace whichlock
