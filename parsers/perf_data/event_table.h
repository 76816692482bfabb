// SPDX-License-Identifier: GPL-3.0-or-later
// The events of a recording, found by the ids of their counters.
#pragma once

#include "parsers/perf_data/host_facts.h"
#include "parsers/perf_data/perf_data_sink.h"
#include "parsers/perf_data/tracing_data.h"

#include <array>
#include <map>

namespace whichlock {

/// MT: one thread, but the times of records may be asked for on another one while nothing changes.
class EventTable {
public:
    EventTable();

    /// Adds an event with a made-up name and returns its index.
    uint32_t add(const PerfAttr& attr);
    void addId(uint32_t event, uint64_t id);

    /// Gives a name unless the event has one of a better origin. Whether that changed anything.
    bool name(uint32_t event, std::string_view name, PerfNameOrigin origin);
    /// Names the event that this id will be added to.
    void nameLater(uint64_t id, std::string_view name);
    /// Names the events of this config by the old list of event types; the first name of a config stays.
    void nameByConfig(uint64_t config, std::string_view name);
    /// Gives events their formats and names. Only the first tracing data counts.
    bool setTracingData(TracingData data);
    /// Names of PMUs, for the names that are made up.
    void setPmus(const std::vector<PerfPmu>& pmus);
    /// Built-in formats for those tracepoints that still have none.
    void settleFormats();
    /// Indices of the events that changed since the last call.
    std::vector<uint32_t> takeChanged();

    bool empty() const { return events_.empty(); }
    size_t size() const { return events_.size(); }
    const PerfEvent& operator[](uint32_t index) const { return events_[index]; }

    /// The event of a counter, or kNoEvent.
    uint32_t find(uint64_t id) { return find(id, cache_); }
    /// The event of a SAMPLE record, or kNoEvent.
    uint32_t eventOfSample(std::string_view payload, ByteOrder order)
    {
        return eventOfSample(payload, order, cache_);
    }
    /// The event of any other record of the kernel, by what it has at its end, or kNoEvent.
    uint32_t eventOfTrailer(std::string_view payload, ByteOrder order)
    {
        return eventOfTrailer(payload, order, cache_);
    }

    /// When a SAMPLE record was taken, without reading the rest of it; 0 where that is not recorded.
    uint64_t timeOfSample(std::string_view payload, ByteOrder order);
    /// The same of any other record of the kernel, by what it has at its end.
    uint64_t timeInTrailer(std::string_view payload, ByteOrder order);

    /// Whether all events have the same fields, so that a sample can be decoded without knowing its event.
    bool sameLayout() const { return sameLayout_; }
    /// Whether several events have no id in their samples: they cannot be told apart.
    bool eventsLookAlike() const { return withoutId_ > 1; }

private:
    static constexpr size_t kCacheSlots = 256;
    static constexpr size_t kIdPlaces = 6;
    struct Slot {
        uint64_t id = 0;
        uint32_t event = kNoEvent;
    };

    /// Where words are in the records of an event; -1: they are not in them.
    struct Layout {
        explicit Layout(const PerfAttr& attr);

        int idInSample = -1;  ///< words before it
        int idInTrailer = -1; ///< words after it, up to the end of a record that is no sample
        int timeInSample = -1;
        int timeInTrailer = -1;
    };

    using Cache = std::array<Slot, kCacheSlots>;

    uint32_t find(uint64_t id, Cache& cache) const;
    uint32_t eventOfSample(std::string_view payload, ByteOrder order, Cache& cache) const;
    uint32_t eventOfTrailer(std::string_view payload, ByteOrder order, Cache& cache) const;
    void settleFormat(PerfEvent& event);
    void changed(uint32_t event);

    std::vector<PerfEvent> events_;
    std::vector<Layout> layouts_; ///< of the same index
    std::vector<bool> isChanged_;
    std::vector<uint32_t> changed_;
    std::map<uint64_t, uint32_t> byId_;
    std::multimap<uint64_t, uint32_t> byConfig_;
    std::map<uint64_t, std::string> namesByConfig_;
    std::map<uint64_t, std::string> namesById_; ///< of events that were not added yet
    std::vector<PerfPmu> pmus_;
    TracingData tracing_;
    bool hasTracing_ = false;
    Cache cache_{};
    Cache timeCache_{}; ///< of who asks for times: a thread that is ahead of the others
    std::array<bool, kIdPlaces> usedInSample_{};
    std::array<bool, kIdPlaces> usedInTrailer_{};
    uint32_t firstWithoutId_ = kNoEvent;
    uint32_t withoutId_ = 0;
    bool sameLayout_ = true;
};

} // namespace whichlock
