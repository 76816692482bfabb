// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/trace_analysis.h"

#include <fmt/format.h>

namespace whichlock {

std::string_view activityName(Activity activity)
{
    constexpr std::array<std::string_view, kActivities> kNames = {"unknown", "ran", "uncertain", "preempted",
        "yielded", "voluntary", "throttled", "woken", "io", "sleep", "idle", "blocked", "lock-wait",
        "grace-period"};
    return kNames[static_cast<size_t>(activity)];
}

std::string_view waitReasonName(WaitReason reason)
{
    constexpr std::array<std::string_view, 16> kNames = {"unknown", "mutex", "rwlock-read", "rwlock-write",
        "once", "semaphore", "condition", "join", "barrier", "sleep", "poll", "io", "page-fault", "reclaim",
        "other", "grace-period"};
    return kNames[static_cast<size_t>(reason)];
}

std::string_view lockKindName(LockKind kind)
{
    constexpr std::array<std::string_view, 21> kNames = {"unknown", "spinlock", "rwlock", "mutex", "rwsem",
        "percpu-rwsem", "rt-mutex", "semaphore", "mmap-lock", "user-mutex", "user-pi-mutex", "user-rwlock",
        "once", "parker", "condition-lock", "yield-lock", "user-semaphore", "condition", "join", "barrier",
        "other"};
    return kNames[static_cast<size_t>(kind)];
}

namespace {

std::string problemOf(const TraceLock& lock, const TraceAnalysis& analysis)
{
    uint64_t waits = 0;
    uint64_t siteNs = 0;
    for (const uint32_t site : lock.sites) {
        waits += analysis.sites[site].waits;
        siteNs += analysis.sites[site].waitNs + analysis.sites[site].openNs;
    }
    if (waits != lock.waits || siteNs != lock.valueNs())
        return fmt::format("its sites have {} waits and {} ns", waits, siteNs);
    uint64_t charged = lock.handOffNs + lock.unseenNs;
    uint64_t roots = 0;
    for (const HolderSums& holder : lock.holders) {
        charged += holder.waitNs;
        uint64_t meanwhile = 0;
        for (const uint64_t ns : holder.meanwhile)
            meanwhile += ns;
        if (meanwhile != holder.waitNs)
            return fmt::format("a holder of {} ns did {} ns meanwhile", holder.waitNs, meanwhile);
    }
    for (const auto& [root, ns] : lock.roots)
        roots += ns;
    if (charged != lock.valueNs() || roots != lock.valueNs())
        return fmt::format("its holders add up to {} ns, the roots to {} ns", charged, roots);
    if (lock.waitTimes.count() != lock.waits || lock.waitTimes.sumNs() != lock.waitNs)
        return "the distribution of its waits has other sums";
    return {};
}

} // namespace

std::string TraceAnalysis::check() const
{
    for (size_t i = 0; i < locks.size(); ++i) {
        const std::string problem = problemOf(locks[i], *this);
        if (!problem.empty())
            return fmt::format("lock {} at {:#x} waits {} times for {} ns: {}", i + 1, locks[i].key.address,
                locks[i].waits, locks[i].valueNs(), problem);
    }
    return {};
}

} // namespace whichlock
