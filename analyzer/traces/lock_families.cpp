// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/lock_families.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <tuple>

namespace whichlock {
namespace {

// The memory of processors lies in units of equal size.
constexpr uint64_t kLeastUnit = 1U << 16U;
constexpr uint64_t kLargestUnit = 1U << 21U;

bool isWaitedFor(const TraceLock& lock)
{
    return lock.waits + lock.openWaits > 0;
}

std::set<std::string> siteNames(const TraceLock& lock, const TraceAnalysis& analysis, TraceNames& names)
{
    std::set<std::string> functions;
    for (const uint32_t row : lock.sites)
        functions.insert(names.siteOf(analysis.sites[row].stack).function);
    functions.erase(std::string());
    return functions;
}

/// Whether addresses in order are places of the same variable on different processors.
bool haveUnits(const std::vector<uint64_t>& addresses, uint64_t processors)
{
    uint64_t unit = 0;
    for (const uint64_t address : addresses)
        unit = std::gcd(unit, address - addresses.front());
    return unit >= kLeastUnit && unit <= kLargestUnit && std::has_single_bit(unit)
        && (addresses.back() - addresses.front()) / unit < processors;
}

/// What one lock has is added to what another one has.
class Folder {
public:
    explicit Folder(TraceAnalysis& analysis)
        : analysis_(analysis)
        , movedTo_(analysis.locks.size())
    {
    }

    void fold(const LockFamily& family)
    {
        TraceLock& first = analysis_.locks[family.front()];
        first.instances.push_back(instanceOf(first));
        for (size_t i = 1; i < family.size(); ++i) {
            TraceLock& other = analysis_.locks[family[i]];
            movedTo_[family[i]] = {family.front() + 1, static_cast<uint32_t>(first.holders.size())};
            first.instances.push_back(instanceOf(other));
            add(first, other);
            TraceLock empty;
            empty.key = other.key;
            other = std::move(empty);
        }
    }

    /// What points at locks that were moved points at where they are now.
    void redirect()
    {
        for (TraceLock& lock : analysis_.locks) {
            std::map<ChainRoot, uint64_t> roots;
            for (const auto& [root, ns] : lock.roots)
                roots[moved(root)] += ns;
            lock.roots = std::move(roots);
            for (HolderSums& holder : lock.holders) {
                std::map<uint32_t, uint64_t> waitedFor;
                for (const auto& [other, ns] : holder.waitedFor)
                    waitedFor[moved({.lock = {other}}).lock.v] += ns;
                holder.waitedFor = std::move(waitedFor);
            }
        }
    }

private:
    struct Place {
        uint32_t lock = 0; ///< id; 0: not moved
        uint32_t holders = 0;
    };

    static TraceInstance instanceOf(const TraceLock& lock)
    {
        return {lock.key, lock.waits + lock.openWaits, lock.valueNs()};
    }

    ChainRoot moved(ChainRoot root) const
    {
        const Place& place = movedTo_[root.lock.v - 1];
        if (place.lock == 0)
            return root;
        root.lock = {place.lock};
        if (root.holder)
            root.holder = {root.holder.v + place.holders};
        return root;
    }

    static void add(TraceLock& to, const TraceLock& from)
    {
        to.waits += from.waits;
        to.waitNs += from.waitNs;
        to.openWaits += from.openWaits;
        to.openNs += from.openNs;
        to.openAtEnd += from.openAtEnd;
        to.acquisitions += from.acquisitions;
        to.freeAcquisitions += from.freeAcquisitions;
        to.maxAcquisitionNs = std::max(to.maxAcquisitionNs, from.maxAcquisitionNs);
        to.notAcquired += from.notAcquired;
        to.waitTimes.add(from.waitTimes);
        to.contendedWallNs += from.contendedWallNs;
        to.maxWaiters = std::max(to.maxWaiters, from.maxWaiters);
        to.strip.add(from.strip);
        to.holders.insert(to.holders.end(), from.holders.begin(), from.holders.end());
        to.handOffNs += from.handOffNs;
        to.unseenNs += from.unseenNs;
        for (const auto& [root, ns] : from.roots)
            to.roots[root] += ns;
        for (const TracedWait& wait : from.worst)
            noteWorst(to.worst, wait);
        to.sites.insert(to.sites.end(), from.sites.begin(), from.sites.end());
        to.releases += from.releases;
        to.broadcasts += from.broadcasts;
        to.deadlock = to.deadlock || from.deadlock;
        to.stuck = to.stuck || from.stuck;
        to.afterBroadcastNs += from.afterBroadcastNs;
        to.waiterPriority = std::min(to.waiterPriority, from.waiterPriority);
    }

    TraceAnalysis& analysis_;
    std::vector<Place> movedTo_; ///< by row
};

} // namespace

std::vector<LockFamily> copiesInProcesses(const TraceAnalysis& analysis, TraceNames& names)
{
    std::map<std::tuple<std::string, std::string, uint64_t, LockKind>, LockFamily> byVariable;
    for (uint32_t row = 0; row < analysis.locks.size(); ++row) {
        const TraceLock& lock = analysis.locks[row];
        if (lock.key.space != LockSpace::Process || !lock.isLock || !isWaitedFor(lock))
            continue;
        const TracedVariable variable =
            names.variableOf(analysis.processes[lock.key.owner - 1], lock.key.address);
        if (!variable.name.empty())
            byVariable[{variable.object, variable.name, variable.offset, lock.kind}].push_back(row);
    }
    std::vector<LockFamily> families;
    for (auto& [variable, rows] : byVariable) {
        std::set<uint32_t> owners;
        for (const uint32_t row : rows)
            owners.insert(analysis.locks[row].key.owner);
        if (owners.size() > 1 && owners.size() == rows.size())
            families.push_back(std::move(rows));
    }
    return families;
}

std::vector<LockFamily> copiesOnProcessors(const TraceAnalysis& analysis, TraceNames& names)
{
    std::map<uint64_t, LockFamily> byPlace;
    for (uint32_t row = 0; row < analysis.locks.size(); ++row) {
        const TraceLock& lock = analysis.locks[row];
        if (lock.kind == LockKind::SpinLock && isWaitedFor(lock))
            byPlace[lock.key.address % kLeastUnit].push_back(row);
    }
    std::vector<LockFamily> families;
    for (auto& [place, rows] : byPlace) {
        std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
            return analysis.locks[a].key.address < analysis.locks[b].key.address;
        });
        std::vector<uint64_t> addresses;
        for (const uint32_t row : rows)
            addresses.push_back(analysis.locks[row].key.address);
        if (rows.size() < 2 || !haveUnits(addresses, analysis.processors))
            continue;
        const std::set<std::string> first = siteNames(analysis.locks[rows.front()], analysis, names);
        const bool alike = std::all_of(rows.begin() + 1, rows.end(), [&](uint32_t row) {
            const std::set<std::string> own = siteNames(analysis.locks[row], analysis, names);
            return std::any_of(own.begin(), own.end(), [&](const auto& one) { return first.contains(one); });
        });
        if (alike)
            families.push_back(std::move(rows));
    }
    return families;
}

void foldLocks(TraceAnalysis& analysis, const std::vector<LockFamily>& families)
{
    if (families.empty())
        return;
    Folder folder(analysis);
    for (const LockFamily& family : families)
        folder.fold(family);
    folder.redirect();
}

void findInnerLocks(TraceAnalysis& analysis)
{
    std::map<uint64_t, uint32_t> sleeping; // by address
    for (uint32_t row = 0; row < analysis.locks.size(); ++row) {
        const LockKind kind = analysis.locks[row].kind;
        if (analysis.locks[row].key.space == LockSpace::Kernel && isWaitedFor(analysis.locks[row])
            && (kind == LockKind::RwSemaphore || kind == LockKind::KernelMutex
                || kind == LockKind::KernelSemaphore))
            sleeping[analysis.locks[row].key.address] = row;
    }
    // include/linux/rwsem.h and mutex.h: wait_lock with and without the queue of those who spin; semaphores
    // begin with theirs.
    constexpr std::pair<LockKind, uint64_t> kInside[] = {
        {LockKind::RwSemaphore, 0x14}, {LockKind::RwSemaphore, 0x10}, {LockKind::KernelMutex, 8}};
    for (TraceLock& lock : analysis.locks) {
        if (lock.kind != LockKind::SpinLock || !isWaitedFor(lock))
            continue;
        for (const auto& [kind, offset] : kInside) {
            const auto outer = sleeping.find(lock.key.address - offset);
            if (outer == sleeping.end() || analysis.locks[outer->second].kind != kind)
                continue;
            lock.innerOf = outer->second + 1;
            for (const uint32_t site : lock.sites)
                analysis.locks[outer->second].innerNs += analysis.sites[site].accountNs;
            break;
        }
    }
}

} // namespace whichlock
