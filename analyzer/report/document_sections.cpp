// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/document_sections.h"

#include "analyzer/report/json_names.h"
#include "analyzer/report/section_builders.h"
#include "analyzer/report/value_format.h"

#include <algorithm>
#include <fmt/format.h>

namespace whichlock {
namespace {

std::string seen(std::string_view what, Sees sees)
{
    return fmt::format("{} {}", what, sees == Sees::No ? "NO" : seesName(sees));
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

/// Commands that record traces name many events: their ends tell enough.
std::string traceOrigin(const ReportSection& section)
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

} // namespace

DocumentText headOf(const ReportSection& section)
{
    DocumentText head{.label = {}, .lines = {}, .indent = 1};
    head.lines.push_back(section.trace ? traceOrigin(section) : originOf(section));
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
    std::string what = section.format;
    if (!section.event.empty())
        what += ", event " + section.event;
    if (section.facts.scope == "machine" && section.unit != Unit::Ticks)
        what += ", machine-wide";
    else if (section.facts.scope == "process")
        what += ", per process";
    if (section.trace)
        what += traceExtent(section);
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
        const Coverage& sees = section.sees;
        head.lines.push_back("sees: " + seen("kernel spin", sees.kernelSpin) + ", "
            + seen("user spin", sees.userSpin) + ", "
            + seen("sleep", std::max(sees.kernelSleep, sees.userSleep)) + ", " + seen("holders", sees.holders)
            + ", " + seen("callers", sees.callers));
    }
    return head;
}

void addSection(const Report& report, size_t index, Document& document)
{
    const ReportSection& section = report.sections[index];
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
