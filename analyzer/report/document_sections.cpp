// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/document_sections.h"

#include "analyzer/report/json_names.h"
#include "analyzer/report/section_builders.h"
#include "analyzer/report/value_format.h"

#include <algorithm>
#include <fmt/format.h>

namespace whichlock {
namespace {

DocumentCell label(std::string text)
{
    return {.text = std::move(text), .format = CellFormat::Text};
}

std::string sectionPointer(size_t index)
{
    return fmt::format("/sections/{}", index);
}

/// Locks without a name are shown by what is known of them.
std::string shownName(const ReportLock& lock)
{
    switch (lock.rung) {
    case Rung::Unnamed:
        return "? in " + lock.name;
    case Rung::CallSite:
        return "? at " + lock.sites.front().name;
    case Rung::NamedInData:
    case Rung::Symbol:
    case Rung::UserSymbol:
    case Rung::Type:
    case Rung::SourceLine:
    case Rung::Table:
        break;
    }
    return lock.name;
}

void addShareCells(const Part& part, const ReportSection& section, const std::string& pointer,
    std::vector<DocumentCell>& row)
{
    row.push_back(shareCell(part.ofTotal, pointer + "/share_of_total_percent", 2));
    if (section.busyKnown)
        row.push_back(shareCell(part.ofBusy, pointer + "/share_of_busy_percent", 2));
}

void addShareColumns(const ReportSection& section, std::vector<DocumentColumn>& columns)
{
    columns.push_back({section.totalBasis == "sum of the listed rows" ? "of listed" : "of all"});
    if (section.busyKnown)
        columns.push_back({"of busy"});
}

/// Value, share of all, share of busy: the columns that parts have.
void addPartCells(const Part& part, const ReportSection& section, const std::string& pointer,
    std::vector<DocumentCell>& row)
{
    if (section.listed != 0)
        row.push_back(countCell(part.value, pointer + "/value"));
    addShareCells(part, section, pointer, row);
}

void addPartColumns(const ReportSection& section, std::vector<DocumentColumn>& columns)
{
    if (section.listed != 0)
        columns.push_back({section.unit == Unit::Nanoseconds ? "ns" : std::string(unitName(section.unit))});
    addShareColumns(section, columns);
}

std::string valueCaption(const ReportSection& section)
{
    switch (section.unit) {
    case Unit::Ticks:
        return "Kernel-mode ticks (user mode is never counted)";
    case Unit::Nanoseconds:
        return "Sampled CPU time";
    case Unit::Events:
        return section.event + " (sum of the periods)";
    case Unit::Samples:
    case Unit::Count:
    case Unit::Percent:
        break;
    }
    return section.event.empty() ? "Samples" : "Samples of " + section.event;
}

DocumentTable accountTable(const ReportSection& section, size_t index)
{
    DocumentTable table{
        .caption = {}, .id = "account", .columns = {{valueCaption(section), Align::Left}}, .rows = {}};
    addPartColumns(section, table.columns);
    for (size_t i = 0; i < section.account.size(); ++i) {
        const AccountLine& line = section.account[i];
        // A not-listed rest of a list with percentages only has no value of its own to show.
        std::vector<DocumentCell> row{label(std::string(2 * line.indent, ' ') + line.what)};
        addPartCells(line.part, section, fmt::format("{}/account/{}", sectionPointer(index), i), row);
        if (!section.total && (line.key == "not-listed" || line.key == "total" || line.key == "busy")
            && section.listed != 0)
            row[1] = label("");
        table.rows.push_back(std::move(row));
    }
    return table;
}

/// Sites tell more than the lock row where there are several, or where the row is named by something else.
DocumentTable siteTable(const ReportSection& section, size_t index)
{
    DocumentTable table{
        .caption = {}, .id = "sites", .columns = {{"Waited for at", Align::Left}}, .rows = {}};
    addPartColumns(section, table.columns);
    table.columns.push_back({"of this lock"});
    constexpr size_t kMostLocks = 5;
    constexpr size_t kMostSites = 5;
    for (size_t l = 0; l < std::min(section.locks.size(), kMostLocks); ++l) {
        const ReportLock& lock = section.locks[l];
        if (lock.rung >= Rung::CallSite && lock.sites.size() < 2)
            continue;
        table.rows.push_back({label(fmt::format("{} {}", lock.id, shownName(lock)))});
        for (size_t s = 0; s < std::min(lock.sites.size(), kMostSites); ++s) {
            const ReportSite& site = lock.sites[s];
            const std::string pointer = fmt::format("{}/locks/{}/sites/{}", sectionPointer(index), l, s);
            std::vector<DocumentCell> row{label("    " + site.name)};
            addPartCells(site.part, section, pointer, row);
            row.push_back(shareCell(site.ofThisLock, pointer + "/share_of_this_lock_percent", 1));
            table.rows.push_back(std::move(row));
        }
        if (lock.sites.size() > kMostSites)
            table.rows.push_back({label(fmt::format("    {} more places", lock.sites.size() - kMostSites))});
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
        std::vector<DocumentCell> row{label(symbols[i].symbol)};
        if (roles)
            row.push_back(label(symbols[i].category));
        addPartCells(symbols[i].part, section, fmt::format("{}/{}/{}", sectionPointer(index), id, i), row);
        table.rows.push_back(std::move(row));
    }
    return table;
}

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

void addSure(const ReportSection& section, Document& document)
{
    DocumentText text{.label = "Sure", .lines = {}};
    if (section.contentionInterval && section.contention.value != 0
        && (section.samples != 0 ? section.samples : section.total.value_or(0)) < 1000)
        text.lines.push_back(fmt::format("95 % interval of the waiting: {} to {} {}",
            formatShare(section.contentionInterval->low, 1), formatShare(section.contentionInterval->high, 1),
            section.busyKnown ? "of busy" : "of all"));
    if (section.totalBasis == "sum of the listed rows")
        text.lines.emplace_back("no total is printed: shares are of the listed rows");
    if (section.totalBasis == "printed percentages")
        text.lines.emplace_back("no total is printed: shares are the printed percentages, added up");
    if (!section.contentionDecided)
        text.lines.emplace_back(
            "lock functions stand in the list without a release or a slow path beside them: waiting and "
            "the price of the calls cannot be told apart");
    for (const std::string& note : section.notes)
        text.lines.push_back(note);
    if (!text.lines.empty())
        document.blocks.emplace_back(std::move(text));
}

void addCpuSection(const ReportSection& section, size_t index, Document& document)
{
    document.blocks.emplace_back(accountTable(section, index));
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

/// Gives the figures of a column the same number of digits behind the point.
void alignDecimals(DocumentTable& table)
{
    const auto decimals = [](const std::string& text) {
        const size_t point = text.find('.');
        return point == std::string::npos ? size_t{0} : text.size() - point - 1;
    };
    for (size_t column = 0; column < table.columns.size(); ++column) {
        size_t most = 0;
        for (const auto& row : table.rows) {
            if (column < row.size() && row[column].format == CellFormat::Number)
                most = std::max(most, decimals(row[column].text));
        }
        for (auto& row : table.rows) {
            if (column >= row.size() || row[column].format != CellFormat::Number || most == 0)
                continue;
            std::string& text = row[column].text;
            const size_t own = decimals(text);
            text += (own == 0 ? "." : "") + std::string(most - own, '0');
        }
    }
}

void addCounterSection(const ReportSection& section, size_t index, Document& document)
{
    const ReportCounters& counters = *section.counters;
    DocumentTable table{.caption = {}, .id = "counters", .columns = {{"Means", Align::Left}}, .rows = {}};
    std::vector<std::string> names;
    const auto meanRow = [&](std::string what, const std::vector<std::optional<FixedPoint>>& means,
                             const char* field) {
        std::vector<DocumentCell> row{label(std::move(what))};
        for (size_t i = 0; i < counters.columns.size(); ++i) {
            const std::string& name = counters.columns[i];
            if (std::find(names.begin(), names.end(), name) == names.end())
                continue;
            const bool again =
                std::find(counters.columns.begin(), counters.columns.begin() + static_cast<long>(i), name)
                != counters.columns.begin() + static_cast<long>(i);
            const std::string key = again ? name + "_" + std::to_string(i + 1) : name;
            row.push_back(
                numberCell(means[i], fmt::format("{}/counters/{}/{}", sectionPointer(index), field, key)));
        }
        table.rows.push_back(std::move(row));
    };
    // What speaks about locks: who runs and waits, switches, the CPU. Memory is in the JSON.
    for (const char* wanted : {"r", "b", "in", "int", "cs", "us", "sy", "usr", "sys", "id", "wa", "st", "gu"})
        names.emplace_back(wanted);
    for (const std::string& name : counters.columns) {
        if (std::find(names.begin(), names.end(), name) != names.end())
            table.columns.push_back({name});
    }
    meanRow(fmt::format("all {} rows", counters.rows), counters.means, "means");
    if (!counters.meansWithoutFirst.empty())
        meanRow("without the first", counters.meansWithoutFirst, "means_without_first");
    alignDecimals(table);
    document.blocks.emplace_back(std::move(table));
}

void addMeasurementSection(const ReportSection& section, size_t index, Document& document)
{
    constexpr size_t kMostRows = 20;
    for (size_t t = 0; t < section.tables.size(); ++t) {
        const ReportTable& source = section.tables[t];
        const std::string unit = source.unit.empty() ? "" : " (" + source.unit + ")";
        DocumentTable table{
            .caption = {}, .id = "table", .columns = {{source.rowName + unit, Align::Left}}, .rows = {}};
        for (const std::string& column : source.columns)
            table.columns.push_back({column});
        for (size_t r = 0; r < std::min(source.rows.size(), kMostRows); ++r) {
            std::vector<DocumentCell> row{label(source.rows[r].label)};
            for (size_t c = 0; c < source.rows[r].values.size(); ++c)
                row.push_back(numberCell(source.rows[r].values[c],
                    fmt::format("{}/tables/{}/rows/{}/values/{}", sectionPointer(index), t, r, c)));
            table.rows.push_back(std::move(row));
        }
        if (source.rows.size() > kMostRows)
            table.rows.push_back({label(fmt::format("{} more rows", source.rows.size() - kMostRows))});
        alignDecimals(table);
        document.blocks.emplace_back(std::move(table));
    }
    addCandidates(section, document);
    if (!section.notes.empty())
        document.blocks.emplace_back(DocumentText{.label = "Finding", .lines = section.notes});
}

void addEventSection(const ReportSection& section, size_t index, Document& document)
{
    DocumentTable table{
        .caption = {}, .id = "events", .columns = {{"Event", Align::Left}, {"counted"}}, .rows = {}};
    table.rows.push_back(
        {label(section.event), countCell(section.total.value_or(0), sectionPointer(index) + "/total")});
    document.blocks.emplace_back(std::move(table));
}

std::string seen(std::string_view what, Sees sees)
{
    return fmt::format("{} {}", what, sees == Sees::No ? "NO" : seesName(sees));
}

} // namespace

DocumentCell countCell(uint64_t value, std::string pointer)
{
    return {.text = formatCount(value), .format = CellFormat::Count, .pointer = std::move(pointer)};
}

DocumentCell shareCell(const std::optional<Share>& share, std::string pointer, int decimals)
{
    if (!share)
        return {.text = "", .format = CellFormat::Text};
    return {.text = formatShare(*share, decimals),
        .format = decimals == 1 ? CellFormat::Share1 : CellFormat::Share2,
        .pointer = std::move(pointer)};
}

DocumentCell numberCell(const std::optional<FixedPoint>& value, std::string pointer)
{
    if (!value)
        return {.text = "-", .format = CellFormat::Text};
    return {.text = formatNumber(*value), .format = CellFormat::Number, .pointer = std::move(pointer)};
}

DocumentText headOf(const ReportSection& section)
{
    DocumentText head{.label = {}, .lines = {}, .indent = 1};
    std::string where = toString(section.position);
    if (!section.facts.command.empty())
        where += "  `" + section.facts.command + "`";
    head.lines.push_back(std::move(where));
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
    if (section.samples != 0)
        what += fmt::format(", {} samples, {} frames", section.samples, section.rows);
    else
        what += fmt::format(", {} rows", section.rows);
    head.lines.push_back(std::move(what));
    for (const std::string& repair : section.repairs)
        head.lines.push_back(repair);
    if (section.kind == SectionKind::CpuProfile) {
        const Coverage& sees = section.sees;
        head.lines.push_back("sees: " + seen("kernel spin", sees.kernelSpin) + ", "
            + seen("user spin", sees.userSpin) + ", "
            + seen("sleep", std::max(sees.kernelSleep, sees.userSleep)) + ", " + seen("holders", sees.holders)
            + ", " + seen("callers", sees.callers));
    }
    return head;
}

DocumentTable lockTable(const ReportSection& section, size_t index, size_t most)
{
    DocumentTable table{.caption = {},
        .id = "locks",
        .columns = {{"Lock", Align::Left}, {"kind", Align::Left, true}},
        .rows = {}};
    // The value stands in the account and with the sites: here the row has to stay short.
    addShareColumns(section, table.columns);
    table.columns.push_back({"of lock"});
    table.columns.push_back({"named by", Align::Left});
    for (size_t i = 0; i < std::min(section.locks.size(), most); ++i) {
        const ReportLock& lock = section.locks[i];
        const std::string pointer = fmt::format("{}/locks/{}", sectionPointer(index), i);
        std::vector<DocumentCell> row{
            label(fmt::format("{} {}", lock.id, shownName(lock))), label(lock.kind)};
        addShareCells(lock.part, section, pointer, row);
        row.push_back(shareCell(lock.ofLock, pointer + "/share_of_lock_percent", 1));
        row.push_back(label(std::string(rungName(lock.rung))));
        table.rows.push_back(std::move(row));
    }
    if (section.locks.size() > most)
        table.rows.push_back({label(fmt::format("  {} more", section.locks.size() - most))});
    return table;
}

void addComparisons(const Report& report, size_t index, Document& document)
{
    constexpr size_t kMostRows = 10;
    for (size_t c = 0; c < report.comparisons.size(); ++c) {
        const ReportComparison& comparison = report.comparisons[c];
        if (comparison.section != index)
            continue;
        DocumentTable table{.caption = fmt::format("{} -> {}", comparison.before, comparison.after),
            .id = "comparison",
            .columns = {{comparison.about, Align::Left}, {"before"}, {"after"}, {"change"}},
            .rows = {}};
        const bool points = std::any_of(comparison.rows.begin(), comparison.rows.end(),
            [](const ComparisonRow& row) { return row.changePoints.has_value(); });
        if (points)
            table.columns.push_back({"points"});
        for (size_t r = 0; r < std::min(comparison.rows.size(), kMostRows); ++r) {
            const ComparisonRow& row = comparison.rows[r];
            const std::string pointer = fmt::format("/comparisons/{}/rows/{}", c, r);
            std::vector<DocumentCell> cells{label(row.what), numberCell(row.before, pointer + "/before"),
                numberCell(row.after, pointer + "/after")};
            cells.push_back(row.changePercent ? DocumentCell{.text = formatChange(*row.changePercent),
                                .format = CellFormat::Change,
                                .pointer = pointer + "/change_percent"}
                                              : label(""));
            if (row.changePoints)
                cells.push_back({.text = formatPoints(*row.changePoints),
                    .format = CellFormat::Points,
                    .pointer = pointer + "/change_points"});
            table.rows.push_back(std::move(cells));
        }
        if (comparison.rows.size() > kMostRows)
            table.rows.push_back({label(fmt::format("{} more rows", comparison.rows.size() - kMostRows))});
        document.blocks.emplace_back(std::move(table));
        if (!comparison.note.empty())
            document.blocks.emplace_back(DocumentText{.label = {}, .lines = {comparison.note}, .indent = 2});
    }
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
