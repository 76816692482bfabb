// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/lock_trace_listener.h"

#include "analyzer/session/recording_delivery.h"

#include <algorithm>

namespace whichlock {
namespace {

/// Objects as NamedStacks calls them: the kernel and its modules.
bool isKernelObject(std::string_view object)
{
    if (object == "[vdso]" || object == "[unknown]" || object == "[vsyscall]" || object == "[stack]"
        || object == "[heap]")
        return false;
    return object.starts_with('[') || object.find(".ko") != std::string_view::npos;
}

uint64_t timeOf(const PerfRecord& record)
{
    return record.id.has(sample_bit::kTime) ? record.id.time : 0;
}

constexpr std::string_view kUnknown = "[unknown]";

} // namespace

LockTraceListener::LockTraceListener(
    std::string inputName, Symbolizer& symbolizer, const RoutineTable& routines)
    : inputName_(std::move(inputName))
    , symbolizer_(symbolizer)
    , classifier_(routines, Context{})
    , analyser_(*this)
{
}

void LockTraceListener::begin(const RecordedStacks& stacks, const AddressSpace& space)
{
    stacks_ = &stacks;
    space_ = &space;
}

void LockTraceListener::event(const PerfEvent& event)
{
    decoder_.event(event);
}

void LockTraceListener::hostFacts(const PerfHostFacts& facts)
{
    decoder_.setArch(facts.arch);
}

bool LockTraceListener::accountsFor(const PerfEvent& event) const
{
    return decoder_.knows(event.index);
}

void LockTraceListener::sample(const ReplayedSample& sample)
{
    const std::optional<PerfTraceEvent> event = decoder_.decode(sample.sample);
    if (decoder_.knows(sample.event.index))
        ++eventCounts_[sample.event.name];
    if (!event)
        return;
    if (!firstOffset_) {
        firstOffset_ = sample.record.offset;
        if (decoder_.hasSwitches())
            analyser_.schedulerRecorded();
        if (decoder_.sampled())
            analyser_.sampled();
    }
    firstOffset_ = std::min(*firstOffset_, sample.record.offset);
    replay(*event, {sample.stack.v}, analyser_);
}

void LockTraceListener::comm(const PerfRecord& record, const PerfComm& comm)
{
    if (decoder_.any())
        analyser_.name(
            timeOf(record), static_cast<int32_t>(comm.pid), static_cast<int32_t>(comm.tid), comm.name);
}

void LockTraceListener::fork(const PerfRecord& record, const PerfTask& task)
{
    if (decoder_.any())
        analyser_.fork(timeOf(record), static_cast<int32_t>(task.pid), static_cast<int32_t>(task.tid),
            static_cast<int32_t>(task.parentTid));
}

void LockTraceListener::exit(const PerfRecord& record, const PerfTask& task)
{
    if (decoder_.any())
        analyser_.exit(timeOf(record), static_cast<int32_t>(task.tid));
}

void LockTraceListener::lost(const PerfRecord&, const PerfLost& lost)
{
    if (!lost.droppedByRule)
        analyser_.lost(lost.count);
}

/// Names while the recording is replayed: of the few functions that tell what a stack is.
const std::vector<std::string>& LockTraceListener::namesOf(AddressFrameId frame)
{
    if (frameNames_.size() < frame.v)
        frameNames_.resize(std::max<size_t>(frame.v, 2 * frameNames_.size()));
    std::optional<std::vector<std::string>>& names = frameNames_[frame.v - 1];
    if (names)
        return *names;
    names.emplace();
    const AddressFrame& address = stacks_->frame(frame);
    if (address.module) {
        ResolvedAddress found =
            symbolizer_.resolve(space_->module(address.module), address.offset, address.kind);
        for (size_t inlined = 0; inlined + 1 < found.chain.size(); ++inlined)
            names->push_back(std::move(found.chain[inlined].function));
        names->push_back(std::move(found.function));
    }
    if (names->empty())
        names->emplace_back();
    return *names;
}

bool LockTraceListener::isKernel(AddressFrameId frame) const
{
    const ModuleId module = stacks_->frame(frame).module;
    if (!module)
        return false;
    const ModuleKind kind = space_->module(module).kind;
    return kind == ModuleKind::Kernel || kind == ModuleKind::KernelModule || kind == ModuleKind::KernelRange;
}

/// Of user code only what belongs to the wait has to be named: names cost time.
TraceStackClass LockTraceListener::classify(TraceStackId stack)
{
    std::vector<NamedFrame> frames;
    for (AddressStackId at{stack.v}; at; at = stacks_->stack(at).caller) {
        const AddressFrameId frame = stacks_->stack(at).frame;
        const bool kernel = isKernel(frame);
        const std::vector<std::string>& names = namesOf(frame);
        bool goesOn = kernel;
        for (const std::string& name : names) {
            frames.push_back({name, kernel});
            goesOn = goesOn || classifier_.isPartOfWait(frames.back());
        }
        if (!goesOn)
            break;
    }
    return classifier_.classify(frames);
}

uint32_t LockTraceListener::epochOf(int32_t pid)
{
    return space_->processOf(pid).epoch;
}

const std::vector<Mapping>& LockTraceListener::codeOf(int32_t pid)
{
    MappedCode& code = code_[pid];
    const uint64_t version = space_->version(AddressMode::User, pid);
    if (code.version == version)
        return code.mappings;
    code.version = version;
    code.mappings = space_->snapshot(AddressMode::User, pid).all();
    std::erase_if(code.mappings, [&](const Mapping& mapping) {
        return !mapping.executable || space_->module(mapping.module).kind != ModuleKind::File;
    });
    return code.mappings;
}

/// Data of a file lies behind its code, at the same distance as in the file's own addresses: also where only
/// the mapping of the code was recorded.
WordPlace LockTraceListener::placeOf(int32_t pid, uint64_t address)
{
    const std::vector<Mapping>& code = codeOf(pid);
    const auto next = std::upper_bound(code.begin(), code.end(), address,
        [](uint64_t wanted, const Mapping& mapping) { return wanted < mapping.start; });
    if (next != code.begin()) {
        const Mapping& nearest = *(next - 1);
        words_[{{pid, epochOf(pid)}, address}] = {
            nearest.module, nearest.offset, static_cast<int64_t>(address - nearest.start)};
    }
    WordPlace place;
    if (const auto location = space_->find(AddressMode::User, pid, address)) {
        place.module = location->module;
        place.offset = location->offset;
    }
    return place;
}

TracedVariable LockTraceListener::variableOf(const TraceProcess& process, uint64_t address)
{
    const auto word = words_.find({process, address});
    if (word == words_.end())
        return {};
    ResolvedObject object;
    const MappedModule& module = space_->module(word->second.module);
    if (!symbolizer_.resolveObject(module, word->second.offset, word->second.distance, object))
        return {};
    return {.name = object.name, .offset = object.offset, .object = module.path, .verified = object.verified};
}

std::vector<NamedFrame> LockTraceListener::namedFrames(TraceStackId stack)
{
    std::vector<NamedFrame> frames;
    if (!stack)
        return frames;
    for (const TextFrame& frame : named_->framesOf({stack.v}))
        frames.push_back(
            {frame.symbol == kUnknown ? std::string_view() : frame.symbol, isKernelObject(frame.object)});
    return frames;
}

std::string LockTraceListener::siteOf(TraceStackId stack)
{
    const std::vector<NamedFrame> frames = namedFrames(stack);
    const size_t site = classifier_.siteOf(frames);
    return site < frames.size() ? std::string(frames[site].function) : std::string();
}

std::string LockTraceListener::holderSiteOf(TraceStackId stack)
{
    const std::vector<NamedFrame> frames = namedFrames(stack);
    const size_t site = classifier_.releaseSiteOf(frames);
    return site < frames.size() ? std::string(frames[site].function) : std::string();
}

std::string LockTraceListener::sleepOf(TraceStackId stack)
{
    const std::vector<NamedFrame> frames = namedFrames(stack);
    const size_t site = classifier_.sleepSiteOf(frames);
    return site < frames.size() ? std::string(frames[site].function) : std::string();
}

void LockTraceListener::deliver(NamedStacks& stacks, const ThreadNames&, RecordSink& sink)
{
    if (!firstOffset_)
        return;
    named_ = &stacks;
    const TraceAnalysis analysis = analyser_.finish();
    SectionRecord section;
    section.kind = SectionKind::LockTrace;
    section.quantity = QuantityKind::Wait;
    section.unit = Unit::Nanoseconds;
    section.format = kRecordingFormat;
    section.position = {.chain = inputName_, .offset = *firstOffset_};
    LockTraceRecord record = traceRecord(analysis, *this);
    record.hasStacks = std::ranges::any_of(
        analysis.sites, [&](const TraceSite& site) { return !siteOf(site.stack).empty(); });
    record.eventCounts.assign(eventCounts_.begin(), eventCounts_.end());
    record.narrowed = narrowed_;
    record.problem = analysis.check();
    sink.lockTrace(sink.section(section), record);
    named_ = nullptr;
}

} // namespace whichlock
