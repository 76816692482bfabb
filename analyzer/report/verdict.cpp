// SPDX-License-Identifier: GPL-3.0-or-later
// The first sentences of a report: is it a lock, which one, how sure.
#include "analyzer/report/section_builders.h"
#include "analyzer/report/site_words.h"
#include "analyzer/report/value_format.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <tuple>

namespace whichlock {
namespace {

constexpr auto hasName = [](const ReportLock& lock) { return isNamed(lock.rung); };

bool mayDecide(const ReportSection& section)
{
    return section.kind == SectionKind::CpuProfile && section.measuresTime;
}

bool seesEverything(const Coverage& sees)
{
    return sees.kernelSpin == Sees::Yes && sees.kernelSleep == Sees::Yes && sees.userSleep == Sees::Yes
        && sees.userSpin == Sees::Yes;
}

std::string inSection(const Report& report, const ReportSection& section)
{
    const auto profiles = std::count_if(report.sections.begin(), report.sections.end(),
        [](const ReportSection& other) { return other.kind == SectionKind::CpuProfile; });
    if (profiles < 2)
        return {};
    const std::string name = !section.title.empty() ? section.title : section.event;
    return name.empty() ? " at " + toString(section.position) : " in \"" + name + '"';
}

std::string secondReading(const ReportSection& section)
{
    if (!section.contentionOfBusyIfProbableIdle)
        return {};
    return fmt::format(
        " ({} if what is probably idle is idle)", formatShare(*section.contentionOfBusyIfProbableIdle, 1));
}

/// The routines that wait for locks without a name: one, two, or one, another and others.
std::string waitingRoutines(const ReportSection& section)
{
    std::vector<std::string> names;
    for (const ReportLock& lock : section.locks) {
        if (lock.rung == Rung::Unnamed)
            names.push_back(lock.name);
    }
    if (names.size() == 1)
        return names[0];
    return names.size() == 2 ? names[0] + " and " + names[1] : names[0] + ", " + names[1] + " and others";
}

std::string ofTheWaiting(const ReportLock& lock)
{
    return formatShare(lock.ofLock.value_or(Share{}), 1);
}

/// The heaviest row has a name, a call site, or neither: three different answers.
std::string yesText(const Report& report, const ReportSection& section)
{
    const ReportLock& first = section.locks.front();
    const std::string part = fmt::format("{} of {}{}", formatShare(*decidingShare(section), 1),
        decidingDenominator(section), inSection(report, section));
    const std::string second = secondReading(section);
    if (isNamed(first.rung)) {
        const auto lockShare = section.busyKnown ? first.part.ofBusy : first.part.ofTotal;
        return fmt::format("YES, a lock. {} wait for locks{}; {} for {} ({}).", part, second,
            formatShare(lockShare.value_or(Share{}), 1), first.name, first.basis);
    }
    const auto named = std::find_if(section.locks.begin(), section.locks.end(), hasName);
    const std::string rest = named == section.locks.end()
        ? std::string(".")
        : fmt::format("; {} for {} ({}).", ofTheWaiting(*named), named->name, named->basis);
    const bool lineKnown = first.rung == Rung::SourceLine;
    if (lineKnown || first.rung == Rung::CallSite)
        return fmt::format("YES, spinning. {} wait for locks{}: {} of the waiting is for the {} (its "
                           "name is not in this input){}",
            part, second, ofTheWaiting(first),
            lineKnown ? first.name : "lock taken " + siteInWords(first.sites.front()), rest);
    if (named != section.locks.end())
        return fmt::format(
            "YES, spinning. {} wait for locks{}: {} of the waiting is in {}, whose lock this profile "
            "cannot tell{}",
            part, second, ofTheWaiting(first), first.name, rest);
    return fmt::format("YES, spinning; WHICH lock, this profile cannot say. {} wait in {}{}.", part,
        waitingRoutines(section), second);
}

/// What the profile shows when it is not enough for a yes.
std::string unknownText(const Report& report, const ReportSection& section)
{
    const auto share = decidingShare(section);
    const std::string whole = decidingDenominator(section);
    const std::string where = inSection(report, section);
    const char* const blind = "blocked waiting is not visible here";
    if (section.partialView)
        return fmt::format(
            "UNKNOWN. {} of a filtered view{} wait for locks: what part of all time the view is, cannot be "
            "told.",
            formatShare(share.value_or(Share{}), 1), where);
    if (share && *share >= kInnocentBelow && isThin(section))
        return fmt::format(
            "UNKNOWN. {} of {}{} wait for locks, but these are {} samples: too few to say more; {}.",
            formatShare(*share, 1), whole, where, hitsOf(section), blind);
    if (share && *share >= kInnocentBelow)
        return fmt::format(
            "UNKNOWN. {} of {}{} wait for locks: too little to blame one, too much to rule it out; {}.",
            formatShare(*share, 1), whole, where, blind);
    const auto lockFunctions =
        section.busyKnown ? section.lockFunctions.ofBusy : section.lockFunctions.ofTotal;
    if (!section.contentionDecided)
        return fmt::format(
            "UNKNOWN. {} of {}{} are in {}; whether that is waiting or the price of the calls, this list "
            "cannot tell; {}.",
            formatShare(lockFunctions.value_or(Share{})), whole, where, section.lockSymbols.front().symbol,
            blind);
    const auto overhead = section.busyKnown ? section.overhead.ofBusy : section.overhead.ofTotal;
    const std::string price = overhead && overhead->ppb > 0
        ? fmt::format(" Lock calls cost {} without waiting.", formatShare(*overhead))
        : std::string();
    return fmt::format("UNKNOWN. No spinning to speak of{} ({} of {}); {}.{}", where,
        formatShare(share.value_or(Share{}), 2), whole, blind, price);
}

/// `lock` as a part of the name of an event; `block` and `clock` are something else.
bool namesALock(std::string_view event)
{
    constexpr std::string_view kLock = "lock";
    for (size_t at = event.find(kLock); at != std::string_view::npos; at = event.find(kLock, at + 1)) {
        if (at == 0 || (event[at - 1] != 'b' && event[at - 1] != 'c'))
            return true;
    }
    return false;
}

/// Whether a tracepoint tells of locks or of the scheduler; probes are judged by the function's name.
bool concernsWaiting(std::string_view event)
{
    constexpr std::array<std::string_view, 8> kParts = {
        "sched:", "sched_", "mutex", "futex", "rwsem", "rw_sem", "semaphore", "contention_"};
    return namesALock(event) || std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
        return event.find(part) != std::string_view::npos;
    });
}

std::string noProfileText(const Report& report)
{
    bool counters = false;
    bool tables = false;
    bool events = false;
    bool otherEvents = false;
    std::string scalingNote;
    std::string about;
    for (const ReportSection& section : report.sections) {
        counters = counters || section.kind == SectionKind::Counters;
        tables = tables || section.kind == SectionKind::Measurements;
        if (section.kind == SectionKind::LockTrace) {
            const bool waiting = concernsWaiting(section.event);
            events = events || waiting;
            otherEvents = otherEvents || !waiting;
        }
        if (section.scaling && section.scaling->throughputLast < section.scaling->throughputFirst
            && scalingNote.empty() && !section.notes.empty())
            scalingNote = section.notes.front();
        if (!section.tableAbout.empty())
            about = section.tableAbout;
    }
    if (!scalingNote.empty())
        return "UNKNOWN. " + scalingNote + " Which lock, if one: not identifiable from this input.";
    if (!about.empty())
        return fmt::format(
            "UNKNOWN. The values are counts of one symbol per variant ({}), not a profile: no lock can be "
            "named from them.",
            about);
    if (events)
        return "UNKNOWN. Lock and scheduler events were counted, not timed: how long anybody waited is not "
               "in this input.";
    const bool nameless = std::any_of(report.sections.begin(), report.sections.end(),
        [](const ReportSection& section) { return section.event.starts_with("tracepoint:"); });
    if (otherEvents && nameless)
        return "UNKNOWN. The names of the events that were recorded are lost: what they are about is not in "
               "this "
               "input.";
    if (otherEvents)
        return "UNKNOWN. The events that were recorded are neither of locks nor of the scheduler: no lock "
               "can "
               "be seen in them.";
    if (tables)
        return "UNKNOWN. Tables of results only, no profile: no lock can be seen in them.";
    if (counters)
        return "UNKNOWN. Counters only, no profile: no lock can be seen in them.";
    return "UNKNOWN. Nothing that could show a lock was read.";
}

} // namespace

bool isThin(const ReportSection& section)
{
    return section.unit != Unit::Percent && hitsOf(section) < kFewestSamples;
}

uint64_t hitsOf(const ReportSection& section)
{
    if (section.samples != 0)
        return section.contention.samples;
    return section.unit == Unit::Millionths ? section.contention.value / FixedPoint::kScale
                                            : section.contention.value;
}

std::optional<Share> decidingShare(const ReportSection& section)
{
    return section.busyKnown ? section.contention.ofBusy : section.contention.ofTotal;
}

std::string decidingDenominator(const ReportSection& section)
{
    const bool listed = section.totalBasis == "sum of the listed rows";
    const std::string which =
        section.busyKnown ? (listed ? "the listed busy " : "busy ") : (listed ? "the listed " : "all ");
    return which + valueNoun(section);
}

namespace {

/// The trace with the most waiting.
const ReportSection* decidingTrace(const Report& report)
{
    const ReportSection* most = nullptr;
    for (const ReportSection& section : report.sections) {
        if (section.trace && (most == nullptr || section.trace->lockWaitNs > most->trace->lockWaitNs))
            most = &section;
    }
    return most;
}

/// The table of locks that tells most: the largest share of processor time, else the most waiting.
const ReportSection* decidingLockTable(const Report& report)
{
    const auto weight = [](const ReportSection& section) {
        const ReportLockTable& table = *section.lockTable;
        return std::tuple(!table.locks.empty(), table.cpuShare, table.waitNs);
    };
    const ReportSection* most = nullptr;
    for (const ReportSection& section : report.sections) {
        if (section.lockTable && (most == nullptr || weight(section) > weight(*most)))
            most = &section;
    }
    return most;
}

/// The answer of one section that measured waiting.
Verdict verdictOf(const Report& report, const ReportSection& section, TraceVerdict found)
{
    return {.guilty = found.guilty,
        .text = std::move(found.text),
        .share = found.share,
        .denominator = std::move(found.denominator),
        .section = static_cast<size_t>(&section - report.sections.data())};
}

} // namespace

Verdict buildVerdict(const Report& report)
{
    Verdict verdict;
    const ReportSection* best = nullptr;
    for (const ReportSection& section : report.sections) {
        if (!mayDecide(section))
            continue;
        const auto shareOr0 = [](const ReportSection& s) { return decidingShare(s).value_or(Share{}); };
        const bool more = best == nullptr || shareOr0(section) > shareOr0(*best)
            || (shareOr0(section) == shareOr0(*best) && section.undecided.value > best->undecided.value);
        if (more)
            best = &section;
    }
    // A trace measured what a profile only samples: it decides, unless only the profile has something to
    // blame.
    if (const ReportSection* trace = decidingTrace(report)) {
        TraceVerdict found = traceVerdict(*trace);
        const auto share = best == nullptr ? std::nullopt : decidingShare(*best);
        const bool profileBlames = share && *share >= kGuiltyFrom && hitsOf(*best) >= kFewestSamples;
        if (best == nullptr || found.guilty == Guilty::Yes || !profileBlames)
            return verdictOf(report, *trace, std::move(found));
    }
    // A table of locks names them: it decides where it knows the share of time, or where nothing else is.
    if (const ReportSection* table = decidingLockTable(report)) {
        TraceVerdict found = lockTableVerdict(*table);
        if (best == nullptr || found.guilty == Guilty::Yes)
            return verdictOf(report, *table, std::move(found));
    }
    if (best == nullptr) {
        verdict.text = noProfileText(report);
        return verdict;
    }
    verdict.section = static_cast<size_t>(best - report.sections.data());
    verdict.denominator = "of " + decidingDenominator(*best);
    const auto share = decidingShare(*best);
    if (best->contentionDecided || best->contention.value != 0)
        verdict.share = share;
    if (share && *share >= kGuiltyFrom && !isThin(*best) && !best->partialView) {
        verdict.guilty = Guilty::Yes;
        verdict.text = yesText(report, *best);
    } else if (share && *share < kInnocentBelow && best->contentionDecided && !best->partialView
        && seesEverything(best->sees)) {
        verdict.guilty = Guilty::No;
        verdict.text = fmt::format("NO. {} of {} wait for locks, and this input would show them.",
            formatShare(*share), decidingDenominator(*best));
    } else {
        verdict.text = unknownText(report, *best);
    }
    return verdict;
}

} // namespace whichlock
