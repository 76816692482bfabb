// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/trace_json.h"

#include "analyzer/report/json_values.h"

#include <fmt/format.h>

namespace whichlock {
namespace {

/// The whole that shares of time refer to.
const char* shareField(const ReportTrace& trace)
{
    return trace.activeKnown ? "share_of_active_percent" : "share_of_thread_time_percent";
}

/// Fields of a place in the code.
void putPlace(Json& to, const TracedPlace& at)
{
    to["name"] = at.function;
    if (!at.file.empty()) {
        to["file"] = at.file;
        to["line"] = at.line;
    }
    if (at.recovered)
        to["recovered"] = true;
    if (at.calledFrom)
        to["called_from"] = true;
}

Json sitesJson(const std::vector<ReportTraceSite>& sites)
{
    Json list = Json::array();
    for (const ReportTraceSite& site : sites) {
        Json one;
        putPlace(one, site.figures.at);
        one["side"] = site.figures.side;
        one["value"] = site.figures.valueNs;
        one["waits"] = site.figures.waits;
        if (site.figures.waits != 0)
            one["max_ns"] = site.figures.maxNs;
        if (site.figures.open != 0)
            one["open"] = site.figures.open;
        if (site.figures.insideCondition)
            one["inside_condition"] = true;
        one["share_of_this_lock_percent"] = percent(site.ofThisLock);
        list.push_back(std::move(one));
    }
    return list;
}

Json timesJson(const std::vector<NamedTime>& times)
{
    Json list = Json::array();
    for (const NamedTime& time : times)
        list.push_back({{"name", time.name}, {"value", time.ns}});
    return list;
}

Json holdersJson(const std::vector<ReportTraceHolder>& holders, const ReportTrace& trace)
{
    Json list = Json::array();
    for (const ReportTraceHolder& holder : holders) {
        const TracedHolder& figures = holder.figures;
        const ActivityTimes& did = figures.meanwhile;
        const HolderParts parts = partsOf(did);
        Json one;
        putPlace(one, figures.at);
        one["thread"] = figures.thread;
        one["value"] = figures.waitNs;
        put(one, "share_of_held_wait_percent", holder.ofHeld);
        one["share_of_this_lock_percent"] = percent(holder.ofThisLock);
        one["proven"] = figures.provenNs;
        if (trace.facts.hasSwitches) {
            one["ran"] = parts.ranNs;
            one["no_cpu"] = parts.noCpuNs;
            one["preempted"] = did.preemptedNs + did.yieldedNs;
            one["throttled"] = did.throttledNs;
            one["woken"] = did.wokenNs;
            one["blocked"] = parts.blockedNs;
            one["io"] = did.ioNs;
            one["slept"] = did.sleepNs;
            one["uncertain"] = did.uncertainNs;
            one["unclear"] = parts.unclearNs;
        }
        one["waited_for"] = parts.lockNs;
        one["not_recorded"] = did.unknownNs;
        if (figures.preemptions != 0)
            one["preemptions"] = figures.preemptions;
        if (figures.longestOffNs != 0) {
            one["longest_off_cpu_ns"] = figures.longestOffNs;
            one["longest_off_cpu_at_ns"] = figures.longestOffAtNs;
        }
        if (figures.holds != 0) {
            one["holds"] = figures.holds;
            one["median_hold_ns"] = figures.medianHoldNs;
            one["max_hold_ns"] = figures.maxHoldNs;
        }
        if (!figures.preemptedBy.empty())
            one["preempted_by"] = timesJson(figures.preemptedBy);
        if (!figures.blockedAt.empty())
            one["blocked_at"] = timesJson(figures.blockedAt);
        if (!figures.waitedFor.empty()) {
            Json waited = Json::array();
            for (const auto& [lock, ns] : figures.waitedFor)
                if (lock < trace.locks.size())
                    waited.push_back({{"lock", trace.locks[lock].name}, {"value", ns}});
            one["waited_for_locks"] = std::move(waited);
        }
        list.push_back(std::move(one));
    }
    return list;
}

void putHold(Json& to, const TracedHold& hold)
{
    to["holds"] = hold.holds;
    if (hold.holds == 0)
        return;
    to["value"] = hold.sumNs;
    to["mean_ns"] = hold.meanNs;
    to["p50_ns"] = hold.p50Ns;
    to["p90_ns"] = hold.p90Ns;
    to["p99_ns"] = hold.p99Ns;
    to["max_ns"] = hold.maxNs;
}

/// How long it was held, with or without anybody waiting.
Json holdTimesJson(const TracedLock& lock)
{
    Json json;
    putHold(json, lock.holdTimes);
    json["by"] = Json::array();
    for (const TracedHold& hold : lock.holds) {
        Json one;
        putPlace(one, hold.at);
        one["thread"] = hold.thread;
        putHold(one, hold);
        json["by"].push_back(std::move(one));
    }
    return json;
}

Json groupsJson(const ReportSection& section)
{
    const ReportTrace& trace = *section.trace;
    Json list = Json::array();
    for (const ReportTraceGroup& group : trace.groups) {
        Json one;
        put(one, "key", group.key);
        if (section.groupedBy == GroupBy::Site || (section.groupedBy == GroupBy::Holder && group.key.empty()))
            putPlace(one, group.at);
        if (section.groupedBy == GroupBy::Holder)
            put(one, "thread", group.name);
        else
            put(one, "name", group.name);
        for (const auto& [name, number] :
            {std::pair("pid", group.pid), {"tid", group.tid}, {"cpu", group.cpu}})
            if (number >= 0)
                one[name] = number;
        one["value"] = group.valueNs;
        one["share_of_lock_percent"] = percent(group.ofLock);
        if (group.waits)
            one["waits"] = *group.waits;
        if (group.maxNs)
            one["max_ns"] = *group.maxNs;
        if (group.locks != 0)
            one["locks"] = group.locks;
        if (group.timeNs)
            one[trace.activeKnown ? "active" : "thread_time"] = *group.timeNs;
        put(one,
            trace.activeKnown ? "contention_share_of_row_active_percent"
                              : "contention_share_of_row_thread_time_percent",
            group.ofOwnTime);
        if (group.did && trace.facts.hasSwitches) {
            one["ran"] = group.did->ranNs;
            one["no_cpu"] = group.did->noCpuNs;
            one["blocked"] = group.did->blockedNs;
            one["unclear"] = group.did->unclearNs;
        }
        if (group.did)
            one["waited_for"] = group.did->lockNs;
        list.push_back(std::move(one));
    }
    return list;
}

Json instancesJson(const std::vector<TracedInstance>& instances)
{
    Json list = Json::array();
    for (const TracedInstance& instance : instances) {
        Json one;
        one["address"] = fmt::format("{:#x}", instance.address);
        if (instance.pid >= 0)
            one["pid"] = instance.pid;
        one["waits"] = instance.waits;
        one["value"] = instance.valueNs;
        list.push_back(std::move(one));
    }
    return list;
}

Json lockJson(const ReportTraceLock& lock, const ReportTrace& trace)
{
    const TracedLock& figures = lock.figures;
    Json one;
    one["id"] = lock.id;
    one["name"] = lock.name;
    if (lock.selected)
        one["selected"] = true;
    one["rung"] = rungName(lock.rung);
    put(one, "basis", lock.basis);
    if (isNamed(lock.rung))
        one["class"] = lock.lockClass;
    put(one, "expression", lock.expression);
    if (lock.verified)
        one["verified"] = *lock.verified;
    one["kind"] = figures.kind;
    if (figures.parks)
        one["sleeps_on"] = figures.kind == "condition-lock" ? "condition" : "parker";
    one["address"] = fmt::format("{:#x}", figures.address);
    one["space"] = figures.space;
    if (figures.pid >= 0)
        one["pid"] = figures.pid;
    one["instances"] = lock.instances;
    if (lock.instance != 0) {
        one["instance"] = lock.instance;
        one["share_of_class_percent"] = percent(lock.ofClass);
    }
    if (!figures.instances.empty()) {
        one["copies"] = figures.instances.size();
        one["addresses"] = instancesJson(figures.instances);
    }
    if (figures.innerOf != 0)
        one["inner_of"] = figures.innerOf;
    if (figures.innerNs != 0)
        one["inner_ns"] = figures.innerNs;
    if (figures.nestedNs != 0)
        one["nested_ns"] = figures.nestedNs;
    one["value"] = figures.valueNs;
    one["lower_bound"] = trace.lowerBound || figures.open != 0;
    one["share_of_lock_percent"] = percent(lock.ofLock);
    put(one, shareField(trace), lock.ofActive);
    one["waits"] = figures.waits;
    one["acquisitions_contended"] = figures.acquisitions;
    one["open"] = figures.open;
    one["open_at_end"] = figures.openAtEnd;
    one["open_ns"] = figures.openNs;
    one["not_acquired"] = figures.notAcquired;
    if (figures.waits != 0) {
        one["mean_ns"] = figures.meanNs;
        one["max_ns"] = figures.maxNs;
        one["p50_ns"] = figures.p50Ns;
        one["p99_ns"] = figures.p99Ns;
    }
    one["max_acquisition_ns"] = figures.maxAcquisitionNs;
    one["contended_wall_ns"] = figures.contendedWallNs;
    put(one, "contended_share_of_wall_percent", lock.contendedOfWall);
    if (lock.meanWaiters)
        one["mean_waiters"] =
            static_cast<double>(lock.meanWaiters->millionths) / static_cast<double>(FixedPoint::kScale);
    one["max_waiters"] = figures.maxWaiters;
    one["held_ns"] = lock.heldNs;
    one["proven_ns"] = lock.provenNs;
    one["handoff_ns"] = figures.handOffNs;
    one["unseen_ns"] = figures.unseenNs;
    one["handoff_share_of_this_lock_percent"] = percent(lock.handOffOfLock);
    one["unseen_share_of_this_lock_percent"] = percent(lock.unseenOfLock);
    if (figures.deadlock)
        one["deadlock"] = true;
    one["pattern"] = Json::array();
    one["pattern_figures"] = Json::array();
    for (const ReportTracePattern& pattern : lock.patterns) {
        one["pattern"].push_back(pattern.name);
        one["pattern_figures"].push_back({{"name", pattern.name}, {"value", pattern.partNs},
            {"share_of_this_lock_percent", percent(pattern.ofThisLock)}});
        if (pattern.atMost)
            one["pattern_figures"].back()["at_most"] = true;
    }
    one["sites"] = sitesJson(lock.sites);
    one["holders"] = holdersJson(lock.holders, trace);
    one["chain_root"] = Json::array();
    for (const ReportTraceRoot& root : lock.roots) {
        one["chain_root"].push_back(
            {{"function", root.function}, {"lock", root.nobody ? std::string() : root.lock},
                {"value", root.ns}, {"share_of_this_lock_percent", percent(root.ofThisLock)}});
        if (root.calledFrom)
            one["chain_root"].back()["called_from"] = true;
    }
    one["longest"] = Json::array();
    for (const TracedLongWait& wait : figures.worst) {
        Json longest{{"at_ns", wait.fromNs}, {"value", wait.ns}, {"tid", wait.tid}, {"thread", wait.thread}};
        putPlace(longest, wait.at);
        longest["open"] = wait.open;
        one["longest"].push_back(std::move(longest));
    }
    if (figures.holdsRecorded)
        one["hold_times"] = holdTimesJson(figures);
    one["strip"] = {{"bucket_ns", figures.stripBucketNs}, {"wait_ns", figures.strip}};
    return one;
}

} // namespace

void putTrace(Json& json, const ReportSection& section)
{
    const ReportTrace& trace = *section.trace;
    const LockTraceRecord& facts = trace.facts;
    json["facts"]["duration_ns"] = facts.durationNs;
    if (facts.durationNs != facts.wholeNs) {
        json["facts"]["from_ns"] = facts.fromNs;
        json["facts"]["recording_ns"] = facts.wholeNs;
    }
    if (trace.eventsPerCpuSecond)
        json["events_per_cpu_second"] = *trace.eventsPerCpuSecond;
    if (!section.filter.empty()) {
        json["left_out_waits"] = facts.leftOut.waits;
        json["left_out_wait_ns"] = facts.leftOut.ns;
    }
    if (facts.recorderThreads != 0 || facts.ofRecorder.waits != 0)
        json["recorder"] = {{"threads", facts.recorderThreads}, {"waits", facts.ofRecorder.waits},
            {"value", facts.ofRecorder.ns}};
    json["threads"] = trace.threads;
    json["lower_bound"] = trace.lowerBound;
    Json records = Json::object();
    for (const auto& [event, count] : facts.eventCounts)
        records[event] = count;
    json["records"] = std::move(records);
    if (section.sees.userSleep == Sees::Yes || section.sees.kernelSpin != Sees::No)
        json["contention_total"] = trace.lockWaitNs;
    if (trace.activeNs != 0)
        json[trace.activeKnown ? "active_total" : "thread_time_total"] = trace.activeNs;
    put(json,
        trace.activeKnown ? "contention_share_of_active_percent" : "contention_share_of_thread_time_percent",
        trace.lockShare);
    if (facts.hasSwitches) {
        const OffCpuTimes& off = facts.offCpu;
        json["off_cpu"] = {{"runnable", off.runnableNs}, {"lock", off.lockNs}, {"condition", off.conditionNs},
            {"io", off.ioNs}, {"sleep", off.sleepNs}, {"other", off.otherNs}, {"woken", off.wokenNs},
            {"up_to", off.upToNs}};
        json["blocked_at"] = timesJson(facts.blockedAt);
    }
    json["account"] = Json::array();
    for (const TraceAccountLine& line : trace.account) {
        Json one;
        one["what"] = line.what;
        one["key"] = line.key;
        one["active"] = line.active;
        one["value"] = line.valueNs;
        put(one, shareField(trace), line.ofActive);
        json["account"].push_back(std::move(one));
    }
    if (!trace.groups.empty()) {
        json["grouped_by"] = groupByName(section.groupedBy);
        json["groups"] = groupsJson(section);
    }
    json["locks"] = Json::array();
    for (const ReportTraceLock& lock : trace.locks)
        json["locks"].push_back(lockJson(lock, trace));
    json["lock_classes"] = Json::array();
    for (const ReportLockClass& one : trace.classes)
        json["lock_classes"].push_back({{"name", one.name}, {"instances", one.instances},
            {"value", one.valueNs}, {"share_of_lock_percent", percent(one.ofLock)},
            {"heaviest_share_of_class_percent", percent(one.heaviest)}});
    json["other_waits"] = Json::array();
    for (const ReportTraceWords& words : trace.words)
        json["other_waits"].push_back({{"kind", words.kind}, {"words", words.words}, {"waits", words.waits},
            {"value", words.valueNs}, {"caller_unknown", words.untoldNs}});
    json["left_out"] = trace.leftOut;
}

} // namespace whichlock
