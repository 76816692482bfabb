// SPDX-License-Identifier: GPL-3.0-or-later
// Sections of counters (vmstat) and of benchmark measurements.
#include "analyzer/locks/candidates.h"
#include "analyzer/report/section_builders.h"
#include "analyzer/report/shares.h"

#include <algorithm>
#include <fmt/format.h>

namespace whichlock {
namespace {

std::optional<size_t> systemColumnOf(const std::vector<std::string>& columns)
{
    // BSD prints two columns `sy`: system calls first, the CPU group last.
    for (const std::string_view wanted : {"sy", "sys"}) {
        for (size_t i = columns.size(); i-- > 0;) {
            if (columns[i] == wanted)
                return i;
        }
    }
    return std::nullopt;
}

std::vector<std::optional<FixedPoint>> meansFrom(const Section& section, size_t first)
{
    std::vector<std::optional<FixedPoint>> means;
    for (size_t column = 0; column < section.counterColumns.size(); ++column)
        means.push_back(meanOf(section.counterRows, column, first, section.counterRows.size()));
    return means;
}

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

std::optional<FixedPoint> valueAt(const TableRecord& table, size_t row, size_t column)
{
    return column < table.rows[row].values.size() ? table.rows[row].values[column] : std::nullopt;
}

std::optional<size_t> columnWith(const TableRecord& table, std::string_view part)
{
    for (size_t i = 0; i < table.columns.size(); ++i) {
        if (contains(table.columns[i], part))
            return i;
    }
    return std::nullopt;
}

/// Work done per time at a row: a column of that unit, or units of work by time.
std::optional<FixedPoint> throughputAt(const TableRecord& table, size_t row, std::string& unit)
{
    const auto hits = columnWith(table, "hits");
    const auto time = columnWith(table, "total time us");
    if (hits && time) {
        unit = "hits/s";
        const auto work = valueAt(table, row, *hits);
        const auto us = valueAt(table, row, *time);
        if (!work || !us)
            return std::nullopt;
        constexpr int64_t kMicrosecondsPerSecond = 1'000'000;
        FixedPoint scaled;
        if (__builtin_mul_overflow(work->millionths, kMicrosecondsPerSecond, &scaled.millionths))
            return std::nullopt;
        return quotient(scaled, *us);
    }
    for (const std::string_view word : {"Jobs/Min", "ops/s", "/sec", "/s"}) {
        if (const auto column = columnWith(table, word)) {
            unit = table.columns[*column];
            return valueAt(table, row, *column);
        }
    }
    return std::nullopt;
}

void addSeries(const TableRecord& table, ReportSection& out)
{
    for (size_t column = 0; column < table.columns.size(); ++column) {
        ReportSeries series{table.columns[column], table.rowName, table.unit, {}};
        for (size_t row = 0; row < table.rows.size(); ++row) {
            const auto x = parseFixedPoint(table.rows[row].label);
            const auto y = valueAt(table, row, column);
            if (x && y)
                series.points.push_back({*x, *y});
        }
        if (!series.points.empty())
            out.series.push_back(std::move(series));
    }
}

void addScaling(const TableRecord& table, ReportSection& out)
{
    if (table.shape != TableShape::Scaling || table.rows.size() < 2)
        return;
    const size_t last = table.rows.size() - 1;
    const auto firstX = parseFixedPoint(table.rows.front().label);
    const auto lastX = parseFixedPoint(table.rows[last].label);
    ReportScaling scaling;
    const auto first = throughputAt(table, 0, scaling.unit);
    const auto end = throughputAt(table, last, scaling.unit);
    if (!firstX || !lastX || !first || !end)
        return;
    const auto speedup = quotient(*end, *first);
    const auto times = quotient(*lastX, *firstX);
    if (!speedup || !times)
        return;
    scaling.firstX = *firstX;
    scaling.lastX = *lastX;
    scaling.throughputFirst = *first;
    scaling.throughputLast = *end;
    scaling.speedupLast = *speedup;
    constexpr int64_t kHundred = 100;
    FixedPoint speedupPercent;
    if (!__builtin_mul_overflow(speedup->millionths, kHundred, &speedupPercent.millionths))
        scaling.efficiencyLastPercent = quotient(speedupPercent, *times);
    if (const auto cost = columnWith(table, "per hit")) {
        const auto costFirst = valueAt(table, 0, *cost);
        const auto costLast = valueAt(table, last, *cost);
        if (costFirst && costLast)
            scaling.costFactor = quotient(*costLast, *costFirst);
    }
    out.scaling = scaling;
}

/// The function in `counts in f()`.
std::string functionIn(std::string_view about)
{
    const size_t call = about.find("()");
    if (call == std::string_view::npos)
        return {};
    size_t begin = call;
    const auto isWord = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    while (begin > 0 && isWord(about[begin - 1]))
        --begin;
    return std::string(about.substr(begin, call - begin));
}

} // namespace

void buildCounterSection(const Section& section, ReportSection& out)
{
    ReportCounters counters;
    counters.columns = section.counterColumns;
    counters.rows = section.counterRows.size();
    const auto systemColumn = systemColumnOf(counters.columns);
    counters.means = meansFrom(section, 0);
    const auto has = [&](std::string_view name) {
        return std::find(counters.columns.begin(), counters.columns.end(), name) != counters.columns.end();
    };
    const bool firstIsSinceBoot = has("r") && has("b");
    if (firstIsSinceBoot && counters.rows > 1)
        counters.meansWithoutFirst = meansFrom(section, 1);
    if (systemColumn) {
        counters.systemPercent = counters.means[*systemColumn];
        if (!counters.meansWithoutFirst.empty())
            counters.systemPercentWithoutFirst = counters.meansWithoutFirst[*systemColumn];
    }
    out.rows = counters.rows;
    out.counters = std::move(counters);
}

void buildMeasurementSection(
    const Profile& profile, const Section& section, const RoutineTable& routines, ReportSection& out)
{
    for (const TableRecord& table : section.tables) {
        out.rows += table.rows.size();
        out.tableAbout = table.about;
        out.tables.push_back({table.rowName, table.unit, table.columns, table.rows});
        addSeries(table, out);
        addScaling(table, out);
        const std::string function = functionIn(table.about);
        if (function.empty())
            continue;
        const RecordingContext context = recordingContextOf(profile, section, routines);
        CandidateList list(routines, context);
        list.printedFunction(function, "the function that is counted");
        for (Candidate& candidate : list.take())
            out.candidates.push_back(std::move(candidate));
    }
}

} // namespace whichlock
