// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/document.h"
#include "analyzer/report/json_names.h"
#include "analyzer/report/json_values.h"
#include "analyzer/report/lock_table_json.h"
#include "analyzer/report/section_builders.h"
#include "analyzer/report/trace_json.h"
#include "analyzer/report/version.h"

#include <algorithm>
#include <array>

namespace whichlock {
namespace {

double number(FixedPoint value)
{
    return static_cast<double>(value.millionths) / static_cast<double>(FixedPoint::kScale);
}

Json positionJson(const Position& position)
{
    Json json = Json::object();
    put(json, "chain", position.chain);
    if (position.line != 0)
        json["line"] = position.line;
    if (position.column != 0)
        json["column"] = position.column;
    if (position.offset != Position::kNoOffset)
        json["offset"] = position.offset;
    return json;
}

void putPart(Json& to, const Part& part)
{
    to["value"] = part.value;
    put(to, "share_of_total_percent", part.ofTotal);
    put(to, "share_of_busy_percent", part.ofBusy);
}

Json symbolsJson(const std::vector<ReportSymbol>& symbols)
{
    Json list = Json::array();
    for (const ReportSymbol& symbol : symbols) {
        Json one;
        one["symbol"] = symbol.symbol;
        put(one, "role", symbol.role);
        one["category"] = symbol.category;
        putPart(one, symbol.part);
        list.push_back(std::move(one));
    }
    return list;
}

Json intervalJson(const ShareInterval& interval)
{
    return Json::array({percent(interval.low), percent(interval.high)});
}

Json locksJson(const ReportSection& section)
{
    Json list = Json::array();
    for (const ReportLock& lock : section.locks) {
        Json one;
        one["id"] = lock.id;
        one["name"] = lock.name;
        if (lock.verified) // a name by code is that of a class
            one["class"] = lock.name;
        put(one, "expression", lock.expression);
        one["rung"] = rungName(lock.rung);
        if (lock.verified)
            one["verified"] = *lock.verified;
        put(one, "basis", lock.basis);
        put(one, "kind", lock.kind);
        putPart(one, lock.part);
        put(one, "share_of_lock_percent", lock.ofLock);
        if (lock.interval)
            one["interval_percent"] = intervalJson(*lock.interval);
        one["sites"] = Json::array();
        for (const ReportSite& site : lock.sites) {
            Json at;
            at["name"] = site.name;
            putPart(at, site.part);
            put(at, "share_of_this_lock_percent", site.ofThisLock);
            if (site.recovered)
                at["recovered"] = true;
            if (site.calledFrom)
                at["called_from"] = true;
            one["sites"].push_back(std::move(at));
        }
        list.push_back(std::move(one));
    }
    return list;
}

Json groupsJson(const ReportSection& section)
{
    Json list = Json::array();
    for (const ReportGroup& group : section.groups) {
        Json one;
        put(one, "name", group.name);
        const auto number = [&](const char* name, int32_t value) {
            if (value >= 0)
                one[name] = value;
        };
        number("pid", group.pid);
        number("tid", group.tid);
        number("cpu", group.cpu);
        if (!group.recorded)
            one["recorded"] = false;
        putPart(one, group.part);
        if (section.kind == SectionKind::CpuProfile) {
            if (group.interval)
                one["interval_percent"] = intervalJson(*group.interval);
            one["contention"] = group.contention.value;
            put(one,
                section.busyKnown ? "contention_share_of_row_busy_percent"
                                  : "contention_share_of_row_percent",
                group.contentionOfRow);
        }
        list.push_back(std::move(one));
    }
    return list;
}

Json factsJson(const ReportFacts& facts)
{
    Json json = Json::object();
    put(json, "host", facts.host);
    put(json, "kernel", facts.kernel);
    put(json, "kernel_source", facts.kernelSource);
    put(json, "arch", facts.arch);
    put(json, "arch_source", facts.archSource);
    if (facts.cpus)
        json["cpus"] = *facts.cpus;
    put(json, "command", facts.command);
    put(json, "scope", facts.scope);
    put(json, "era", facts.era);
    return json;
}

Json seesJson(const Coverage& sees)
{
    Json json;
    json["kernel_spin"] = seesName(sees.kernelSpin);
    json["kernel_sleep"] = seesName(sees.kernelSleep);
    json["user_sleep"] = seesName(sees.userSleep);
    json["user_spin"] = seesName(sees.userSpin);
    json["holders"] = seesName(sees.holders);
    json["callers"] = seesName(sees.callers);
    return json;
}

void putAccount(Json& json, const ReportSection& section)
{
    json["account"] = Json::array();
    for (const AccountLine& line : section.account) {
        Json one;
        one["what"] = line.what;
        one["key"] = line.key;
        one["part_of_sum"] = line.partOfSum;
        putPart(one, line.part);
        json["account"].push_back(std::move(one));
    }
}

void putCpuProfile(Json& json, const ReportSection& section)
{
    if (section.total)
        json["total"] = *section.total;
    put(json, "total_basis", section.totalBasis);
    json["listed"] = section.listed;
    if (section.busyKnown) {
        json["idle"] = section.idle.value;
        json["busy"] = section.busy.value;
        put(json, "idle_share_of_total_percent", section.idle.ofTotal);
    }
    if (section.idleProbable.value != 0)
        json["idle_probable"] = section.idleProbable.value;
    json["contention_total"] = section.contention.value;
    json["undecided_total"] = section.undecided.value;
    json["overhead_total"] = section.overhead.value;
    json["bounce_total"] = section.bounce.value;
    json["artefact_total"] = section.artefact.value;
    if (section.contentionDecided || section.contention.value != 0) {
        put(json, "contention_share_of_total_percent", section.contention.ofTotal);
        put(json, "contention_share_of_busy_percent", section.contention.ofBusy);
        put(json, "contention_share_of_busy_if_probable_idle_percent",
            section.contentionOfBusyIfProbableIdle);
        if (section.contentionInterval)
            json["contention_interval_percent"] = intervalJson(*section.contentionInterval);
    }
    put(json, "lock_functions_share_of_total_percent", section.lockFunctions.ofTotal);
    put(json, "lock_functions_share_of_busy_percent", section.lockFunctions.ofBusy);
    put(json, "bounce_share_of_total_percent", section.bounce.ofTotal);
    put(json, "bounce_share_of_busy_percent", section.bounce.ofBusy);
    putAccount(json, section);
    json["unattributed"] = Json::array();
    for (const Reason& reason : section.unattributed) {
        Json one;
        one["reason"] = reason.reason;
        putPart(one, reason.part);
        json["unattributed"].push_back(std::move(one));
    }
    json["idle_symbols"] = symbolsJson(section.idleSymbols);
    json["lock_symbols"] = symbolsJson(section.lockSymbols);
    json["bounce_symbols"] = symbolsJson(section.bounceSymbols);
    json["artefact_symbols"] = symbolsJson(section.artefactSymbols);
    json["top_symbols"] = symbolsJson(section.topSymbols);
    if (!section.pauseLoops.empty())
        json["pause_loop_symbols"] = symbolsJson(section.pauseLoops);
    json["locks"] = locksJson(section);
}

void putCandidates(Json& json, const ReportSection& section)
{
    json["candidates"] = Json::array();
    for (const Candidate& candidate : section.candidates) {
        Json one;
        one["name"] = candidate.name;
        one["score"] = candidate.score;
        one["reasons"] = candidate.reasons;
        if (candidate.byCode)
            one["verified"] = false;
        json["candidates"].push_back(std::move(one));
    }
}

/// Means by column name; a name that stands twice (BSD's sy) gets its place behind it the second time.
Json meansJson(const std::vector<std::string>& columns, const std::vector<std::optional<FixedPoint>>& means)
{
    Json json = Json::object();
    for (size_t i = 0; i < means.size(); ++i) {
        if (!means[i])
            continue;
        const std::string& name = columns[i];
        json[json.contains(name) ? name + "_" + std::to_string(i + 1) : name] = number(*means[i]);
    }
    return json;
}

void putCounters(Json& json, const ReportCounters& counters)
{
    Json& to = json["counters"];
    to["columns"] = counters.columns;
    to["rows"] = counters.rows;
    to["means"] = meansJson(counters.columns, counters.means);
    if (!counters.meansWithoutFirst.empty())
        to["means_without_first"] = meansJson(counters.columns, counters.meansWithoutFirst);
    if (counters.systemPercent)
        to["sy_mean_percent"] = number(*counters.systemPercent);
    if (counters.systemPercentWithoutFirst)
        to["sy_mean_without_first_percent"] = number(*counters.systemPercentWithoutFirst);
}

Json tableJson(const ReportTable& table)
{
    Json json;
    put(json, "row_name", table.rowName);
    put(json, "unit", table.unit);
    json["columns"] = table.columns;
    json["rows"] = Json::array();
    for (const TableRow& row : table.rows) {
        Json values = Json::array();
        for (const auto& value : row.values)
            values.push_back(value ? Json(number(*value)) : Json());
        json["rows"].push_back({{"label", row.label}, {"values", std::move(values)}});
    }
    return json;
}

void putMeasurements(Json& json, const ReportSection& section)
{
    put(json, "about", section.tableAbout);
    json["tables"] = Json::array();
    for (const ReportTable& table : section.tables)
        json["tables"].push_back(tableJson(table));
    json["series"] = Json::array();
    for (const ReportSeries& series : section.series) {
        Json one;
        one["label"] = series.label;
        one["x"] = series.xName;
        put(one, "unit", series.unit);
        one["points"] = Json::array();
        for (const SeriesPoint& point : series.points)
            one["points"].push_back({{"x", number(point.x)}, {"y", number(point.y)}});
        json["series"].push_back(std::move(one));
    }
    if (!section.scaling)
        return;
    const ReportScaling& scaling = *section.scaling;
    Json& to = json["scaling"];
    to["unit"] = scaling.unit;
    to["first_x"] = number(scaling.firstX);
    to["last_x"] = number(scaling.lastX);
    to["throughput_first"] = number(scaling.throughputFirst);
    to["throughput_last"] = number(scaling.throughputLast);
    to["speedup_last"] = number(scaling.speedupLast);
    if (scaling.efficiencyLastPercent)
        to["efficiency_last_percent"] = number(*scaling.efficiencyLastPercent);
    if (scaling.costFactor)
        to["cost_factor"] = number(*scaling.costFactor);
}

/// Values that were counted in millionths become the decimals that the input printed.
void writeAsDecimals(Json& json)
{
    constexpr std::array<std::string_view, 12> kFields = {"value", "total", "listed", "idle", "busy",
        "idle_probable", "contention_total", "undecided_total", "overhead_total", "bounce_total",
        "artefact_total", "left_out_value"};
    for (const auto& [key, field] : json.items()) {
        const bool isValue = std::find(kFields.begin(), kFields.end(), key) != kFields.end();
        if (isValue && field.is_number_unsigned())
            field = static_cast<double>(field.get<uint64_t>()) / static_cast<double>(FixedPoint::kScale);
        else if (field.is_structured())
            writeAsDecimals(field);
    }
}

Json sectionJson(const ReportSection& section)
{
    Json json;
    json["title"] = section.title;
    json["input"] = section.input;
    json["format"] = section.format;
    json["position"] = positionJson(section.position);
    json["kind"] = kindName(section.kind);
    put(json, "event", section.event);
    json["quantity"] = {{"unit", unitName(section.unit)}, {"kind", quantityName(section.quantity)}};
    json["facts"] = factsJson(section.facts);
    json["rows"] = section.rows;
    if (section.samples != 0)
        json["samples"] = section.samples;
    if (section.lost != 0)
        json["lost"] = section.lost;
    if (section.comms != 0)
        json["comms"] = section.comms;
    if (!section.filter.empty()) {
        json["filter"] = section.filter;
    }
    if (!section.filter.empty() && !section.trace) { // a trace leaves out waits
        json["left_out_samples"] = section.leftOutSamples;
        json["left_out_value"] = section.leftOutValue;
    }
    if (!section.groups.empty()) {
        json["grouped_by"] = groupByName(section.groupedBy);
        json["groups"] = groupsJson(section);
    }
    if (section.kind == SectionKind::CpuProfile) {
        json["sees"] = seesJson(section.sees);
        json["measures_time"] = section.measuresTime;
        putCpuProfile(json, section);
    } else if (section.trace) {
        json["sees"] = seesJson(section.sees);
        putTrace(json, section);
    } else if (section.lockTable) {
        json["sees"] = seesJson(section.sees);
        put(json, "total_basis", section.totalBasis);
        if (section.kind == SectionKind::WaitProfile) {
            json["total"] = section.listed;
            putAccount(json, section);
        }
        putLockTable(json, *section.lockTable);
    } else if (section.total) {
        json["total"] = *section.total;
    }
    if (section.kind == SectionKind::CpuProfile || !section.candidates.empty())
        putCandidates(json, section);
    if (section.counters)
        putCounters(json, *section.counters);
    if (section.kind == SectionKind::Measurements)
        putMeasurements(json, section);
    if (!section.scores.empty()) {
        json["scores"] = Json::array();
        for (const ReportScore& score : section.scores)
            json["scores"].push_back(
                {{"name", score.name}, {"value", number(score.value)}, {"unit", score.unit}});
    }
    if (section.unit == Unit::Millionths)
        writeAsDecimals(json);
    if (!section.repairs.empty())
        json["repairs"] = section.repairs;
    put(json, "gain", section.gain);
    if (!section.notes.empty())
        json["notes"] = section.notes;
    return json;
}

Json comparisonJson(const ReportComparison& comparison)
{
    Json json;
    json["before"] = comparison.before;
    json["after"] = comparison.after;
    put(json, "about", comparison.about);
    put(json, "note", comparison.note);
    json["rows"] = Json::array();
    for (const ComparisonRow& row : comparison.rows) {
        Json one;
        one["what"] = row.what;
        one["before"] = row.before ? Json(number(*row.before)) : Json();
        one["after"] = row.after ? Json(number(*row.after)) : Json();
        if (row.changePercent)
            one["change_percent"] = number(*row.changePercent);
        if (row.changePoints)
            one["change_points"] = number(*row.changePoints);
        if (row.beforeSpread)
            one["before_spread_percent"] = number(*row.beforeSpread);
        if (row.afterSpread)
            one["after_spread_percent"] = number(*row.afterSpread);
        if (row.significant)
            one["significant"] = *row.significant;
        json["rows"].push_back(std::move(one));
    }
    return json;
}

} // namespace

std::string renderJson(const Report& report)
{
    Json json;
    json["schema_version"] = 1;
    json["tool"] = "whichlock";
    json["version"] = kVersion;
    json["inputs"] = Json::array();
    for (const ReportInput& input : report.inputs)
        json["inputs"].push_back({{"name", input.name}, {"format", input.format},
            {"confidence", input.confidence}, {"bytes", input.bytes}});
    if (!report.arguments.empty())
        json["arguments"] = report.arguments;
    Json& verdict = json["verdict"];
    verdict["text"] = report.verdict.text;
    verdict["guilty"] = guiltyName(report.verdict.guilty);
    put(verdict, "share_percent", report.verdict.share);
    put(verdict, "denominator", report.verdict.denominator);
    if (report.verdict.section)
        verdict["section"] = *report.verdict.section;
    json["sections"] = Json::array();
    for (const ReportSection& section : report.sections)
        json["sections"].push_back(sectionJson(section));
    json["comparisons"] = Json::array();
    for (const ReportComparison& comparison : report.comparisons)
        json["comparisons"].push_back(comparisonJson(comparison));
    json["record_next"] = report.recordNext;
    json["diagnostics"] = Json::array();
    for (const Diagnostic& one : report.diagnostics)
        json["diagnostics"].push_back({{"severity", severityName(one.severity)}, {"code", codeName(one.code)},
            {"message", one.message}, {"position", positionJson(one.position)}, {"count", one.count}});
    // Input may hold bytes that are no UTF-8: they become U+FFFD, JSON allows nothing else.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace whichlock
