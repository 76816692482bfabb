// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/explanation.h"

#include "analyzer/report/section_builders.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace whichlock {
namespace {

constexpr size_t kMostCalls = 12;

std::vector<ExplainedRow> rowsOf(const Report& report)
{
    std::vector<ExplainedRow> rows;
    for (size_t i = 0; i < report.sections.size(); ++i) {
        const ReportSection& section = report.sections[i];
        const std::string unit(unitName(section.unit));
        const std::string title = section.event.empty() ? section.title : section.event;
        for (const ReportLock& lock : section.locks) {
            ExplainedRow row{.section = i + 1, .id = lock.id, .title = title, .name = lock.name};
            row.lockClass = lock.name;
            row.expression = lock.expression;
            row.rung = lock.rung;
            row.kind = lock.kind;
            row.basis = lock.basis;
            row.verified = lock.verified;
            row.value = lock.part.value;
            row.unit = unit;
            row.ofLock = lock.ofLock.value_or(Share{});
            for (const ReportSite& site : lock.sites)
                row.sites.push_back(site.name);
            rows.push_back(std::move(row));
        }
        if (!section.trace)
            continue;
        for (const ReportTraceLock& lock : section.trace->locks) {
            ExplainedRow row{.section = i + 1, .id = lock.id, .title = "lock trace", .name = lock.name};
            row.lockClass = lock.lockClass;
            row.expression = lock.expression;
            row.rung = lock.rung;
            row.kind = lock.figures.kind;
            row.basis = lock.basis;
            row.verified = lock.verified;
            row.address = lock.figures.address;
            row.value = lock.figures.valueNs;
            row.unit = "ns";
            row.ofLock = lock.ofLock;
            for (const ReportTraceSite& site : lock.sites)
                row.sites.push_back(site.figures.at.function);
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

std::optional<uint64_t> numberOf(std::string_view text)
{
    uint64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    return end.ec == std::errc() && end.ptr == text.data() + text.size() ? std::optional(number)
                                                                         : std::nullopt;
}

/// `2` and `3:2`.
bool isNumbered(const ExplainedRow& row, std::string_view which)
{
    const size_t colon = which.find(':');
    if (colon == std::string_view::npos)
        return numberOf(which) == row.id;
    return numberOf(which.substr(0, colon)) == row.section && numberOf(which.substr(colon + 1)) == row.id;
}

bool isCalled(const ExplainedRow& row, std::string_view which)
{
    return row.name == which || row.lockClass == which || row.expression == which;
}

bool mentions(const ExplainedRow& row, std::string_view which)
{
    return row.name.find(which) != std::string::npos || row.expression.find(which) != std::string::npos;
}

std::string listOf(const std::vector<ExplainedRow>& rows)
{
    constexpr size_t kMostListed = 12;
    std::string text;
    for (size_t i = 0; i < std::min(rows.size(), kMostListed); ++i)
        text += fmt::format("\n  {}:{} {}", rows[i].section, rows[i].id, rows[i].name);
    return text + (rows.size() > kMostListed ? "\n  ..." : "");
}

tl::expected<ExplainedRow, std::string> choose(const std::vector<ExplainedRow>& rows, std::string_view which)
{
    if (rows.empty())
        return tl::make_unexpected(std::string("no lock is waited for in these inputs"));
    for (const auto fits : {isNumbered, isCalled})
        if (const auto row = std::ranges::find_if(rows, [&](const auto& one) { return fits(one, which); });
            row != rows.end())
            return *row;
    std::vector<ExplainedRow> found;
    std::ranges::copy_if(
        rows, std::back_inserter(found), [&](const ExplainedRow& row) { return mentions(row, which); });
    if (found.size() == 1)
        return found.front();
    return tl::make_unexpected(
        fmt::format("{} '{}'; there are:{}", found.empty() ? "no lock is called" : "several locks are called",
            which, listOf(found.empty() ? rows : found)));
}

/// Whether the name is among those of the row: both may be `A or B`.
bool namesRow(const LockName& name, const ExplainedRow& row)
{
    const auto isIn = [&](const std::string& one) {
        const std::string wanted = " or " + row.lockClass + " or ";
        return !one.empty() && wanted.find(" or " + one + " or ") != std::string::npos;
    };
    return isIn(name.lockClass) || std::ranges::any_of(name.alternatives, isIn);
}

/// Whether the call stands in a function that the row is taken in. Sites of some sections say the offset.
bool isSiteOf(const CallEvidence& call, const ExplainedRow& row)
{
    const std::string_view function = std::string_view(call.function).substr(0, call.function.rfind('+'));
    return std::ranges::any_of(
        row.sites, [&](const std::string& site) { return site == call.function || site == function; });
}

} // namespace

std::string_view rungMeaning(Rung rung)
{
    switch (rung) {
    case Rung::NamedInData:
        return "the input itself names the lock";
    case Rung::Symbol:
    case Rung::UserSymbol:
        return "a variable at a fixed address";
    case Rung::Type:
        return "the type and member of what the code passes";
    case Rung::Table:
        return "a table of places that are known to take it";
    case Rung::SourceLine:
        return "only the line of the source that takes it is known";
    case Rung::CallSite:
        return "only where it is taken is known";
    case Rung::Unnamed:
        return "nothing tells which lock it is";
    }
    return {};
}

std::string_view rungsOf(std::string_view arch)
{
    if (arch == "x86_64" || arch == "amd64")
        return "locks are named by symbol, user-symbol, type (out of code), table, source line and call site";
    return "locks are named by symbol, user-symbol, table, source line and call site; by type (out of code) "
           "only on x86-64";
}

tl::expected<LockExplanation, std::string> explainLock(
    const Report& report, const EvidenceLog& log, std::string_view which)
{
    auto row = choose(rowsOf(report), which);
    if (!row)
        return tl::make_unexpected(row.error());
    LockExplanation explanation;
    for (const ReportInput& input : report.inputs)
        explanation.inputs.push_back(input.name);
    const bool byCode = row->rung == Rung::Type || row->rung == Rung::Symbol || row->rung == Rung::UserSymbol;
    for (const CallEvidence& call : log.calls) {
        const bool fits =
            call.name && call.name->isNamed() ? byCode && namesRow(*call.name, *row) : isSiteOf(call, *row);
        if (!fits)
            continue;
        if (explanation.calls.size() < kMostCalls)
            explanation.calls.push_back(call);
        else
            ++explanation.callsLeftOut;
    }
    for (const VariableEvidence& variable : log.variables)
        if (row->address && variable.address == *row->address)
            explanation.variables.push_back(variable);
    for (const Diagnostic& one : report.diagnostics)
        if (one.code == DiagnosticCode::BuildIdMismatch || one.code == DiagnosticCode::SymbolsUnverified
            || one.code == DiagnosticCode::FileUnreadable || one.code == DiagnosticCode::SymbolsUnreadable)
            explanation.refusals.push_back(one);
    row->arch = report.sections[row->section - 1].facts.arch;
    explanation.row = std::move(*row);
    return explanation;
}

} // namespace whichlock
