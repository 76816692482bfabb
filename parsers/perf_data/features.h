// SPDX-License-Identifier: GPL-3.0-or-later
// The feature sections of perf.data and the HEADER_FEATURE records of a stream, which hold the same.
#pragma once

#include "parsers/perf_data/host_facts.h"
#include "parsers/perf_data/perf_data_sink.h"

#include <functional>
#include <vector>

namespace whichlock {

/// Takes what a section says about host and recording into `facts`. False when it is cut or damaged; what
/// stood before the damage is kept. Sections that are no such facts are passed over.
bool readFeature(unsigned number, std::string_view bytes, ByteOrder order, PerfHostFacts& facts);

/// One event of the section EVENT_DESC.
struct EventDescription {
    std::optional<PerfAttr> attr{};
    std::string_view name{};
    U64Span ids{};
};
/// False when it is damaged; the descriptions before that are kept.
bool readEventDescriptions(
    std::string_view bytes, ByteOrder order, std::vector<EventDescription>& descriptions);

/// The payload of a BUILD_ID record; nothing when it is too short.
std::optional<PerfBuildId> parseBuildId(uint16_t misc, std::string_view payload, ByteOrder order);
/// The records of the section BUILD_ID. False when it is damaged.
bool readBuildIds(
    std::string_view bytes, ByteOrder order, const std::function<void(const PerfBuildId&)>& deliver);

} // namespace whichlock
