// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/lock_table.h"

namespace whichlock {

TraceLockId LockTable::find(const LockKey& key, uint64_t beginNs)
{
    const TraceLockId id = keys_.intern(key);
    if (id.v > locks_.size())
        locks_.emplace_back(id, key, beginNs, window_);
    return id;
}

uint32_t LockTable::site(const SiteKey& key, const TraceStackClass& known)
{
    const auto id = siteKeys_.intern(key);
    if (id.v > sites_.size()) {
        TraceSite site;
        site.lock = key.lock;
        site.stack = key.stack;
        site.group = key.group;
        site.channel = key.channel;
        site.reason = key.reason;
        site.action = key.action;
        site.cpu = key.cpu;
        site.side = key.side;
        site.parks = known.parks;
        site.onCondition = known.onCondition;
        site.ofAllocator = known.ofAllocator;
        site.insideCondition = known.insideCondition;
        sites_.push_back(site);
        locks_[key.lock.v - 1].facts.sites.push_back(id.v - 1);
    }
    return id.v - 1;
}

void noteWorst(std::vector<TracedWait>& worst, const TracedWait& wait)
{
    constexpr size_t kKept = 5;
    if (worst.size() == kKept && wait.ns <= worst.back().ns)
        return;
    const auto at = std::upper_bound(worst.begin(), worst.end(), wait,
        [](const TracedWait& a, const TracedWait& b) { return a.ns > b.ns; });
    worst.insert(at, wait);
    if (worst.size() > kKept)
        worst.pop_back();
}

} // namespace whichlock
