// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/perf_recording.h"

#include "analyzer/session/lock_trace_listener.h"
#include "analyzer/session/recording_delivery.h"
#include "analyzer/session/stack_unwinding.h"
#include "parsers/perf_data/perf_data_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <future>

namespace whichlock {
namespace {

BuildId buildIdOf(std::string_view bytes)
{
    return BuildId::fromBytes(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

/// Made up by the recorder for what was there before: the child did not inherit what is told of the parent.
bool isMadeUp(const PerfRecord& record, const PerfTask& task)
{
    return record.has(perf_misc::kForkExec) || task.time == 0;
}

const RoutineTable& routinesOf(const RecordingOptions& options)
{
    return options.routines != nullptr ? *options.routines : RoutineTable::builtIn();
}

} // namespace

PerfRecording::PerfRecording(std::string inputName, RecordingOptions options)
    : inputName_(std::move(inputName))
    , options_(std::move(options))
    , gate_(options_.filter)
    , stacks_(space_)
{
}

void PerfRecording::setUnwinder(UserUnwinder* unwinder)
{
    unwinder_ = unwinder;
    stacks_.setUnwinder(unwinder);
}

void PerfRecording::setListener(ReplayListener& listener)
{
    listener_ = &listener;
    listener.begin(stacks_, space_);
}

void PerfRecording::event(const PerfEvent& event)
{
    if (listener_ != nullptr)
        listener_->event(event);
    if (events_.size() <= event.index)
        events_.resize(event.index + size_t{1});
    events_[event.index].event = event;
    events_[event.index].countsOnce = weighsOne(event.attr);
}

void PerfRecording::hostFacts(const PerfHostFacts& facts)
{
    host_ = facts;
    if (facts.sampleTime)
        gate_.setSpan(facts.sampleTime->first, facts.sampleTime->second);
    if (unwinder_ != nullptr)
        unwinder_->setMachine(facts.arch);
    if (listener_ != nullptr)
        listener_->hostFacts(facts);
}

void PerfRecording::buildId(const PerfBuildId& id)
{
    space_.setBuildId(id.fileName, buildIdOf(id.id));
}

void PerfRecording::mapping(const PerfRecord& record, const PerfMapping& mapping)
{
    constexpr uint32_t kExecutable = 4; // PROT_EXEC
    space_.insert({.mode = addressModeOf(record.cpuMode()),
        .pid = static_cast<int32_t>(mapping.pid),
        .start = mapping.start,
        .length = mapping.length,
        .fileOffset = mapping.pageOffset,
        .path = mapping.fileName,
        .buildId = buildIdOf(mapping.buildId),
        .executable = !mapping.isData && (!mapping.hasDetails || (mapping.protection & kExecutable) != 0)});
    if (listener_ != nullptr)
        listener_->mapping(record, mapping);
}

void PerfRecording::comm(const PerfRecord& record, const PerfComm& comm)
{
    names_.set(comm.tid, comm.name);
    if (comm.exec)
        space_.exec(static_cast<int32_t>(comm.pid), addressModeOf(record.cpuMode()));
    if (listener_ != nullptr)
        listener_->comm(record, comm);
}

void PerfRecording::fork(const PerfRecord& record, const PerfTask& task)
{
    names_.inherit(task.tid, task.parentTid);
    if (task.pid != task.parentPid) // else a thread
        space_.fork(
            static_cast<int32_t>(task.pid), static_cast<int32_t>(task.parentPid), !isMadeUp(record, task));
    if (listener_ != nullptr)
        listener_->fork(record, task);
}

void PerfRecording::exit(const PerfRecord& record, const PerfTask& task)
{
    if (listener_ != nullptr)
        listener_->exit(record, task);
}

void PerfRecording::lost(const PerfRecord& record, const PerfLost& lost)
{
    if (!lost.droppedByRule)
        lost_ += lost.count;
    if (listener_ != nullptr)
        listener_->lost(record, lost);
}

void PerfRecording::contextSwitch(const PerfRecord& record, const PerfSwitch& change)
{
    if (listener_ != nullptr)
        listener_->contextSwitch(record, change);
}

void PerfRecording::kernelSymbol(const PerfRecord&, const PerfKernelSymbol& symbol)
{
    if (symbol.unregistered)
        space_.removeKernelRange(symbol.start, symbol.length);
    else
        space_.insertKernelRange(symbol.start, symbol.length, symbol.name);
}

void PerfRecording::diagnostic(Diagnostic diagnostic)
{
    diagnostics_.push_back(std::move(diagnostic));
}

Kept PerfRecording::judge(const PerfSample& sample)
{
    if (gate_.keepsAll())
        return Kept::Yes;
    SampleOrigin origin;
    if (sample.has(sample_bit::kTime))
        origin.timeNs = sample.time;
    if (sample.has(sample_bit::kCpu))
        origin.cpu = static_cast<int32_t>(sample.cpu);
    if (sample.has(sample_bit::kTid)) {
        origin.pid = static_cast<int32_t>(sample.pid);
        origin.tid = static_cast<int32_t>(sample.tid);
        origin.comm = names_[names_.of(sample.pid, sample.tid)];
        origin.processComm = names_[names_.of(sample.pid, sample.pid)];
    }
    return gate_.judge(origin);
}

void PerfRecording::sample(const PerfRecord& record, const PerfSample& sample)
{
    if (sample.event >= events_.size()) {
        ++withoutEvent_;
        return;
    }
    RecordedEvent& event = events_[sample.event];
    event.firstOffset = std::min(event.firstOffset, record.offset);
    const Kept kept = judge(sample);
    const bool wanted = kept == Kept::Yes;
    if (!wanted)
        event.leftOut +=
            {.samples = 1, .weight = weightOf(sample), .untold = kept == Kept::Untold ? uint64_t{1} : 0};
    if (!wanted && listener_ == nullptr)
        return;
    const StringId comm = sample.has(sample_bit::kTid) ? names_.of(sample.pid, sample.tid) : StringId{};
    const AddressStackId stack = stacks_.stackOf(sample, addressModeOf(record.cpuMode()));
    if (wanted)
        count(sample, comm, stack);
    if (listener_ != nullptr)
        listener_->sample({event.event, record, sample, comm, stack, space_, wanted});
}

void PerfRecording::count(const PerfSample& sample, StringId comm, AddressStackId stack)
{
    const bool hasTask = sample.has(sample_bit::kTid);
    const bool hasCpu = sample.has(sample_bit::kCpu);
    cells_.add({.event = sample.event,
                   .stack = stack,
                   .comm = comm,
                   .pid = hasTask ? static_cast<int32_t>(sample.pid) : -1,
                   .tid = options_.byThread && hasTask ? static_cast<int32_t>(sample.tid) : -1,
                   .cpu = options_.byCpu && hasCpu ? static_cast<int32_t>(sample.cpu) : -1},
        weightOf(sample));
}

uint64_t PerfRecording::weightOf(const PerfSample& sample) const
{
    return events_[sample.event].countsOnce ? 1 : sample.period;
}

void PerfRecording::deliver(Symbolizer& symbolizer, RecordSink& sink)
{
    deliverHostFacts(host_, lost_, inputName_, sink);
    const SectionHandles sections = beginSections(events_, listener_, inputName_, sink);
    for (size_t i = 0; i < events_.size(); ++i) {
        if (sections[i])
            sink.leftOut(*sections[i], events_[i].leftOut);
    }
    if (options_.step)
        options_.step(fmt::format("naming {} addresses", stacks_.frames().size()));
    NamedStacks named(stacks_, space_, symbolizer, routinesOf(options_), options_.evidence);
    deliverCells(cells_, names_, sections, named, sink);
    if (listener_ != nullptr)
        listener_->deliver(named, names_, sink);
    for (Diagnostic& one : diagnostics_)
        sink.diagnostic(std::move(one));
    if (unwinder_ != nullptr)
        for (Diagnostic& one : unwinder_->takeDiagnostics(space_, inputName_))
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

LoadedInput loadPerfRecording(
    Source& source, Symbolizer& symbolizer, RecordSink& sink, const RecordingOptions& options)
{
    LoadedInput loaded;
    loaded.name = source.name();
    loaded.format = kRecordingFormat;
    loaded.confidence = Confidence::Certain;
    loaded.why = "the first bytes";
    symbolizer.readKernelTextAhead();
    StackUnwinding unwinding(symbolizer);
    PerfRecording recording(source.name(), options);
    LockTraceListener traces(source.name(), symbolizer, routinesOf(options), options);
    recording.setListener(traces);
    PerfDataOptions reading{.byTime = true};
    if (source.isFile())
        reading.progress = source.progress(); // else the source itself tells it
    recording.setUnwinder(&unwinding);
    auto summary = source.isFile() ? readPerfData(recordingOf(source), recording, reading)
                                   : readPerfData(source, recording, reading);
    loaded.bytes = std::max(source.bytesRead(), source.sizeBytes());
    if (!summary) {
        loaded.failed = true;
        loaded.diagnostics.push_back(summary.error());
        return loaded;
    }
    // Unmapping a large file takes as long as naming its addresses: meanwhile.
    const auto unmapped =
        std::async(std::launch::async, [file = std::move(summary->file)]() mutable { file.reset(); });
    if (!summary->stopped) // else nobody wants it any more
        recording.deliver(symbolizer, sink);
    return loaded;
}

} // namespace whichlock
