// SPDX-License-Identifier: GPL-3.0-or-later
// CPU profiles: the account, locks and their sites, candidates, and how sure all of it is.
#include "analyzer/report/document_cells.h"
#include "analyzer/report/document_sections.h"
#include "analyzer/report/section_builders.h"
#include "analyzer/report/site_words.h"
#include "analyzer/report/value_format.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {
namespace {

/// Locks without a name are shown by what is known of them.
std::string shownName(const ReportLock& lock)
{
    switch (lock.rung) {
    case Rung::Unnamed:
        return "? in " + lock.name;
    case Rung::CallSite:
        return (lock.sites.front().calledFrom ? "? " : "? at ") + siteLabel(lock.sites.front());
    case Rung::SourceLine:
        return namelessLabel(lock.name);
    case Rung::NamedInData:
    case Rung::Symbol:
    case Rung::UserSymbol:
    case Rung::Type:
    case Rung::Table:
        break;
    }
    return lock.name;
}

std::string valueCaption(const ReportSection& section)
{
    switch (section.unit) {
    case Unit::Ticks:
        return "Kernel-mode ticks (user mode is never counted)";
    case Unit::Nanoseconds:
        return section.kind == SectionKind::WaitProfile ? "Time of the stacks" : "Sampled CPU time";
    case Unit::Events:
        return section.event + " (sum of the periods)";
    case Unit::Count:
    case Unit::Millionths:
        return section.event.empty() ? "Counts" : "Counts, " + section.event;
    case Unit::Samples:
        break;
    case Unit::Percent:
        return section.event.empty() ? "Percentages as printed" : "Percentages of " + section.event;
    }
    return section.event.empty() ? "Samples" : "Samples of " + section.event;
}

} // namespace

DocumentTable accountTable(const ReportSection& section, size_t index)
{
    DocumentTable table{
        .caption = {}, .id = "account", .columns = {{valueCaption(section), Align::Left}}, .rows = {}};
    addPartColumns(section, table.columns);
    for (size_t i = 0; i < section.account.size(); ++i) {
        const AccountLine& line = section.account[i];
        // A not-listed rest of a list with percentages only has no value of its own to show.
        std::vector<DocumentCell> row{labelCell(std::string(2 * line.indent, ' ') + line.what)};
        addPartCells(line.part, section, fmt::format("{}/account/{}", sectionPointer(index), i), row);
        if (!section.total && (line.key == "not-listed" || line.key == "total" || line.key == "busy")
            && section.listed != 0)
            row[1] = labelCell("");
        table.rows.push_back(std::move(row));
    }
    return table;
}

namespace {

/// Sites tell more than the lock row where there are several, or where the row is named by something else.
DocumentTable siteTable(const ReportSection& section, size_t index)
{
    DocumentTable table{
        .caption = {}, .id = "sites", .columns = {{"Waited for at", Align::Left}}, .rows = {}};
    addPartColumns(section, table.columns);
    table.columns.push_back({"of this lock"});
    constexpr size_t kMostLocks = 5;
    constexpr size_t kMostSites = 5;
    const bool inDepth = !section.askedLock.empty();
    const size_t mostSites = inDepth ? SIZE_MAX : kMostSites;
    for (size_t l = 0; l < (inDepth ? section.locks.size() : std::min(section.locks.size(), kMostLocks));
         ++l) {
        const ReportLock& lock = section.locks[l];
        if (inDepth ? !lock.selected : !isNamed(lock.rung) && lock.sites.size() < 2)
            continue;
        table.rows.push_back({labelCell(fmt::format("{} {}", lock.id, shownName(lock)))});
        for (size_t s = 0; s < std::min(lock.sites.size(), mostSites); ++s) {
            const ReportSite& site = lock.sites[s];
            const std::string pointer = fmt::format("{}/locks/{}/sites/{}", sectionPointer(index), l, s);
            std::vector<DocumentCell> row{labelCell("    " + siteLabel(site))};
            addPartCells(site.part, section, pointer, row);
            row.push_back(shareCell(site.ofThisLock, pointer + "/share_of_this_lock_percent", 1));
            table.rows.push_back(std::move(row));
        }
        if (lock.sites.size() > mostSites)
            table.rows.push_back(
                {labelCell(fmt::format("    {} more places", lock.sites.size() - mostSites))});
    }
    return table;
}

DocumentTable symbolTable(const std::vector<ReportSymbol>& symbols, const char* title, const char* id,
    const ReportSection& section, size_t index)
{
    constexpr size_t kMost = 10;
    DocumentTable table{.caption = {}, .id = id, .columns = {{title, Align::Left}}, .rows = {}};
    const bool roles = std::any_of(
        symbols.begin(), symbols.end(), [](const ReportSymbol& symbol) { return !symbol.role.empty(); });
    if (roles)
        table.columns.push_back({"counted as", Align::Left});
    addPartColumns(section, table.columns);
    for (size_t i = 0; i < std::min(symbols.size(), kMost); ++i) {
        std::vector<DocumentCell> row{labelCell(symbols[i].symbol)};
        if (roles)
            row.push_back(labelCell(symbols[i].category));
        addPartCells(symbols[i].part, section, fmt::format("{}/{}/{}", sectionPointer(index), id, i), row);
        table.rows.push_back(std::move(row));
    }
    return table;
}

/// So few that an interval belongs to each share.
bool hasFewSamples(const ReportSection& section)
{
    constexpr uint64_t kFew = 1000;
    return (section.samples != 0 ? section.samples : section.total.value_or(0)) < kFew;
}

/// Of the heaviest locks, where there are several: a single one has the interval of the waiting.
void addLockIntervals(const ReportSection& section, DocumentText& text)
{
    constexpr size_t kMost = 3;
    if (section.locks.size() < 2 || !hasFewSamples(section))
        return;
    std::string line;
    for (size_t i = 0; i < std::min(section.locks.size(), kMost); ++i) {
        const ReportLock& lock = section.locks[i];
        if (lock.interval)
            line += fmt::format("{}lock {}: {} to {}", line.empty() ? "" : ", ", lock.id,
                formatShare(lock.interval->low, 1), formatShare(lock.interval->high, 1));
    }
    if (!line.empty())
        text.lines.push_back("95 % intervals of " + line);
}

void addSure(const ReportSection& section, Document& document)
{
    DocumentText text{.label = "Sure", .lines = {}};
    if (section.contentionInterval && section.contention.value != 0 && hasFewSamples(section))
        text.lines.push_back(fmt::format("95 % interval of the waiting: {} to {} {}",
            formatShare(section.contentionInterval->low, 1), formatShare(section.contentionInterval->high, 1),
            section.busyKnown ? "of busy" : "of all"));
    addLockIntervals(section, text);
    if (section.totalBasis == "sum of the listed rows")
        text.lines.emplace_back("no total is printed: shares are of the listed rows");
    if (section.totalBasis == "printed percentages")
        text.lines.emplace_back("no total is printed: shares are the printed percentages, added up");
    if (section.unit == Unit::Percent)
        text.lines.emplace_back("each percentage is rounded, and the number of samples behind it is not "
                                "printed: what chance does cannot be told");
    if (!section.contentionDecided)
        text.lines.emplace_back(
            "lock functions stand in the list without a release or a slow path beside them: waiting and "
            "the price of the calls cannot be told apart");
    for (const std::string& note : section.notes)
        text.lines.push_back(note);
    if (!text.lines.empty())
        document.blocks.emplace_back(std::move(text));
}

} // namespace

void addCandidates(const ReportSection& section, Document& document)
{
    if (section.candidates.empty())
        return;
    constexpr size_t kMostCandidates = 8;
    constexpr size_t kMostReasons = 3;
    DocumentText text{.label = "Candidates (NOT an answer)", .lines = {}};
    for (size_t i = 0; i < std::min(section.candidates.size(), kMostCandidates); ++i) {
        const Candidate& candidate = section.candidates[i];
        std::string line = candidate.name + ": ";
        for (size_t r = 0; r < std::min(candidate.reasons.size(), kMostReasons); ++r)
            line += (r == 0 ? "" : "; ") + candidate.reasons[r];
        if (candidate.reasons.size() > kMostReasons)
            line += fmt::format("; {} more", candidate.reasons.size() - kMostReasons);
        text.lines.push_back(std::move(line));
    }
    if (section.candidates.size() > kMostCandidates)
        text.lines.push_back(
            fmt::format("{} more in the JSON report", section.candidates.size() - kMostCandidates));
    if (section.kind == SectionKind::CpuProfile)
        text.lines.push_back(fmt::format("The {} of these functions are their own work; their waiting is in "
                                         "the routine that spins. So they do not "
                                         "rank the locks: the least of them may be the worst.",
            unitName(section.unit)));
    document.blocks.emplace_back(std::move(text));
}

DocumentTable lockTable(const ReportSection& section, size_t index, size_t most)
{
    DocumentTable table{.caption = {},
        .id = "locks",
        .columns = {{"Lock", Align::Left}, {"kind", Align::Left, 1}},
        .rows = {}};
    addPartColumns(section, table.columns);
    if (section.listed != 0)
        table.columns[2].optional = 2; // the value stands in the account and with the sites, too
    table.columns.push_back({"of lock"});
    table.columns.push_back({"named by", Align::Left});
    size_t left = 0;
    for (size_t i = 0; i < section.locks.size(); ++i) {
        const ReportLock& lock = section.locks[i];
        if (!section.askedLock.empty() && !lock.selected)
            continue;
        if (table.rows.size() == most) {
            ++left;
            continue;
        }
        const std::string pointer = fmt::format("{}/locks/{}", sectionPointer(index), i);
        std::vector<DocumentCell> row{
            labelCell(fmt::format("{} {}", lock.id, shownName(lock))), labelCell(lock.kind)};
        addPartCells(lock.part, section, pointer, row);
        row.push_back(shareCell(lock.ofLock, pointer + "/share_of_lock_percent", 1));
        row.push_back(labelCell(std::string(rungName(lock.rung))));
        table.rows.push_back(std::move(row));
    }
    if (left != 0)
        table.rows.push_back({labelCell(fmt::format("  {} more", left))});
    return table;
}

void addCpuSection(const ReportSection& section, size_t index, Document& document)
{
    document.blocks.emplace_back(accountTable(section, index));
    if (!section.groups.empty()) {
        constexpr size_t kMostGroups = 20;
        document.blocks.emplace_back(groupTable(section, index, kMostGroups));
    }
    if (!section.locks.empty()) {
        constexpr size_t kMostLocks = 12;
        document.blocks.emplace_back(lockTable(section, index, kMostLocks));
        DocumentTable sites = siteTable(section, index);
        if (!sites.rows.empty())
            document.blocks.emplace_back(std::move(sites));
    }
    if (!section.gain.empty())
        document.blocks.emplace_back(DocumentText{.label = "Gain", .lines = {section.gain}});
    const bool beyondLocks = section.overhead.value != 0 || section.undecided.value != 0;
    if (beyondLocks)
        document.blocks.emplace_back(
            symbolTable(section.lockSymbols, "Lock functions", "lock_symbols", section, index));
    if (section.locks.empty() && !section.topSymbols.empty())
        document.blocks.emplace_back(symbolTable(
            section.topSymbols, "Heaviest functions, no lock functions", "top_symbols", section, index));
    addCandidates(section, document);
    addSure(section, document);
}

} // namespace whichlock
