// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/trace_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace whichlock {
namespace {

using Json = nlohmann::ordered_json;

double percent(Share share)
{
    return static_cast<double>(share.ppb) / static_cast<double>(Share::kPercent);
}

void put(Json& to, const char* name, const std::optional<Share>& share)
{
    if (share)
        to[name] = percent(*share);
}

void put(Json& to, const char* name, const std::string& text)
{
    if (!text.empty())
        to[name] = text;
}

/// The whole that shares of time refer to.
const char* shareField(const ReportTrace& trace)
{
    return trace.activeKnown ? "share_of_active_percent" : "share_of_thread_time_percent";
}

Json sitesJson(const std::vector<ReportTraceSite>& sites)
{
    Json list = Json::array();
    for (const ReportTraceSite& site : sites) {
        Json one;
        one["name"] = site.figures.function;
        one["side"] = site.figures.side;
        one["value"] = site.figures.valueNs;
        one["waits"] = site.figures.waits;
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
        Json one;
        one["name"] = figures.function;
        one["thread"] = figures.thread;
        one["value"] = figures.waitNs;
        put(one, "share_of_held_wait_percent", holder.ofHeld);
        one["share_of_this_lock_percent"] = percent(holder.ofThisLock);
        one["proven"] = figures.provenNs;
        one["ran"] = did.ranNs;
        one["preempted"] = did.preemptedNs + did.yieldedNs;
        one["throttled"] = did.throttledNs;
        one["woken"] = did.wokenNs;
        one["blocked"] = did.ioNs + did.sleepNs + did.idleNs + did.blockedNs;
        one["io"] = did.ioNs;
        one["slept"] = did.sleepNs;
        one["waited_for"] = did.lockNs;
        one["uncertain"] = did.uncertainNs;
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

Json lockJson(const ReportTraceLock& lock, const ReportTrace& trace)
{
    const TracedLock& figures = lock.figures;
    Json one;
    one["id"] = lock.id;
    one["name"] = lock.name;
    one["rung"] = rungName(lock.rung);
    put(one, "basis", lock.basis);
    if (lock.rung == Rung::UserSymbol)
        one["verified"] = figures.verified;
    one["kind"] = figures.kind;
    if (figures.parks)
        one["sleeps_on"] = "parker";
    one["address"] = fmt::format("{:#x}", figures.address);
    one["space"] = figures.space;
    if (figures.pid >= 0)
        one["pid"] = figures.pid;
    one["instances"] = 1;
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
    one["mean_ns"] = figures.meanNs;
    one["max_ns"] = figures.maxNs;
    one["max_acquisition_ns"] = figures.maxAcquisitionNs;
    one["p50_ns"] = figures.p50Ns;
    one["p99_ns"] = figures.p99Ns;
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
    if (figures.deadlock)
        one["deadlock"] = true;
    one["pattern"] = Json::array();
    one["pattern_figures"] = Json::array();
    for (const ReportTracePattern& pattern : lock.patterns) {
        one["pattern"].push_back(pattern.name);
        one["pattern_figures"].push_back({{"name", pattern.name}, {"value", pattern.partNs},
            {"share_of_this_lock_percent", percent(pattern.ofThisLock)}});
    }
    one["sites"] = sitesJson(lock.sites);
    one["holders"] = holdersJson(lock.holders, trace);
    one["chain_root"] = Json::array();
    for (const ReportTraceRoot& root : lock.roots)
        one["chain_root"].push_back(
            {{"function", root.function}, {"lock", root.nobody ? std::string() : root.lock},
                {"value", root.ns}, {"share_of_this_lock_percent", percent(root.ofThisLock)}});
    one["longest"] = Json::array();
    for (const TracedLongWait& wait : figures.worst)
        one["longest"].push_back({{"at_ns", wait.fromNs}, {"value", wait.ns}, {"tid", wait.tid},
            {"name", wait.function}, {"open", wait.open}});
    one["strip"] = {{"bucket_ns", figures.stripBucketNs}, {"wait_ns", figures.strip}};
    return one;
}

} // namespace

void putTrace(Json& json, const ReportTrace& trace)
{
    const LockTraceRecord& facts = trace.facts;
    json["facts"]["duration_ns"] = facts.durationNs;
    json["threads"] = trace.threads;
    json["lower_bound"] = trace.lowerBound;
    Json records = Json::object();
    for (const auto& [event, count] : facts.eventCounts)
        records[event] = count;
    json["records"] = std::move(records);
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
    json["locks"] = Json::array();
    for (const ReportTraceLock& lock : trace.locks)
        json["locks"].push_back(lockJson(lock, trace));
    json["other_waits"] = Json::array();
    for (const ReportTraceWords& words : trace.words)
        json["other_waits"].push_back(
            {{"kind", words.kind}, {"words", words.words}, {"waits", words.waits}, {"value", words.valueNs}});
    json["left_out"] = trace.leftOut;
}

} // namespace whichlock
