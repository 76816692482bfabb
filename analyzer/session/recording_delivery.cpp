// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/recording_delivery.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {
namespace {

constexpr uint64_t kCpuClock = 0;
constexpr uint64_t kTaskClock = 1;

bool isClock(const PerfAttr& attr)
{
    return attr.type == perf_type::kSoftware && (attr.config == kCpuClock || attr.config == kTaskClock);
}

bool isTracepoint(const PerfAttr& attr)
{
    return attr.type == perf_type::kTracepoint;
}

/// Whether only some of the events of a tracepoint were recorded. Each is one event, so that a period that is
/// not 1, or a wanted number a second, makes samples of them.
bool isSampledTracepoint(const PerfAttr& attr)
{
    return isTracepoint(attr) && (attr.has(PerfAttrFlag::Frequency) || attr.samplePeriod > 1);
}

bool hasPeriods(const PerfAttr& attr)
{
    return (attr.sampleType & sample_bit::kPeriod) != 0 || !attr.has(PerfAttrFlag::Frequency);
}

SectionRecord sectionFor(const PerfEvent& event)
{
    SectionRecord record;
    record.format = kRecordingFormat;
    record.event = event.name;
    const PerfAttr& attr = event.attr;
    if (isTracepoint(attr)) {
        record.kind = SectionKind::LockTrace;
        record.quantity = QuantityKind::Count;
        record.unit = Unit::Events;
        return record;
    }
    const bool counts = attr.type == perf_type::kSoftware && !isClock(attr);
    record.kind = SectionKind::CpuProfile;
    record.quantity = counts ? QuantityKind::Count : QuantityKind::Cpu;
    record.unit = !hasPeriods(attr) ? Unit::Samples : isClock(attr) ? Unit::Nanoseconds : Unit::Events;
    return record;
}

/// Indices of the events that have samples, by their first ones.
std::vector<size_t> inOrderOfFirstSamples(const std::vector<RecordedEvent>& events)
{
    std::vector<size_t> order;
    for (size_t i = 0; i < events.size(); ++i)
        if (events[i].firstOffset != UINT64_MAX)
            order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
        [&](size_t a, size_t b) { return events[a].firstOffset < events[b].firstOffset; });
    return order;
}

} // namespace

bool weighsOne(const PerfAttr& attr)
{
    return isTracepoint(attr) || !hasPeriods(attr);
}

void deliverHostFacts(
    const PerfHostFacts& host, uint64_t lost, const std::string& inputName, RecordSink& sink)
{
    const auto fact = [&](FactKind kind, const std::string& value) {
        if (!value.empty())
            sink.inputFact(kind, value, {.chain = inputName});
    };
    fact(FactKind::Host, host.hostName);
    fact(FactKind::Kernel, host.osRelease);
    fact(FactKind::Arch, host.arch);
    fact(FactKind::Command, fmt::format("{}", fmt::join(host.commandLine, " ")));
    if (host.cpusOnline != 0)
        fact(FactKind::Cpus, std::to_string(host.cpusOnline));
    if (lost != 0)
        fact(FactKind::Lost, std::to_string(lost));
}

SectionHandles beginSections(const std::vector<RecordedEvent>& events, const ReplayListener* listener,
    const std::string& inputName, RecordSink& sink)
{
    SectionHandles sections(events.size());
    std::vector<std::string_view> sampled;
    std::vector<std::string_view> counted;
    for (const size_t index : inOrderOfFirstSamples(events)) {
        const PerfEvent& event = events[index].event;
        if (isSampledTracepoint(event.attr))
            sampled.push_back(event.name);
        SectionRecord record = sectionFor(event);
        record.position = {.chain = inputName, .offset = events[index].firstOffset};
        sections[index] = sink.section(record);
        if (event.attr.has(PerfAttrFlag::EnableOnExec)) // the recorder started a program, and follows that
            sink.fact(*sections[index], FactKind::Scope, "process");
        const bool timed = listener != nullptr && listener->accountsFor(event);
        if (record.kind == SectionKind::LockTrace && !timed)
            counted.push_back(event.name);
    }
    if (!counted.empty())
        sink.diagnostic(makeDiagnostic(DiagnosticCode::EventsNotTimed,
            fmt::format(
                "{} {} counted, not timed", fmt::join(counted, ", "), counted.size() == 1 ? "was" : "were"),
            {.chain = inputName}));
    if (!sampled.empty())
        sink.diagnostic(makeDiagnostic(DiagnosticCode::EventsSampled,
            fmt::format("sampled, not all recorded: counts and waits of {} are lower bounds",
                fmt::join(sampled, ", ")),
            {.chain = inputName}));
    return sections;
}

void deliverCells(const CpuCells& cells, const ThreadNames& names, const SectionHandles& sections,
    NamedStacks& stacks, RecordSink& sink)
{
    for (size_t i = 0; i < cells.size(); ++i) {
        const CpuCellKey& key = cells.key(i);
        if (!sections[key.event])
            continue;
        sink.sample(*sections[key.event],
            {.comm = names[key.comm],
                .pid = key.pid,
                .tid = key.tid,
                .cpu = key.cpu,
                .count = cells.sum(i).samples,
                .weight = cells.sum(i).weight,
                .frames = stacks.framesOf(key.stack)});
    }
}

} // namespace whichlock
