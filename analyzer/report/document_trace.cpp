// SPDX-License-Identifier: GPL-3.0-or-later
// Traces: the account of threads' time, the locks, and of each where it is waited for and who held it.
#include "analyzer/report/document_cells.h"
#include "analyzer/report/document_sections.h"
#include "analyzer/report/section_builders.h"
#include "analyzer/report/value_format.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {
namespace {

constexpr size_t kMostRows = 5;

std::string shareField(const ReportTrace& trace)
{
    return trace.activeKnown ? "/share_of_active_percent" : "/share_of_thread_time_percent";
}

std::string shown(const std::string& function)
{
    return function.empty() ? "(not in the stacks)" : function;
}

DocumentTable accountTable(const ReportTrace& trace, size_t index)
{
    DocumentTable table{.caption = {},
        .id = "account",
        .columns = {{fmt::format("Time of {} threads", trace.threads), Align::Left}, {"ms"},
            {trace.activeKnown ? "of active" : "of all"}},
        .rows = {}};
    for (size_t i = 0; i < trace.account.size(); ++i) {
        const TraceAccountLine& line = trace.account[i];
        const std::string pointer = fmt::format("{}/account/{}", sectionPointer(index), i);
        std::vector<DocumentCell> row{labelCell(line.what), timeCell(line.valueNs, pointer + "/value")};
        row.push_back(line.active ? shareCell(line.ofActive, pointer + shareField(trace), 1)
                                  : labelCell("not counted"));
        table.rows.push_back(std::move(row));
    }
    return table;
}

DocumentTable siteTable(const ReportTraceLock& lock, const std::string& pointer)
{
    DocumentTable table{.caption = {},
        .id = "sites",
        .columns = {{"Waited for at", Align::Left}, {"side", Align::Left, 1}, {"wait ms"}, {"share"},
            {"waits"}, {"max ms"}},
        .rows = {}};
    for (size_t i = 0; i < std::min(lock.sites.size(), kMostRows); ++i) {
        const ReportTraceSite& site = lock.sites[i];
        const std::string at = fmt::format("{}/sites/{}", pointer, i);
        table.rows.push_back({labelCell(shown(site.figures.function)
                                  + (site.figures.insideCondition ? " (after a condition)" : "")),
            labelCell(site.figures.side), timeCell(site.figures.valueNs, at + "/value"),
            shareCell(site.ofThisLock, at + "/share_of_this_lock_percent", 1),
            countCell(site.figures.waits, at + "/waits"), timeCell(site.figures.maxNs, at + "/max_ns")});
    }
    if (lock.sites.size() > kMostRows)
        table.rows.push_back({labelCell(fmt::format("  {} more places", lock.sites.size() - kMostRows))});
    return table;
}

DocumentTable holderTable(const ReportTraceLock& lock, const std::string& pointer)
{
    DocumentTable table{.caption = {},
        .id = "holders",
        .columns = {{"Meanwhile the holder", Align::Left}, {"wait ms"}, {"of lock"}, {"ran"},
            {"preempt", Align::Right, 2}, {"blocked", Align::Right, 3}, {"on locks", Align::Right, 4}},
        .rows = {}};
    for (size_t i = 0; i < std::min(lock.holders.size(), kMostRows); ++i) {
        const TracedHolder& figures = lock.holders[i].figures;
        const ActivityTimes& did = figures.meanwhile;
        const std::string at = fmt::format("{}/holders/{}", pointer, i);
        const std::string thread = figures.thread.empty() ? "" : "  " + figures.thread;
        table.rows.push_back({labelCell(shown(figures.function) + thread),
            timeCell(figures.waitNs, at + "/value"),
            shareCell(lock.holders[i].ofThisLock, at + "/share_of_this_lock_percent", 1),
            timeCell(did.ranNs, at + "/ran"), timeCell(did.preemptedNs + did.yieldedNs, at + "/preempted"),
            timeCell(did.ioNs + did.sleepNs + did.idleNs + did.blockedNs, at + "/blocked"),
            timeCell(did.lockNs, at + "/waited_for")});
    }
    if (lock.holders.size() > kMostRows)
        table.rows.push_back({labelCell(fmt::format("  {} more holders", lock.holders.size() - kMostRows))});
    table.rows.push_back({labelCell("nobody: hand-off (given back, not yet taken)"),
        timeCell(lock.figures.handOffNs, pointer + "/handoff_ns")});
    table.rows.push_back(
        {labelCell("not seen (no release)"), timeCell(lock.figures.unseenNs, pointer + "/unseen_ns")});
    table.rows.push_back({labelCell("sum"), timeCell(lock.figures.valueNs, pointer + "/value")});
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

std::string milliseconds(uint64_t ns)
{
    return formatMilliseconds(ns) + " ms";
}

std::string patternsOf(const ReportTraceLock& lock)
{
    std::string text;
    for (const ReportTracePattern& pattern : lock.patterns)
        text += fmt::format("{}{} ({} of the wait)", text.empty() ? "" : ", ", pattern.name,
            formatShare(pattern.ofThisLock, 1));
    return text.empty() ? "none of the known patterns" : text;
}

void addHeadOfLock(const ReportTraceLock& lock, const ReportTrace& trace, Document& document)
{
    const TracedLock& figures = lock.figures;
    DocumentText head{.label = {}, .lines = {}, .indent = 1};
    head.lines.push_back(fmt::format("{} {}  {}, {}", lock.id, lock.name, figures.kind, lock.basis));
    head.lines.push_back(fmt::format("contended {} of {} wall ({}); waiters mean {}, max {}",
        milliseconds(figures.contendedWallNs), milliseconds(trace.facts.durationNs),
        formatShare(lock.contendedOfWall.value_or(Share{}), 1),
        lock.meanWaiters ? formatDecimal(*lock.meanWaiters, 1) : "-", figures.maxWaiters));
    head.lines.push_back(
        fmt::format("{} waits for {} waiting acquisitions; p50 {}, p99 {}, longest acquisition {}",
            figures.waits, figures.acquisitions, milliseconds(figures.p50Ns), milliseconds(figures.p99Ns),
            milliseconds(figures.maxAcquisitionNs)));
    if (figures.open != 0)
        head.lines.push_back(fmt::format("{} waits are open, {} at the end: >= {}", figures.open,
            figures.openAtEnd, milliseconds(figures.openNs)));
    if (figures.deadlock)
        head.lines.emplace_back("DEADLOCK: its waiters wait for each other in a circle");
    const std::string strip = stripOf(figures, trace.facts.durationNs);
    if (!strip.empty())
        head.lines.push_back("waiters |" + strip + "|");
    document.blocks.emplace_back(std::move(head));
}

void addWhy(const ReportTraceLock& lock, Document& document)
{
    DocumentText text{.label = "Why", .lines = {patternsOf(lock)}};
    for (const ReportTraceHolder& holder : lock.holders) {
        const TracedHolder& figures = holder.figures;
        if (holder.ofThisLock.ppb < 10 * Share::kPercent)
            continue;
        if (figures.meanwhile.preemptedNs / 10 >= figures.waitNs / 100 && figures.meanwhile.preemptedNs != 0
            && !figures.preemptedBy.empty())
            text.lines.push_back(
                fmt::format("{} was preempted {} times with waiters behind it; the CPU went to {}",
                    shown(figures.function), figures.preemptions, figures.preemptedBy.front().name));
        if (figures.longestOffNs >= lock.figures.maxNs / 10 && figures.longestOffNs != 0)
            text.lines.push_back(fmt::format("{} was off the CPU for {} at {}", shown(figures.function),
                milliseconds(figures.longestOffNs), milliseconds(figures.longestOffAtNs)));
    }
    const auto root = std::find_if(lock.roots.begin(), lock.roots.end(), [&](const ReportTraceRoot& one) {
        return !one.nobody && one.lock != lock.name && one.ofThisLock.ppb > 10 * Share::kPercent;
    });
    if (root != lock.roots.end())
        text.lines.push_back(fmt::format("{} of the wait has its root in {}, which held {}",
            formatShare(root->ofThisLock, 1), shown(root->function), root->lock));
    if (lock.provenNs != lock.heldNs && lock.heldNs != 0)
        text.lines.push_back(fmt::format("holders are proven by a release for {} of the held wait; the rest "
                                         "follows from the order of acquisitions",
            formatShare(shareOf(lock.provenNs, lock.heldNs), 1)));
    document.blocks.emplace_back(std::move(text));
}

} // namespace

DocumentTable traceLockTable(const ReportSection& section, size_t index, size_t most)
{
    const ReportTrace& trace = *section.trace;
    DocumentTable table{.caption = {},
        .id = "locks",
        .columns = {{"Lock", Align::Left}, {"kind", Align::Left, 2}, {"wait ms"}, {"of lock"}},
        .rows = {}};
    if (trace.activeNs != 0)
        table.columns.push_back({trace.activeKnown ? "of active" : "of all"});
    for (const char* title : {"waits", "mean", "p99", "max ms"})
        table.columns.push_back({title, Align::Right, title[0] == 'p' ? 1 : 0});
    for (size_t i = 0; i < std::min(trace.locks.size(), most); ++i) {
        const ReportTraceLock& lock = trace.locks[i];
        const std::string at = fmt::format("{}/locks/{}", sectionPointer(index), i);
        std::vector<DocumentCell> row{labelCell(fmt::format("{} {}", lock.id, lock.name)),
            labelCell(lock.figures.kind), timeCell(lock.figures.valueNs, at + "/value"),
            shareCell(lock.ofLock, at + "/share_of_lock_percent", 1)};
        if (trace.activeNs != 0)
            row.push_back(shareCell(lock.ofActive, at + shareField(trace), 1));
        row.push_back(countCell(lock.figures.waits, at + "/waits"));
        row.push_back(timeCell(lock.figures.meanNs, at + "/mean_ns"));
        row.push_back(timeCell(lock.figures.p99Ns, at + "/p99_ns"));
        row.push_back(timeCell(lock.figures.maxNs, at + "/max_ns"));
        table.rows.push_back(std::move(row));
    }
    if (trace.locks.size() > most)
        table.rows.push_back({labelCell(fmt::format("  {} more", trace.locks.size() - most))});
    return table;
}

void addTraceSection(const ReportSection& section, size_t index, Document& document)
{
    const ReportTrace& trace = *section.trace;
    constexpr size_t kMostLocks = 12;
    if (!trace.account.empty())
        document.blocks.emplace_back(accountTable(trace, index));
    if (!trace.locks.empty())
        document.blocks.emplace_back(traceLockTable(section, index, kMostLocks));
    for (size_t i = 0; i < std::min<size_t>(trace.locks.size(), 3); ++i) {
        const ReportTraceLock& lock = trace.locks[i];
        const std::string pointer = fmt::format("{}/locks/{}", sectionPointer(index), i);
        addHeadOfLock(lock, trace, document);
        document.blocks.emplace_back(siteTable(lock, pointer));
        document.blocks.emplace_back(holderTable(lock, pointer));
        addWhy(lock, document);
    }
    if (!trace.words.empty()) {
        DocumentText text{.label = "No locks", .lines = {}};
        for (const ReportTraceWords& words : trace.words)
            text.lines.push_back(fmt::format("{}: {} waits at {} words, {}", words.kind, words.waits,
                words.words, milliseconds(words.valueNs)));
        document.blocks.emplace_back(std::move(text));
    }
    if (!section.gain.empty())
        document.blocks.emplace_back(DocumentText{.label = "Gain", .lines = {section.gain}});
    if (!trace.leftOut.empty())
        document.blocks.emplace_back(DocumentText{.label = "Not seen", .lines = trace.leftOut});
}

} // namespace whichlock
