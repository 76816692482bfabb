// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/lock_table_json.h"

#include "analyzer/report/json_values.h"

namespace whichlock {
namespace {

/// Times of waiting have the names that traces give them; those of holding say so.
void putTimes(Json& to, const std::string& prefix, const LockTimes& times)
{
    put(to, prefix.empty() ? "value" : prefix + "total_ns", times.totalNs);
    put(to, prefix + "mean_ns", times.meanNs);
    put(to, prefix + "min_ns", times.minNs);
    put(to, prefix + "max_ns", times.maxNs);
}

Json siteJson(const ReportTableSite& site)
{
    Json one;
    one["name"] = site.figures.function;
    if (site.figures.holder)
        one["holder"] = true;
    put(one, "contentions", site.figures.contentions);
    putTimes(one, "", site.figures.wait);
    put(one, "share_of_cpus_percent", site.figures.cpuShare);
    put(one, "share_of_this_lock_percent", site.ofThisLock);
    put(one, "share_of_listed_sites_percent", site.ofListed);
    return one;
}

Json lockJson(const ReportTableLock& lock, bool isLock)
{
    const LockTableRow& figures = lock.figures;
    Json one;
    one["id"] = lock.id;
    one["name"] = lock.name;
    if (isLock)
        one["rung"] = rungName(lock.rung);
    put(one, "basis", lock.basis);
    put(one, "kind", figures.kind);
    put(one, "address", figures.address);
    if (figures.tid >= 0)
        one["tid"] = figures.tid;
    one["rows"] = lock.rows;
    put(one, "contentions", figures.contentions);
    put(one, "acquisitions", figures.acquisitions);
    put(one, "rejected", figures.rejected);
    put(one, "wait_bounces", figures.waitBounces);
    put(one, "take_bounces", figures.takeBounces);
    putTimes(one, "", figures.wait);
    putTimes(one, "hold_", figures.hold);
    put(one, "share_of_lock_percent", lock.ofLock);
    put(one, "share_of_cpus_percent", figures.cpuShare);
    put(one, "utilisation_percent", figures.utilisation);
    if (!lock.sides.empty()) {
        one["sides"] = Json::array();
        for (const ReportTableSide& side : lock.sides) {
            Json part;
            part["side"] = side.side;
            put(part, "contentions", side.contentions);
            putTimes(part, "", side.wait);
            put(part, "share_of_this_lock_percent", side.ofThisLock);
            one["sides"].push_back(std::move(part));
        }
    }
    one["sites"] = Json::array();
    for (const ReportTableSite& site : lock.sites)
        one["sites"].push_back(siteJson(site));
    return one;
}

} // namespace

void putLockTable(Json& json, const ReportLockTable& table)
{
    if (table.waitsKnown) {
        json["contention_total"] = table.waitNs + table.unlistedNs; // it was one printed number
        json["unlisted"] = table.unlistedNs;
    }
    put(json, "contention_share_of_cpus_percent", table.cpuShare);
    if (table.facts.durationNs)
        json["facts"]["duration_ns"] = *table.facts.durationNs;
    json["locks"] = Json::array();
    for (const ReportTableLock& lock : table.locks)
        json["locks"].push_back(lockJson(lock, true));
    if (!table.waiters.empty()) {
        Json& list = json[table.facts.holders ? "waited_for" : "waiters"];
        list = Json::array();
        for (const ReportTableLock& row : table.waiters)
            list.push_back(lockJson(row, false));
    }
    json["left_out"] = table.leftOut;
}

} // namespace whichlock
