// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences that the figures of sections and of their neighbours allow; and what to record next.
#include "analyzer/report/section_builders.h"
#include "analyzer/report/shares.h"
#include "analyzer/report/value_format.h"

#include <algorithm>
#include <fmt/format.h>

namespace whichlock {
namespace {

constexpr auto hasName = [](const ReportLock& lock) { return isNamed(lock.rung); };

void noteScaling(ReportSection& section)
{
    if (!section.scaling)
        return;
    const ReportScaling& scaling = *section.scaling;
    const std::string& xName = section.series.front().xName;
    const bool one = scaling.firstX == FixedPoint::fromInteger(1) && xName.ends_with('s');
    const std::string firstName = one ? xName.substr(0, xName.size() - 1) : xName;
    const std::string rates = fmt::format("{} {} at {} {}, {} at {}", formatRate(scaling.throughputFirst),
        scaling.unit, formatNumber(scaling.firstX), firstName, formatRate(scaling.throughputLast),
        formatNumber(scaling.lastX));
    if (scaling.throughputLast < scaling.throughputFirst) {
        const std::string cost = scaling.costFactor
            ? fmt::format("The cost of one hit grows {} times", formatDecimal(*scaling.costFactor, 1))
            : std::string("Throughput falls");
        section.notes.push_back(
            fmt::format("{} from {} to {} {} ({}): a serialised path, as one lock would make it.", cost,
                formatNumber(scaling.firstX), formatNumber(scaling.lastX), xName, rates));
        return;
    }
    const std::string efficiency = scaling.efficiencyLastPercent
        ? fmt::format(" ({} % efficiency)", formatDecimal(*scaling.efficiencyLastPercent, 1))
        : std::string();
    section.notes.push_back(fmt::format("{} times the throughput at {} {}{}: {}.",
        formatDecimal(scaling.speedupLast, 2), formatNumber(scaling.lastX), xName, efficiency, rates));
}

/// vmstat under the same heading as a profile: how much of the system time is spinning.
void noteSystemTime(Report& report, ReportSection& section)
{
    if (section.kind != SectionKind::CpuProfile || !section.contention.ofTotal
        || section.contention.value == 0 || section.busyKnown || !section.measuresTime)
        return;
    const size_t comma = section.title.find(',');
    const std::string heading = section.title.substr(0, comma);
    if (heading.empty())
        return;
    for (const ReportSection& other : report.sections) {
        if (!other.counters || !other.counters->systemPercent || !other.title.starts_with(heading)
            || other.input != section.input)
            continue;
        const FixedPoint system =
            other.counters->systemPercentWithoutFirst.value_or(*other.counters->systemPercent);
        section.notes.push_back(fmt::format(
            "{} of {} points of system time (vmstat, {} rows) are spinning, if both cover the same time.",
            formatDecimal({section.contention.ofTotal->ppb / (Share::kPercent / FixedPoint::kScale)}, 1),
            formatDecimal(system, 1), other.counters->rows));
    }
}

/// The comparison of two scaling series at the last point, as factors.
void noteFactors(const Report& report, ReportComparison& comparison)
{
    if (comparison.section >= report.sections.size() || !report.sections[comparison.section].scaling)
        return;
    const ReportSection& section = report.sections[comparison.section];
    const std::string at =
        fmt::format(" at {} {}", formatNumber(section.scaling->lastX), section.series.front().xName);
    std::string factors;
    for (const ComparisonRow& row : comparison.rows) {
        if (!row.what.ends_with(at) || !row.before || !row.after
            || row.what.find("hits") != std::string::npos)
            continue;
        const bool cost =
            row.what.find("time") != std::string::npos || row.what.find("per hit") != std::string::npos;
        const auto factor = cost ? quotient(*row.before, *row.after) : quotient(*row.after, *row.before);
        if (!factor || (!cost && row.what.find('/') == std::string::npos))
            continue;
        factors += fmt::format("{}{} times by {}", factors.empty() ? "" : ", ", formatDecimal(*factor, 1),
            row.what.substr(0, row.what.size() - at.size()));
    }
    if (!factors.empty())
        comparison.note =
            fmt::format("{} against {}{}: better {}.", comparison.after, comparison.before, at, factors);
}

/// What the heaviest lock, or all waiting, could cost at most.
void noteGain(ReportSection& section)
{
    if (section.locks.empty() || !section.measuresTime)
        return;
    const ReportLock& first = section.locks.front();
    const Part& part = isNamed(first.rung) ? first.part : section.contention;
    const auto share = section.busyKnown ? part.ofBusy : part.ofTotal;
    if (!share || *share < kInnocentBelow)
        return;
    section.gain = fmt::format("At most {} of {}, if nobody had to wait for {}: a bound, not a forecast.",
        formatShare(*share, 1), decidingDenominator(section),
        isNamed(first.rung) ? first.name : "these locks");
}

void noteNames(ReportSection& section)
{
    const bool anyNamed = std::any_of(section.locks.begin(), section.locks.end(), hasName);
    const bool anyUnnamed = std::any_of(section.locks.begin(), section.locks.end(),
        [](const ReportLock& lock) { return lock.rung == Rung::Unnamed; });
    if (anyNamed && section.facts.kernel.empty())
        section.notes.push_back(
            "Names rest on a table; the kernel is not known, so that several speak for it.");
    else if (anyNamed)
        section.notes.push_back(fmt::format("Names rest on a table for kernel {}, which is known by {}.",
            section.facts.kernel, section.facts.kernelSource));
    if (anyUnnamed && section.sees.callers == Sees::No)
        section.notes.push_back(fmt::format(
            "{} serves many locks, and the profile has no callers: it cannot tell which one it was.",
            std::find_if(section.locks.begin(), section.locks.end(), [](const ReportLock& lock) {
                return lock.rung == Rung::Unnamed;
            })->name));
    if (section.unit == Unit::Ticks)
        section.notes.emplace_back(
            "Ticks count kernel mode, on the CPUs that were profiled; code that runs with "
            "interrupts off is charged to where they are enabled again.");
}

/// The order of locks that few samples made.
void noteOrder(ReportSection& section)
{
    const uint64_t hits = hitsOf(section);
    const bool known = section.samples != 0 || section.unit == Unit::Samples || section.unit == Unit::Ticks;
    if (known && section.locks.size() > 1 && hits < kFewestSamples)
        section.notes.push_back(fmt::format("{} {} wait for {} locks: too few to rank these.", hits,
            section.unit == Unit::Ticks ? "ticks" : "samples", section.locks.size()));
}

/// Spin locks that no table knows; a trickle of them is not worth a word.
void notePauseLoops(ReportSection& section)
{
    for (const ReportSymbol& loop : section.pauseLoops) {
        const auto share = section.busyKnown ? loop.part.ofBusy : loop.part.ofTotal;
        if (share && *share >= kInnocentBelow && loop.part.samples >= kFewestSamples)
            section.notes.push_back(
                fmt::format("{} is in a loop of {} that only waits, as a hand-written spin lock does. It "
                            "counts as waiting "
                            "once a table of your own (--lock-table) says that {} is slowpath-spin.",
                    formatShare(*share, 1), loop.symbol, loop.symbol));
    }
}

/// Texts with a count a stack say seldom what was counted.
void noteCounts(ReportSection& section)
{
    if (section.unit != Unit::Count && section.unit != Unit::Millionths)
        return;
    section.notes.emplace_back("The text does not say what its counts are: they are taken as samples of "
                               "processors.");
    const bool scheduler = !section.topSymbols.empty()
        && (section.topSymbols.front().symbol == "schedule"
            || section.topSymbols.front().symbol == "__schedule"
            || section.topSymbols.front().symbol.starts_with("finish_task_switch"));
    if (scheduler)
        section.notes.emplace_back("Most of them end in the scheduler, as times off the processors do; a "
                                   "caption or a file name with `offcpu` in it says so.");
}

void noteSymbols(ReportSection& section)
{
    if (section.kind != SectionKind::CpuProfile)
        return;
    noteCounts(section);
    noteGain(section);
    noteNames(section);
    noteOrder(section);
    notePauseLoops(section);
    if (section.contention.value == 0 && section.contentionDecided && section.overhead.value != 0)
        section.notes.emplace_back(
            "The lock functions in the list did not wait: this is the price of the calls.");
    if (section.artefact.value != 0 && section.unit != Unit::Ticks)
        section.notes.emplace_back(
            "Time where interrupts are enabled again may belong to code before it: it is "
            "in the totals and blames nothing.");
    if (!section.measuresTime)
        section.notes.push_back(
            fmt::format("{} is no measure of time: shares of it are not shares of time.", section.event));
}

void noteTableGain(ReportSection& section)
{
    if (!section.lockTable || section.lockTable->locks.empty())
        return;
    const ReportTableLock& first = section.lockTable->locks.front();
    const auto& share = first.figures.cpuShare;
    if (share && *share >= kInnocentBelow)
        section.gain = fmt::format("At most {} of the time of all processors, if nobody had to wait for {}: "
                                   "a bound, not a forecast.",
            formatShare(*share, 1), first.name);
}

/// A sentence that holds for several tables stands at the first.
void sayOnce(Report& report)
{
    std::vector<std::string> said;
    for (ReportSection& section : report.sections) {
        if (!section.lockTable)
            continue;
        std::vector<std::string>& sentences = section.lockTable->leftOut;
        std::erase_if(sentences, [&](const std::string& sentence) {
            return std::find(said.begin(), said.end(), sentence) != said.end();
        });
        said.insert(said.end(), sentences.begin(), sentences.end());
    }
}

/// Said once: the first profile stands for those beside it.
void noteScope(Report& report)
{
    const auto first =
        std::find_if(report.sections.begin(), report.sections.end(), [](const ReportSection& section) {
            return section.kind == SectionKind::CpuProfile && section.measuresTime
                && section.facts.scope == "process";
        });
    if (first != report.sections.end())
        first->notes.emplace_back(
            "Recorded per process: shares are of its own CPU time, not of the machine's.");
}

/// A recording of the same program that shows who sleeps for a lock. Locks of programs sleep in futex calls.
std::string sleepersCommand(const ReportSection& section)
{
    constexpr const char* kEvents = "-e sched:sched_switch -e sched:sched_waking "
                                    "-e syscalls:sys_enter_futex -e syscalls:sys_exit_futex";
    constexpr const char* kKernelEvents = "-e lock:contention_begin -e lock:contention_end";
    const char* callers = section.facts.copiesStacks ? "--call-graph dwarf" : "-g";
    if (section.facts.scope == "process" && !section.facts.workload.empty())
        return fmt::format("perf record {} {} -- {}", callers, kEvents, section.facts.workload);
    return fmt::format("perf record -a {} {} {} -- sleep 5", callers, kEvents, kKernelEvents);
}

/// Frame pointers do not tell who called a function without a frame.
bool lacksCallers(const ReportSection& section)
{
    return std::any_of(section.locks.begin(), section.locks.end(), [](const ReportLock& lock) {
        return std::any_of(
            lock.sites.begin(), lock.sites.end(), [](const ReportSite& site) { return site.calledFrom; });
    });
}

bool isOldKernel(const ReportSection& section)
{
    const std::string& kernel = section.facts.kernel;
    return kernel.starts_with("2.4") || kernel.starts_with("2.5") || kernel.starts_with("2.6");
}

} // namespace

void addNotes(Report& report)
{
    for (ReportSection& section : report.sections) {
        noteScaling(section);
        noteSymbols(section);
        noteTableGain(section);
    }
    noteScope(report);
    sayOnce(report);
    for (ReportSection& section : report.sections)
        noteSystemTime(report, section);
    for (ReportComparison& comparison : report.comparisons)
        noteFactors(report, comparison);
}

std::vector<std::string> buildRecordNext(const Report& report)
{
    std::vector<std::string> next;
    if (report.sections.empty())
        return next;
    const auto add = [&](std::string what) {
        if (std::find(next.begin(), next.end(), what) == next.end())
            next.push_back(std::move(what));
    };
    bool traced = false;
    for (const ReportSection& section : report.sections) {
        if (section.trace) {
            traced = true;
            for (std::string& what : traceRecordNext(report, section))
                add(std::move(what));
        }
        if (section.kind != SectionKind::CpuProfile
            || decidingShare(section).value_or(Share{}) < kInnocentBelow)
            continue;
        const bool unnamed = std::any_of(section.locks.begin(), section.locks.end(),
            [](const ReportLock& lock) { return !isNamed(lock.rung); });
        if (unnamed && isOldKernel(section))
            add("lock by name, kernels before 2.6.31: the lockmeter patch, `lockstat -w`");
        if (unnamed && section.sees.callers == Sees::No)
            add("lock by its callers: perf record -a -g -e cycles -- sleep 10");
        if (lacksCallers(section))
            add(fmt::format("callers that frame pointers do not show: perf record {}--call-graph dwarf -- {}",
                section.facts.scope == "process" ? "" : "-a ",
                section.facts.workload.empty() ? "sleep 5" : section.facts.workload));
    }
    const auto native =
        std::find_if(report.sections.begin(), report.sections.end(), [](const ReportSection& section) {
            return section.kind == SectionKind::CpuProfile && section.format == "perf.data";
        });
    if (native != report.sections.end() && !traced) {
        add("sleepers and holders: " + sleepersCommand(*native));
        return next;
    }
    const bool tablesOnly = std::all_of(report.sections.begin(), report.sections.end(),
        [](const ReportSection& section) { return section.lockTable.has_value(); });
    if (tablesOnly && std::any_of(report.sections.begin(), report.sections.end(), isOldKernel)) {
        if (!report.verdict.share)
            add("how much of all time it is: a profile of the same run, `readprofile` or `opreport -l`");
        return next;
    }
    if (!traced)
        add("sleepers and holders: perf record -a -g -e sched:sched_switch -e sched:sched_waking -e "
            "lock:contention_begin -e lock:contention_end -- sleep 5");
    return next;
}

} // namespace whichlock
