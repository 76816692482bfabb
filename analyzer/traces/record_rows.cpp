// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/record_rows.h"

#include <tuple>

namespace whichlock {
namespace {

constexpr uint64_t ActivityTimes::*kParts[] = {&ActivityTimes::unknownNs, &ActivityTimes::ranNs,
    &ActivityTimes::uncertainNs, &ActivityTimes::preemptedNs, &ActivityTimes::yieldedNs,
    &ActivityTimes::throttledNs, &ActivityTimes::wokenNs, &ActivityTimes::ioNs, &ActivityTimes::sleepNs,
    &ActivityTimes::idleNs, &ActivityTimes::blockedNs, &ActivityTimes::lockNs};

void addTimes(const ActivityTimes& from, ActivityTimes& to)
{
    for (const auto part : kParts)
        to.*part += from.*part;
}

void addOffCpu(const OffCpuSums& from, OffCpuTimes& to)
{
    to.runnableNs += from.runnableNs;
    to.conditionNs += from.idleNs;
    to.ioNs += from.ioNs;
    to.sleepNs += from.sleepNs;
    to.otherNs += from.otherNs;
    to.wokenNs += from.wokenNs;
    to.upToNs += from.upToNs;
}

/// Adds the waits of a site to the row of whoever waited.
template <class Row> void addWaits(const TraceSite& site, Row& row)
{
    row.lockWaits += site.waits + site.openWaits;
    row.lockWaitNs += site.waitNs + site.openNs - site.nestedNs;
    row.longestNs = std::max(row.longestNs, site.maxNs);
}

class WaiterRows {
public:
    explicit WaiterRows(const TraceAnalysis& analysis)
        : analysis_(analysis)
    {
    }

    TracedThreads& of(const TraceGroup& group)
    {
        const int32_t pid = analysis_.processes[group.process].pid;
        TracedThreads& row = rows_[{group.name, pid, group.tid}];
        row.name = group.name;
        row.pid = pid;
        row.tid = group.tid;
        return row;
    }

    void moveTo(std::vector<TracedThreads>& threads)
    {
        for (auto& [key, row] : rows_)
            threads.push_back(std::move(row));
    }

private:
    const TraceAnalysis& analysis_;
    std::map<std::tuple<std::string, int32_t, int32_t>, TracedThreads> rows_;
};

} // namespace

ActivityTimes timesOf(const ActivitySums& sums)
{
    const auto of = [&](Activity activity) { return sums[static_cast<size_t>(activity)]; };
    return {.unknownNs = of(Activity::Unknown),
        .ranNs = of(Activity::Ran),
        .uncertainNs = of(Activity::Uncertain),
        .preemptedNs = of(Activity::Preempted),
        .yieldedNs = of(Activity::Yielded) + of(Activity::Voluntary),
        .throttledNs = of(Activity::Throttled),
        .wokenNs = of(Activity::Woken),
        .ioNs = of(Activity::Io),
        .sleepNs = of(Activity::Sleep),
        .idleNs = of(Activity::Idle),
        .blockedNs = of(Activity::Blocked) + of(Activity::GracePeriod),
        .lockNs = of(Activity::LockWait)};
}

void addWaiters(const TraceAnalysis& analysis, LockTraceRecord& record)
{
    WaiterRows rows(analysis);
    for (const TraceGroup& group : analysis.groups) {
        const ActivityTimes times = timesOf(group.account);
        const bool existed = times != ActivityTimes();
        if (group.counting == Counting::Recorder) {
            addTimes(times, record.recorder);
            record.recorderThreads += existed ? group.threads : 0;
        } else if (group.counting == Counting::Yes) {
            addOffCpu(group.offCpu, record.offCpu);
            if (!existed)
                continue;
            TracedThreads& row = rows.of(group);
            row.threads += group.threads;
            addTimes(times, row.times);
        }
    }
    std::map<int32_t, TracedProcessor> processors;
    for (const TraceSite& site : analysis.sites) {
        if (!analysis.lock(site.lock).isLock)
            continue;
        const TraceGroup& group = analysis.group(site.group);
        WaitsApart& apart = group.counting == Counting::Recorder ? record.ofRecorder : record.leftOut;
        apart.waits += site.leftOutWaits;
        apart.ns += site.leftOutNs;
        if (site.waits + site.openWaits == 0)
            continue;
        TracedThreads& row = rows.of(group);
        addWaits(site, row);
        row.lockTimeNs += site.accountNs;
        if (site.cpu >= 0) {
            processors[site.cpu].cpu = site.cpu;
            addWaits(site, processors[site.cpu]);
        }
    }
    rows.moveTo(record.threads);
    for (const auto& [cpu, row] : processors)
        record.processors.push_back(row);
}

} // namespace whichlock
