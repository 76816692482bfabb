// SPDX-License-Identifier: GPL-3.0-or-later
// Before and after: where one input holds exactly two tables of a kind, or one table holds variants.
#include "analyzer/report/section_builders.h"
#include "analyzer/report/shares.h"
#include "analyzer/report/symbol_names.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

namespace whichlock {
namespace {

ComparisonRow rowOf(std::string what, std::optional<FixedPoint> before, std::optional<FixedPoint> after)
{
    ComparisonRow row{std::move(what), before, after, std::nullopt, std::nullopt};
    if (before && after)
        row.changePercent = changePercent(*before, *after);
    return row;
}

/// Notes the deviations, and whether the values differ by more than both of them.
void addSpreads(ComparisonRow& row, std::optional<FixedPoint> before, std::optional<FixedPoint> after)
{
    __extension__ using Wide = __int128;
    row.beforeSpread = before;
    row.afterSpread = after;
    if (!row.before || !row.after || (!before && !after))
        return;
    const auto deviation = [](FixedPoint value, std::optional<FixedPoint> percent) {
        const Wide product = static_cast<Wide>(value.millionths) * percent.value_or(FixedPoint{}).millionths;
        return product < 0 ? -product : product;
    };
    const Wide change = static_cast<Wide>(row.after->millionths) - row.before->millionths;
    constexpr Wide kHundredPercent = Wide{100} * FixedPoint::kScale;
    row.significant = (change < 0 ? -change : change) * kHundredPercent
        > deviation(*row.before, before) + deviation(*row.after, after);
}

FixedPoint percentOf(Share share)
{
    constexpr int64_t kPpbPerMillionthPercent = Share::kPercent / FixedPoint::kScale;
    return {share.ppb / kPpbPerMillionthPercent};
}

std::string nameOf(const ReportSection& section, std::string_view fallback)
{
    return section.title.empty() ? fmt::format("{} at {}", fallback, toString(section.position))
                                 : section.title;
}

/// The largest first.
void sortBySize(std::vector<ComparisonRow>& rows)
{
    const auto size = [](const ComparisonRow& row) {
        return std::max(row.before.value_or(FixedPoint{}), row.after.value_or(FixedPoint{}));
    };
    std::stable_sort(rows.begin(), rows.end(),
        [&](const ComparisonRow& x, const ComparisonRow& y) { return size(x) > size(y); });
}

/// Weight and printed share of each symbol of a section.
std::map<std::string, Weight> weightsBySymbol(const Profile& profile, const Section& section)
{
    std::map<std::string, Weight> weights;
    const SymbolNames names(profile, section);
    for (const Cell& cell : section.cells)
        weights[names.of(cell.stack)] += Weight(cell);
    return weights;
}

ReportComparison compareProfiles(
    const Profile& profile, const SectionSources& sources, const Report& report, size_t a, size_t b)
{
    const Section& first = *sources[a];
    const Section& second = *sources[b];
    const bool byShare = first.sharesPrinted && second.sharesPrinted;
    ReportComparison result{nameOf(report.sections[a], "first"), nameOf(report.sections[b], "second"),
        byShare ? "% of all, by function" : std::string(unitName(first.record.unit)) + " by function", b, {}};
    const auto before = weightsBySymbol(profile, first);
    const auto after = weightsBySymbol(profile, second);
    std::map<std::string, std::pair<const Weight*, const Weight*>> both;
    for (const auto& [symbol, weight] : before)
        both[symbol].first = &weight;
    for (const auto& [symbol, weight] : after)
        both[symbol].second = &weight;
    for (const auto& [symbol, weights] : both) {
        const auto figure = [&](const Weight* weight) -> std::optional<FixedPoint> {
            if (weight == nullptr)
                return std::nullopt;
            return byShare ? percentOf(weight->printed) : fixedFromCount(weight->value);
        };
        ComparisonRow row = rowOf(symbol, figure(weights.first), figure(weights.second));
        if (byShare && row.before && row.after)
            row.changePoints = FixedPoint{row.after->millionths - row.before->millionths};
        result.rows.push_back(std::move(row));
    }
    sortBySize(result.rows);
    if (!byShare && first.total && second.total)
        result.rows.push_back(rowOf("total", fixedFromCount(*first.total), fixedFromCount(*second.total)));
    return result;
}

bool isPercentColumn(std::string_view name)
{
    constexpr std::array<std::string_view, 8> kNames = {"us", "sy", "id", "wa", "st", "gu", "usr", "sys"};
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

ReportComparison compareCounters(const Report& report, size_t a, size_t b)
{
    const ReportCounters& first = *report.sections[a].counters;
    const ReportCounters& second = *report.sections[b].counters;
    const bool withoutFirst = !first.meansWithoutFirst.empty() && !second.meansWithoutFirst.empty();
    ReportComparison result{nameOf(report.sections[a], "first"), nameOf(report.sections[b], "second"),
        withoutFirst ? "means without the first row" : "means of all rows", b, {}};
    const auto& before = withoutFirst ? first.meansWithoutFirst : first.means;
    const auto& after = withoutFirst ? second.meansWithoutFirst : second.means;
    for (size_t i = 0; i < first.columns.size(); ++i) {
        const std::string& column = first.columns[i];
        ComparisonRow row = rowOf(column, before[i], after[i]);
        if (isPercentColumn(column) && row.before && row.after)
            row.changePoints = FixedPoint{row.after->millionths - row.before->millionths};
        result.rows.push_back(std::move(row));
    }
    return result;
}

/// The row before which all values of a column are over ten times those behind it, or the other way round:
/// something began or ended there. Three rows on each side at least.
std::optional<size_t> stepIn(const std::vector<std::vector<int64_t>>& rows, size_t column)
{
    constexpr size_t kFewestRows = 3;
    constexpr int64_t kFactor = 10;
    for (size_t split = kFewestRows; split + kFewestRows <= rows.size(); ++split) {
        std::array<int64_t, 2> low{INT64_MAX, INT64_MAX};
        std::array<int64_t, 2> high{0, 0};
        for (size_t i = 0; i < rows.size(); ++i) {
            const int64_t value = column < rows[i].size() ? rows[i][column] : kNoCounter;
            const size_t side = i < split ? 0 : 1;
            low[side] = std::min(low[side], value);
            high[side] = std::max(high[side], value);
        }
        if (low[0] / kFactor > std::max<int64_t>(high[1], 1)
            || low[1] / kFactor > std::max<int64_t>(high[0], 1))
            return split;
    }
    return std::nullopt;
}

/// Steps within one block of counters.
void compareSteps(
    const Section& section, const Report& report, size_t index, std::vector<ReportComparison>& out)
{
    const auto& rows = section.counterRows;
    const auto& columns = section.counterColumns;
    constexpr std::array<std::string_view, 6> kRates = {"si", "so", "bi", "bo", "in", "cs"};
    for (size_t column = 0; column < columns.size(); ++column) {
        if (std::find(kRates.begin(), kRates.end(), columns[column]) == kRates.end())
            continue;
        const auto split = stepIn(rows, column);
        if (!split)
            continue;
        ReportComparison result{fmt::format("rows 1-{}", *split),
            fmt::format("rows {}-{}", *split + 1, rows.size()), "a step in the means", index, {}};
        result.rows.push_back(rowOf(
            columns[column], meanOf(rows, column, 0, *split), meanOf(rows, column, *split, rows.size())));
        if (report.sections[index].counters)
            out.push_back(std::move(result));
    }
}

/// What groups the columns of a table with several bases: the version behind the last blank.
std::string_view groupOf(std::string_view column)
{
    const size_t blank = column.rfind(' ');
    return blank == std::string_view::npos ? std::string_view() : column.substr(blank + 1);
}

/// Whether a metric tells work done per time: what a benchmark is about.
bool isThroughput(std::string_view metric)
{
    constexpr std::string_view kWords[] = {"ops", "/s", "per-min", "per_sec", "hroughput", "score"};
    return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
        const size_t at = metric.find(word);
        return at != std::string_view::npos && metric.find(".time.") == std::string_view::npos
            && metric.find("perf-stat") == std::string_view::npos;
    });
}

/// Columns that are variants: each against the first one of its group.
void compareColumns(
    const TableRecord& table, const ReportSection& section, size_t index, std::vector<ReportComparison>& out)
{
    std::map<std::string_view, size_t> bases;
    for (size_t column = 0; column < table.columns.size(); ++column) {
        const auto [base, isNew] = bases.try_emplace(groupOf(table.columns[column]), column);
        if (isNew)
            continue;
        const bool spread = !table.rows.empty() && !table.rows.front().spreads.empty();
        ReportComparison result{table.columns[base->second], table.columns[column],
            spread ? table.rowName : section.title, index, {}};
        for (const TableRow& row : table.rows) {
            // `4 processes`, but `8-1-32-gc`: a name needs no word behind it.
            const std::string what = parseFixedPoint(row.label) ? row.label + " " + table.rowName : row.label;
            ComparisonRow compared = rowOf(what, row.values[base->second], row.values[column]);
            if (!row.spreads.empty())
                addSpreads(compared, row.spreads[base->second], row.spreads[column]);
            if (row.percent && compared.before && compared.after)
                compared.changePoints = FixedPoint{compared.after->millionths - compared.before->millionths};
            result.rows.push_back(std::move(compared));
        }
        if (std::all_of(
                table.rows.begin(), table.rows.end(), [](const TableRow& row) { return row.percent; }))
            sortBySize(result.rows);
        else if (spread)
            std::stable_partition(result.rows.begin(), result.rows.end(),
                [](const ComparisonRow& row) { return isThroughput(row.what); });
        out.push_back(std::move(result));
    }
}

/// Rows that are variants: each against the first.
void compareRows(
    const TableRecord& table, const ReportSection& section, size_t index, std::vector<ReportComparison>& out)
{
    for (size_t i = 1; i < table.rows.size(); ++i) {
        ReportComparison result{table.rows[0].label, table.rows[i].label, section.title, index, {}};
        for (size_t column = 0; column < table.columns.size(); ++column)
            result.rows.push_back(
                rowOf(table.columns[column], table.rows[0].values[column], table.rows[i].values[column]));
        out.push_back(std::move(result));
    }
}

/// Two series over the same numbers of CPUs or tasks.
ReportComparison compareScaling(const SectionSources& sources, const Report& report, size_t a, size_t b)
{
    const TableRecord& first = sources[a]->tables.front();
    const TableRecord& second = sources[b]->tables.front();
    ReportComparison result{nameOf(report.sections[a], "first"), nameOf(report.sections[b], "second"),
        "at equal numbers of " + first.rowName, b, {}};
    // The last point first: it is what a series is about.
    for (auto row = first.rows.rbegin(); row != first.rows.rend(); ++row) {
        const auto other = std::find_if(second.rows.begin(), second.rows.end(),
            [&](const TableRow& candidate) { return candidate.label == row->label; });
        if (other == second.rows.end())
            continue;
        for (size_t column = 0; column < first.columns.size(); ++column) {
            if (row->values[column] != other->values[column])
                result.rows.push_back(
                    rowOf(fmt::format("{} at {} {}", first.columns[column], row->label, first.rowName),
                        row->values[column], other->values[column]));
        }
    }
    return result;
}

/// The two sections of an input for which `matches(a, b)` holds, if there are exactly two; by their places.
template <class Matches>
std::vector<std::pair<size_t, size_t>> pairsOf(const SectionSources& sources, Matches matches)
{
    std::vector<std::pair<size_t, size_t>> pairs;
    for (size_t a = 0; a < sources.size(); ++a) {
        std::vector<size_t> same;
        for (size_t b = 0; b < sources.size(); ++b) {
            if (sources[b]->input == sources[a]->input && matches(a, b))
                same.push_back(b);
        }
        if (same.size() == 2 && same[0] == a)
            pairs.emplace_back(a, same[1]);
    }
    return pairs;
}

bool sameProfileKind(const Section& a, const Section& b)
{
    return a.record.kind == SectionKind::CpuProfile && b.record.kind == SectionKind::CpuProfile
        && a.samples == 0 && b.samples == 0 && a.record.format == b.record.format
        && a.record.event == b.record.event;
}

bool sameCounters(const Section& a, const Section& b)
{
    return a.record.kind == SectionKind::Counters && b.record.kind == SectionKind::Counters
        && a.counterColumns == b.counterColumns;
}

bool sameScaling(const Section& a, const Section& b)
{
    return a.tables.size() == 1 && b.tables.size() == 1 && a.tables[0].shape == TableShape::Scaling
        && b.tables[0].shape == TableShape::Scaling && a.tables[0].columns == b.tables[0].columns;
}

/// Whether words say that the first of two scores is the changed system.
bool firstIsTheChangedOne(const ScoreRecord& first, const ScoreRecord& second)
{
    const auto has = [](const std::string& text, std::initializer_list<std::string_view> words) {
        return std::any_of(words.begin(), words.end(),
            [&](std::string_view word) { return text.find(word) != std::string::npos; });
    };
    return has(second.heading, {"stock", "base", "vanilla", "before", "unpatched"})
        && !has(first.heading, {"stock", "base", "vanilla", "before", "unpatched"});
}

void compareScores(const Profile& profile, const Report& report, std::vector<ReportComparison>& out)
{
    std::map<std::string, std::vector<const ScoreRecord*>> byName;
    for (const ScoreRecord& score : profile.scores)
        byName[score.name + '\n' + score.unit].push_back(&score);
    for (const auto& entry : byName) {
        const auto& scores = entry.second;
        if (scores.size() != 2)
            continue;
        const bool swapped = firstIsTheChangedOne(*scores[0], *scores[1]);
        const ScoreRecord& before = *scores[swapped ? 1 : 0];
        const ScoreRecord& after = *scores[swapped ? 0 : 1];
        const auto label = [](const ScoreRecord& score) {
            return score.heading.empty() ? toString(score.position) : score.heading;
        };
        ReportComparison result{label(before), label(after), "score", report.sections.size(), {}};
        result.rows.push_back(rowOf(before.name, before.value, after.value));
        out.push_back(std::move(result));
    }
}

} // namespace

std::vector<ReportComparison> buildComparisons(
    const Profile& profile, const SectionSources& sources, const Report& report)
{
    std::vector<ReportComparison> comparisons;
    for (size_t i = 0; i < sources.size(); ++i) {
        compareSteps(*sources[i], report, i, comparisons);
        for (const TableRecord& table : sources[i]->tables) {
            if (table.shape == TableShape::ColumnsAreVariants)
                compareColumns(table, report.sections[i], i, comparisons);
            else if (table.shape == TableShape::RowsAreVariants)
                compareRows(table, report.sections[i], i, comparisons);
        }
    }
    const auto both = [&](auto matches) {
        return pairsOf(sources, [&](size_t a, size_t b) { return matches(*sources[a], *sources[b]); });
    };
    for (const auto& [a, b] : both(sameScaling))
        comparisons.push_back(compareScaling(sources, report, a, b));
    for (const auto& [a, b] : both(sameProfileKind)) {
        // Shares of a machine and of a process are of different wholes.
        const std::string& first = report.sections[a].facts.scope;
        const std::string& second = report.sections[b].facts.scope;
        if (!first.empty() && !second.empty() && first != second)
            continue;
        comparisons.push_back(compareProfiles(profile, sources, report, a, b));
    }
    for (const auto& [a, b] : both(sameCounters))
        comparisons.push_back(compareCounters(report, a, b));
    const auto sameTables = [&](size_t a, size_t b) {
        return sameLockTables(report.sections[a], report.sections[b]);
    };
    for (const auto& [a, b] : pairsOf(sources, sameTables)) {
        ReportComparison found = compareLockTables(report, a, b);
        if (!found.rows.empty())
            comparisons.push_back(std::move(found));
    }
    compareScores(profile, report, comparisons);
    return comparisons;
}

} // namespace whichlock
