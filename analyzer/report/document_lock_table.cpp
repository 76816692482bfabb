// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of lock statistics: the locks, of each where it is waited for and who had it, readers and writers.
#include "analyzer/report/document_cells.h"
#include "analyzer/report/document_sections.h"
#include "analyzer/report/section_builders.h"
#include "analyzer/report/value_format.h"

#include <algorithm>
#include <fmt/format.h>

namespace whichlock {
namespace {

constexpr size_t kMostLocks = 12;
constexpr size_t kMostSites = 5;

using Rows = std::vector<ReportTableLock>;

/// Sums, or single times of a table: those below 10 ms are shown in us.
class TimeUnit {
public:
    enum class Of : uint8_t { Sums, Single };

    TimeUnit(const Rows& rows, Of what)
    {
        constexpr uint64_t kFew = 10'000'000;
        for (const ReportTableLock& row : rows) {
            for (const LockTimes* times : {&row.figures.wait, &row.figures.hold}) {
                const auto& ns = what == Of::Sums ? times->totalNs : times->meanNs;
                small_ = small_ && ns.value_or(0) < kFew;
            }
        }
    }

    const char* name() const { return small_ ? "us" : "ms"; }
    DocumentCell cell(const std::optional<uint64_t>& ns, std::string pointer) const
    {
        if (!ns)
            return labelCell("-");
        return small_ ? smallTimeCell(*ns, std::move(pointer)) : timeCell(*ns, std::move(pointer));
    }

private:
    bool small_ = true;
};

DocumentCell countOrDash(const std::optional<uint64_t>& value, std::string pointer)
{
    return value ? countCell(*value, std::move(pointer)) : labelCell("-");
}

/// One column of the table, left out where no row has its figure.
struct Column {
    DocumentColumn head;
    bool (*has)(const ReportTableLock&);
    DocumentCell (*cell)(const ReportTableLock&, const TimeUnit&, const std::string& pointer);
    bool single = false; ///< its times are single ones, not sums
};

std::vector<Column> columnsFor(const TimeUnit& sums, const TimeUnit& single)
{
    using Lock = const ReportTableLock&;
    using Unit = const TimeUnit&;
    using Text = const std::string&;
    const std::string sum = sums.name();
    const std::string one = single.name();
    return {
        {{"kind", Align::Left, 5}, [](Lock l) { return !l.figures.kind.empty(); },
            [](Lock l, Unit, Text) { return labelCell(l.figures.kind); }},
        {{"wait " + sum}, [](Lock l) { return l.figures.wait.totalNs.has_value(); },
            [](Lock l, Unit u, Text p) { return u.cell(l.figures.wait.totalNs, p + "/value"); }},
        {{"of lock"}, [](Lock l) { return l.ofLock.has_value(); },
            [](Lock l, Unit, Text p) { return shareCell(l.ofLock, p + "/share_of_lock_percent", 1); }},
        {{"of CPUs"}, [](Lock l) { return l.figures.cpuShare.has_value(); },
            [](Lock l, Unit, Text p) {
                return shareCell(l.figures.cpuShare, p + "/share_of_cpus_percent", 2);
            }},
        {{"waits"}, [](Lock l) { return l.figures.contentions.has_value(); },
            [](Lock l, Unit, Text p) { return countOrDash(l.figures.contentions, p + "/contentions"); }},
        {{"taken", Align::Right, 4}, [](Lock l) { return l.figures.acquisitions.has_value(); },
            [](Lock l, Unit, Text p) { return countOrDash(l.figures.acquisitions, p + "/acquisitions"); }},
        {{"mean " + one}, [](Lock l) { return l.figures.wait.meanNs.has_value(); },
            [](Lock l, Unit u, Text p) { return u.cell(l.figures.wait.meanNs, p + "/mean_ns"); }, true},
        {{"max " + one, Align::Right, 1}, [](Lock l) { return l.figures.wait.maxNs.has_value(); },
            [](Lock l, Unit u, Text p) { return u.cell(l.figures.wait.maxNs, p + "/max_ns"); }, true},
        {{"held " + sum, Align::Right, 3}, [](Lock l) { return l.figures.hold.totalNs.has_value(); },
            [](Lock l, Unit u, Text p) { return u.cell(l.figures.hold.totalNs, p + "/hold_total_ns"); }},
        {{"mean held " + one, Align::Right, 2}, [](Lock l) { return l.figures.hold.meanNs.has_value(); },
            [](Lock l, Unit u, Text p) { return u.cell(l.figures.hold.meanNs, p + "/hold_mean_ns"); }, true},
    };
}

DocumentTable tableOf(const Rows& rows, const std::string& list, const char* title, size_t index, size_t most)
{
    const TimeUnit sums(rows, TimeUnit::Of::Sums);
    const TimeUnit single(rows, TimeUnit::Of::Single);
    DocumentTable table{.caption = {}, .id = list, .columns = {{title, Align::Left}}, .rows = {}};
    std::vector<Column> used;
    for (Column& column : columnsFor(sums, single)) {
        if (std::any_of(rows.begin(), rows.end(), column.has))
            used.push_back(std::move(column));
    }
    for (const Column& column : used)
        table.columns.push_back(column.head);
    for (size_t i = 0; i < std::min(rows.size(), most); ++i) {
        const std::string pointer = fmt::format("{}/{}/{}", sectionPointer(index), list, i);
        std::vector<DocumentCell> row{labelCell(fmt::format("{} {}", rows[i].id, rows[i].name))};
        for (const Column& column : used)
            row.push_back(column.cell(rows[i], column.single ? single : sums, pointer));
        table.rows.push_back(std::move(row));
    }
    if (rows.size() > most)
        table.rows.push_back({labelCell(fmt::format("  {} more", rows.size() - most))});
    return table;
}

DocumentTable siteTable(
    const ReportTableLock& lock, bool holders, const TimeUnit& unit, const std::string& pointer)
{
    DocumentTable table{.caption = {},
        .id = holders ? "holders" : "sites",
        .columns = {{fmt::format("{} {} at", lock.id, holders ? "held meanwhile" : "waited for"),
            Align::Left}},
        .rows = {}};
    const bool times = std::any_of(lock.sites.begin(), lock.sites.end(), [&](const ReportTableSite& site) {
        return site.figures.holder == holders && site.figures.wait.totalNs;
    });
    const bool counts = std::any_of(lock.sites.begin(), lock.sites.end(), [&](const ReportTableSite& site) {
        return site.figures.holder == holders && site.figures.contentions;
    });
    if (counts)
        table.columns.push_back({"waits"});
    if (times)
        table.columns.push_back({std::string("wait ") + unit.name()});
    table.columns.push_back({times ? "of this lock" : holders ? "of the listed" : "of its waits"});
    size_t shown = 0;
    size_t more = 0;
    for (size_t i = 0; i < lock.sites.size(); ++i) {
        const ReportTableSite& site = lock.sites[i];
        if (site.figures.holder != holders)
            continue;
        if (shown == kMostSites) {
            ++more;
            continue;
        }
        ++shown;
        const std::string at = fmt::format("{}/sites/{}", pointer, i);
        std::vector<DocumentCell> row{labelCell(site.figures.function)};
        if (counts)
            row.push_back(countOrDash(site.figures.contentions, at + "/contentions"));
        if (times)
            row.push_back(unit.cell(site.figures.wait.totalNs, at + "/value"));
        row.push_back(holders && !times ? shareCell(site.ofListed, at + "/share_of_listed_sites_percent", 1)
                                        : shareCell(site.ofThisLock, at + "/share_of_this_lock_percent", 1));
        table.rows.push_back(std::move(row));
    }
    if (more != 0)
        table.rows.push_back({labelCell(fmt::format("  {} more places", more))});
    return table;
}

DocumentTable sideTable(
    const ReportTableLock& lock, const TimeUnit& unit, const TimeUnit& single, const std::string& pointer)
{
    DocumentTable table{.caption = {},
        .id = "sides",
        .columns = {{fmt::format("{} by side", lock.id), Align::Left}, {std::string("wait ") + unit.name()},
            {"of this lock"}, {"waits"}, {std::string("mean ") + single.name()},
            {std::string("max ") + single.name()}},
        .rows = {}};
    for (size_t i = 0; i < lock.sides.size(); ++i) {
        const ReportTableSide& side = lock.sides[i];
        const std::string at = fmt::format("{}/sides/{}", pointer, i);
        table.rows.push_back({labelCell(side.side == "read" ? "readers" : "writers"),
            unit.cell(side.wait.totalNs, at + "/value"),
            shareCell(side.ofThisLock, at + "/share_of_this_lock_percent", 1),
            countOrDash(side.contentions, at + "/contentions"),
            single.cell(side.wait.meanNs, at + "/mean_ns"), single.cell(side.wait.maxNs, at + "/max_ns")});
    }
    return table;
}

/// Places are worth a table only where they say more than the name of the row.
bool hasSites(const ReportTableLock& lock, bool holders)
{
    const auto count = std::count_if(lock.sites.begin(), lock.sites.end(),
        [&](const ReportTableSite& site) { return site.figures.holder == holders; });
    return count > (lock.rung == Rung::CallSite ? 1 : 0);
}

} // namespace

DocumentTable lockStatisticsTable(const ReportSection& section, size_t index, size_t most)
{
    return tableOf(section.lockTable->locks, "locks", "Lock", index, most);
}

void addLockTableSection(const ReportSection& section, size_t index, Document& document)
{
    const ReportLockTable& table = *section.lockTable;
    if (!section.account.empty())
        document.blocks.emplace_back(accountTable(section, index));
    if (!section.groups.empty())
        document.blocks.emplace_back(groupTable(section, index, kMostLocks));
    if (!table.locks.empty())
        document.blocks.emplace_back(lockStatisticsTable(section, index, kMostLocks));
    if (!table.waiters.empty())
        document.blocks.emplace_back(tableOf(table.waiters, table.facts.holders ? "waited_for" : "waiters",
            table.facts.holders ? "Waited for" : "Waited", index, kMostLocks));
    const TimeUnit unit(table.locks, TimeUnit::Of::Sums);
    const TimeUnit single(table.locks, TimeUnit::Of::Single);
    constexpr size_t kMostDetailed = 3;
    for (size_t i = 0; i < std::min(table.locks.size(), kMostDetailed); ++i) {
        const ReportTableLock& lock = table.locks[i];
        const std::string pointer = fmt::format("{}/locks/{}", sectionPointer(index), i);
        if (lock.sides.size() > 1)
            document.blocks.emplace_back(sideTable(lock, unit, single, pointer));
        for (const bool holders : {false, true}) {
            if (hasSites(lock, holders))
                document.blocks.emplace_back(siteTable(lock, holders, unit, pointer));
        }
    }
    addCandidates(section, document);
    if (!section.gain.empty())
        document.blocks.emplace_back(DocumentText{.label = "Gain", .lines = {section.gain}});
    if (!section.notes.empty())
        document.blocks.emplace_back(DocumentText{.label = "Notes", .lines = section.notes});
    if (!table.leftOut.empty())
        document.blocks.emplace_back(DocumentText{.label = "Not seen", .lines = table.leftOut});
}

} // namespace whichlock
