// SPDX-License-Identifier: GPL-3.0-or-later
// What all parts of the perf.data reader work on.
#pragma once

#include "parsers/perf_data/damage_log.h"
#include "parsers/perf_data/delivery_line.h"
#include "parsers/perf_data/event_table.h"
#include "parsers/perf_data/perf_data_reader.h"
#include "parsers/perf_data/record_order.h"

namespace whichlock {

/// MT: one thread.
struct PerfDataState {
    explicit PerfDataState(PerfDataSink& target)
        : sink(target)
    {
    }

    /// Delivers facts and events that changed. Called before any record that could refer to them.
    void deliverChanges()
    {
        if (!changes)
            return;
        changes = false;
        if (factsChanged)
            sink.hostFacts(facts);
        factsChanged = false;
        events.settleFormats();
        for (const uint32_t event : events.takeChanged())
            sink.event(events[event]);
    }
    /// What was released for delivery is delivered: to be called before anything that must not overtake it,
    /// or touches what it reads.
    void settle()
    {
        if (line != nullptr)
            line->settle();
    }
    /// Counts a record whose content cannot be used.
    void damaged(const PerfRecord& record, std::string_view what);

    PerfDataSink& sink;
    RecordOrder* held = nullptr;  ///< where records wait for their turn; null: delivered as the file has them
    DeliveryLine* line = nullptr; ///< where they go then; null: straight to the sink
    ByteOrder order = kHostOrder;
    bool pipe = false;
    uint32_t part = 0;
    PerfSample sample{};              ///< the last one; making a new one costs as much as decoding it
    uint32_t sampleLayout = kNoEvent; ///< the event whose fields are in it, if it was decoded to its end
    PerfDataCounts counts{};
    EventTable events{};
    PerfHostFacts facts{};
    DamageLog damage{};
    bool changes = false; ///< in events or facts
    bool factsChanged = false;
};

/// Takes a feature section or HEADER_FEATURE record into the state.
void applyFeature(PerfDataState& state, unsigned number, std::string_view bytes, uint64_t offset);

/// Delivers a record of the kernel (type below 64).
void deliverKernelRecord(PerfDataState& state, PerfRecord& record, std::string_view payload);
/// When a record of the kernel happened, in its clock; 0 for those that tell no time, or were made up by perf
/// for what was there before it started.
uint64_t timeOfKernelRecord(PerfDataState& state, uint32_t type, std::string_view payload);
/// Delivers a record of the tool but for those that RecordStream handles itself.
void deliverToolRecord(PerfDataState& state, PerfRecord& record, std::string_view payload);

} // namespace whichlock
