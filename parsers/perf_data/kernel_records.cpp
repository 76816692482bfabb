// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/perf_data_state.h"

#include <fmt/core.h>

#include <utility>

namespace whichlock {
namespace {

void deliverSample(PerfDataState& state, const PerfRecord& record, std::string_view payload)
{
    EventTable& events = state.events;
    const uint32_t event = events.eventOfSample(payload, state.order);
    uint32_t layout = event;
    if (event == kNoEvent) {
        if (events.empty()) {
            state.damaged(record, "there is no event that says what is in it");
            return;
        }
        state.damage.note(DiagnosticCode::EventUnknown, record.type, record.offset, [&] {
            return fmt::format(
                "the sample at offset {} belongs to none of the {} events; such samples are {}",
                record.offset, events.size(), events.sameLayout() ? "kept without one" : "skipped");
        });
        if (!events.sameLayout())
            return;
        layout = 0;
    } else if (events.eventsLookAlike()) {
        state.damage.note(DiagnosticCode::EventsMixed, record.type, record.offset, [&] {
            return fmt::format("samples do not say which of the {} events they are of; those without an id "
                               "count as the first such event, {}",
                events.size(), events[event].name);
        });
    }
    PerfSample& sample = state.sample;
    const uint32_t fields = events.sameLayout() ? 0 : layout;
    if (std::exchange(state.sampleLayout, kNoEvent) != fields)
        sample = {};
    sample.event = event;
    if (const char* const field = decodeSample(events[layout].attr, payload, state.order, sample)) {
        state.damaged(record, fmt::format("{} does not fit", field));
        return;
    }
    state.sampleLayout = fields;
    ++state.counts.samples;
    state.sink.sample(record, sample);
}

/// Takes the trailer off `payload` and puts it into the record. False when there is no room for it.
bool takeTrailer(PerfDataState& state, PerfRecord& record, std::string_view& payload)
{
    EventTable& events = state.events;
    const uint32_t layout = events.eventOfTrailer(payload, state.order);
    if (layout == kNoEvent)
        return true; // nobody knows whether there is one
    const PerfAttr& attr = events[layout].attr;
    const size_t bytes = sampleIdBytes(attr);
    if (bytes == 0)
        return true;
    if (bytes > payload.size())
        return false;
    record.id = decodeSampleId(attr, payload.substr(payload.size() - bytes), state.order);
    payload.remove_suffix(bytes);
    if (record.id.has(sample_bit::kId | sample_bit::kIdentifier))
        record.id.event = events.find(record.id.id);
    else if (events.size() == 1)
        record.id.event = 0;
    return true;
}

/// Reads one kind of record and delivers it; false when it is too short.
class KernelRecordReader {
public:
    KernelRecordReader(PerfDataState& state, const PerfRecord& record, std::string_view payload)
        : state_(state)
        , sink_(state.sink)
        , record_(record)
        , reader_(payload, state.order)
    {
    }

    bool mapping(bool withDetails)
    {
        PerfMapping mapping;
        mapping.pid = reader_.u32();
        mapping.tid = reader_.u32();
        mapping.start = reader_.u64();
        mapping.length = reader_.u64();
        mapping.pageOffset = reader_.u64();
        mapping.isData = record_.has(perf_misc::kMmapData);
        if (withDetails)
            mappingDetails(mapping);
        mapping.fileName = reader_.untilNul();
        return deliver([&] { sink_.mapping(record_, mapping); });
    }
    bool comm()
    {
        PerfComm comm;
        comm.pid = reader_.u32();
        comm.tid = reader_.u32();
        comm.name = reader_.untilNul();
        comm.exec = record_.has(perf_misc::kCommExec);
        return deliver([&] { sink_.comm(record_, comm); });
    }
    bool task(bool isFork)
    {
        PerfTask task;
        task.pid = reader_.u32();
        task.parentPid = reader_.u32();
        task.tid = reader_.u32();
        task.parentTid = reader_.u32();
        task.time = reader_.u64();
        return deliver([&] { isFork ? sink_.fork(record_, task) : sink_.exit(record_, task); });
    }
    bool lost()
    {
        PerfLost lost;
        lost.id = reader_.u64();
        lost.count = reader_.u64();
        lost.event = state_.events.size() == 1 ? 0 : state_.events.find(lost.id);
        return deliver([&] { sink_.lost(record_, lost); });
    }
    bool lostSamples()
    {
        PerfLost lost;
        lost.count = reader_.u64();
        lost.samplesOnly = true;
        lost.droppedByRule = record_.has(perf_misc::kLostByFilter);
        lost.event = record_.id.event;
        return deliver([&] { sink_.lost(record_, lost); });
    }
    bool contextSwitch(bool cpuWide)
    {
        PerfSwitch change;
        change.out = record_.has(perf_misc::kSwitchOut);
        change.preempted = change.out && record_.has(perf_misc::kSwitchOutPreempt);
        change.hasOther = cpuWide;
        if (cpuWide) {
            change.otherPid = reader_.u32();
            change.otherTid = reader_.u32();
        }
        return deliver([&] { sink_.contextSwitch(record_, change); });
    }
    bool throttle(bool begins)
    {
        PerfThrottle throttle;
        throttle.begins = begins;
        throttle.time = reader_.u64();
        throttle.id = reader_.u64();
        throttle.streamId = reader_.u64();
        return deliver([&] { sink_.throttle(record_, throttle); });
    }
    bool kernelSymbol()
    {
        PerfKernelSymbol symbol;
        symbol.start = reader_.u64();
        symbol.length = reader_.u32();
        symbol.type = reader_.u16();
        symbol.unregistered = (reader_.u16() & 1U) != 0;
        symbol.name = reader_.untilNul();
        return deliver([&] { sink_.kernelSymbol(record_, symbol); });
    }
    bool textPoke()
    {
        PerfTextPoke poke;
        poke.start = reader_.u64();
        const uint16_t oldSize = reader_.u16();
        const uint16_t newSize = reader_.u16();
        poke.oldBytes = reader_.bytes(oldSize);
        poke.newBytes = reader_.bytes(newSize);
        return deliver([&] { sink_.textPoke(record_, poke); });
    }
    bool cgroup()
    {
        PerfCgroup cgroup;
        cgroup.id = reader_.u64();
        cgroup.path = reader_.untilNul();
        return deliver([&] { sink_.cgroup(record_, cgroup); });
    }
    bool namespaces()
    {
        constexpr size_t kEach = 2 * sizeof(uint64_t);
        PerfNamespaces spaces;
        spaces.pid = reader_.u32();
        spaces.tid = reader_.u32();
        const uint64_t count = reader_.u64();
        if (count > reader_.remaining() / kEach)
            return false;
        spaces.deviceAndInode = U64Span(reader_.bytes(count * kEach), state_.order);
        return deliver([&] { sink_.namespaces(record_, spaces); });
    }
    bool deferredCallchain()
    {
        PerfDeferredCallchain chain;
        chain.cookie = reader_.u64();
        const uint64_t count = reader_.u64();
        if (count > reader_.remaining() / sizeof(uint64_t))
            return false;
        chain.addresses = U64Span(reader_.bytes(count * sizeof(uint64_t)), state_.order);
        return deliver([&] { sink_.deferredCallchain(record_, chain); });
    }

private:
    template <class Call> bool deliver(const Call& call)
    {
        if (reader_.ok())
            call();
        return reader_.ok();
    }

    void mappingDetails(PerfMapping& mapping)
    {
        mapping.hasDetails = true;
        if (record_.has(perf_misc::kMmapBuildId)) {
            const size_t size = std::min<size_t>(reader_.u8(), kBuildIdBytes);
            reader_.skip(3);
            mapping.buildId = reader_.bytes(kBuildIdBytes).substr(0, size);
        } else {
            mapping.deviceMajor = reader_.u32();
            mapping.deviceMinor = reader_.u32();
            mapping.inode = reader_.u64();
            mapping.inodeGeneration = reader_.u64();
        }
        mapping.protection = reader_.u32();
        mapping.flags = reader_.u32();
    }

    PerfDataState& state_;
    PerfDataSink& sink_;
    const PerfRecord& record_;
    ByteReader reader_;
};

bool deliverByType(PerfDataState& state, const PerfRecord& record, std::string_view payload)
{
    KernelRecordReader reader(state, record, payload);
    switch (static_cast<PerfRecordType>(record.type)) {
    case PerfRecordType::Mmap:
        return reader.mapping(false);
    case PerfRecordType::Mmap2:
        return reader.mapping(true);
    case PerfRecordType::Comm:
        return reader.comm();
    case PerfRecordType::Fork:
        return reader.task(true);
    case PerfRecordType::Exit:
        return reader.task(false);
    case PerfRecordType::Lost:
        return reader.lost();
    case PerfRecordType::LostSamples:
        return reader.lostSamples();
    case PerfRecordType::Switch:
        return reader.contextSwitch(false);
    case PerfRecordType::SwitchCpuWide:
        return reader.contextSwitch(true);
    case PerfRecordType::Throttle:
        return reader.throttle(true);
    case PerfRecordType::Unthrottle:
        return reader.throttle(false);
    case PerfRecordType::Ksymbol:
        return reader.kernelSymbol();
    case PerfRecordType::TextPoke:
        return reader.textPoke();
    case PerfRecordType::Cgroup:
        return reader.cgroup();
    case PerfRecordType::Namespaces:
        return reader.namespaces();
    case PerfRecordType::CallchainDeferred:
        return reader.deferredCallchain();
    default:
        return true; // counted only
    }
}

} // namespace

void deliverKernelRecord(PerfDataState& state, PerfRecord& record, std::string_view payload)
{
    state.deliverChanges();
    if (record.type == static_cast<uint32_t>(PerfRecordType::Sample)) {
        deliverSample(state, record, payload);
        return;
    }
    if (!takeTrailer(state, record, payload) || !deliverByType(state, record, payload))
        state.damaged(record, "it is too short for its fields");
}

uint64_t timeOfKernelRecord(PerfDataState& state, uint32_t type, std::string_view payload)
{
    const uint64_t time = type == static_cast<uint32_t>(PerfRecordType::Sample)
        ? state.events.timeOfSample(payload, state.order)
        : state.events.timeInTrailer(payload, state.order);
    return time == UINT64_MAX ? 0 : time;
}

} // namespace whichlock
