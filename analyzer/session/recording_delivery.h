// SPDX-License-Identifier: GPL-3.0-or-later
// Hands what was read of a recording to a record sink.
#pragma once

#include "analyzer/session/perf_recording.h"

#include <optional>

namespace whichlock {

inline constexpr const char* kRecordingFormat = "perf.data";

/// By index of the event; nothing for events without samples.
using SectionHandles = std::vector<std::optional<SectionHandle>>;

/// Whether each sample of an event stands for one event, whatever its period: tracepoints, and events of a
/// frequency whose periods were not recorded.
bool weighsOne(const PerfAttr& attr);

void deliverHostFacts(
    const PerfHostFacts& host, uint64_t lost, const std::string& inputName, RecordSink& sink);
/// One section an event that has samples, in the order in which their first ones stand in the file. Says
/// which events were counted only, as `listener` does not account for them, and of which not all were
/// recorded. It may be null.
SectionHandles beginSections(const std::vector<RecordedEvent>& events, const ReplayListener* listener,
    const std::string& inputName, RecordSink& sink);
void deliverCells(const CpuCells& cells, const ThreadNames& names, const SectionHandles& sections,
    NamedStacks& stacks, RecordSink& sink);

} // namespace whichlock
