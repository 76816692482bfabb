// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/perf_data_state.h"

#include "parsers/perf_data/features.h"

#include <fmt/core.h>

namespace whichlock {
namespace {

void applyEventDescriptions(PerfDataState& state, const std::vector<EventDescription>& descriptions)
{
    EventTable& events = state.events;
    // A file whose attrs cannot be read still has them here. In a stream they may come later.
    if (events.empty() && !state.pipe) {
        for (const EventDescription& description : descriptions)
            events.add(description.attr.value_or(PerfAttr()));
    }
    for (size_t i = 0; i < descriptions.size(); ++i) {
        const EventDescription& description = descriptions[i];
        uint32_t event = description.ids.empty() ? kNoEvent : events.find(description.ids[0]);
        if (event == kNoEvent && descriptions.size() == events.size())
            event = static_cast<uint32_t>(i);
        if (event == kNoEvent) {
            for (size_t id = 0; id < description.ids.size(); ++id)
                events.nameLater(description.ids[id], description.name);
            continue;
        }
        events.name(event, description.name, PerfNameOrigin::Described);
        for (size_t id = 0; id < description.ids.size(); ++id)
            events.addId(event, description.ids[id]);
    }
}

} // namespace

void PerfDataState::damaged(const PerfRecord& record, std::string_view what)
{
    damage.note(DiagnosticCode::RecordDamaged, record.type, record.offset, [&] {
        return fmt::format("{} record of {} bytes at offset {}: {}; it was skipped, the others were kept",
            recordTypeName(record.type), record.size, record.offset, what);
    });
}

void applyFeature(PerfDataState& state, unsigned number, std::string_view bytes, uint64_t offset)
{
    bool readable = true;
    std::string why = "cut or damaged";
    switch (static_cast<PerfFeature>(number)) {
    case PerfFeature::TracingData: {
        TracingData tracing = parseTracingData(bytes);
        readable = tracing.damage.empty();
        why = tracing.damage;
        state.events.setTracingData(std::move(tracing));
        break;
    }
    case PerfFeature::BuildId:
        readable = readBuildIds(
            bytes, state.order, [&](const PerfBuildId& buildId) { state.sink.buildId(buildId); });
        break;
    case PerfFeature::EventDesc: {
        std::vector<EventDescription> descriptions;
        readable = readEventDescriptions(bytes, state.order, descriptions);
        applyEventDescriptions(state, descriptions);
        break;
    }
    default:
        readable = readFeature(number, bytes, state.order, state.facts);
        state.factsChanged = true;
        if (number == static_cast<unsigned>(PerfFeature::PmuMappings))
            state.events.setPmus(state.facts.pmus);
    }
    state.changes = true;
    if (!readable) {
        state.damage.note(DiagnosticCode::FeatureDamaged, number, offset, [&] {
            return fmt::format(
                "feature section {} at offset {} cannot be read in full: {}", number, offset, why);
        });
    }
}

} // namespace whichlock
