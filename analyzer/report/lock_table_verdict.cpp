// SPDX-License-Identifier: GPL-3.0-or-later
// The answer of a table of lock statistics. Only lockmeter tells what part of all time was spent waiting.
#include "analyzer/report/section_builders.h"
#include "analyzer/report/value_format.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {
namespace {

std::string firstOf(const ReportLockTable& table)
{
    const ReportTableLock& first = table.locks.front();
    std::string text = formatShare(first.ofLock.value_or(Share{}), 1) + " for " + first.name;
    std::string detail = first.figures.kind;
    if (isNamed(first.rung))
        detail += (detail.empty() ? "" : ", ") + first.basis;
    return detail.empty() ? text : fmt::format("{} ({})", text, detail);
}

/// Where it is waited for, if one place stands out.
std::string mainSite(const ReportTableLock& lock)
{
    if (lock.sites.empty() || lock.sites.front().figures.holder || lock.rung == Rung::CallSite)
        return {};
    const ReportTableSite& site = lock.sites.front();
    const auto share = site.ofThisLock;
    return share && share->ppb > Share::kWhole / 4
        ? fmt::format(" {} of that is at {}.", formatShare(*share, 1), site.figures.function)
        : std::string();
}

/// Whether all stacks are of waits for locks, and not of whatever kept threads off their processors.
bool allAreWaits(const ReportSection& section)
{
    return std::none_of(section.account.begin(), section.account.end(),
        [](const AccountLine& line) { return line.partOfSum && line.key != "lock" && line.part.value != 0; });
}

/// Threads without work are off their processors, too: no share of this time is a share of active time.
std::string offCpuText(const ReportSection& section)
{
    const ReportLockTable& table = *section.lockTable;
    if (table.locks.empty())
        return fmt::format("UNKNOWN. In {} ms off the processors no stack waits for a lock that can be "
                           "told; how long threads ran or waited on a processor is not in this input.",
            formatMilliseconds(section.listed));
    return fmt::format("UNKNOWN how much it matters. {} of {} ms off the processors are waits for locks, {}; "
                       "threads without work are part of the rest.{}",
        formatMilliseconds(table.waitNs), formatMilliseconds(section.listed), firstOf(table),
        mainSite(table.locks.front()));
}

} // namespace

TraceVerdict lockTableVerdict(const ReportSection& section)
{
    const ReportLockTable& table = *section.lockTable;
    TraceVerdict verdict;
    if (section.kind == SectionKind::WaitProfile && !allAreWaits(section)) {
        verdict.text = offCpuText(section);
        return verdict;
    }
    if (table.facts.holdsOnly) {
        verdict.text = "UNKNOWN. The table tells how long locks were held, not whether anybody waited.";
        return verdict;
    }
    if (table.facts.timesBroken) {
        verdict.text =
            "UNKNOWN. The times of the table overflowed: who waited how long is not in it, only how "
            "often locks were waited for.";
        return verdict;
    }
    if (table.locks.empty()) {
        verdict.text = table.waiters.empty()
            ? "UNKNOWN. The table has no row."
            : fmt::format("UNKNOWN. The table tells who {}, not for which lock.",
                table.facts.holders ? "was waited for" : "waited");
        return verdict;
    }
    const ReportTableLock& first = table.locks.front();
    if (!table.waitsKnown || (table.waitNs == 0 && !table.cpuShare)) {
        verdict.text = "UNKNOWN. No waiting is in this table.";
        return verdict;
    }
    if (!table.cpuShare) {
        verdict.text = fmt::format(
            "UNKNOWN how much it matters. {} ms of waiting are in the table, {}; what part of all "
            "time that is, it does not tell.{}",
            formatMilliseconds(*section.total), firstOf(table), mainSite(first));
        return verdict;
    }
    verdict.share = table.cpuShare;
    verdict.denominator = "of the time of all processors";
    const char* const atLeast = table.cpuShareListed ? "At least " : "";
    const std::string share = formatShare(*table.cpuShare, 1);
    if (*table.cpuShare >= kGuiltyFrom) {
        verdict.guilty = Guilty::Yes;
        verdict.text =
            fmt::format("YES, a lock. {}{} of the time of all processors is waiting for locks, {}.{}",
                atLeast, share, firstOf(table), mainSite(first));
    } else {
        verdict.text =
            fmt::format("UNKNOWN. {}{} of the time of all processors is waiting for these locks: {}; blocked "
                        "waiting is not visible here.",
                atLeast, share,
                *table.cpuShare >= kInnocentBelow ? "too little to blame one, too much to rule it out"
                                                  : "hardly any");
    }
    return verdict;
}

} // namespace whichlock
