// SPDX-License-Identifier: GPL-3.0-or-later
// Traces: the account of threads' time, the locks, what --by asks for, and what was not seen.
#include "analyzer/report/document_trace.h"

#include "analyzer/report/document_cells.h"
#include "analyzer/report/document_sections.h"
#include "analyzer/report/section_builders.h"
#include "analyzer/report/site_words.h"
#include "analyzer/report/value_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace whichlock {
namespace {

std::string shareField(const ReportTrace& trace)
{
    return trace.activeKnown ? "/share_of_active_percent" : "/share_of_thread_time_percent";
}

std::string milliseconds(uint64_t ns)
{
    return formatMilliseconds(ns) + " ms";
}

/// `struct inode::i_rwsem` as `inode::i_rwsem`.
std::string withoutStruct(std::string name)
{
    constexpr std::string_view kStruct = "struct ";
    for (size_t at = name.find(kStruct); at != std::string::npos; at = name.find(kStruct, at)) {
        if (at == 0 || name[at - 1] == ' ')
            name.erase(at, kStruct.size());
        else
            at += kStruct.size();
    }
    return name;
}

/// As in other tables of locks: of those without a name where they are taken. The full name stands with the
/// lock's figures.
std::string shortName(const ReportTraceLock& lock)
{
    const bool place = lock.rung == Rung::CallSite || lock.rung == Rung::SourceLine;
    return place ? namelessLabel(lock.name) : withoutStruct(lock.name);
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

const char* titleOf(GroupBy by)
{
    switch (by) {
    case GroupBy::Site:
        return "Locks waited for at";
    case GroupBy::Holder:
        return "Behind the holder";
    case GroupBy::Thread:
        return "Thread";
    case GroupBy::Comm:
        return "Threads named";
    case GroupBy::Process:
        return "Process";
    case GroupBy::Cpu:
        return "Waits began on";
    case GroupBy::Lock:
    case GroupBy::Symbol:
        break;
    }
    return "";
}

std::string labelOf(const ReportTraceGroup& group, GroupBy by)
{
    if (group.key == "handoff")
        return "nobody: hand-off, at most";
    if (group.key == "unseen")
        return "not seen (no release)";
    if (by == GroupBy::Site)
        return placeLabel(group.at);
    if (by == GroupBy::Holder)
        return holderLabel(group.at, group.name);
    if (group.cpu >= 0)
        return fmt::format("CPU {}", group.cpu);
    const std::string name = group.name.empty() ? "?" : group.name;
    const int32_t number = by == GroupBy::Thread ? group.tid : group.pid;
    return number >= 0 ? fmt::format("{} {}", name, number) : name;
}

/// By holder: what is charged to whom, and what they did meanwhile.
DocumentTable holderGroups(const ReportSection& section, size_t index, size_t most)
{
    const ReportTrace& trace = *section.trace;
    std::vector<HolderParts> parts;
    for (const ReportTraceGroup& group : trace.groups)
        parts.push_back(group.did.value_or(HolderParts()));
    const HolderColumns columns(parts, trace.facts.hasSwitches);
    DocumentTable table{.caption = {},
        .id = "groups",
        .columns = {{titleOf(section.groupedBy), Align::Left}, {"wait ms"}, {"of lock"}, {"locks"}},
        .rows = {}};
    columns.addTitles(table);
    size_t left = 0;
    for (size_t i = 0; i < trace.groups.size(); ++i) {
        const ReportTraceGroup& group = trace.groups[i];
        if (i >= most && group.key.empty()) {
            ++left;
            continue;
        }
        const std::string at = fmt::format("{}/groups/{}", sectionPointer(index), i);
        std::vector<DocumentCell> row{labelCell(labelOf(group, section.groupedBy)),
            timeCell(group.valueNs, at + "/value"),
            shareCell(group.ofLock, at + "/share_of_lock_percent", 1)};
        if (group.did) {
            row.push_back(countCell(group.locks, at + "/locks"));
            columns.addCells(*group.did, at, row);
        }
        table.rows.push_back(std::move(row));
    }
    if (left != 0)
        table.rows.push_back({labelCell(fmt::format("  {} more", left))});
    return table;
}

void addLocks(const ReportSection& section, size_t index, Document& document)
{
    const ReportTrace& trace = *section.trace;
    const auto pointer = [&](size_t i) { return fmt::format("{}/locks/{}", sectionPointer(index), i); };
    if (!section.askedLock.empty()) {
        for (size_t i = 0; i < trace.locks.size(); ++i) {
            if (trace.locks[i].selected)
                addTraceLock(trace.locks[i], section, pointer(i), LockDepth::All, document);
        }
        return;
    }
    constexpr size_t kMostInFull = 3;
    constexpr Share kLeast{5 * Share::kPercent};
    for (size_t i = 0; i < std::min(trace.locks.size(), kMostInFull); ++i) {
        if (i == 0 || trace.locks[i].ofLock >= kLeast)
            addTraceLock(trace.locks[i], section, pointer(i), LockDepth::Brief, document);
    }
}

void addClasses(const ReportTrace& trace, Document& document)
{
    if (trace.classes.empty())
        return;
    constexpr size_t kMostClasses = 5;
    DocumentText text{.label = "Classes", .lines = {}};
    for (size_t i = 0; i < std::min(trace.classes.size(), kMostClasses); ++i) {
        const ReportLockClass& one = trace.classes[i];
        text.lines.push_back(fmt::format("{}: {} instances, {} of all lock wait; the top one has {} of that",
            one.name, one.instances, formatShare(one.ofLock, 1), formatShare(one.heaviest, 1)));
    }
    document.blocks.emplace_back(std::move(text));
}

void addWords(const ReportTrace& trace, Document& document)
{
    if (trace.words.empty())
        return;
    DocumentText text{.label = "No locks", .lines = {}};
    for (const ReportTraceWords& words : trace.words)
        text.lines.push_back(fmt::format("{}: {} {} at {} {}, {}", words.kind, words.waits,
            words.waits == 1 ? "wait" : "waits", words.words, words.words == 1 ? "word" : "words",
            milliseconds(words.valueNs)));
    document.blocks.emplace_back(std::move(text));
}

/// What --holds asks for, where nothing can be shown.
void addHoldsMissing(const ReportSection& section, Document& document)
{
    const bool any = std::any_of(section.trace->locks.begin(), section.trace->locks.end(),
        [](const ReportTraceLock& lock) { return lock.figures.holdTimes.holds != 0; });
    if (section.holds && !any)
        document.blocks.emplace_back(DocumentText{.label = "Holds",
            .lines = {
                "no hold times: asking, getting and giving back must all be events (probes at "
                "pthread_mutex_lock, its return and pthread_mutex_unlock, lock:lock_* or mmap_lock:*)"}});
}

} // namespace

std::string shownFunction(const std::string& function)
{
    return function.empty() ? "(not in the stacks)" : function;
}

std::string placeLabel(const TracedPlace& at)
{
    std::string label = (at.calledFrom ? "called from " : "") + shownFunction(at.function);
    if (at.line != 0 && !at.file.empty())
        label += fmt::format("  {}:{}", at.file.substr(at.file.rfind('/') + 1), at.line);
    return label;
}

std::string holderLabel(const TracedPlace& at, const std::string& thread)
{
    if (at.function.empty() && !thread.empty())
        return "thread " + thread; // where is not in the stacks
    return placeLabel(at) + (thread.empty() ? "" : "  " + thread);
}

HolderColumns::HolderColumns(const std::vector<HolderParts>& rows, bool hasSwitches)
{
    constexpr Column kAll[] = {{"ran", "/ran", &HolderParts::ranNs},
        {"no CPU", "/no_cpu", &HolderParts::noCpuNs}, {"blocked", "/blocked", &HolderParts::blockedNs},
        {"on locks", "/waited_for", &HolderParts::lockNs}, {"unclear", "/unclear", &HolderParts::unclearNs}};
    for (const Column& column : kAll) {
        const bool any = std::any_of(
            rows.begin(), rows.end(), [&](const HolderParts& row) { return row.*column.value != 0; });
        if (any && (hasSwitches || column.value == &HolderParts::lockNs))
            columns_.push_back(column);
    }
}

void HolderColumns::addTitles(DocumentTable& table) const
{
    for (const Column& column : columns_)
        table.columns.push_back({column.title});
}

void HolderColumns::addCells(
    const HolderParts& parts, const std::string& pointer, std::vector<DocumentCell>& row) const
{
    for (const Column& column : columns_)
        row.push_back(timeCell(parts.*column.value, pointer + column.field));
}

DocumentTable traceGroupTable(const ReportSection& section, size_t index, size_t most)
{
    const ReportTrace& trace = *section.trace;
    if (section.groupedBy == GroupBy::Holder)
        return holderGroups(section, index, most);
    const bool times = std::any_of(trace.groups.begin(), trace.groups.end(),
        [](const ReportTraceGroup& group) { return group.timeNs.has_value(); });
    const bool sites = section.groupedBy == GroupBy::Site;
    DocumentTable table{.caption = {},
        .id = "groups",
        .columns = {{titleOf(section.groupedBy), Align::Left}, {"wait ms"}, {"of lock"}, {"waits"},
            {"max ms"}},
        .rows = {}};
    if (sites)
        table.columns.push_back({"locks"});
    if (times) {
        table.columns.push_back({trace.activeKnown ? "active ms" : "existed ms"});
        table.columns.push_back({trace.activeKnown ? "of its active" : "of its time"});
    }
    for (size_t i = 0; i < std::min(trace.groups.size(), most); ++i) {
        const ReportTraceGroup& group = trace.groups[i];
        const std::string at = fmt::format("{}/groups/{}", sectionPointer(index), i);
        std::vector<DocumentCell> row{labelCell(labelOf(group, section.groupedBy)),
            timeCell(group.valueNs, at + "/value"), shareCell(group.ofLock, at + "/share_of_lock_percent", 1),
            countCell(group.waits.value_or(0), at + "/waits"),
            group.maxNs ? timeCell(*group.maxNs, at + "/max_ns") : labelCell("-")};
        if (sites)
            row.push_back(countCell(group.locks, at + "/locks"));
        if (times) {
            row.push_back(group.timeNs
                    ? timeCell(*group.timeNs, at + (trace.activeKnown ? "/active" : "/thread_time"))
                    : labelCell("-"));
            row.push_back(shareCell(group.ofOwnTime,
                at
                    + (trace.activeKnown ? "/contention_share_of_row_active_percent"
                                         : "/contention_share_of_row_thread_time_percent"),
                1));
        }
        table.rows.push_back(std::move(row));
    }
    if (trace.groups.size() > most)
        table.rows.push_back({labelCell(fmt::format("  {} more", trace.groups.size() - most))});
    return table;
}

namespace {

/// The locks to show, each one inside of another directly below that; with how deep.
std::vector<std::pair<size_t, size_t>> shownLocks(const ReportSection& section)
{
    const std::vector<ReportTraceLock>& locks = section.trace->locks;
    const auto shows = [&](size_t i) { return section.askedLock.empty() || locks[i].selected; };
    const auto isInner = [&](size_t i) {
        const uint32_t outer = locks[i].figures.innerOf;
        return outer != 0 && outer <= locks.size() && locks[outer - 1].figures.innerOf == 0
            && shows(outer - 1);
    };
    std::map<uint32_t, std::vector<size_t>> inside;
    for (size_t i = 0; i < locks.size(); ++i) {
        if (shows(i) && isInner(i))
            inside[locks[i].figures.innerOf].push_back(i);
    }
    std::vector<std::pair<size_t, size_t>> rows;
    for (size_t i = 0; i < locks.size(); ++i) {
        if (!shows(i) || isInner(i))
            continue;
        rows.emplace_back(i, 0);
        for (const size_t inner : inside[static_cast<uint32_t>(i + 1)])
            rows.emplace_back(inner, 1);
    }
    return rows;
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
    table.columns.insert(
        table.columns.end(), {{"waits"}, {"mean", Align::Right, 1}, {"p99", Align::Right, 3}, {"max ms"}});
    table.columns.push_back({"named by", Align::Left});
    const std::vector<std::pair<size_t, size_t>> shown = shownLocks(section);
    for (const auto& [i, depth] : shown) {
        if (table.rows.size() == most) {
            table.rows.push_back({labelCell(fmt::format("  {} more", shown.size() - most))});
            break;
        }
        const ReportTraceLock& lock = trace.locks[i];
        const std::string at = fmt::format("{}/locks/{}", sectionPointer(index), i);
        std::vector<DocumentCell> row{
            labelCell(std::string(2 * depth, ' ') + fmt::format("{} {}", lock.id, shortName(lock))),
            labelCell(lock.figures.kind), timeCell(lock.figures.valueNs, at + "/value"),
            shareCell(lock.ofLock, at + "/share_of_lock_percent", 1)};
        if (trace.activeNs != 0)
            row.push_back(shareCell(lock.ofActive, at + shareField(trace), 1));
        row.push_back(countCell(lock.figures.waits, at + "/waits"));
        for (const auto& [value, field] : {std::pair(lock.figures.meanNs, "/mean_ns"),
                 {lock.figures.p99Ns, "/p99_ns"}, {lock.figures.maxNs, "/max_ns"}})
            row.push_back(lock.figures.waits != 0 ? timeCell(value, at + field) : labelCell("-"));
        row.push_back(labelCell(std::string(rungName(lock.rung))));
        table.rows.push_back(std::move(row));
    }
    return table;
}

void addTraceSection(const ReportSection& section, size_t index, Document& document)
{
    const ReportTrace& trace = *section.trace;
    constexpr size_t kMostLocks = 12;
    constexpr size_t kMostGroups = 20;
    if (!trace.account.empty() && trace.threads != 0)
        document.blocks.emplace_back(accountTable(trace, index));
    if (!trace.groups.empty())
        document.blocks.emplace_back(traceGroupTable(section, index, kMostGroups));
    DocumentTable locks = traceLockTable(section, index, kMostLocks);
    if (!locks.rows.empty())
        document.blocks.emplace_back(std::move(locks));
    addLocks(section, index, document);
    addHoldsMissing(section, document);
    addClasses(trace, document);
    addWords(trace, document);
    if (!section.gain.empty())
        document.blocks.emplace_back(DocumentText{.label = "Gain", .lines = {section.gain}});
    if (!trace.leftOut.empty())
        document.blocks.emplace_back(DocumentText{.label = "Not seen", .lines = trace.leftOut});
}

} // namespace whichlock
