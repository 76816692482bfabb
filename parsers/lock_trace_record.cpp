// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/lock_trace_record.h"

#include <string_view>

namespace whichlock {
namespace {

class Bytes {
public:
    std::string all;

    template <class... Values> void numbers(Values... values)
    {
        (number(static_cast<uint64_t>(values)), ...);
    }
    void text(std::string_view value)
    {
        number(value.size());
        all += value;
    }
    template <class Row, class Write> void list(const std::vector<Row>& rows, Write write)
    {
        number(rows.size());
        for (const Row& row : rows)
            write(row);
    }
    void times(const std::vector<NamedTime>& rows)
    {
        list(rows, [&](const NamedTime& row) {
            text(row.name);
            numbers(row.ns);
        });
    }
    void activities(const ActivityTimes& one)
    {
        numbers(one.unknownNs, one.ranNs, one.uncertainNs, one.preemptedNs, one.yieldedNs, one.throttledNs,
            one.wokenNs, one.ioNs, one.sleepNs, one.idleNs, one.blockedNs, one.lockNs);
    }

private:
    void number(uint64_t value)
    {
        for (unsigned shift = 0; shift < 64; shift += 8)
            all += static_cast<char>(value >> shift & 0xffU);
    }
};

void writePlace(Bytes& out, const TracedPlace& place)
{
    out.text(place.function);
    out.text(place.file);
    out.numbers(place.line, place.recovered, place.calledFrom);
}

void writeHold(Bytes& out, const TracedHold& hold)
{
    writePlace(out, hold.at);
    out.text(hold.thread);
    out.numbers(hold.holds, hold.sumNs, hold.meanNs, hold.p50Ns, hold.p90Ns, hold.p99Ns, hold.maxNs);
}

void writeHolder(Bytes& out, const TracedHolder& holder)
{
    writePlace(out, holder.at);
    out.text(holder.thread);
    out.numbers(holder.waitNs, holder.provenNs, holder.preemptions, holder.longestOffNs,
        holder.longestOffAtNs, holder.holds, holder.medianHoldNs, holder.maxHoldNs);
    out.activities(holder.meanwhile);
    out.times(holder.preemptedBy);
    out.times(holder.blockedAt);
    out.list(holder.waitedFor, [&](const auto& one) { out.numbers(one.first, one.second); });
}

void writeLock(Bytes& out, const TracedLock& lock)
{
    for (const std::string* text : {&lock.space, &lock.kind, &lock.symbol, &lock.object, &lock.called,
             &lock.expression, &lock.knownAs, &lock.knownFrom})
        out.text(*text);
    out.numbers(lock.address, lock.pid, lock.isLock, lock.parks, lock.symbolOffset, lock.verified,
        lock.calledVariable, lock.calledVerified, lock.calledBtf, lock.valueNs, lock.waits, lock.acquisitions,
        lock.open, lock.openAtEnd, lock.openNs, lock.notAcquired, lock.meanNs, lock.maxNs,
        lock.maxAcquisitionNs, lock.p50Ns, lock.p99Ns, lock.contendedWallNs, lock.maxWaiters, lock.handOffNs,
        lock.unseenNs, lock.accountNs, lock.nestedNs, lock.offCpuNs, lock.deadlock, lock.stripBucketNs,
        lock.holdsRecorded);
    writeHold(out, lock.holdTimes);
    out.list(lock.holds, [&](const TracedHold& hold) { writeHold(out, hold); });
    out.list(lock.strip, [&](uint64_t ns) { out.numbers(ns); });
    out.list(lock.sites, [&](const TracedSite& site) {
        writePlace(out, site.at);
        out.text(site.side);
        out.numbers(site.insideCondition, site.valueNs, site.waits, site.maxNs, site.open, site.nestedNs);
    });
    out.list(lock.holders, [&](const TracedHolder& holder) { writeHolder(out, holder); });
    out.list(lock.roots, [&](const TracedRoot& root) {
        out.text(root.function);
        out.numbers(root.lock, root.nobody, root.ns, root.calledFrom);
    });
    out.list(lock.worst, [&](const TracedLongWait& wait) {
        writePlace(out, wait.at);
        out.text(wait.thread);
        out.numbers(wait.fromNs, wait.ns, wait.tid, wait.open);
    });
    out.list(lock.patterns, [&](const TracedPattern& pattern) {
        out.text(pattern.name);
        out.numbers(pattern.partNs, pattern.atMost);
    });
    out.list(lock.instances,
        [&](const TracedInstance& one) { out.numbers(one.address, one.pid, one.waits, one.valueNs); });
    out.numbers(lock.innerOf, lock.innerNs);
}

} // namespace

std::string bytesOf(const LockTraceRecord& record)
{
    Bytes out;
    out.numbers(record.durationNs, record.events, record.hasSwitches, record.hasWakings, record.hasContention,
        record.hasFutexes, record.hasRecordedHolds, record.hasStacks, record.sampled, record.lostEvents,
        record.endsWithoutBegin, record.beginsWithoutEnd, record.unlikelyPairs, record.unseenSwitches,
        record.fromNs, record.wholeNs, record.untold, record.cutToCpus, record.leftOut.waits,
        record.leftOut.ns, record.ofRecorder.waits, record.ofRecorder.ns, record.recorderThreads);
    out.activities(record.recorder);
    const OffCpuTimes& off = record.offCpu;
    out.numbers(off.runnableNs, off.lockNs, off.conditionNs, off.ioNs, off.sleepNs, off.otherNs, off.wokenNs,
        off.upToNs);
    out.list(record.eventCounts, [&](const auto& one) {
        out.text(one.first);
        out.numbers(one.second);
    });
    out.list(record.threads, [&](const TracedThreads& threads) {
        out.text(threads.name);
        out.numbers(threads.pid, threads.tid, threads.threads, threads.lockWaits, threads.lockWaitNs,
            threads.lockTimeNs, threads.longestNs);
        out.activities(threads.times);
    });
    out.list(record.processors, [&](const TracedProcessor& one) {
        out.numbers(one.cpu, one.lockWaits, one.lockWaitNs, one.longestNs);
    });
    out.list(record.locks, [&](const TracedLock& lock) { writeLock(out, lock); });
    out.times(record.blockedAt);
    out.text(record.problem);
    return std::move(out.all);
}

} // namespace whichlock
