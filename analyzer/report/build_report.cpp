// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/kernel_code.h"
#include "analyzer/report/narrow.h"
#include "analyzer/report/section_builders.h"

#include <algorithm>
#include <fmt/format.h>

namespace whichlock {
namespace {

/// The event without its modifiers (`cycles` of `cycles:ppp`), unless another section has the same one.
std::string shortEvent(const Profile& profile, const Section& section)
{
    const auto base = [](const std::string& event) {
        const size_t colon = event.rfind(':');
        const bool modifiers = colon != std::string::npos && colon + 1 < event.size()
            && event.find_first_not_of("ukhGHIPpSDWe", colon + 1) == std::string::npos;
        return modifiers ? event.substr(0, colon) : event;
    };
    const std::string wanted = base(section.record.event);
    const auto same =
        std::count_if(profile.sections.begin(), profile.sections.end(), [&](const Section& other) {
            return other.input == section.input && base(other.record.event) == wanted
                && other.record.event != section.record.event;
        });
    return same == 0 ? wanted : section.record.event;
}

std::string titleOf(const SectionRecord& record)
{
    if (record.heading.empty() || record.title == record.heading)
        return record.title;
    return record.title.empty() ? record.heading : record.heading + ", " + record.title;
}

std::string firstFact(const std::vector<Fact>& facts, FactKind kind)
{
    const auto found =
        std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.kind == kind; });
    return found == facts.end() ? std::string() : found->value;
}

/// Every section is whole: what was put in is what the account shows.
std::string checkAccount(const ReportSection& section)
{
    if (section.account.empty() || !section.total)
        return {};
    uint64_t sum = 0;
    for (const AccountLine& line : section.account)
        sum += line.partOfSum ? line.part.value : 0;
    if (sum == *section.total)
        return {};
    return fmt::format(
        "{}: the account adds up to {} of {}", toString(section.position), sum, *section.total);
}

/// sum of the locks = contention, in value and in samples.
std::string checkLocks(const ReportSection& section)
{
    uint64_t value = 0;
    uint64_t samples = 0;
    for (const ReportLock& lock : section.locks) {
        value += lock.part.value;
        samples += lock.part.samples;
    }
    if (value == section.contention.value && samples == section.contention.samples)
        return {};
    return fmt::format(
        "{}: the locks add up to {} of {}", toString(section.position), value, section.contention.value);
}

/// sum of the groups = what they divide, in value and in samples.
std::string checkGroups(const ReportSection& section)
{
    if (section.groups.empty())
        return {};
    uint64_t value = 0;
    for (const ReportGroup& group : section.groups)
        value += group.part.value;
    const uint64_t whole = section.groupedBy == GroupBy::Site ? section.contention.value : section.listed;
    if (value == whole)
        return {};
    return fmt::format("{}: the rows by {} add up to {} of {}", toString(section.position),
        groupByName(section.groupedBy), value, whole);
}

/// Whether rows were asked for that the section could not have.
bool lacksGroups(const Section& section, const ReportSection& out)
{
    if (out.groupedBy == GroupBy::Lock)
        return false;
    if (section.trace)
        return out.trace->groups.empty() && out.trace->lockWaitNs != 0;
    return out.groups.empty() && out.groupedBy != GroupBy::Site && !section.cells.empty();
}

/// The locks and threads of a table add up to its waiting.
std::string checkLockTable(const ReportSection& section)
{
    if (!section.lockTable || !section.lockTable->waitsKnown)
        return {};
    uint64_t sum = 0;
    for (const auto* list : {&section.lockTable->locks, &section.lockTable->waiters}) {
        for (const ReportTableLock& lock : *list) {
            if (__builtin_add_overflow(sum, lock.figures.wait.totalNs.value_or(0), &sum))
                sum = UINT64_MAX;
        }
    }
    if (sum == section.lockTable->waitNs)
        return {};
    return fmt::format(
        "{}: the locks add up to {} of {}", toString(section.position), sum, section.lockTable->waitNs);
}

/// The analysis has checked its sums; locks add up to the waiting.
std::string checkTrace(const ReportSection& section)
{
    if (!section.trace)
        return {};
    uint64_t grouped = 0;
    for (const ReportTraceGroup& group : section.trace->groups)
        grouped += group.valueNs;
    // Each wait is behind somebody, also one that lies in another one.
    const uint64_t every = section.trace->lockWaitNs + section.trace->nestedNs;
    const uint64_t whole = section.groupedBy == GroupBy::Holder ? every : section.trace->lockWaitNs;
    if (!section.trace->groups.empty() && grouped != whole)
        return fmt::format("{}: the rows by {} add up to {} of {}", toString(section.position),
            groupByName(section.groupedBy), grouped, whole);
    uint64_t sum = 0;
    for (const ReportTraceLock& lock : section.trace->locks)
        sum += lock.figures.valueNs;
    if (sum != every)
        return fmt::format("{}: the locks add up to {} of {}", toString(section.position), sum, every);
    return section.trace->facts.problem;
}

void addScores(const Profile& profile, Report& report)
{
    for (const ScoreRecord& score : profile.scores) {
        ReportSection* home = nullptr;
        for (ReportSection& section : report.sections) {
            if (section.input != score.position.chain)
                continue;
            const bool sameHeading = !score.heading.empty() && section.title.starts_with(score.heading);
            if (home == nullptr || (sameHeading && !home->title.starts_with(score.heading)))
                home = &section;
        }
        if (home != nullptr)
            home->scores.push_back({score.name, score.value, score.unit});
    }
}

} // namespace

bool isTimedElsewhere(const Profile& profile, const Section& section)
{
    if (section.record.kind != SectionKind::LockTrace || section.trace)
        return false;
    return std::any_of(profile.sections.begin(), profile.sections.end(), [&](const Section& other) {
        return other.input == section.input && other.trace
            && std::any_of(other.trace->eventCounts.begin(), other.trace->eventCounts.end(),
                [&](const auto& event) { return event.first == section.record.event; });
    });
}

std::string_view unitName(Unit unit)
{
    switch (unit) {
    case Unit::Samples:
        return "samples";
    case Unit::Ticks:
        return "ticks";
    case Unit::Nanoseconds:
        return "ns";
    case Unit::Count:
    case Unit::Millionths: // views write them as decimals
        return "count";
    case Unit::Percent:
        return "percent";
    case Unit::Events:
        return "events";
    }
    return "count";
}

std::string valueNoun(const ReportSection& section)
{
    if (section.unit == Unit::Ticks)
        return "kernel-mode ticks";
    if (section.unit == Unit::Nanoseconds)
        return "sampled CPU time";
    if (section.unit == Unit::Count || section.unit == Unit::Millionths)
        return "counts";
    if (section.unit == Unit::Events)
        return section.event.empty() ? "events" : section.event;
    return "samples";
}

ReportSection beginReportSection(const Profile& profile, const Section& section)
{
    ReportSection out;
    const std::vector<Fact>& inputFacts = profile.inputs[section.input].facts;
    out.title = titleOf(section.record);
    out.input = profile.inputs[section.input].name;
    out.position = section.record.position;
    out.format = section.record.format;
    out.kind = section.record.kind;
    out.event = shortEvent(profile, section);
    out.unit = section.record.unit;
    out.quantity = section.record.quantity;
    out.rows = section.rows;
    out.samples = section.samples;
    out.leftOutSamples = section.leftOut.samples;
    out.leftOutValue = section.leftOut.weight;
    out.facts.host = firstFact(inputFacts, FactKind::Host);
    out.facts.command =
        section.record.command.empty() ? firstFact(inputFacts, FactKind::Command) : section.record.command;
    if (const auto cpus = parseUnsigned(firstFact(inputFacts, FactKind::Cpus)))
        out.facts.cpus = *cpus;
    for (const Fact& fact : inputFacts)
        out.lost += fact.kind == FactKind::Lost ? parseUnsigned(fact.value).value_or(0) : 0;
    for (const Fact& fact : section.facts) {
        if (fact.kind == FactKind::Repair)
            out.repairs.push_back(fact.value);
        out.listCut = out.listCut || fact.kind == FactKind::CutMark;
    }
    return out;
}

namespace {

/// One sentence that keeps a verdict on a part from being read as one on the whole.
void addFilterToVerdict(const std::string& filter, Report& report)
{
    if (filter.empty())
        return;
    if (report.sections.empty()) {
        report.verdict = {.text = fmt::format("UNKNOWN. No sample is left: {}.", filter),
            .share = {},
            .denominator = {},
            .section = {}};
        return;
    }
    report.verdict.text += fmt::format(" Only this was looked at: {}.", filter);
}

Report reportOf(const Profile& profile, const Query& query, const RoutineTable& routines, Report report)
{
    if (report.internalError.empty())
        report.internalError = profile.check();
    for (const InputInfo& input : profile.inputs)
        report.inputs.push_back(
            {input.name, input.format, std::string(confidenceName(input.confidence)), input.bytes});
    SectionSources sources;
    for (const Section& section : profile.sections) {
        if (isTimedElsewhere(profile, section)) // the trace says it better
            continue;
        ReportSection out = beginReportSection(profile, section);
        out.groupedBy = query.by;
        out.askedLock = query.lock;
        out.holds = query.holds;
        out.filter = filterText(query);
        switch (section.record.kind) {
        case SectionKind::CpuProfile:
            buildCpuSection(profile, section, routines, query, out);
            break;
        case SectionKind::Counters:
            buildCounterSection(section, out);
            break;
        case SectionKind::Measurements:
            buildMeasurementSection(profile, section, routines, out);
            break;
        case SectionKind::WaitProfile:
        case SectionKind::LockTrace:
        case SectionKind::LockTable:
        case SectionKind::ThreadDump:
            if (section.trace)
                buildTimedTraceSection(profile, section, routines, query, out);
            else if (section.lockTable)
                buildLockTableSection(profile, section, routines, out);
            else if (out.kind == SectionKind::WaitProfile && out.unit == Unit::Nanoseconds)
                buildWaitSection(profile, section, routines, query, out);
            else
                buildTraceSection(profile, section, query, out);
            break;
        }
        if (lacksGroups(section, out))
            report.diagnostics.push_back(makeDiagnostic(DiagnosticCode::GroupingUntold,
                fmt::format("there is no table by {}: the {} do not tell theirs", groupByName(query.by),
                    section.trace ? "events" : "samples"),
                section.record.position));
        for (const std::string& wrong :
            {checkAccount(out), checkLocks(out), checkGroups(out), checkTrace(out), checkLockTable(out)}) {
            if (report.internalError.empty())
                report.internalError = wrong;
        }
        report.sections.push_back(std::move(out));
        sources.push_back(&section);
    }
    report.comparisons = buildComparisons(profile, sources, report);
    addKernelCodeDiagnostics(routines, report);
    selectLocks(query, report);
    addScores(profile, report);
    addNotes(report);
    report.verdict = buildVerdict(report);
    addFilterToVerdict(filterText(query), report);
    report.recordNext = buildRecordNext(report);
    return report;
}

} // namespace

Report buildReport(const Profile& profile, const Query& query, const RoutineTable& routines)
{
    Report report;
    report.arguments = argumentsOf(query);
    report.diagnostics = profile.diagnostics;
    if (!query.narrows())
        return reportOf(profile, query, routines, std::move(report));
    report.internalError = profile.check();
    const Profile part = narrowed(profile, query, report.diagnostics);
    return reportOf(part, query, routines, std::move(report));
}

} // namespace whichlock
