// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/trace_record.h"

#include "analyzer/traces/called_lock.h"
#include "analyzer/traces/lock_patterns.h"
#include "analyzer/traces/record_rows.h"

#include <algorithm>
#include <tuple>

namespace whichlock {
namespace {

std::string_view sideName(WaitReason reason)
{
    return reason == WaitReason::RwlockRead ? "read" : reason == WaitReason::RwlockWrite ? "write" : "-";
}

std::vector<NamedTime> sortedTimes(const std::map<std::string, uint64_t>& sums)
{
    std::vector<NamedTime> times;
    for (const auto& [name, ns] : sums)
        times.push_back({name, ns});
    sortByWeight(times, [](const NamedTime& one) { return one.ns; });
    return times;
}

/// Builds the rows of one analysis.
class RecordBuilder {
public:
    RecordBuilder(const TraceAnalysis& analysis, TraceNames& names)
        : analysis_(analysis)
        , names_(names)
    {
    }

    LockTraceRecord build()
    {
        LockTraceRecord record;
        record.durationNs = analysis_.window.lengthOf(analysis_.beginNs, analysis_.endNs);
        record.wholeNs = analysis_.endNs - analysis_.beginNs;
        record.fromNs = analysis_.window.clamp(analysis_.beginNs) - analysis_.beginNs;
        record.events = analysis_.events;
        record.hasSwitches = analysis_.hasSwitches;
        record.hasWakings = analysis_.hasWakings;
        record.sampled = analysis_.gaps.sampled;
        record.lostEvents = analysis_.gaps.lostEvents;
        record.endsWithoutBegin = analysis_.gaps.endsWithoutBegin;
        record.beginsWithoutEnd = analysis_.gaps.beginsWithoutEnd;
        record.unlikelyPairs = analysis_.gaps.unlikelyPairs;
        record.unseenSwitches = analysis_.gaps.unseenSwitches;
        for (const TraceSite& site : analysis_.sites) {
            record.hasContention = record.hasContention || site.channel == WaitChannel::Contention;
            record.hasFutexes = record.hasFutexes || site.channel == WaitChannel::Futex;
            record.hasRecordedHolds = record.hasRecordedHolds || site.channel == WaitChannel::RecordedHolds
                || site.channel == WaitChannel::Trylock;
        }
        addWaiters(analysis_, record);
        addLocks(record);
        std::map<std::string, uint64_t> blocked;
        for (const auto& [stack, ns] : analysis_.blockedAt)
            blocked[names_.sleepOf({stack})] += ns;
        record.blockedAt = sortedTimes(blocked);
        return record;
    }

private:
    void addLocks(LockTraceRecord& record)
    {
        std::vector<TracedCall> calls(analysis_.locks.size());
        for (size_t i = 0; i < calls.size(); ++i) {
            calls[i] = callOf(analysis_.locks[i]);
            if (analysis_.locks[i].key.space == LockSpace::Kernel)
                names_.learn(analysis_.locks[i].key.address, calls[i]);
        }
        std::vector<std::pair<TracedLock, uint32_t>> rows;
        for (uint32_t i = 0; i < analysis_.locks.size(); ++i) {
            const TraceLock& lock = analysis_.locks[i];
            if (lock.waits + lock.openWaits > 0)
                rows.emplace_back(lockRow(lock, std::move(calls[i])), i);
        }
        std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
            const auto key = [](const TracedLock& lock) {
                return std::tuple(!lock.isLock, ~lock.valueNs, lock.address, lock.pid);
            };
            return key(a.first) < key(b.first);
        });
        std::vector<uint32_t> placeOf(analysis_.locks.size());
        for (uint32_t place = 0; place < rows.size(); ++place)
            placeOf[rows[place].second] = place;
        for (auto& [row, from] : rows) {
            addHolders(analysis_.locks[from], placeOf, row);
            addRoots(analysis_.locks[from], placeOf, row);
            row.innerOf =
                analysis_.locks[from].innerOf == 0 ? 0 : placeOf[analysis_.locks[from].innerOf - 1] + 1;
            (row.isLock ? record.offCpu.lockNs : record.offCpu.conditionNs) += row.offCpuNs;
            record.locks.push_back(std::move(row));
        }
    }

    TracedCall callOf(const TraceLock& lock)
    {
        CalledLockNames names(lock.kind);
        for (const uint32_t index : lock.sites) {
            const TraceSite& site = analysis_.sites[index];
            if (lock.isLock)
                names.add(names_.lockOf(site.stack), site.waitNs + site.openNs);
        }
        return names.common();
    }

    static void setVariable(TracedVariable variable, TracedLock& row)
    {
        row.symbol = std::move(variable.name);
        row.symbolOffset = variable.offset;
        row.object = std::move(variable.object);
        row.verified = variable.verified;
    }

    TracedLock lockRow(const TraceLock& lock, TracedCall call)
    {
        TracedLock row;
        row.space = lock.key.space == LockSpace::Kernel ? "kernel"
            : lock.key.space == LockSpace::Shared       ? "shared"
            : lock.key.space == LockSpace::CallSite     ? "call-site"
                                                        : "process";
        row.address = lock.key.space == LockSpace::CallSite ? 0 : lock.key.address;
        row.kind = lockKindName(lock.kind);
        row.isLock = lock.isLock;
        row.parks = lock.kind == LockKind::Parker || lock.kind == LockKind::ConditionLock;
        if (lock.key.space == LockSpace::CallSite)
            row.pid = analysis_.processes[lock.key.owner - 1].pid;
        if (lock.key.space == LockSpace::Process) {
            const TraceProcess& process = analysis_.processes[lock.key.owner - 1];
            row.pid = process.pid;
            setVariable(names_.variableOf(process, lock.key.address), row);
        } else if (lock.key.space == LockSpace::Kernel) {
            setVariable(names_.kernelVariable(lock.key.address), row);
        }
        row.called = std::move(call.lock);
        row.expression = std::move(call.expression);
        row.calledVariable = call.variable;
        row.calledVerified = call.verified;
        row.calledBtf = call.btf;
        if (lock.key.space == LockSpace::Kernel && lock.isLock && row.symbol.empty() && row.called.empty())
            nameByKernels(lock, row);
        addInstances(lock, row);
        addFigures(lock, row);
        addSites(lock, row);
        if (lock.holdsRecorded)
            addHolds(lock, row);
        for (const TracedWait& wait : lock.worst)
            row.worst.push_back({.fromNs = wait.fromNs - std::min(wait.fromNs, analysis_.beginNs),
                .ns = wait.ns,
                .tid = wait.tid,
                .thread = analysis_.group(analysis_.sites[wait.site].group).name,
                .at = names_.siteOf(analysis_.sites[wait.site].stack),
                .open = wait.open});
        if (lock.isLock)
            for (const PatternMatch& match : patternsOf(lock, analysis_))
                row.patterns.push_back({std::string(patternName(match.pattern)), match.partNs, match.atMost});
        return row;
    }

    /// The names that all call sites leave: they take one lock. Nothing if they contradict each other.
    void nameByKernels(const TraceLock& lock, TracedLock& row)
    {
        std::optional<KernelLock> common;
        for (const uint32_t index : lock.sites) {
            const auto here = names_.kernelLockOf(analysis_.sites[index].stack);
            if (!here)
                continue;
            if (!common) {
                common = here;
                continue;
            }
            std::erase_if(common->locks, [&](const std::string& name) {
                return std::find(here->locks.begin(), here->locks.end(), name) == here->locks.end();
            });
        }
        if (!common || common->locks.empty())
            return;
        row.knownAs = common->text();
        row.knownFrom = common->kernels;
    }

    void addInstances(const TraceLock& lock, TracedLock& row) const
    {
        for (const TraceInstance& one : lock.instances)
            row.instances.push_back({one.key.address,
                one.key.space == LockSpace::Process ? analysis_.processes[one.key.owner - 1].pid : -1,
                one.waits, one.valueNs});
        sortByWeight(row.instances, [](const TracedInstance& one) { return one.valueNs; });
    }

    static void addFigures(const TraceLock& lock, TracedLock& row)
    {
        row.valueNs = lock.valueNs();
        row.waits = lock.waits;
        row.acquisitions = lock.acquisitions;
        row.open = lock.openWaits;
        row.openAtEnd = lock.openAtEnd;
        row.openNs = lock.openNs;
        row.notAcquired = lock.notAcquired;
        row.meanNs = lock.waits == 0 ? 0 : lock.waitNs / lock.waits;
        row.maxNs = lock.waitTimes.maxNs();
        row.maxAcquisitionNs = lock.maxAcquisitionNs;
        row.p50Ns = lock.waitTimes.percentileNs(50);
        row.p99Ns = lock.waitTimes.percentileNs(99);
        row.contendedWallNs = lock.contendedWallNs;
        row.maxWaiters = lock.maxWaiters;
        row.handOffNs = lock.handOffNs;
        row.unseenNs = lock.unseenNs;
        row.deadlock = lock.deadlock;
        row.innerNs = lock.innerNs;
        row.stripBucketNs = lock.strip.bucketNs();
        row.strip = lock.strip.waitNs();
    }

    void addSites(const TraceLock& lock, TracedLock& row)
    {
        std::map<std::tuple<TracedPlace, std::string, bool>, TracedSite> sites;
        for (const uint32_t index : lock.sites) {
            const TraceSite& from = analysis_.sites[index];
            if (from.waits + from.openWaits == 0)
                continue;
            row.accountNs += from.accountNs;
            row.nestedNs += from.nestedNs;
            row.offCpuNs += from.offCpuNs;
            TracedPlace at = names_.siteOf(from.stack);
            std::string side(sideName(from.reason));
            TracedSite& site = sites[{at, side, from.insideCondition}];
            site.at = std::move(at);
            site.side = std::move(side);
            site.insideCondition = from.insideCondition;
            site.valueNs += from.waitNs + from.openNs;
            site.nestedNs += from.nestedNs;
            site.waits += from.waits;
            site.maxNs = std::max(site.maxNs, from.maxNs);
            site.open += from.openWaits;
        }
        for (auto& [key, site] : sites)
            row.sites.push_back(std::move(site));
        sortByWeight(row.sites, [](const TracedSite& one) { return one.valueNs; });
    }

    /// Of all who held it and are asked for, by where they took it.
    void addHolds(const TraceLock& lock, TracedLock& row)
    {
        row.holdsRecorded = true;
        std::map<std::pair<TracedPlace, std::string>, DurationHistogram> rows;
        DurationHistogram all;
        for (const HolderSums& from : lock.holders) {
            const TraceGroup& group = analysis_.group(from.key.group);
            if (from.holds.count() == 0 || group.counting != Counting::Yes)
                continue;
            rows[{names_.holderSiteOf(from.key.stack), group.name}].add(from.holds);
            all.add(from.holds);
        }
        for (const auto& [key, holds] : rows)
            row.holds.push_back(holdRow(key.first, key.second, holds));
        sortByWeight(row.holds, [](const TracedHold& one) { return one.sumNs; });
        row.holdTimes = holdRow({}, {}, all);
    }

    static TracedHold holdRow(
        const TracedPlace& at, const std::string& thread, const DurationHistogram& holds)
    {
        return {.at = at,
            .thread = thread,
            .holds = holds.count(),
            .sumNs = holds.sumNs(),
            .meanNs = holds.count() == 0 ? 0 : holds.sumNs() / holds.count(),
            .p50Ns = holds.percentileNs(50),
            .p90Ns = holds.percentileNs(90),
            .p99Ns = holds.percentileNs(99),
            .maxNs = holds.maxNs()};
    }

    /// Holders by function and thread name; a function is one holder, however it came to be called.
    void addHolders(const TraceLock& lock, const std::vector<uint32_t>& placeOf, TracedLock& row)
    {
        struct Sums {
            HolderSums all{};
            std::map<std::string, uint64_t> preemptedBy{};
            std::map<std::string, uint64_t> blockedAt{};
            std::map<uint32_t, uint64_t> waitedFor{};
        };
        std::map<std::pair<TracedPlace, std::string>, Sums> holders;
        for (const HolderSums& from : lock.holders) {
            if (from.waitNs == 0)
                continue;
            Sums& to = holders[{names_.holderSiteOf(from.key.stack), analysis_.group(from.key.group).name}];
            to.all.waitNs += from.waitNs;
            to.all.provenNs += from.provenNs;
            to.all.preemptions += from.preemptions;
            to.all.holds.add(from.holds);
            for (size_t i = 0; i < kActivities; ++i)
                to.all.meanwhile[i] += from.meanwhile[i];
            if (from.longestOffNs > to.all.longestOffNs) {
                to.all.longestOffNs = from.longestOffNs;
                to.all.longestOffAtNs = from.longestOffAtNs;
            }
            for (const auto& [name, ns] : from.preemptedBy)
                to.preemptedBy[analysis_.names[analysis_.preemptors[name - 1].name - 1]] += ns;
            for (const auto& [stack, ns] : from.blockedAt)
                to.blockedAt[names_.sleepOf({stack})] += ns;
            for (const auto& [other, ns] : from.waitedFor)
                to.waitedFor[placeOf[other - 1]] += ns;
        }
        for (auto& [key, sums] : holders) {
            TracedHolder holder{.at = key.first,
                .thread = key.second,
                .waitNs = sums.all.waitNs,
                .provenNs = sums.all.provenNs,
                .meanwhile = timesOf(sums.all.meanwhile),
                .preemptions = sums.all.preemptions,
                .longestOffNs = sums.all.longestOffNs,
                .longestOffAtNs =
                    sums.all.longestOffAtNs - std::min(sums.all.longestOffAtNs, analysis_.beginNs),
                .holds = sums.all.holds.count(),
                .medianHoldNs = sums.all.holds.percentileNs(50),
                .maxHoldNs = sums.all.holds.maxNs(),
                .preemptedBy = sortedTimes(sums.preemptedBy),
                .blockedAt = sortedTimes(sums.blockedAt)};
            holder.waitedFor.assign(sums.waitedFor.begin(), sums.waitedFor.end());
            row.holders.push_back(std::move(holder));
        }
        sortByWeight(row.holders, [](const TracedHolder& one) { return one.waitNs; });
    }

    void addRoots(const TraceLock& lock, const std::vector<uint32_t>& placeOf, TracedLock& row)
    {
        std::map<std::tuple<uint32_t, std::string, bool, bool>, uint64_t> roots;
        for (const auto& [root, ns] : lock.roots) {
            const TraceLock& last = analysis_.lock(root.lock);
            const TracedPlace at =
                root.holder ? names_.holderSiteOf(last.holders[root.holder.v - 1].key.stack) : TracedPlace();
            roots[{placeOf[root.lock.v - 1], at.function, !root.holder, at.calledFrom}] += ns;
        }
        for (const auto& [key, ns] : roots)
            row.roots.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), ns, std::get<3>(key)});
        sortByWeight(row.roots, [](const TracedRoot& one) { return one.ns; });
    }

    const TraceAnalysis& analysis_;
    TraceNames& names_;
};

} // namespace

LockTraceRecord traceRecord(const TraceAnalysis& analysis, TraceNames& names)
{
    return RecordBuilder(analysis, names).build();
}

} // namespace whichlock
