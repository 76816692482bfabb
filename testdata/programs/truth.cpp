// SPDX-License-Identifier: GPL-3.0-or-later
#include "truth.h"

namespace truth {
namespace {

struct Interval {
    int64_t begin;
    int64_t end;
};

int64_t overlap(const std::vector<Interval>& merged, int64_t begin, int64_t end)
{
    int64_t sum = 0;
    for (const Interval& one : merged)
        sum += std::max<int64_t>(0, std::min(end, one.end) - std::max(begin, one.begin));
    return sum;
}

/// Readers hold a lock together: such times count once.
std::vector<Interval> merged(std::vector<Interval> intervals)
{
    std::sort(intervals.begin(), intervals.end(),
        [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    std::vector<Interval> result;
    for (const Interval& one : intervals) {
        if (!result.empty() && one.begin <= result.back().end)
            result.back().end = std::max(result.back().end, one.end);
        else
            result.push_back(one);
    }
    return result;
}

struct Sums {
    uint64_t acquisitions = 0;
    uint64_t contended = 0;
    uint64_t stillWaiting = 0;
    int64_t waitNs = 0; ///< of contended ones
    int64_t waitMaxNs = 0;
    int64_t waitCpuNs = 0; ///< of all
    int64_t holdNs = 0;

    void add(const Acquisition& one, int64_t stop)
    {
        const bool waits = one.got == 0;
        const int64_t wait = (waits ? stop : one.got) - one.asked;
        acquisitions += waits ? 0 : 1;
        stillWaiting += waits ? 1 : 0;
        if (wait > kContendedNs) {
            ++contended;
            waitNs += wait;
            waitMaxNs = std::max(waitMaxNs, wait);
        }
        if (waits)
            return;
        waitCpuNs += one.lock->spins ? one.waitCpu : 0;
        holdNs += (one.released == 0 ? stop : one.released) - one.got;
    }
    void print(bool spins) const
    {
        std::printf("\"acquisitions\": %" PRIu64 ", \"contended\": %" PRIu64 ", \"wait_ns\": %" PRId64
                    ", \"wait_max_ns\": %" PRId64 ", \"hold_ns\": %" PRId64,
            acquisitions, contended, waitNs, waitMaxNs, holdNs);
        if (spins)
            std::printf(", \"wait_cpu_ns\": %" PRId64, waitCpuNs);
        if (stillWaiting != 0)
            std::printf(", \"still_waiting\": %" PRIu64, stillWaiting);
    }
};

void printLock(const Lock& lock, const std::vector<const Acquisition*>& acquisitions, int64_t stop)
{
    Sums all;
    std::map<std::string, Sums> sites;
    std::map<std::string, std::vector<Interval>> holds;
    std::vector<Interval> anyHold;
    for (const Acquisition* one : acquisitions) {
        all.add(*one, stop);
        sites[std::string(one->site) + (one->shared ? " shared" : "")].add(*one, stop);
        if (one->got == 0)
            continue;
        const Interval hold{one->got, one->released == 0 ? stop : one->released};
        holds[one->site].push_back(hold);
        anyHold.push_back(hold);
    }
    anyHold = merged(std::move(anyHold));
    std::map<std::string, int64_t> heldBy;
    for (auto& [site, intervals] : holds) {
        intervals = merged(std::move(intervals));
        heldBy[site] = 0;
    }
    int64_t heldByNobody = 0;
    for (const Acquisition* one : acquisitions) {
        const int64_t end = one->got == 0 ? stop : one->got;
        if (end - one->asked <= kContendedNs)
            continue;
        heldByNobody += end - one->asked - overlap(anyHold, one->asked, end);
        for (const auto& [site, intervals] : holds)
            heldBy[site] += overlap(intervals, one->asked, end);
    }
    std::printf(
        "\n  {\"name\": \"%s\", \"type\": \"%s\", \"address\": \"%p\", ", lock.name, lock.type, lock.address);
    all.print(lock.spins);
    std::printf(",\n   \"sites\": [");
    const char* comma = "";
    for (const auto& [site, sums] : sites) {
        std::printf("%s\n    {\"site\": \"%s\", ", comma, site.c_str());
        sums.print(lock.spins);
        std::printf("}");
        comma = ",";
    }
    std::printf("],\n   \"waits_held_by\": {");
    for (const auto& [site, ns] : heldBy)
        std::printf("\"%s\": %" PRId64 ", ", site.c_str(), ns);
    std::printf("\"\": %" PRId64 "}}", heldByNobody);
}

} // namespace

void print(const char* program, const std::string& more)
{
    const int64_t stop = nowNs();
    std::printf("{\"program\": \"%s\", \"start_ns\": %" PRId64 ", \"stop_ns\": %" PRId64
                ", \"cpu_ns\": %" PRId64 ", \"contended_above_ns\": %" PRId64 ",%s%s\n \"threads\": [",
        program, g_startNs, stop, nowNs(CLOCK_PROCESS_CPUTIME_ID), kContendedNs, more.c_str(),
        more.empty() ? "" : ",");
    std::map<const Lock*, std::vector<const Acquisition*>> locks;
    const char* comma = "";
    for (const Log* one = g_logs.load(); one != nullptr; one = one->next) {
        if (!one->thread.empty()) {
            std::printf(
                "%s\n  {\"name\": \"%s\", \"cpu_ns\": %" PRId64 "}", comma, one->thread.c_str(), one->cpuNs);
            comma = ",";
        }
        for (const Acquisition& acquisition : one->acquisitions)
            locks[acquisition.lock].push_back(&acquisition);
    }
    std::printf("],\n \"locks\": [");
    comma = "";
    for (const auto& [lock, acquisitions] : locks) {
        std::printf("%s", comma);
        printLock(*lock, acquisitions, stop);
        comma = ",";
    }
    std::printf("]}\n");
    std::fflush(stdout);
}

} // namespace truth
