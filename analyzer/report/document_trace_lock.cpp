// SPDX-License-Identifier: GPL-3.0-or-later
// One lock of a trace: where it is waited for, who held it, and why.
#include "analyzer/report/document_trace.h"

#include "analyzer/report/document_cells.h"
#include "analyzer/report/section_builders.h"
#include "analyzer/report/shares.h"
#include "analyzer/report/value_format.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {
namespace {

std::string milliseconds(uint64_t ns)
{
    return formatMilliseconds(ns) + " ms";
}

/// A function in a sentence; where the stacks do not tell it, the thread.
std::string inWords(const std::string& function, bool calledFrom, const std::string& thread = {})
{
    if (function.empty() && !thread.empty())
        return "thread " + thread;
    return (calledFrom ? "what was called from " : "") + shownFunction(function);
}

/// A row that says how many more there are.
void addMore(size_t all, size_t shownRows, const char* what, DocumentTable& table)
{
    if (all > shownRows)
        table.rows.push_back({labelCell(fmt::format("  {} more {}", all - shownRows, what))});
}

DocumentTable siteTable(const ReportTraceLock& lock, const std::string& pointer, size_t most)
{
    const bool sides = std::any_of(lock.sites.begin(), lock.sites.end(),
        [](const ReportTraceSite& site) { return site.figures.side != "-"; });
    DocumentTable table{
        .caption = {}, .id = "sites", .columns = {{"Waited for at", Align::Left}}, .rows = {}};
    if (sides)
        table.columns.push_back({"side", Align::Left});
    for (const char* title : {"wait ms", "share", "waits", "max ms"})
        table.columns.push_back({title});
    const size_t count = std::min(lock.sites.size(), most);
    for (size_t i = 0; i < count; ++i) {
        const ReportTraceSite& site = lock.sites[i];
        const std::string at = fmt::format("{}/sites/{}", pointer, i);
        std::vector<DocumentCell> row{labelCell(
            placeLabel(site.figures.at) + (site.figures.insideCondition ? " (after a condition)" : ""))};
        if (sides)
            row.push_back(labelCell(site.figures.side));
        row.push_back(timeCell(site.figures.valueNs, at + "/value"));
        row.push_back(shareCell(site.ofThisLock, at + "/share_of_this_lock_percent", 1));
        row.push_back(countCell(site.figures.waits, at + "/waits"));
        row.push_back(
            site.figures.waits != 0 ? timeCell(site.figures.maxNs, at + "/max_ns") : labelCell("-"));
        table.rows.push_back(std::move(row));
    }
    addMore(lock.sites.size(), count, "places", table);
    return table;
}

DocumentTable holderTable(
    const ReportTraceLock& lock, const ReportTrace& trace, const std::string& pointer, size_t most)
{
    std::vector<HolderParts> parts;
    for (const ReportTraceHolder& holder : lock.holders)
        parts.push_back(partsOf(holder.figures.meanwhile));
    const HolderColumns columns(parts, trace.facts.hasSwitches);
    DocumentTable table{.caption = {},
        .id = "holders",
        .columns = {{"Behind the holder", Align::Left}, {"wait ms"}, {"of lock"}},
        .rows = {}};
    columns.addTitles(table);
    const size_t count = std::min(lock.holders.size(), most);
    for (size_t i = 0; i < count; ++i) {
        const TracedHolder& figures = lock.holders[i].figures;
        const std::string at = fmt::format("{}/holders/{}", pointer, i);
        std::vector<DocumentCell> row{labelCell(holderLabel(figures.at, figures.thread)),
            timeCell(figures.waitNs, at + "/value"),
            shareCell(lock.holders[i].ofThisLock, at + "/share_of_this_lock_percent", 1)};
        columns.addCells(parts[i], at, row);
        table.rows.push_back(std::move(row));
    }
    addMore(lock.holders.size(), count, "holders", table);
    const TracedLock& figures = lock.figures;
    if (figures.handOffNs != 0)
        table.rows.push_back(
            {labelCell(isHandOffAtMost(lock) ? "nobody: hand-off, at most" : "nobody: hand-off"),
                timeCell(figures.handOffNs, pointer + "/handoff_ns"),
                shareCell(lock.handOffOfLock, pointer + "/handoff_share_of_this_lock_percent", 1)});
    if (figures.unseenNs != 0)
        table.rows.push_back(
            {labelCell("not seen (no release)"), timeCell(figures.unseenNs, pointer + "/unseen_ns"),
                shareCell(lock.unseenOfLock, pointer + "/unseen_share_of_this_lock_percent", 1)});
    table.rows.push_back({labelCell("sum"), timeCell(figures.valueNs, pointer + "/value")});
    return table;
}

DocumentTable worstTable(const ReportTraceLock& lock, const std::string& pointer, size_t most)
{
    DocumentTable table{.caption = {},
        .id = "longest",
        .columns = {{"Longest waits", Align::Left}, {"thread", Align::Left}, {"at ms"}, {"wait ms"},
            {"", Align::Left}},
        .rows = {}};
    for (size_t i = 0; i < std::min(lock.figures.worst.size(), most); ++i) {
        const TracedLongWait& wait = lock.figures.worst[i];
        const std::string at = fmt::format("{}/longest/{}", pointer, i);
        table.rows.push_back({labelCell(wait.at.function.empty() ? "-" : placeLabel(wait.at)),
            labelCell(wait.thread.empty() ? fmt::format("{}", wait.tid)
                                          : fmt::format("{}/{}", wait.thread, wait.tid)),
            timeCell(wait.fromNs, at + "/at_ns"), timeCell(wait.ns, at + "/value"),
            labelCell(wait.open ? "at least" : "")});
    }
    return table;
}

DocumentTable holdTable(const ReportTraceLock& lock, const std::string& pointer, size_t most)
{
    DocumentTable table{.caption = {},
        .id = "hold_times",
        .columns = {{"Held by, waited for or not", Align::Left}, {"holds"}, {"sum ms"}, {"mean"}, {"p50"},
            {"p90", Align::Right, 1}, {"p99"}, {"max ms"}},
        .rows = {}};
    const auto add = [&](std::string label, const TracedHold& hold, const std::string& at) {
        table.rows.push_back({labelCell(std::move(label)), countCell(hold.holds, at + "/holds"),
            timeCell(hold.sumNs, at + "/value"), timeCell(hold.meanNs, at + "/mean_ns"),
            timeCell(hold.p50Ns, at + "/p50_ns"), timeCell(hold.p90Ns, at + "/p90_ns"),
            timeCell(hold.p99Ns, at + "/p99_ns"), timeCell(hold.maxNs, at + "/max_ns")});
    };
    const TracedLock& figures = lock.figures;
    const size_t count = std::min(figures.holds.size(), most);
    for (size_t i = 0; i < count; ++i)
        add(holderLabel(figures.holds[i].at, figures.holds[i].thread), figures.holds[i],
            fmt::format("{}/hold_times/by/{}", pointer, i));
    addMore(figures.holds.size(), count, "holders", table);
    add("all", figures.holdTimes, pointer + "/hold_times");
    return table;
}

DocumentTable rootTable(const ReportTraceLock& lock, const std::string& pointer, size_t most)
{
    DocumentTable table{.caption = {},
        .id = "chain_root",
        .columns = {{"In the end behind", Align::Left}, {"holding", Align::Left}, {"wait ms"}, {"share"}},
        .rows = {}};
    const size_t count = std::min(lock.roots.size(), most);
    for (size_t i = 0; i < count; ++i) {
        const ReportTraceRoot& root = lock.roots[i];
        const std::string at = fmt::format("{}/chain_root/{}", pointer, i);
        const std::string who = (root.calledFrom ? "called from " : "") + shownFunction(root.function);
        table.rows.push_back({labelCell(root.nobody ? "nobody, or not seen" : who), labelCell(root.lock),
            timeCell(root.ns, at + "/value"),
            shareCell(root.ofThisLock, at + "/share_of_this_lock_percent", 1)});
    }
    addMore(lock.roots.size(), count, "ends", table);
    return table;
}

/// One letter a bucket: how many waited, of the most that ever did.
std::string stripOf(const TracedLock& lock, uint64_t durationNs)
{
    constexpr std::string_view kLevels = " .:+*#";
    std::string strip;
    const size_t used = lock.stripBucketNs == 0
        ? 0
        : std::min<size_t>(lock.strip.size(), durationNs / lock.stripBucketNs + 1);
    const uint64_t most = used == 0
        ? 0
        : *std::max_element(lock.strip.begin(), lock.strip.begin() + static_cast<std::ptrdiff_t>(used));
    for (size_t i = 0; i < used; ++i) {
        const uint64_t ns = lock.strip[i];
        const uint64_t step = most / (kLevels.size() - 1) + 1;
        strip += ns == 0 ? ' ' : kLevels[std::min<size_t>(kLevels.size() - 1, 1 + ns / step)];
    }
    return strip;
}

/// `46 waits for 36 acquisitions that had to wait; ...`.
std::string waitsLine(const TracedLock& figures)
{
    std::string line = figures.waits <= figures.acquisitions
        ? fmt::format("{} {}", figures.waits, figures.waits == 1 ? "wait" : "waits")
        : fmt::format("{} waits for {} {}", figures.waits, figures.acquisitions,
            figures.acquisitions == 1 ? "acquisition" : "acquisitions");
    if (figures.waits != 0)
        line += fmt::format("; p50 {}, p99 {}", milliseconds(figures.p50Ns), milliseconds(figures.p99Ns));
    if (figures.maxAcquisitionNs > figures.maxNs)
        line += fmt::format(", longest acquisition {}", milliseconds(figures.maxAcquisitionNs));
    return line;
}

/// The waits whose begin or end lies outside of what was recorded.
std::string openLine(const TracedLock& figures)
{
    std::string line = fmt::format(
        "{} more {} not seen from begin to end", figures.open, figures.open == 1 ? "was" : "were");
    if (figures.openAtEnd != 0)
        line += fmt::format(", {} still on at the end", figures.openAtEnd);
    return figures.openNs == 0 ? line : line + ": >= " + milliseconds(figures.openNs);
}

void addHead(const ReportTraceLock& lock, const ReportTrace& trace, Document& document)
{
    const TracedLock& figures = lock.figures;
    DocumentText head{.label = {}, .lines = {}, .indent = 1, .verdict = false, .fixed = true};
    head.lines.push_back(fmt::format("{} {}  {}, {}", lock.id, lock.name, figures.kind, lock.basis));
    head.lines.push_back(fmt::format("contended {} of {} wall ({}); waiters mean {}, max {}",
        milliseconds(figures.contendedWallNs), milliseconds(trace.facts.durationNs),
        formatShare(lock.contendedOfWall.value_or(Share{}), 1),
        lock.meanWaiters ? formatDecimal(*lock.meanWaiters, 1) : "-", figures.maxWaiters));
    head.lines.push_back(waitsLine(figures));
    if (figures.open != 0)
        head.lines.push_back(openLine(figures));
    if (figures.notAcquired != 0)
        head.lines.push_back(fmt::format("{} {} without the lock ({})", figures.notAcquired,
            figures.notAcquired == 1 ? "wait ended" : "waits ended",
            figures.kind == "mmap-lock" ? "most likely trylocks" : "time-out, signal"));
    if (figures.innerOf != 0 && figures.innerOf <= trace.locks.size())
        head.lines.push_back(fmt::format("lies inside of {} {}; {} of its waiting is part of waits for that "
                                         "or another lock",
            figures.innerOf, trace.locks[figures.innerOf - 1].name, milliseconds(figures.nestedNs)));
    if (figures.deadlock)
        head.lines.emplace_back("DEADLOCK: its waiters wait for each other in a circle");
    const std::string strip = stripOf(figures, trace.facts.durationNs);
    if (!strip.empty())
        head.lines.push_back("waiters |" + strip + "|");
    document.blocks.emplace_back(std::move(head));
}

std::string patternsOf(const ReportTraceLock& lock)
{
    std::string text;
    for (const ReportTracePattern& pattern : lock.patterns)
        text += fmt::format("{}{} ({}{} of the wait)", text.empty() ? "" : ", ", pattern.name,
            pattern.atMost ? "at most " : "", formatShare(pattern.ofThisLock, 1));
    return text.empty() ? "none of the known patterns" : text;
}

/// Names with their times, heaviest first.
std::string timesText(const std::vector<NamedTime>& times, size_t most)
{
    std::string text;
    for (size_t i = 0; i < std::min(times.size(), most); ++i)
        text += fmt::format(
            "{}{} {}", i == 0 ? "" : ", ", shownFunction(times[i].name), milliseconds(times[i].ns));
    if (times.size() > most)
        text += fmt::format(", {} more", times.size() - most);
    return text;
}

std::string blockedText(const std::vector<NamedTime>& times, size_t most)
{
    if (times.size() == 1 && times.front().name.empty())
        return milliseconds(times.front().ns) + "; where is not in the stacks";
    return "in " + timesText(times, most);
}

/// What kept a holder off its CPU while others waited.
void addHolderLines(const ReportTraceLock& lock, const ReportTraceHolder& holder, const ReportTrace& trace,
    size_t most, DocumentText& text)
{
    const TracedHolder& figures = holder.figures;
    const std::string name = inWords(figures.at.function, figures.at.calledFrom, figures.thread);
    if (figures.meanwhile.preemptedNs / 10 >= figures.waitNs / 100 && figures.meanwhile.preemptedNs != 0
        && !figures.preemptedBy.empty())
        text.lines.push_back(fmt::format("{} was preempted {} with waiters behind it; the CPU went to {}",
            name, figures.preemptions == 1 ? "once" : fmt::format("{} times", figures.preemptions),
            timesText(figures.preemptedBy, most)));
    if (!figures.blockedAt.empty()
        && (figures.meanwhile.ioNs + figures.meanwhile.blockedNs) / 10 >= figures.waitNs / 100)
        text.lines.push_back(fmt::format("{} was blocked {}", name, blockedText(figures.blockedAt, most)));
    std::string locks;
    for (const auto& [other, ns] : figures.waitedFor)
        if (other < trace.locks.size() && ns / 10 >= figures.waitNs / 100)
            locks +=
                fmt::format("{}{} {}", locks.empty() ? "" : ", ", trace.locks[other].name, milliseconds(ns));
    if (!locks.empty())
        text.lines.push_back(fmt::format("{} waited itself for {}", name, locks));
    if (figures.longestOffNs >= lock.figures.maxNs / 10 && figures.longestOffNs != 0)
        text.lines.push_back(fmt::format("{} was off the CPU for {} at {}", name,
            milliseconds(figures.longestOffNs), milliseconds(figures.longestOffAtNs)));
}

void addWhy(const ReportTraceLock& lock, const ReportTrace& trace, bool inDepth, Document& document)
{
    DocumentText text{.label = "Why", .lines = {patternsOf(lock)}};
    constexpr size_t kMostNames = 4;
    for (const ReportTraceHolder& holder : lock.holders) {
        if (inDepth || holder.ofThisLock.ppb >= 10 * Share::kPercent)
            addHolderLines(lock, holder, trace, inDepth ? kMostNames : 1, text);
    }
    const auto root = std::find_if(lock.roots.begin(), lock.roots.end(), [&](const ReportTraceRoot& one) {
        return !one.nobody && one.lock != lock.name && one.ofThisLock.ppb > 10 * Share::kPercent;
    });
    if (root != lock.roots.end())
        text.lines.push_back(fmt::format("{} of the wait has its root in {}, which held {}",
            formatShare(root->ofThisLock, 1), inWords(root->function, root->calledFrom), root->lock));
    if (lock.provenNs != lock.heldNs && lock.heldNs != 0) {
        if (lock.provenNs == 0)
            text.lines.emplace_back("holders follow from the order of acquisitions: no release is recorded");
        else
            text.lines.push_back(fmt::format("holders are proven by a release for {} of the held wait; the "
                                             "rest follows from the order of acquisitions",
                formatShare(shareOf(lock.provenNs, lock.heldNs), 1)));
    }
    document.blocks.emplace_back(std::move(text));
}

/// What the figures and the name of a lock rest on.
void addEvidence(const ReportTraceLock& lock, Document& document)
{
    const TracedLock& figures = lock.figures;
    DocumentText text{.label = "Evidence", .lines = {}};
    text.lines.push_back(fmt::format("name: {} ({})", lock.basis, rungName(lock.rung)));
    text.lines.push_back(fmt::format("address {:#x}, {}", figures.address,
        figures.space == "kernel"       ? std::string("of the kernel")
            : figures.space == "shared" ? std::string("in memory that processes share")
            : figures.pid >= 0          ? fmt::format("in process {}", figures.pid)
                                        : std::string("of user space")));
    if (figures.parks)
        text.lines.emplace_back("each waiter sleeps on a word of its own: the lock is known by its routine");
    text.lines.push_back(
        fmt::format("held {} + hand-off {} + not seen {} = {} of waiting", milliseconds(lock.heldNs),
            milliseconds(figures.handOffNs), milliseconds(figures.unseenNs), milliseconds(figures.valueNs)));
    for (const ReportTraceHolder& holder : lock.holders) {
        const TracedHolder& one = holder.figures;
        if (one.holds != 0)
            text.lines.push_back(fmt::format("{}: {} {} seen, median {}, longest {}",
                holderLabel(one.at, one.thread), one.holds, one.holds == 1 ? "hold" : "holds",
                milliseconds(one.medianHoldNs), milliseconds(one.maxHoldNs)));
    }
    document.blocks.emplace_back(std::move(text));
}

} // namespace

void addTraceLock(const ReportTraceLock& lock, const ReportSection& section, const std::string& pointer,
    LockDepth depth, Document& document)
{
    const ReportTrace& trace = *section.trace;
    const bool inDepth = depth == LockDepth::All;
    constexpr size_t kFewRows = 5;
    const size_t most = inDepth ? SIZE_MAX : kFewRows;
    addHead(lock, trace, document);
    const bool untold = lock.sites.size() == 1 && lock.sites.front().figures.at.function.empty()
        && lock.sites.front().figures.side == "-";
    if (!untold) // the only row would say that the stacks do not tell
        document.blocks.emplace_back(siteTable(lock, pointer, most));
    document.blocks.emplace_back(holderTable(lock, trace, pointer, most));
    if (section.holds && lock.figures.holdTimes.holds != 0)
        document.blocks.emplace_back(holdTable(lock, pointer, most));
    if (inDepth && !lock.roots.empty())
        document.blocks.emplace_back(rootTable(lock, pointer, most));
    if (!lock.figures.worst.empty())
        document.blocks.emplace_back(worstTable(lock, pointer, inDepth ? most : 1));
    addWhy(lock, trace, inDepth, document);
    if (inDepth)
        addEvidence(lock, document);
}

} // namespace whichlock
