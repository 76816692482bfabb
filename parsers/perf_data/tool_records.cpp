// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/features.h"
#include "parsers/perf_data/perf_data_state.h"

#include <fmt/core.h>

namespace whichlock {
namespace {

constexpr size_t kTaskNameBytes = 16;
constexpr size_t kEventNameBytes = 64;

/// The attr of a stream, with the ids behind it.
bool readHeaderAttr(PerfDataState& state, std::string_view payload)
{
    const std::optional<PerfAttr> attr = parseAttr(payload, state.order);
    if (!attr || attr->size > payload.size())
        return false;
    const uint32_t event = state.events.add(*attr);
    const U64Span ids(payload.substr(attr->size), state.order);
    for (size_t i = 0; i < ids.size(); ++i)
        state.events.addId(event, ids[i]);
    state.changes = true;
    return true;
}

bool readEventType(PerfDataState& state, ByteReader reader)
{
    const uint64_t config = reader.u64();
    const std::string_view name = beforeNul(reader.rest().substr(0, kEventNameBytes));
    if (!reader.ok() || name.empty())
        return false;
    state.events.nameByConfig(config, name);
    state.changes = true;
    return true;
}

bool readEventUpdate(PerfDataState& state, ByteReader reader)
{
    constexpr uint64_t kName = 2; // the others are unit, scale and processors
    const uint64_t kind = reader.u64();
    const uint64_t id = reader.u64();
    const std::string_view name = reader.untilNul();
    if (!reader.ok())
        return false;
    if (kind != kName)
        return true;
    uint32_t event = state.events.find(id);
    if (event == kNoEvent && state.events.size() == 1)
        event = 0;
    if (event != kNoEvent && state.events.name(event, name, PerfNameOrigin::Described))
        state.changes = true;
    return true;
}

bool readThreadMap(PerfDataState& state, const PerfRecord& record, ByteReader reader)
{
    constexpr size_t kEach = sizeof(uint64_t) + kTaskNameBytes;
    const uint64_t count = reader.u64();
    const bool fits = count <= reader.remaining() / kEach;
    while (reader.remaining() >= kEach) {
        const uint64_t pid = reader.u64();
        state.sink.watchedTask(record, pid, beforeNul(reader.bytes(kTaskNameBytes)));
    }
    return fits && reader.ok();
}

bool readTimeConversion(PerfDataState& state, ByteReader reader)
{
    PerfTimeConversion conversion;
    conversion.shift = reader.u64();
    conversion.multiplier = reader.u64();
    conversion.zero = reader.u64();
    if (!reader.ok())
        return false;
    state.facts.timeConversion = conversion;
    state.factsChanged = true;
    state.changes = true;
    return true;
}

bool readHeaderFeature(PerfDataState& state, const PerfRecord& record, ByteReader reader)
{
    const uint64_t number = reader.u64();
    // The one without content marks the end.
    if (reader.ok() && reader.remaining() > 0 && number < UINT32_MAX)
        applyFeature(state, static_cast<unsigned>(number), reader.rest(), record.offset);
    return reader.ok();
}

bool readByType(PerfDataState& state, PerfRecord& record, std::string_view payload)
{
    const ByteReader reader(payload, state.order);
    switch (static_cast<PerfRecordType>(record.type)) {
    case PerfRecordType::HeaderAttr:
        return readHeaderAttr(state, payload);
    case PerfRecordType::HeaderEventType:
        return readEventType(state, reader);
    case PerfRecordType::EventUpdate:
        return readEventUpdate(state, reader);
    case PerfRecordType::HeaderFeature:
        return readHeaderFeature(state, record, reader);
    case PerfRecordType::ThreadMap:
        return readThreadMap(state, record, reader);
    case PerfRecordType::TimeConv:
        return readTimeConversion(state, reader);
    case PerfRecordType::BuildId:
        if (const std::optional<PerfBuildId> id = parseBuildId(record.misc, payload, state.order)) {
            state.sink.buildId(*id);
            return true;
        }
        return false;
    case PerfRecordType::FinishedRound:
        if (state.held != nullptr) {
            state.held->roundEnded(); // records are on their way: nothing else may be touched
            return true;
        }
        state.deliverChanges();
        state.sink.finishedRound(record);
        return true;
    default:
        return true; // counted only
    }
}

} // namespace

void deliverToolRecord(PerfDataState& state, PerfRecord& record, std::string_view payload)
{
    if (!readByType(state, record, payload))
        state.damaged(record, "it is too short for its fields");
}

} // namespace whichlock
