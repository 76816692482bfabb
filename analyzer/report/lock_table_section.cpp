// SPDX-License-Identifier: GPL-3.0-or-later
// Sections of tables in which a tool has already added up what it saw of locks.
#include "analyzer/report/section_builders.h"
#include "analyzer/report/shares.h"
#include "analyzer/report/value_format.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace whichlock {
namespace {

using Figure = std::optional<uint64_t>;

/// Absent only where both are; what does not fit stays at the largest number.
void add(Figure& to, const Figure& from)
{
    if (!from)
        return;
    uint64_t sum = 0;
    to = __builtin_add_overflow(to.value_or(0), *from, &sum) ? UINT64_MAX : sum;
}

void add(std::optional<Share>& to, const std::optional<Share>& from)
{
    if (from)
        to = saturatedSum(to.value_or(Share{}), *from);
}

/// A mean of several rows is known by their sum and number only.
void add(LockTimes& to, const LockTimes& from, const Figure& count)
{
    add(to.totalNs, from.totalNs);
    if (from.minNs)
        to.minNs = std::min(to.minNs.value_or(UINT64_MAX), *from.minNs);
    if (from.maxNs)
        to.maxNs = std::max(to.maxNs.value_or(0), *from.maxNs);
    to.meanNs = to.totalNs && count && *count != 0 ? Figure(*to.totalNs / *count) : std::nullopt;
}

void addFigures(const LockTableRow& from, LockTableRow& to)
{
    add(to.acquisitions, from.acquisitions);
    add(to.contentions, from.contentions);
    add(to.rejected, from.rejected);
    add(to.waitBounces, from.waitBounces);
    add(to.takeBounces, from.takeBounces);
    add(to.wait, from.wait, to.contentions);
    add(to.hold, from.hold, to.acquisitions);
    add(to.cpuShare, from.cpuShare);
    add(to.utilisation, from.utilisation);
    if (to.kind.empty())
        to.kind = from.kind;
}

/// Number times mean, where a table prints no sum.
Figure productOf(const Figure& count, const Figure& mean)
{
    uint64_t product = 0;
    if (!count || !mean || __builtin_mul_overflow(*count, *mean, &product))
        return std::nullopt;
    return product;
}

class LockTableSectionBuilder {
public:
    LockTableSectionBuilder(const Profile& profile, const Section& section, const LockTableRecord& record,
        const RoutineTable& routines, ReportSection& out)
        : record_(record)
        , section_(section)
        , profile_(profile)
        , routines_(routines)
        , context_(recordingContextOf(profile, section, routines))
        , out_(out)
        , table_(out.lockTable.emplace())
    {
        if (!context_.era && !context_.symbolEra.since)
            context_.symbolEra.since = firstKernelWithSites();
    }

    void run()
    {
        table_.facts = record_;
        table_.facts.rows.clear();
        out_.rows = record_.rowsPrinted;
        out_.facts.kernel = context_.kernel;
        out_.facts.kernelSource = context_.kernelSource;
        out_.facts.arch = context_.arch;
        out_.facts.archSource = context_.archSource;
        for (const LockTableRow& row : record_.rows)
            addRow(usable(row));
        addShares();
        sort();
        addCoverage();
        addCandidates();
        addLeftOut();
        if (table_.waitsKnown) {
            out_.total = wholeNs();
            out_.totalBasis = record_.total ? "printed" : "sum of the listed rows";
        }
        out_.listed = table_.waitNs;
    }

private:
    /// The row without times that cannot be, and with a sum where it follows from number and mean.
    LockTableRow usable(LockTableRow row)
    {
        if (record_.timesBroken) {
            row.wait = {};
            row.hold = {};
        }
        if (!row.wait.totalNs)
            row.wait.totalNs = productOf(row.contentions, row.wait.meanNs);
        if (row.wait.totalNs && !record_.holdsOnly)
            table_.waitsKnown = true;
        return row;
    }

    bool isOfLocks() const { return record_.key == LockTableKey::Lock || record_.key == LockTableKey::Site; }

    ReportTableLock named(const LockTableRow& row) const
    {
        ReportTableLock lock;
        if (!isOfLocks()) {
            lock.name = row.name.empty() ? fmt::format("task {}", row.tid) : row.name;
            return lock;
        }
        if (!row.name.empty()) {
            lock.name = row.name;
            lock.rung = Rung::NamedInData;
            lock.basis = row.nameCut ? "named in the data, cut there" : "named in the data";
            return lock;
        }
        if (!row.site.empty()) {
            if (auto found = lockOfPlace(row)) {
                lock.name = std::move(found->name);
                lock.rung = Rung::Table;
                lock.basis = std::move(found->basis);
                return lock;
            }
            lock.name = (record_.givenBack ? "lock given back at " : "lock taken at ") + row.site;
            lock.rung = Rung::CallSite;
            lock.basis = "call site";
            return lock;
        }
        lock.name = row.address.empty() ? "a lock without a name" : "lock at " + row.address;
        lock.basis = row.address.empty() ? "the table does not name it" : "address";
        return lock;
    }

    /// The first kernel that has what a tool needs to tell waiting by place: events of contention for perf,
    /// BPF programs at the ends of functions for klockstat.
    std::optional<KernelVersion> firstKernelWithSites() const
    {
        if (record_.key != LockTableKey::Site)
            return std::nullopt;
        if (section_.record.format == "perf-lock")
            return KernelVersion::parse("5.19");
        return section_.record.format == "klockstat" ? KernelVersion::parse("4.1") : std::nullopt;
    }

    /// What the tables know of the place where a row's lock is taken.
    std::optional<SiteLock> lockOfPlace(const LockTableRow& row) const
    {
        const std::string_view format = section_.record.format;
        const bool ofKernel =
            format == "perf-lock" || format == "klockstat" || format == "lockmeter" || format == "lock-stat";
        if (!ofKernel || record_.givenBack)
            return std::nullopt;
        // lockmeter names every global lock itself: what it cannot name is part of an object.
        const bool lockmeter = format == "lockmeter";
        auto found = lockOfSite(row.site, routines_, context_);
        if (found && (!lockmeter || found->name.find("->") != std::string::npos))
            return found;
        std::vector<LockTake> takes = lockTakesOfKind(row.kind, row.side);
        if (row.kind.empty()) // tools that follow the locks that sleep, and do not print which kind it was
            for (const std::string_view kind : {"mutex", "rwsem"})
                for (const LockTake take : lockTakesOfKind(kind, {}))
                    takes.push_back(take);
        return lockOfSite(row.site, takes, lockmeter ? NamesOf::MembersOnly : NamesOf::All, context_);
    }

    void addRow(const LockTableRow& row)
    {
        ReportTableLock fresh = named(row);
        std::vector<ReportTableLock>& list = isOfLocks() ? table_.locks : table_.waiters;
        std::string key = fmt::format("{}\n{}\n{}", static_cast<int>(fresh.rung), fresh.name, row.tid);
        if (row.nameCut)
            key += fmt::format("\n{}", row.line); // two names may be cut alike
        const auto [entry, isNew] = places_.try_emplace(std::move(key), list.size());
        if (isNew)
            list.push_back(std::move(fresh));
        ReportTableLock& lock = list[entry->second];
        if (isNew) {
            lock.figures.address = row.address;
            lock.figures.tid = row.tid;
        }
        const bool single = ++lock.rows == 1;
        addFigures(row, lock.figures);
        if (single) { // printed means are kept as printed
            lock.figures.wait.meanNs = row.wait.meanNs ? row.wait.meanNs : lock.figures.wait.meanNs;
            lock.figures.hold.meanNs = row.hold.meanNs ? row.hold.meanNs : lock.figures.hold.meanNs;
        }
        if (!row.side.empty())
            lock.sides.push_back({row.side, row.contentions, row.wait, std::nullopt});
        for (const LockTableSite& site : row.sites)
            lock.sites.push_back({site, std::nullopt, std::nullopt});
        if (!row.site.empty())
            lock.sites.push_back({{.function = row.site,
                                      .holder = record_.givenBack,
                                      .contentions = row.contentions,
                                      .wait = row.wait,
                                      .cpuShare = row.cpuShare},
                std::nullopt, std::nullopt});
        if (!record_.holdsOnly)
            add(sum_, row.wait.totalNs);
        add(cpuShares_, row.cpuShare);
    }

    void addShares()
    {
        table_.waitNs = sum_.value_or(0);
        const Figure whole = record_.total ? record_.total->wait.totalNs : std::nullopt;
        const uint64_t wholeNs = std::max(whole.value_or(0), table_.waitNs);
        takeCpuShares(wholeNs);
        // Products of rounded means do not add up; where processor shares are printed, those are the parts.
        if (!table_.cpuShare)
            table_.unlistedNs = wholeNs - table_.waitNs;
        for (std::vector<ReportTableLock>* list : {&table_.locks, &table_.waiters}) {
            for (ReportTableLock& lock : *list) {
                lock.ofLock = shareOfTable(lock.figures);
                addSiteShares(lock);
            }
        }
    }

    /// The share of all processors' time, as printed for the whole table or of the listed rows.
    void takeCpuShares(uint64_t wholeNs)
    {
        std::optional<Share> share = cpuShares_;
        if (record_.total && record_.total->cpuShare)
            share = record_.total->cpuShare;
        if (share && share->ppb <= 0 && wholeNs != 0) {
            brokenClock_ = true;
            for (ReportTableLock& lock : table_.locks) {
                lock.figures.cpuShare.reset();
                lock.figures.utilisation.reset();
                for (ReportTableSite& site : lock.sites)
                    site.figures.cpuShare.reset();
            }
            return;
        }
        table_.cpuShare = share;
        table_.cpuShareListed = share && !record_.total;
    }

    /// The printed share of processor time is exact where the sum of waiting is only derived.
    std::optional<Share> shareOfTable(const LockTableRow& row) const
    {
        if (record_.holdsOnly)
            return std::nullopt;
        const bool printed = table_.cpuShare && table_.cpuShare->ppb > 0;
        if (printed && row.cpuShare && row.cpuShare->ppb >= 0)
            return shareOf(
                static_cast<uint64_t>(row.cpuShare->ppb), static_cast<uint64_t>(table_.cpuShare->ppb));
        if (!table_.waitsKnown || !row.wait.totalNs)
            return std::nullopt;
        return shareOf(*row.wait.totalNs, wholeNs());
    }

    uint64_t wholeNs() const
    {
        uint64_t whole = 0;
        return __builtin_add_overflow(table_.waitNs, table_.unlistedNs, &whole) ? UINT64_MAX : whole;
    }

    static void addSiteShares(ReportTableLock& lock)
    {
        const Figure& all = lock.figures.wait.totalNs;
        for (ReportTableSide& side : lock.sides) {
            if (side.wait.totalNs && all)
                side.ofThisLock = shareOf(*side.wait.totalNs, *all);
        }
        uint64_t listed[2] = {};
        for (const ReportTableSite& site : lock.sites)
            listed[site.figures.holder] += site.figures.contentions.value_or(0);
        for (ReportTableSite& site : lock.sites) {
            const Figure& count = site.figures.contentions;
            if (site.figures.wait.totalNs && all)
                site.ofThisLock = shareOf(*site.figures.wait.totalNs, *all);
            else if (count && lock.figures.contentions && !site.figures.holder)
                site.ofThisLock = shareOf(*count, *lock.figures.contentions);
            if (count)
                site.ofListed = shareOf(*count, listed[site.figures.holder]);
        }
        std::stable_sort(
            lock.sites.begin(), lock.sites.end(), [](const ReportTableSite& a, const ReportTableSite& b) {
                if (a.figures.holder != b.figures.holder)
                    return b.figures.holder;
                return std::pair(a.figures.wait.totalNs, a.figures.contentions)
                    > std::pair(b.figures.wait.totalNs, b.figures.contentions);
            });
    }

    void sort()
    {
        const bool holds = record_.holdsOnly;
        for (std::vector<ReportTableLock>* list : {&table_.locks, &table_.waiters}) {
            std::stable_sort(
                list->begin(), list->end(), [&](const ReportTableLock& a, const ReportTableLock& b) {
                    const auto weight = [&](const ReportTableLock& lock) {
                        const LockTableRow& row = lock.figures;
                        return std::tuple(
                            lock.ofLock, holds ? row.hold.totalNs : row.wait.totalNs, row.contentions);
                    };
                    return weight(a) > weight(b);
                });
            for (size_t i = 0; i < list->size(); ++i)
                (*list)[i].id = static_cast<uint32_t>(i + 1);
        }
    }

    void addCoverage()
    {
        Coverage& sees = out_.sees;
        if (record_.holdsOnly)
            return;
        const std::string& format = section_.record.format;
        const bool kernelClasses = format == "lock-stat";
        if (format.starts_with("pprof")) { // of programs
            sees.userSleep = Sees::Partly;
            sees.holders = record_.givenBack ? Sees::Yes : Sees::No;
            sees.callers = record_.givenBack ? Sees::No : Sees::Yes;
            return;
        }
        sees.kernelSpin = kernelClasses || format == "lockmeter" ? Sees::Yes : Sees::Partly;
        sees.kernelSleep = kernelClasses ? Sees::Yes : format == "lockmeter" ? Sees::No : Sees::Partly;
        const auto any = [&](auto has) {
            return std::any_of(table_.locks.begin(), table_.locks.end(), [&](const ReportTableLock& lock) {
                return std::any_of(lock.sites.begin(), lock.sites.end(), has);
            });
        };
        sees.callers =
            any([](const ReportTableSite& site) { return !site.figures.holder; }) ? Sees::Yes : Sees::No;
        sees.holders = record_.holders || any([](const ReportTableSite& site) { return site.figures.holder; })
            ? Sees::Partly
            : Sees::No;
    }

    /// Locks that the text around a table without names speaks of.
    void addCandidates()
    {
        const bool unnamed = std::any_of(table_.locks.begin(), table_.locks.end(),
            [](const ReportTableLock& lock) { return !isNamed(lock.rung); });
        if (!unnamed)
            return;
        CandidateList list(routines_, context_);
        for (const Fact& fact : profile_.inputs[section_.input].facts) {
            if (fact.kind == FactKind::Mention)
                list.mentioned(fact.value, fmt::format("line {}", fact.position.line));
        }
        out_.candidates = list.take();
    }

    void addLeftOut()
    {
        for (const std::string& warning : record_.warnings)
            table_.leftOut.push_back("The tool itself warns: " + warning);
        if (brokenClock_)
            table_.leftOut.emplace_back(
                "Utilisation and share of processor time are 0 in every row although there was "
                "waiting: the clock behind them is broken, and no use is made of them.");
        if (table_.unlistedNs != 0)
            table_.leftOut.push_back(fmt::format("{} ms of the printed total are in no row that is listed.",
                formatMilliseconds(table_.unlistedNs)));
        if (record_.timesBroken)
            table_.leftOut.emplace_back(
                "The times are near 2^64 ns, differences below zero: no use is made of them.");
        if (record_.holdsOnly)
            table_.leftOut.emplace_back("These are times that locks were held, not waited for.");
        if (record_.waitsDerived && table_.waitsKnown)
            table_.leftOut.emplace_back(
                "No sum of waiting is printed: it is the number of waits times their rounded mean.");
        if (record_.givenBack)
            table_.leftOut.emplace_back("The waiting is charged to whoever gave the lock back: these are "
                                        "places of holders. Where it was waited for is not in this input.");
        if (record_.key == LockTableKey::Site && !record_.holdsOnly)
            table_.leftOut.emplace_back("Rows are places, not locks: one place may take many locks, and one "
                                        "lock is taken at many places.");
        if (section_.record.format == "lock-stat")
            table_.leftOut.emplace_back(
                "A class is not one lock: all locks of a kind are one row. At most four "
                "places are kept for each class.");
    }

    const LockTableRecord& record_;
    const Section& section_;
    const Profile& profile_;
    const RoutineTable& routines_;
    RecordingContext context_;
    ReportSection& out_;
    ReportLockTable& table_;
    std::map<std::string, size_t> places_;
    Figure sum_;
    std::optional<Share> cpuShares_;
    bool brokenClock_ = false;
};

} // namespace

void buildLockTable(const Profile& profile, const Section& section, const LockTableRecord& table,
    const RoutineTable& routines, ReportSection& out)
{
    LockTableSectionBuilder(profile, section, table, routines, out).run();
}

void buildLockTableSection(
    const Profile& profile, const Section& section, const RoutineTable& routines, ReportSection& out)
{
    buildLockTable(profile, section, *section.lockTable, routines, out);
}

} // namespace whichlock
