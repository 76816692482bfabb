// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/document_sections.h"

#include "analyzer/report/document_cells.h"
#include "analyzer/report/section_builders.h"
#include "analyzer/report/value_format.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace whichlock {
namespace {

/// `sees: user sleep, callers; partly kernel spin; NOT user spin`; kernel and user are told apart where they
/// differ.
std::vector<std::string> coverageLines(const Coverage& sees)
{
    std::array<std::string, 3> names; // by Sees
    const auto add = [&](Sees kind, std::string_view name) {
        std::string& list = names[static_cast<size_t>(kind)];
        list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
    };
    const auto addBoth = [&](Sees kernel, Sees user, std::string_view name) {
        if (kernel == user)
            return add(kernel, name);
        add(kernel, fmt::format("kernel {}", name));
        add(user, fmt::format("user {}", name));
    };
    addBoth(sees.kernelSpin, sees.userSpin, "spin");
    addBoth(sees.kernelSleep, sees.userSleep, "sleep");
    add(sees.holders, "holders");
    add(sees.callers, "callers");
    const auto& [no, partly, yes] = names;
    std::string line = "sees: " + yes;
    if (!partly.empty())
        line += (yes.empty() ? "partly " : "; partly ") + partly;
    constexpr size_t kLine = 76;
    constexpr std::string_view kNot = "; NOT ";
    if (!no.empty() && line.size() + kNot.size() + no.size() > kLine)
        return {line, "does not see: " + no};
    if (!no.empty())
        line += yes.empty() && partly.empty() ? "NOT " + no : std::string(kNot) + no;
    return {line};
}

std::string originOf(const ReportSection& section)
{
    std::string where = toString(section.position);
    if (!section.facts.command.empty()) {
        constexpr size_t kLongest = 125; // the JSON report has all of it
        constexpr size_t kShown = 100;
        const std::string& command = section.facts.command;
        where += "  `" + (command.size() > kLongest ? elideMiddle(command, kShown) + "`" : command + "`");
    }
    return where;
}

/// Commands that record name many events: their ends tell enough. Where in the file samples of one event
/// begin tells nobody anything.
std::string recordingOrigin(const ReportSection& section)
{
    constexpr size_t kLine = 72;
    constexpr size_t kLeast = 40;
    std::string where = section.position.chain;
    const size_t room = kLine - std::min(where.size(), kLine - kLeast);
    if (!section.facts.command.empty())
        where += "  `" + elideMiddle(section.facts.command, room) + "`";
    return where;
}

std::string traceExtent(const ReportSection& section)
{
    const LockTraceRecord& facts = section.trace->facts;
    std::string text =
        fmt::format(", {} events in {} ms", section.samples, formatMilliseconds(facts.wholeNs));
    if (facts.durationNs != facts.wholeNs)
        text += fmt::format(", {} ms of it from {} ms on", formatMilliseconds(facts.durationNs),
            formatMilliseconds(facts.fromNs));
    return text;
}

/// The line about the machine, where anything is known of it.
void addMachine(const ReportSection& section, DocumentText& head)
{
    std::string machine;
    const auto add = [&](std::string_view text) {
        machine += (machine.empty() ? "" : ", ") + std::string(text);
    };
    if (!section.facts.host.empty())
        add("host " + section.facts.host);
    if (!section.facts.kernel.empty())
        add(fmt::format("kernel {} (by {})", section.facts.kernel, section.facts.kernelSource));
    if (!section.facts.arch.empty())
        add(fmt::format("{} (by {})", section.facts.arch, section.facts.archSource));
    if (section.facts.cpus)
        add(fmt::format("{} CPUs", *section.facts.cpus));
    if (!machine.empty())
        head.lines.push_back(std::move(machine));
}

/// A counted event says no more than its number: those of one input share a table.
bool isCountOnly(const ReportSection& section)
{
    return section.kind == SectionKind::LockTrace && !section.trace && !section.lockTable
        && section.title.empty() && section.groups.empty() && section.scores.empty();
}

bool sameInput(const ReportSection& a, const ReportSection& b)
{
    return a.input == b.input && a.position.chain == b.position.chain;
}

/// The counted events of the input of one of them, and where they come from if nothing else says it.
void addEventCounts(const Report& report, size_t index, Document& document)
{
    const ReportSection& first = report.sections[index];
    DocumentTable table{.caption = {},
        .id = kEventCountsId,
        .columns = {{"Events counted, not timed", Align::Left}, {"counted"}},
        .rows = {}};
    bool alone = true;
    for (size_t i = 0; i < report.sections.size(); ++i) {
        const ReportSection& section = report.sections[i];
        if (!sameInput(section, first))
            continue;
        alone = alone && isCountOnly(section);
        if (isCountOnly(section))
            table.rows.push_back({labelCell(section.event),
                countCell(section.total.value_or(0), sectionPointer(i) + "/total")});
    }
    if (alone) {
        DocumentText head{.label = {}, .lines = {recordingOrigin(first)}, .indent = 1};
        addMachine(first, head);
        head.lines.push_back(fmt::format(
            "{}, {} {}", first.format, table.rows.size(), table.rows.size() == 1 ? "event" : "events"));
        if (!first.filter.empty())
            head.lines.push_back(fmt::format("filter: {}; the rest is in no figure", first.filter));
        document.blocks.emplace_back(std::move(head));
    }
    document.blocks.emplace_back(std::move(table));
}

} // namespace

std::vector<size_t> shownSections(const Report& report)
{
    std::vector<size_t> shown;
    std::optional<size_t> counts; // the first section of these
    for (size_t i = 0; i < report.sections.size(); ++i) {
        if (counts && !sameInput(report.sections[*counts], report.sections[i])) {
            shown.push_back(*counts);
            counts.reset();
        }
        if (!isCountOnly(report.sections[i]))
            shown.push_back(i);
        else if (!counts)
            counts = i;
    }
    if (counts)
        shown.push_back(*counts);
    return shown;
}

DocumentText headOf(const ReportSection& section)
{
    DocumentText head{.label = {}, .lines = {}, .indent = 1};
    head.lines.push_back(
        section.trace || section.format == "perf.data" ? recordingOrigin(section) : originOf(section));
    addMachine(section, head);
    std::string what = section.format;
    if (!section.event.empty())
        what += ", event " + section.event;
    if (section.facts.scope == "machine" && section.unit != Unit::Ticks)
        what += ", machine-wide";
    else if (section.facts.scope == "process")
        what += ", per process";
    if (section.trace)
        what += traceExtent(section);
    else if (section.samples != 0 && section.kind == SectionKind::WaitProfile)
        what += fmt::format(", {} waits, {} stacks", section.samples, section.rows);
    else if (section.samples != 0)
        what += fmt::format(", {} samples, {} frames", section.samples, section.rows);
    else
        what += fmt::format(", {} rows", section.rows);
    if (section.lost != 0)
        what += fmt::format(", {} events lost", section.lost);
    head.lines.push_back(std::move(what));
    if (!section.filter.empty() && section.trace)
        head.lines.push_back(fmt::format("filter: {}; the rest is in no figure", section.filter));
    else if (!section.filter.empty())
        head.lines.push_back(fmt::format("filter: {}; {} of {} samples left (the rest is in no figure)",
            section.filter, section.samples, section.samples + section.leftOutSamples));
    for (const std::string& repair : section.repairs)
        head.lines.push_back(repair);
    if (section.kind == SectionKind::CpuProfile || section.trace || section.lockTable) {
        for (std::string& line : coverageLines(section.sees))
            head.lines.push_back(std::move(line));
    }
    return head;
}

void addSection(const Report& report, size_t index, Document& document)
{
    const ReportSection& section = report.sections[index];
    if (isCountOnly(section))
        return addEventCounts(report, index, document);
    if (!section.title.empty())
        document.blocks.emplace_back(DocumentHeading{section.title});
    document.blocks.emplace_back(headOf(section));
    switch (section.kind) {
    case SectionKind::CpuProfile:
        addCpuSection(section, index, document);
        break;
    case SectionKind::Counters:
        addCounterSection(section, index, document);
        break;
    case SectionKind::Measurements:
        addMeasurementSection(section, index, document);
        break;
    case SectionKind::WaitProfile:
    case SectionKind::LockTrace:
    case SectionKind::LockTable:
    case SectionKind::ThreadDump:
        if (section.trace)
            addTraceSection(section, index, document);
        else if (section.lockTable)
            addLockTableSection(section, index, document);
        else
            addEventSection(section, index, document);
        break;
    }
    if (!section.scores.empty()) {
        DocumentText text{.label = "Scores", .lines = {}};
        for (const ReportScore& score : section.scores)
            text.lines.push_back(fmt::format("{} {}{}", score.name, formatNumber(score.value),
                score.unit.empty() || score.unit == score.name ? "" : " " + score.unit));
        document.blocks.emplace_back(std::move(text));
    }
    addComparisons(report, index, document);
}

} // namespace whichlock
