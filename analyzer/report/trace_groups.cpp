// SPDX-License-Identifier: GPL-3.0-or-later
// What --by asks for of traces: waiting for locks by who waits, where, and behind whom.
#include "analyzer/report/section_builders.h"
#include "analyzer/report/shares.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace whichlock {
namespace {

/// Time of threads that counts as active.
uint64_t activeNs(const TracedThreads& threads)
{
    const ActivityTimes& times = threads.times;
    return times.ranNs + times.uncertainNs + times.preemptedNs + times.yieldedNs + times.wokenNs
        + times.throttledNs + times.ioNs + threads.lockTimeNs;
}

uint64_t allNs(const ActivityTimes& times)
{
    return times.unknownNs + times.ranNs + times.uncertainNs + times.preemptedNs + times.yieldedNs
        + times.throttledNs + times.wokenNs + times.ioNs + times.sleepNs + times.idleNs + times.blockedNs
        + times.lockNs;
}

void addParts(const HolderParts& from, HolderParts& to)
{
    to.ranNs += from.ranNs;
    to.noCpuNs += from.noCpuNs;
    to.blockedNs += from.blockedNs;
    to.lockNs += from.lockNs;
    to.unclearNs += from.unclearNs;
}

class TraceGrouping {
public:
    TraceGrouping(const LockTraceRecord& record, GroupBy by, const ReportTrace& trace)
        : record_(record)
        , by_(by)
        , trace_(trace)
    {
    }

    std::vector<ReportTraceGroup> rows()
    {
        switch (by_) {
        case GroupBy::Lock:
        case GroupBy::Symbol:
            return {};
        case GroupBy::Site:
            addSites();
            break;
        case GroupBy::Holder:
            addHolders();
            break;
        case GroupBy::Thread:
        case GroupBy::Comm:
        case GroupBy::Process:
            addThreads();
            break;
        case GroupBy::Cpu:
            addProcessors();
            break;
        }
        return sorted();
    }

private:
    using Key = std::tuple<std::string, TracedPlace, std::string, int32_t, int32_t, int32_t>;

    ReportTraceGroup& row(ReportTraceGroup identity)
    {
        const Key key(identity.key, identity.at, identity.name, identity.pid, identity.tid, identity.cpu);
        const auto [entry, isNew] = places_.try_emplace(key, rows_.size());
        if (isNew)
            rows_.push_back(std::move(identity));
        return rows_[entry->second];
    }

    static void addWaits(uint64_t waits, uint64_t ns, uint64_t maxNs, ReportTraceGroup& to)
    {
        to.valueNs += ns;
        to.waits = to.waits.value_or(0) + waits;
        if (maxNs != 0)
            to.maxNs = std::max(to.maxNs.value_or(0), maxNs);
    }

    void addSites()
    {
        for (const TracedLock& lock : record_.locks) {
            for (const TracedSite& site : lock.sites) {
                if (!lock.isLock)
                    continue;
                ReportTraceGroup& to = row({.at = site.at});
                addWaits(site.waits + site.open, site.valueNs - std::min(site.valueNs, site.nestedNs),
                    site.maxNs, to);
                ++to.locks;
            }
        }
    }

    void addHolders()
    {
        for (const TracedLock& lock : record_.locks) {
            if (!lock.isLock)
                continue;
            for (const TracedHolder& holder : lock.holders) {
                ReportTraceGroup& to = row({.at = holder.at, .name = holder.thread});
                to.valueNs += holder.waitNs;
                ++to.locks;
                if (!to.did)
                    to.did.emplace();
                addParts(partsOf(holder.meanwhile), *to.did);
            }
            row({.key = "handoff"}).valueNs += lock.handOffNs;
            row({.key = "unseen"}).valueNs += lock.unseenNs;
        }
    }

    /// A process has the name of its first thread; where that did nothing, of the one that waited most.
    std::map<int32_t, std::string> processNames() const
    {
        std::map<int32_t, std::string> names;
        std::map<int32_t, std::pair<bool, uint64_t>> best;
        for (const TracedThreads& one : record_.threads) {
            const std::pair rank(one.tid == one.pid, one.lockWaitNs);
            const auto [entry, isNew] = best.try_emplace(one.pid, rank);
            if (!isNew && rank <= entry->second)
                continue;
            entry->second = rank;
            names[one.pid] = one.name;
        }
        return names;
    }

    void addThreads()
    {
        const std::map<int32_t, std::string> processes = processNames();
        for (const TracedThreads& one : record_.threads) {
            if (one.lockWaits == 0 && activeNs(one) == 0 && trace_.activeKnown)
                continue;
            ReportTraceGroup identity{.name = one.name};
            if (by_ == GroupBy::Process)
                identity.name = processes.at(one.pid);
            if (by_ != GroupBy::Comm)
                identity.pid = one.pid;
            if (by_ == GroupBy::Thread)
                identity.tid = one.tid;
            ReportTraceGroup& to = row(std::move(identity));
            addWaits(one.lockWaits, one.lockWaitNs, one.longestNs, to);
            if (trace_.activeNs == 0)
                continue;
            to.timeNs = to.timeNs.value_or(0) + (trace_.activeKnown ? activeNs(one) : allNs(one.times));
            lockTimeNs_[&to - rows_.data()] += one.lockTimeNs;
        }
        for (size_t i = 0; i < rows_.size(); ++i) {
            if (rows_[i].timeNs && *rows_[i].timeNs != 0)
                rows_[i].ofOwnTime = shareOf(lockTimeNs_[static_cast<std::ptrdiff_t>(i)], *rows_[i].timeNs);
        }
    }

    void addProcessors()
    {
        for (const TracedProcessor& one : record_.processors)
            addWaits(one.lockWaits, one.lockWaitNs, one.longestNs, row({.cpu = one.cpu}));
    }

    std::vector<ReportTraceGroup> sorted()
    {
        uint64_t all = 0;
        for (const ReportTraceGroup& one : rows_)
            all += one.valueNs;
        for (ReportTraceGroup& one : rows_)
            one.ofLock = all == 0 ? Share{} : shareOf(one.valueNs, all);
        std::stable_sort(
            rows_.begin(), rows_.end(), [](const ReportTraceGroup& a, const ReportTraceGroup& b) {
                const auto rank = [](const ReportTraceGroup& one) {
                    return std::tuple(!one.key.empty(), one.key == "unseen", ~one.valueNs);
                };
                if (rank(a) != rank(b))
                    return rank(a) < rank(b);
                return std::tie(a.name, a.at, a.pid, a.tid, a.cpu)
                    < std::tie(b.name, b.at, b.pid, b.tid, b.cpu);
            });
        return std::move(rows_);
    }

    const LockTraceRecord& record_;
    GroupBy by_;
    const ReportTrace& trace_;
    std::map<Key, size_t> places_;
    std::map<std::ptrdiff_t, uint64_t> lockTimeNs_;
    std::vector<ReportTraceGroup> rows_;
};

} // namespace

HolderParts partsOf(const ActivityTimes& meanwhile)
{
    return {.ranNs = meanwhile.ranNs,
        .noCpuNs = meanwhile.preemptedNs + meanwhile.yieldedNs + meanwhile.throttledNs + meanwhile.wokenNs,
        .blockedNs = meanwhile.ioNs + meanwhile.sleepNs + meanwhile.idleNs + meanwhile.blockedNs,
        .lockNs = meanwhile.lockNs,
        .unclearNs = meanwhile.uncertainNs + meanwhile.unknownNs};
}

void addTraceGroups(const LockTraceRecord& record, GroupBy by, ReportTrace& trace)
{
    trace.groups = TraceGrouping(record, by, trace).rows();
}

} // namespace whichlock
