// SPDX-License-Identifier: GPL-3.0-or-later
// The answer of a trace: shares of the active time of threads, or what can be said without it.
#include "analyzer/report/section_builders.h"
#include "analyzer/report/value_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace whichlock {
namespace {

std::string milliseconds(uint64_t ns)
{
    return formatMilliseconds(ns) + " ms";
}

std::string wholeOf(const ReportTrace& trace)
{
    return trace.activeKnown ? "active thread time" : "all thread time";
}

/// The heaviest lock with its share of the waiting.
std::string firstLock(const ReportTrace& trace)
{
    const ReportTraceLock& first = trace.locks.front();
    return fmt::format("{} for {} ({}{})", formatShare(first.ofLock, 1), first.name, first.figures.kind,
        first.verified == false ? ", name unverified" : "");
}

/// Where no holder has a larger part of the waiting: that nobody had the lock meanwhile.
std::string mostlyHandOff(const ReportTraceLock& lock)
{
    const Share held = lock.holders.empty() ? Share{} : lock.holders.front().ofThisLock;
    if (lock.handOffOfLock <= held)
        return {};
    return fmt::format(" {}{} of that is hand-off, when nobody has it",
        isHandOffAtMost(lock) ? "At most " : "", formatShare(lock.handOffOfLock, 1));
}

std::string behindWhom(const ReportTrace& trace)
{
    const ReportTraceLock& first = trace.locks.front();
    const bool knownHolder = !first.holders.empty() && !first.holders.front().figures.at.function.empty();
    const std::string handOff = mostlyHandOff(first);
    if (!knownHolder)
        return handOff.empty() ? std::string() : handOff + ".";
    const ReportTraceHolder& holder = first.holders.front();
    std::string text = handOff.empty()
        ? fmt::format(" {} of that is ", formatShare(holder.ofThisLock, 1))
        : fmt::format("{}; {} is ", handOff, formatShare(holder.ofThisLock, 1));
    text += fmt::format("{}behind {}{}", holder.figures.provenNs == 0 ? "probably " : "",
        holder.figures.at.calledFrom ? "what was called from " : "", holder.figures.at.function);
    for (const ReportTraceRoot& root : first.roots) {
        if (!root.nobody && root.lock != first.name && root.ofThisLock.ppb > Share::kWhole / 2)
            text += fmt::format(", {} of it in the end behind {} with {}", formatShare(root.ofThisLock, 1),
                (root.calledFrom ? "what was called from " : "") + root.function, root.lock);
    }
    return text + ".";
}

/// What a trace of these events cannot show.
std::string blindSpots(const Coverage& sees)
{
    if (sees.userSleep == Sees::No)
        return "locks of user space are not visible here";
    if (sees.userSleep == Sees::Partly)
        return "which locks of user space threads sleep for is not visible here";
    return "spinning in user space is not visible here";
}

} // namespace

TraceVerdict traceVerdict(const ReportSection& section)
{
    const ReportTrace& trace = *section.trace;
    TraceVerdict verdict;
    verdict.share = trace.lockShare;
    verdict.denominator = "of " + wholeOf(trace);
    const bool bound = trace.lowerBound || !trace.activeKnown;
    const char* const atLeast = bound ? "At least " : "";
    const std::string blind = blindSpots(section.sees);
    if (trace.locks.empty()) {
        verdict.text = section.sees.userSleep != Sees::Yes && section.sees.kernelSpin == Sees::No
            ? "UNKNOWN. Only switches of tasks were recorded: what they waited for is not in this input."
            : fmt::format("UNKNOWN. Nobody waits for a lock in this trace{}; {}.",
                conditionsWithoutCallers(trace) == 0
                    ? ""
                    : ", unless for one that is made of a condition variable: who waits for these is not in "
                      "the stacks",
                blind);
        return verdict;
    }
    const std::string wait = milliseconds(trace.lockWaitNs);
    if (!trace.lockShare) {
        verdict.text =
            fmt::format("UNKNOWN how much it matters. Threads wait {}{} for locks, {}; what share of "
                        "their time that is cannot be told.{}",
                trace.lowerBound ? "at least " : "", wait, firstLock(trace), behindWhom(trace));
        return verdict;
    }
    const std::string share = formatShare(*trace.lockShare, 1);
    if (*trace.lockShare >= kGuiltyFrom) {
        verdict.guilty = Guilty::Yes;
        verdict.text = fmt::format("YES, a lock. {}{} of {} is waiting for locks ({}), {}.{}", atLeast, share,
            wholeOf(trace), wait, firstLock(trace), behindWhom(trace));
    } else if (*trace.lockShare >= kInnocentBelow) {
        verdict.text = fmt::format("UNKNOWN. {}{} of {} is waiting for locks ({}): too little to blame one, "
                                   "too much to rule it out.",
            atLeast, share, wholeOf(trace), wait);
    } else {
        verdict.text = fmt::format("UNKNOWN. Hardly any waiting for locks ({}{} of {}, {}); {}.",
            bound ? "at least " : "", share, wholeOf(trace), wait, blind);
    }
    return verdict;
}

bool isHandOffAtMost(const ReportTraceLock& lock)
{
    return lock.figures.space != "kernel" && !lock.figures.holdsRecorded;
}

uint64_t conditionsWithoutCallers(const ReportTrace& trace)
{
    uint64_t ns = 0;
    for (const ReportTraceWords& words : trace.words)
        ns += words.kind == "condition" ? words.untoldNs : 0;
    return ns;
}

bool tellsUserLocks(const LockTraceRecord& record)
{
    constexpr std::array<std::string_view, 4> kParts = {"futex", "raw_syscalls", "probe", "sdt_"};
    return std::any_of(record.eventCounts.begin(), record.eventCounts.end(), [&](const auto& event) {
        return std::any_of(kParts.begin(), kParts.end(),
            [&](std::string_view part) { return event.first.find(part) != std::string::npos; });
    });
}

namespace {

/// What a recording of locks and threads takes beside the events that this one has.
std::string missingEvents(bool futexes, bool switches)
{
    std::string events;
    if (!switches)
        events += " -e sched:sched_switch -e sched:sched_waking";
    if (!futexes)
        events += " -e syscalls:sys_enter_futex -e syscalls:sys_exit_futex";
    return events;
}

} // namespace

std::vector<std::string> traceRecordNext(const Report& report, const ReportSection& section)
{
    const ReportTrace& trace = *section.trace;
    const bool futexes = tellsUserLocks(trace.facts);
    const bool switches = trace.facts.hasSwitches;
    std::vector<std::string> next;
    if (trace.facts.sampled)
        next.emplace_back("all events, not samples of them: leave -F out, or add -c 1");
    const std::string missing = missingEvents(futexes, switches);
    if (!futexes && !switches)
        next.push_back("locks of user space, who holds them, what threads do: perf record -a -g" + missing
            + " -- sleep 5");
    else if (!futexes)
        next.push_back("which locks of user space threads sleep for: add" + missing);
    else if (!switches)
        next.push_back("what threads and holders do meanwhile: add" + missing);
    if (switches && trace.facts.unseenSwitches != 0 && section.facts.scope != "machine")
        next.emplace_back("when threads came back, and who had the CPU: the same events of the whole "
                          "machine (-a)");
    if (!trace.facts.hasStacks)
        next.emplace_back("where it is waited for: add --call-graph dwarf");
    const bool profiled =
        std::any_of(report.sections.begin(), report.sections.end(), [](const ReportSection& other) {
            return other.kind == SectionKind::CpuProfile && other.measuresTime;
        });
    if (!profiled)
        next.emplace_back("spinning: perf record -a -F 999 -e cpu-clock --call-graph dwarf -- sleep 10");
    return next;
}

} // namespace whichlock
