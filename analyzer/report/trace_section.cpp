// SPDX-License-Identifier: GPL-3.0-or-later
// Sections of traces whose events were timed.
#include "analyzer/locks/recording_context.h"
#include "analyzer/report/section_builders.h"
#include "analyzer/report/shares.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace whichlock {
namespace {

uint64_t sumOf(const std::vector<TracedThreads>& threads, uint64_t ActivityTimes::*part)
{
    uint64_t sum = 0;
    for (const TracedThreads& one : threads)
        sum += one.times.*part;
    return sum;
}

/// The heaviest place that has a name.
TracedPlace siteOf(const TracedLock& lock)
{
    for (const TracedSite& site : lock.sites) {
        if (!site.at.function.empty())
            return site.at;
    }
    return {};
}

/// What of the waiting for a lock does not stand in the figures of another one already.
uint64_t ownNs(const TracedLock& lock)
{
    return lock.valueNs - std::min(lock.valueNs, lock.nestedNs);
}

std::string fileNameOf(const std::string& path)
{
    return path.substr(path.rfind('/') + 1);
}

/// Figures of one section while it is being built.
class TraceSectionBuilder {
public:
    TraceSectionBuilder(const LockTraceRecord& record, ReportSection& out)
        : record_(record)
        , out_(out)
    {
        out.trace.emplace();
        trace_ = &*out.trace;
    }

    void run()
    {
        trace_->facts = record_;
        trace_->facts.locks.clear();
        trace_->lowerBound = record_.sampled || record_.lostEvents != 0
            || record_.endsWithoutBegin + record_.beginsWithoutEnd != 0;
        for (const TracedLock& lock : record_.locks) {
            if (lock.isLock) {
                trace_->lockWaitNs += ownNs(lock);
                trace_->nestedNs += lock.nestedNs;
                trace_->lockWaitOfActive += lock.accountNs;
            }
        }
        if (!record_.cutToCpus) // what threads did is not told apart by where they did it
            addAccount();
        if (trace_->activeNs != 0)
            trace_->lockShare = shareOf(trace_->lockWaitOfActive, trace_->activeNs);
        addLocks();
        addWords();
        addCoverage();
        addGain();
        addRate();
        trace_->leftOut = traceLeftOut(record_, out_);
        out_.total = trace_->lockWaitNs;
        out_.totalBasis = "waits";
        out_.samples = record_.events;
    }

private:
    void addLine(const char* what, const char* key, uint64_t ns, bool active)
    {
        if (ns != 0 || (std::string_view(key) == "lock" && seesLocks()))
            trace_->account.push_back({what, key, ns, active, std::nullopt});
    }

    /// Whether events tell of waits for locks at all.
    bool seesLocks() const
    {
        return record_.hasContention || record_.hasFutexes || record_.hasRecordedHolds
            || counted("contention") || counted("futex") || counted("raw_syscalls") || counted("mmap_lock")
            || counted("lock:lock_");
    }

    void addAccount()
    {
        const auto of = [&](uint64_t ActivityTimes::*part) { return sumOf(record_.threads, part); };
        for (const TracedThreads& one : record_.threads)
            trace_->threads += one.threads;
        const uint64_t waitsNs = of(&ActivityTimes::lockNs);
        // A word that is no lock counts as a lock only until its kind is known.
        const uint64_t noLockNs = waitsNs - std::min(waitsNs, trace_->lockWaitOfActive);
        trace_->activeKnown = record_.hasSwitches && !record_.sampled;
        if (trace_->activeKnown) {
            addLine("on CPU", "cpu", of(&ActivityTimes::ranNs), true);
            addLine("on CPU or runnable, cannot be told", "uncertain", of(&ActivityTimes::uncertainNs), true);
            addLine("runnable, no CPU", "runnable",
                of(&ActivityTimes::preemptedNs) + of(&ActivityTimes::yieldedNs) + of(&ActivityTimes::wokenNs),
                true);
            addLine("runnable, throttled or moved", "throttled", of(&ActivityTimes::throttledNs), true);
            addLine("lock wait", "lock", trace_->lockWaitOfActive, true);
            addLine("disk, reclaim", "io", of(&ActivityTimes::ioNs), true);
            addLine("waits for work", "idle", of(&ActivityTimes::idleNs) + noLockNs, false);
            addLine("sleeps", "sleep", of(&ActivityTimes::sleepNs), false);
            addLine("blocked, other", "blocked", of(&ActivityTimes::blockedNs), false);
            addLine("not recorded", "unknown", of(&ActivityTimes::unknownNs), false);
        } else if (!record_.sampled) {
            addLine("not recorded", "unknown",
                of(&ActivityTimes::unknownNs) + of(&ActivityTimes::idleNs) + noLockNs, true);
            addLine("lock wait", "lock", trace_->lockWaitOfActive, true);
        }
        for (const TraceAccountLine& line : trace_->account)
            trace_->activeNs += line.active ? line.valueNs : 0;
        for (TraceAccountLine& line : trace_->account) {
            if (line.active && trace_->activeNs != 0)
                line.ofActive = shareOf(line.valueNs, trace_->activeNs);
        }
    }

    void nameLock(const TracedLock& from, ReportTraceLock& lock) const
    {
        if (from.kind == "mmap-lock") { // of no other lock are these events
            lock.name = "mm_struct::mmap_lock";
            lock.rung = Rung::NamedInData;
            lock.basis = fmt::format("by its events, address {:#x}", from.address);
            return;
        }
        if (!from.symbol.empty()) {
            lock.name = from.symbolOffset == 0 ? from.symbol
                                               : fmt::format("{}+{:#x}", from.symbol, from.symbolOffset);
            lock.rung = from.space == "kernel" ? Rung::Symbol : Rung::UserSymbol;
            lock.verified = from.verified;
            lock.basis =
                fmt::format("symbol of {}{}", fileNameOf(from.object), from.verified ? "" : ", unverified");
            return;
        }
        if (!from.called.empty()) {
            lock.name = from.called;
            lock.expression = from.expression;
            lock.rung = from.calledVariable ? Rung::Symbol : Rung::Type;
            lock.verified = from.calledVerified;
            lock.basis = fmt::format("code of its call sites{}{}", from.calledBtf ? " and types of BTF" : "",
                from.calledVerified ? "" : ", unverified");
            return;
        }
        if (!from.knownAs.empty()) {
            lock.name = from.knownAs;
            lock.rung = Rung::Table;
            lock.basis = fmt::format("table, {}; address {:#x}", from.knownFrom, from.address);
            return;
        }
        const TracedPlace site = siteOf(from);
        lock.rung = site.function.empty() ? Rung::Unnamed : Rung::CallSite;
        lock.name = site.function.empty() ? fmt::format("{:#x}", from.address)
            : site.calledFrom             ? fmt::format("lock taken in a call from {}", site.function)
                                          : fmt::format("lock taken at {}", site.function);
        lock.basis = site.function.empty() ? std::string("no symbol or call site names it")
                                           : fmt::format("address {:#x}", from.address);
        if (lock.rung == Rung::CallSite && site.line != 0 && !site.calledFrom) {
            lock.rung = Rung::SourceLine;
            lock.name += fmt::format(" ({}:{})", fileNameOf(site.file), site.line);
        }
    }

    void addLocks()
    {
        for (const TracedLock& from : record_.locks) {
            if (!from.isLock)
                continue;
            ReportTraceLock& lock = trace_->locks.emplace_back();
            lock.id = static_cast<uint32_t>(trace_->locks.size());
            nameLock(from, lock);
        }
        numberInstances();
        for (size_t i = 0; i < trace_->locks.size(); ++i)
            addFigures(record_.locks[i], trace_->locks[i]);
    }

    /// Locks of one class, as those in objects of a heap, get numbers; locks stand heaviest first.
    void numberInstances()
    {
        std::map<std::pair<std::string, std::string>, std::vector<size_t>> classes; // by name and kind
        for (size_t i = 0; i < trace_->locks.size(); ++i) {
            trace_->locks[i].lockClass = trace_->locks[i].name;
            if (isNamed(trace_->locks[i].rung))
                classes[{trace_->locks[i].name, record_.locks[i].kind}].push_back(i);
        }
        for (const auto& [key, members] : classes) {
            uint64_t all = 0;
            uint64_t own = 0;
            for (const size_t i : members) {
                all += record_.locks[i].valueNs;
                own += ownNs(record_.locks[i]);
            }
            for (size_t n = 0; n < members.size(); ++n) {
                ReportTraceLock& lock = trace_->locks[members[n]];
                lock.instances = static_cast<uint32_t>(members.size());
                lock.ofClass = shareOf(record_.locks[members[n]].valueNs, all);
                if (members.size() == 1)
                    continue;
                lock.instance = static_cast<uint32_t>(n + 1);
                lock.name = fmt::format("{} #{}", lock.lockClass, lock.instance);
            }
            if (members.size() > 1)
                trace_->classes.push_back({key.first, static_cast<uint32_t>(members.size()), all,
                    shareOf(own, trace_->lockWaitNs), trace_->locks[members.front()].ofClass});
        }
        std::ranges::stable_sort(trace_->classes, std::ranges::greater{}, &ReportLockClass::valueNs);
    }

    void addFigures(const TracedLock& from, ReportTraceLock& lock) const
    {
        lock.figures = from;
        lock.figures.sites.clear();
        lock.figures.holders.clear();
        lock.figures.roots.clear();
        lock.figures.patterns.clear();
        lock.ofLock = shareOf(ownNs(from), trace_->lockWaitNs);
        if (trace_->activeNs != 0)
            lock.ofActive = shareOf(from.accountNs, trace_->activeNs);
        if (record_.durationNs != 0 && from.instances.empty()) // else each had its own time
            lock.contendedOfWall = shareOf(from.contendedWallNs, record_.durationNs);
        const auto waiting = fixedFromCount(from.valueNs);
        const auto wall = fixedFromCount(from.contendedWallNs);
        if (waiting && wall && from.contendedWallNs != 0)
            lock.meanWaiters = quotient(*waiting, *wall);
        lock.handOffOfLock = shareOf(from.handOffNs, from.valueNs);
        lock.unseenOfLock = shareOf(from.unseenNs, from.valueNs);
        for (const TracedSite& site : from.sites)
            lock.sites.push_back({site, shareOf(site.valueNs, from.valueNs)});
        for (const TracedHolder& holder : from.holders) {
            lock.heldNs += holder.waitNs;
            lock.provenNs += holder.provenNs;
        }
        for (const TracedHolder& holder : from.holders) {
            ReportTraceHolder row{holder, std::nullopt, shareOf(holder.waitNs, from.valueNs)};
            if (lock.heldNs != 0)
                row.ofHeld = shareOf(holder.waitNs, lock.heldNs);
            lock.holders.push_back(std::move(row));
        }
        for (const TracedRoot& root : from.roots)
            lock.roots.push_back({root.function, root.calledFrom, root.nobody, nameOf(root.lock), root.ns,
                shareOf(root.ns, from.valueNs)});
        for (const TracedPattern& pattern : from.patterns)
            lock.patterns.push_back(
                {pattern.name, pattern.partNs, pattern.atMost, shareOf(pattern.partNs, from.valueNs)});
    }

    /// Locks stand first in the record.
    std::string nameOf(uint32_t lock) const
    {
        return lock < trace_->locks.size() ? trace_->locks[lock].name : std::string();
    }

    void addWords()
    {
        std::map<std::string, ReportTraceWords> byKind;
        for (const TracedLock& word : record_.locks) {
            if (word.isLock)
                continue;
            ReportTraceWords& row = byKind[word.kind];
            row.kind = word.kind;
            ++row.words;
            row.waits += word.waits + word.open;
            row.valueNs += word.valueNs;
            for (const TracedSite& site : word.sites)
                row.untoldNs += site.at.function.empty() ? site.valueNs : 0;
        }
        for (auto& [kind, row] : byKind)
            trace_->words.push_back(std::move(row));
    }

    bool counted(std::string_view part) const
    {
        return std::any_of(record_.eventCounts.begin(), record_.eventCounts.end(),
            [&](const auto& event) { return event.first.find(part) != std::string::npos; });
    }

    void addCoverage()
    {
        Coverage& sees = out_.sees;
        const bool contention = counted("contention") || counted("lock:lock_") || counted("mmap_lock");
        const bool futexes = tellsUserLocks(record_);
        sees.kernelSpin = contention ? Sees::Partly : Sees::No; // some ways of waiting have no event
        sees.kernelSleep = contention || record_.hasSwitches ? Sees::Partly : Sees::No;
        sees.userSleep = futexes ? Sees::Yes : record_.hasSwitches ? Sees::Partly : Sees::No;
        sees.userSpin = Sees::No;
        const bool charged = std::any_of(trace_->locks.begin(), trace_->locks.end(),
            [](const ReportTraceLock& lock) { return lock.heldNs != 0; });
        const bool allProven = std::all_of(trace_->locks.begin(), trace_->locks.end(),
            [](const ReportTraceLock& lock) { return lock.provenNs == lock.heldNs; });
        sees.holders = !charged ? Sees::No : allProven ? Sees::Yes : Sees::Partly;
        sees.callers = record_.hasStacks ? Sees::Yes : Sees::No;
    }

    void addGain()
    {
        if (trace_->locks.empty() || !trace_->activeKnown)
            return;
        const ReportTraceLock& first = trace_->locks.front();
        if (first.ofActive && first.ofActive->ppb > 0)
            out_.gain =
                fmt::format("At most {:.3f} ms of active thread time without {}: a bound, not a forecast.",
                    static_cast<double>(first.figures.accountNs) / 1e6, first.name);
    }

    void addRate()
    {
        const uint64_t cpus = out_.facts.cpus.value_or(0);
        constexpr uint64_t kShortest = 1'000'000; // a rate of less is chance
        if (cpus == 0 || record_.wholeNs < kShortest)
            return;
        trace_->eventsPerCpuSecond = static_cast<uint64_t>(static_cast<double>(record_.events) * 1e9
            / (static_cast<double>(record_.wholeNs) * static_cast<double>(cpus)));
    }

    const LockTraceRecord& record_;
    ReportSection& out_;
    ReportTrace* trace_ = nullptr;
};

} // namespace

void buildTimedTraceSection(const Profile& profile, const Section& section, const RoutineTable& routines,
    const Query& query, ReportSection& out)
{
    const RecordingContext context = recordingContextOf(profile, section, routines);
    out.facts.kernel = context.kernel;
    out.facts.kernelSource = context.kernelSource;
    out.facts.arch = context.arch;
    out.facts.archSource = context.archSource;
    out.facts.scope = scopeName(context.recorded.scope);
    out.facts.workload = context.recorded.workload;
    out.facts.copiesStacks = context.recorded.copiesStacks;
    TraceSectionBuilder(*section.trace, out).run();
    addTraceGroups(*section.trace, query.by, *out.trace);
}

} // namespace whichlock
