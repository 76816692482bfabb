// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/perf_recording.h"

#include "parsers/perf_data/perf_data_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace whichlock {
namespace {

constexpr size_t kCacheSlots = 1U << 14U;
constexpr const char* kFormat = "perf.data";

AddressMode modeOf(PerfCpuMode mode)
{
    switch (mode) {
    case PerfCpuMode::Kernel:
    case PerfCpuMode::Hypervisor:
        return AddressMode::Kernel;
    case PerfCpuMode::GuestKernel:
        return AddressMode::GuestKernel;
    case PerfCpuMode::GuestUser:
        return AddressMode::GuestUser;
    case PerfCpuMode::User:
    case PerfCpuMode::Unknown:
        break;
    }
    return AddressMode::User;
}

/// The mode that a mark in a call chain begins; nothing for marks that begin none.
std::optional<AddressMode> modeOfMark(uint64_t mark)
{
    switch (mark) {
    case perf_context::kKernel:
    case perf_context::kHypervisor:
        return AddressMode::Kernel;
    case perf_context::kUser:
        return AddressMode::User;
    case perf_context::kGuest:
    case perf_context::kGuestKernel:
        return AddressMode::GuestKernel;
    case perf_context::kGuestUser:
        return AddressMode::GuestUser;
    default:
        return std::nullopt;
    }
}

constexpr uint64_t kCpuClock = 0;
constexpr uint64_t kTaskClock = 1;

bool isClock(const PerfAttr& attr)
{
    return attr.type == perf_type::kSoftware && (attr.config == kCpuClock || attr.config == kTaskClock);
}

bool hasPeriods(const PerfAttr& attr)
{
    return (attr.sampleType & sample_bit::kPeriod) != 0 || !attr.has(PerfAttrFlag::Frequency);
}

SectionRecord sectionFor(const PerfEvent& event)
{
    SectionRecord record;
    record.format = kFormat;
    record.event = event.name;
    const PerfAttr& attr = event.attr;
    if (attr.type == perf_type::kTracepoint) {
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

std::string joined(const std::vector<std::string>& words)
{
    return fmt::format("{}", fmt::join(words, " "));
}

} // namespace

PerfRecording::PerfRecording(std::string inputName)
    : inputName_(std::move(inputName))
    , cache_(kCacheSlots)
{
}

void PerfRecording::event(const PerfEvent& event)
{
    if (events_.size() <= event.index)
        events_.resize(event.index + 1);
    events_[event.index].event = event;
    events_[event.index].known = true;
}

void PerfRecording::hostFacts(const PerfHostFacts& facts)
{
    host_ = facts;
}

void PerfRecording::buildId(const PerfBuildId& id)
{
    const auto bytes = std::span(reinterpret_cast<const uint8_t*>(id.id.data()), id.id.size());
    space_.setBuildId(id.fileName, BuildId::fromBytes(bytes));
}

uint64_t PerfRecording::timeOf(const PerfRecord& record)
{
    return record.id.has(sample_bit::kTime) ? record.id.time : lastTime_;
}

void PerfRecording::replayHeld(const Held& held)
{
    std::visit([this](const auto& record) { replay(record); }, held);
}

void PerfRecording::hold(uint64_t time, Held held)
{
    lastTime_ = time;
    order_.add(time, std::move(held), [this](const Held& one) { replayHeld(one); });
}

void PerfRecording::finishedRound(const PerfRecord&)
{
    order_.roundEnded([this](const Held& one) { replayHeld(one); });
}

void PerfRecording::mapping(const PerfRecord& record, const PerfMapping& mapping)
{
    constexpr uint32_t kExecutable = 4; // PROT_EXEC
    HeldMapping held;
    held.path = mapping.fileName;
    MappingRecord& row = held.record;
    row.mode = modeOf(record.cpuMode());
    row.pid = static_cast<int32_t>(mapping.pid);
    row.start = mapping.start;
    row.length = mapping.length;
    row.fileOffset = mapping.pageOffset;
    row.buildId = BuildId::fromBytes(
        std::span(reinterpret_cast<const uint8_t*>(mapping.buildId.data()), mapping.buildId.size()));
    row.executable = !mapping.isData && (!mapping.hasDetails || (mapping.protection & kExecutable) != 0);
    hold(timeOf(record), std::move(held));
}

void PerfRecording::replay(const HeldMapping& mapping)
{
    MappingRecord row = mapping.record;
    row.path = mapping.path;
    space_.insert(row);
    ++generation_;
}

void PerfRecording::comm(const PerfRecord& record, const PerfComm& comm)
{
    hold(timeOf(record),
        HeldComm{modeOf(record.cpuMode()), comm.pid, comm.tid, strings_.intern(comm.name), comm.exec});
}

void PerfRecording::replay(const HeldComm& comm)
{
    commOfThread_[comm.tid] = comm.name;
    if (!comm.exec)
        return;
    space_.exec(static_cast<int32_t>(comm.pid), comm.mode);
    ++generation_;
}

void PerfRecording::fork(const PerfRecord& record, const PerfTask& task)
{
    hold(timeOf(record), task);
}

void PerfRecording::replay(const PerfTask& task)
{
    if (const auto parent = commOfThread_.find(task.parentTid); parent != commOfThread_.end())
        commOfThread_[task.tid] = parent->second;
    if (task.pid == task.parentPid)
        return; // a thread
    space_.fork(static_cast<int32_t>(task.pid), static_cast<int32_t>(task.parentPid));
    ++generation_;
}

void PerfRecording::lost(const PerfRecord&, const PerfLost& lost)
{
    if (!lost.droppedByRule)
        lost_ += lost.count;
}

void PerfRecording::kernelSymbol(const PerfRecord& record, const PerfKernelSymbol& symbol)
{
    hold(timeOf(record),
        HeldKernelSymbol{symbol.start, symbol.length, symbol.unregistered, std::string(symbol.name)});
}

void PerfRecording::replay(const HeldKernelSymbol& symbol)
{
    if (symbol.unregistered)
        space_.removeKernelRange(symbol.start, symbol.length);
    else
        space_.insertKernelRange(symbol.start, symbol.length, symbol.name);
    ++generation_;
}

void PerfRecording::diagnostic(Diagnostic diagnostic)
{
    diagnostics_.push_back(std::move(diagnostic));
}

StringId PerfRecording::commOf(const HeldSample& sample) const
{
    if (const auto thread = commOfThread_.find(sample.tid); thread != commOfThread_.end())
        return thread->second;
    const auto process = commOfThread_.find(sample.pid);
    return process == commOfThread_.end() ? StringId{} : process->second;
}

/// Events of a fixed period weigh it; a tracepoint is one event.
uint64_t PerfRecording::weightOf(const EventState& state, const PerfSample& sample) const
{
    if (state.event.attr.type == perf_type::kTracepoint || !hasPeriods(state.event.attr))
        return 1;
    return sample.period;
}

PerfRecording::AddressFrameId PerfRecording::frameAt(
    AddressMode mode, int32_t pid, uint64_t address, AddressKind kind)
{
    const auto modeAndKind =
        static_cast<uint16_t>(static_cast<unsigned>(mode) << 8U | static_cast<unsigned>(kind));
    const bool kernel = mode == AddressMode::Kernel || mode == AddressMode::GuestKernel;
    const int32_t owner = kernel ? -1 : pid;
    const uint64_t hash =
        mixBits(address ^ mixBits(static_cast<uint64_t>(modeAndKind) << 32U | static_cast<uint32_t>(owner)));
    CachedFrame& cached = cache_[hash % kCacheSlots];
    if (cached.frame && cached.generation == generation_ && cached.address == address && cached.pid == owner
        && cached.modeAndKind == modeAndKind)
        return cached.frame;
    AddressFrame frame{.module = {}, .offset = address, .kind = kind};
    if (const auto location = space_.find(mode, pid, address)) {
        frame.module = location->module;
        frame.offset = location->offset;
    }
    cached = {address, owner, modeAndKind, generation_, frames_.intern(frame)};
    return cached.frame;
}

/// Call chains begin at the innermost frame; stacks are interned from the outermost.
PerfRecording::AddressStackId PerfRecording::stackOf(const HeldSample& sample)
{
    const auto pid = static_cast<int32_t>(sample.pid);
    AddressMode mode = sample.mode;
    std::vector<AddressFrameId>& frames = chainFrames_;
    frames.clear();
    bool exact = true; // the address of the leaf, and where the kernel was entered, are no return addresses
    for (const uint64_t entry : sample.chain) {
        if (entry >= kFirstContextMark) {
            if (const auto next = modeOfMark(entry)) {
                mode = *next;
                exact = true;
            }
            continue;
        }
        const auto kind = exact ? AddressKind::InstructionPointer : AddressKind::ReturnAddress;
        frames.push_back(frameAt(mode, pid, entry, kind));
        exact = false;
    }
    AddressStackId stack;
    for (size_t i = frames.size(); i-- > 0;)
        stack = stacks_.intern({.caller = stack, .frame = frames[i]});
    return stack;
}

void PerfRecording::sample(const PerfRecord& record, const PerfSample& sample)
{
    if (sample.event >= events_.size()) {
        ++withoutEvent_;
        return;
    }
    HeldSample held{.event = sample.event,
        .pid = sample.pid,
        .tid = sample.tid,
        .mode = modeOf(record.cpuMode()),
        .offset = record.offset,
        .weight = weightOf(events_[sample.event], sample)};
    for (size_t i = 0; i < sample.callchain.size(); ++i)
        held.chain.push_back(sample.callchain[i]);
    const bool onlyMarks = std::all_of(
        held.chain.begin(), held.chain.end(), [](uint64_t entry) { return entry >= kFirstContextMark; });
    if (onlyMarks && sample.has(sample_bit::kIp))
        held.chain = {sample.ip};
    hold(sample.has(sample_bit::kTime) ? sample.time : lastTime_, std::move(held));
}

void PerfRecording::replay(const HeldSample& sample)
{
    EventState& state = events_[sample.event];
    state.firstOffset = std::min(state.firstOffset, sample.offset);
    const CellId id = cells_.intern({.event = sample.event,
        .stack = stackOf(sample),
        .comm = commOf(sample),
        .pid = static_cast<int32_t>(sample.pid)});
    if (id.v > sums_.size())
        sums_.emplace_back();
    ++sums_[id.v - 1].samples;
    sums_[id.v - 1].weight += sample.weight;
}

void PerfRecording::deliverFacts(RecordSink& sink) const
{
    const auto fact = [&](FactKind kind, const std::string& value) {
        if (!value.empty())
            sink.inputFact(kind, value, {.chain = inputName_});
    };
    fact(FactKind::Host, host_.hostName);
    fact(FactKind::Kernel, host_.osRelease);
    fact(FactKind::Arch, host_.arch);
    fact(FactKind::Command, joined(host_.commandLine));
    if (host_.cpusOnline != 0)
        fact(FactKind::Cpus, std::to_string(host_.cpusOnline));
    if (lost_ != 0)
        fact(FactKind::Lost, std::to_string(lost_));
}

/// One section an event that has samples, in the order in which their first ones came.
std::vector<std::optional<SectionHandle>> PerfRecording::beginSections(RecordSink& sink) const
{
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < events_.size(); ++i) {
        if (events_[i].firstOffset != UINT64_MAX)
            order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
        [&](uint32_t a, uint32_t b) { return events_[a].firstOffset < events_[b].firstOffset; });
    std::vector<std::optional<SectionHandle>> sections(events_.size());
    for (const uint32_t index : order) {
        SectionRecord record = sectionFor(events_[index].event);
        record.position = {.chain = inputName_, .offset = events_[index].firstOffset};
        sections[index] = sink.section(record);
        if (record.kind == SectionKind::LockTrace)
            sink.diagnostic(makeDiagnostic(DiagnosticCode::EventsNotTimed,
                fmt::format("{} was counted, not timed", record.event), record.position));
    }
    return sections;
}

std::vector<ResolvedAddress> PerfRecording::resolveFrames(Symbolizer& symbolizer) const
{
    std::vector<SymbolRequest> requests;
    std::vector<size_t> asked;
    for (size_t i = 0; i < frames_.rows().size(); ++i) {
        const AddressFrame& frame = frames_.rows()[i];
        if (!frame.module)
            continue;
        requests.push_back({frame.module.v - 1, frame.offset, frame.kind});
        asked.push_back(i);
    }
    std::vector<ResolvedAddress> answers = symbolizer.resolveAll(space_.modules(), requests);
    std::vector<ResolvedAddress> resolved(frames_.rows().size());
    for (size_t i = 0; i < asked.size(); ++i)
        resolved[asked[i]] = std::move(answers[i]);
    return resolved;
}

std::string PerfRecording::objectOf(const AddressFrame& frame) const
{
    if (!frame.module)
        return "[unknown]";
    const MappedModule& module = space_.module(frame.module);
    return module.kind == ModuleKind::Kernel ? "[kernel.kallsyms]" : module.path;
}

void PerfRecording::deliver(Symbolizer& symbolizer, RecordSink& sink)
{
    order_.releaseAll([this](const Held& one) { replayHeld(one); });
    deliverFacts(sink);
    const std::vector<std::optional<SectionHandle>> sections = beginSections(sink);
    const std::vector<ResolvedAddress> resolved = resolveFrames(symbolizer);
    std::vector<std::string> objects;
    for (const AddressFrame& frame : frames_.rows())
        objects.push_back(objectOf(frame));
    std::vector<TextFrame> frames;
    for (uint32_t i = 0; i < sums_.size(); ++i) {
        const CellKey& key = cells_.rows()[i];
        frames.clear();
        // The innermost frame is the end of the stack; functions inlined into it come before it.
        for (AddressStackId at = key.stack; at; at = stacks_[at].caller) {
            const uint32_t index = stacks_[at].frame.v - 1;
            const ResolvedAddress& name = resolved[index];
            for (size_t inlined = 0; inlined + 1 < name.chain.size(); ++inlined)
                frames.push_back(
                    {.symbol = name.chain[inlined].function, .object = objects[index], .inlined = true});
            frames.push_back({.symbol = name.function.empty() ? std::string_view("[unknown]") : name.function,
                .object = objects[index],
                .symbolOffset = name.symbolOffset});
        }
        sink.sample(*sections[key.event],
            {.comm = strings_[key.comm],
                .pid = key.pid,
                .count = sums_[i].samples,
                .weight = sums_[i].weight,
                .frames = frames});
    }
    for (Diagnostic& one : diagnostics_)
        sink.diagnostic(std::move(one));
    for (Diagnostic& one : symbolizer.takeDiagnostics())
        sink.diagnostic(std::move(one));
    if (withoutEvent_ != 0)
        sink.diagnostic(makeDiagnostic(DiagnosticCode::RecordsSkipped,
            fmt::format("{} samples belong to no event of the file and were skipped", withoutEvent_),
            {.chain = inputName_}));
}

namespace {

/// The recording that an open file belongs to: the file itself, or the folder of which it is the head.
std::string recordingOf(const Source& source)
{
    const std::filesystem::path path(source.name());
    const std::filesystem::path folder = path.parent_path();
    std::error_code error;
    const bool isHead =
        path.filename() == "data" && std::filesystem::is_regular_file(folder / "data.0", error);
    return isHead ? folder.string() : source.name();
}

} // namespace

LoadedInput loadPerfRecording(Source& source, Symbolizer& symbolizer, RecordSink& sink)
{
    LoadedInput loaded;
    loaded.name = source.name();
    loaded.format = kFormat;
    loaded.confidence = Confidence::Certain;
    loaded.why = "the first bytes";
    PerfRecording recording(source.name());
    const auto summary =
        source.isFile() ? readPerfData(recordingOf(source), recording) : readPerfData(source, recording);
    loaded.bytes = std::max(source.bytesRead(), source.sizeBytes());
    if (!summary) {
        loaded.failed = true;
        loaded.diagnostics.push_back(summary.error());
        return loaded;
    }
    recording.deliver(symbolizer, sink);
    return loaded;
}

} // namespace whichlock
