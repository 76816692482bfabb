// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/document.h"

#include "analyzer/report/document_sections.h"
#include "analyzer/report/version.h"

#include <algorithm>
#include <fmt/format.h>

namespace whichlock {
namespace {

void addDiagnostics(const Report& report, Document& document)
{
    DocumentText text{.label = "Left out, repaired", .lines = {}};
    constexpr size_t kMostLines = 12;
    const bool saysCounted =
        std::any_of(document.blocks.begin(), document.blocks.end(), [](const auto& block) {
            const auto* table = std::get_if<DocumentTable>(&block);
            return table != nullptr && table->id == kEventCountsId;
        });
    for (const Diagnostic& one : report.diagnostics) {
        if (one.code == DiagnosticCode::EventsNotTimed && saysCounted)
            continue;
        if (text.lines.size() == kMostLines) {
            text.lines.push_back(
                fmt::format("{} more in the JSON report", report.diagnostics.size() - kMostLines));
            break;
        }
        const std::string count = one.count > 1 ? fmt::format(" ({} times)", one.count) : std::string();
        const std::string severity =
            one.severity == Severity::Note ? "" : std::string(severityName(one.severity)) + ": ";
        text.lines.push_back(fmt::format("{}{}{}", severity, sentenceOf(one), count));
    }
    if (!text.lines.empty())
        document.blocks.emplace_back(std::move(text));
}

void addNext(const Report& report, Document& document)
{
    if (!report.recordNext.empty())
        document.blocks.emplace_back(DocumentText{.label = "Next", .lines = report.recordNext});
}

void addInputs(const Report& report, Document& document)
{
    if (report.inputs.size() < 2)
        return;
    DocumentText text{.label = {}, .lines = {}, .indent = 1};
    for (const ReportInput& input : report.inputs)
        text.lines.push_back(fmt::format("{}  {}, {} bytes", input.name,
            input.format.empty() ? "nothing read" : input.format, input.bytes));
    document.blocks.emplace_back(std::move(text));
}

/// How to get this report again.
std::string commandLine(const Report& report, const DocumentOptions& options)
{
    std::string line =
        fmt::format("whichlock {}  `whichlock report{}", kVersion, options.brief ? " --brief" : "");
    for (const std::string& argument : report.arguments)
        line += ' ' + shellQuoted(argument);
    constexpr size_t kMostNames = 5;
    for (size_t i = 0; i < std::min(report.inputs.size(), kMostNames); ++i)
        line += ' ' + (report.inputs[i].name == "standard input" ? "-" : report.inputs[i].name);
    return line + (report.inputs.size() > kMostNames ? " ...`" : "`");
}

/// `--brief`: verdict, five locks, next.
void addBrief(const Report& report, Document& document)
{
    if (report.verdict.section) {
        constexpr size_t kMostLocks = 5;
        const size_t index = *report.verdict.section;
        const ReportSection& section = report.sections[index];
        document.blocks.emplace_back(headOf(section));
        if (section.trace && !section.trace->groups.empty())
            document.blocks.emplace_back(traceGroupTable(section, index, kMostLocks));
        else if (section.trace && !section.trace->locks.empty())
            document.blocks.emplace_back(traceLockTable(section, index, kMostLocks));
        if (section.lockTable && !section.lockTable->locks.empty())
            document.blocks.emplace_back(lockStatisticsTable(section, index, kMostLocks));
        if (!section.groups.empty())
            document.blocks.emplace_back(groupTable(section, index, kMostLocks));
        else if (!section.locks.empty())
            document.blocks.emplace_back(lockTable(section, index, kMostLocks));
    }
    DocumentText next{.label = "Next", .lines = report.recordNext};
    constexpr size_t kMostNext = 2;
    if (next.lines.size() > kMostNext)
        next.lines.resize(kMostNext);
    document.blocks.emplace_back(std::move(next));
}

} // namespace

Document buildDocument(const Report& report, const DocumentOptions& options)
{
    Document document;
    document.blocks.emplace_back(DocumentText{
        .label = {}, .lines = {"whichlock: " + report.verdict.text}, .indent = 0, .verdict = true});
    if (options.brief) {
        addBrief(report, document);
    } else {
        addInputs(report, document);
        for (const size_t i : shownSections(report))
            addSection(report, i, document);
        addComparisons(report, report.sections.size(), document);
        addDiagnostics(report, document);
        addNext(report, document);
    }
    document.blocks.emplace_back(DocumentText{.label = {}, .lines = {commandLine(report, options)}});
    return document;
}

Document sectionDocument(const Report& report, size_t index)
{
    Document document;
    addSection(report, index, document);
    return document;
}

Document summaryDocument(const Report& report)
{
    Document document;
    addInputs(report, document);
    addComparisons(report, report.sections.size(), document);
    addNext(report, document);
    return document;
}

} // namespace whichlock
