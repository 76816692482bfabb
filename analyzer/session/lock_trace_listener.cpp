// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/lock_trace_listener.h"

#include "analyzer/naming/constant_argument.h"
#include "analyzer/session/recording_delivery.h"
#include "analyzer/traces/lock_families.h"

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

bool isRuntimeObject(std::string_view object)
{
    const std::string_view file = baseNameOf(object);
    return file.starts_with("libstdc++.so") || file.starts_with("libc++.so");
}

uint64_t timeOf(const PerfRecord& record)
{
    return record.id.has(sample_bit::kTime) ? record.id.time : 0;
}

constexpr std::string_view kUnknown = "[unknown]";

} // namespace

LockTraceListener::LockTraceListener(std::string inputName, Symbolizer& symbolizer,
    const RoutineTable& routines, const RecordingOptions& options)
    : inputName_(std::move(inputName))
    , symbolizer_(symbolizer)
    , classifier_(routines, Context{})
    , filter_(options.filter)
    , gate_(options.filter)
    , follower_(options)
    , pipe_([this](TraceBatch& batch) { follower_.follow(batch); })
{
}

void LockTraceListener::begin(const RecordedStacks& stacks, const AddressSpace& space)
{
    stacks_ = &stacks;
    space_ = &space;
    chainCode_.emplace(symbolizer_, space);
}

void LockTraceListener::event(const PerfEvent& event)
{
    decoder_.event(event);
    if (!decoder_.knows(event.index))
        return;
    if (counts_.size() <= event.index)
        counts_.resize(event.index + size_t{1});
    counts_[event.index].event = event.name;
}

void LockTraceListener::hostFacts(const PerfHostFacts& facts)
{
    decoder_.setArch(facts.arch);
    if (facts.sampleTime)
        gate_.setSpan(facts.sampleTime->first, facts.sampleTime->second);
    if (!facts.commandLine.empty()) {
        constexpr size_t kLongestName = 15; // of a task
        const std::string& program = facts.commandLine.front();
        recorder_ = program.substr(program.rfind('/') + 1).substr(0, kLongestName);
    }
    kernel_ = KernelVersion::parse(facts.osRelease);
}

bool LockTraceListener::accountsFor(const PerfEvent& event) const
{
    return decoder_.knows(event.index);
}

/// A step of a process as it is now. The batch goes on its way with stepAdded().
TraceStep& LockTraceListener::addStep(TraceStep::Kind kind, uint64_t timeNs, uint32_t pid, uint32_t tid)
{
    TraceStep& step = pipe_.filling().steps.emplace_back();
    step.kind = kind;
    step.event.at.timeNs = timeNs;
    step.event.at.pid = static_cast<int32_t>(pid);
    step.event.at.tid = static_cast<int32_t>(tid);
    step.epoch = epochOf(step.event.at.pid);
    return step;
}

void LockTraceListener::stepAdded()
{
    if (pipe_.filling().steps.size() >= TraceBatch::kMostSteps)
        pipe_.pass();
}

/// Only waiting in the times that are asked for counts; what happens before and after is followed.
void LockTraceListener::addWindow(const PerfSample& sample)
{
    if (!filter_.time)
        return;
    const auto times =
        sample.has(sample_bit::kTime) ? gate_.timesKept(sample.time) : decltype(gate_.timesKept(0))();
    untold_ = !times;
    TraceStep& step = addStep(TraceStep::Kind::Window, times ? times->first : 0, 0, 0);
    step.untilNs = times ? times->second : 0;
}

void LockTraceListener::sample(const ReplayedSample& sample)
{
    if (!decoder_.knows(sample.event.index))
        return;
    ++counts_[sample.event.index].samples;
    if (!std::exchange(begun_, true)) {
        addWindow(sample.sample);
        addStep(TraceStep::Kind::Recorder, 0, 0, 0).name =
            static_cast<uint32_t>(pipe_.filling().names.size());
        pipe_.filling().names.push_back(recorder_);
        if (decoder_.hasSwitches())
            addStep(TraceStep::Kind::SchedulerRecorded, 0, 0, 0);
        if (decoder_.sampled())
            addStep(TraceStep::Kind::Sampled, 0, 0, 0);
    }
    TraceBatch& batch = pipe_.filling();
    TraceStep& step = batch.steps.emplace_back();
    if (!decoder_.decode(sample.sample, step.event)) {
        batch.steps.pop_back();
        return;
    }
    firstOffset_ = std::min(firstOffset_.value_or(UINT64_MAX), sample.record.offset);
    step.stack = {sample.stack.v};
    step.epoch = epochOf(step.event.at.pid);
    tellClass(step.stack);
    tellPlaces(step.event);
    tellParked(step.event.at.pid, step.stack);
    stepAdded();
}

void LockTraceListener::mapping(const PerfRecord& record, const PerfMapping& mapping)
{
    if (addressModeOf(record.cpuMode()) == AddressMode::User)
        shared_.add(mapping);
}

void LockTraceListener::comm(const PerfRecord& record, const PerfComm& comm)
{
    if (comm.exec)
        shared_.exec(static_cast<int32_t>(comm.pid));
    if (!decoder_.any())
        return;
    TraceStep& step = addStep(TraceStep::Kind::Name, timeOf(record), comm.pid, comm.tid);
    step.name = static_cast<uint32_t>(pipe_.filling().names.size());
    pipe_.filling().names.emplace_back(comm.name);
    stepAdded();
}

void LockTraceListener::fork(const PerfRecord& record, const PerfTask& task)
{
    if (task.time != 0) // else what the parent has is told of the child, too
        shared_.fork(static_cast<int32_t>(task.pid), static_cast<int32_t>(task.parentPid));
    if (!decoder_.any())
        return;
    addStep(TraceStep::Kind::Fork, timeOf(record), task.pid, task.tid).parentTid =
        static_cast<int32_t>(task.parentTid);
    stepAdded();
}

void LockTraceListener::exit(const PerfRecord& record, const PerfTask& task)
{
    if (!decoder_.any())
        return;
    addStep(TraceStep::Kind::Exit, timeOf(record), task.pid, task.tid);
    stepAdded();
}

void LockTraceListener::lost(const PerfRecord& record, const PerfLost& lost)
{
    if (lost.droppedByRule)
        return;
    addStep(TraceStep::Kind::Lost, timeOf(record), 0, 0).lost = lost.count;
    stepAdded();
}

/// What the analysis may ask about a stack, before it gets the first event with it.
void LockTraceListener::tellClass(TraceStackId stack)
{
    if (!stack || (stack.v < classTold_.size() && classTold_[stack.v]))
        return;
    if (classTold_.size() <= stack.v)
        classTold_.resize(stack.v + stack.v / 2 + size_t{1});
    classTold_[stack.v] = true;
    const TraceStackClass known = classify(stack);
    if (parks_.size() < classTold_.size())
        parks_.resize(classTold_.size());
    parks_[stack.v] = known.parks && !known.onCondition;
    pipe_.filling().classes.emplace_back(stack, known);
}

/// The lock of a stack that sleeps elsewhere than at it, as its process has it mapped.
void LockTraceListener::tellParked(int32_t pid, TraceStackId stack)
{
    if (stack.v >= parks_.size() || !parks_[stack.v])
        return;
    const ParkedStack key{pid, epochOf(pid), stack};
    if (!parkedTold_.insert(key).second)
        return;
    const ParkedPlace place = parkedPlaceOf(pid, stack);
    pipe_.filling().parked.emplace_back(key, place);
    if (place.isObject)
        tellPlace(pid, place.address);
}

/// Words that are locks, as they are mapped when they are first heard of.
void LockTraceListener::tellPlaces(const PerfTraceEvent& event)
{
    for (const uint64_t word : userWordsOf(event)) {
        if (word != 0)
            tellPlace(event.at.pid, word);
    }
}

void LockTraceListener::tellPlace(int32_t pid, uint64_t address)
{
    const ProcessWord word{pid, epochOf(pid), address};
    const uint32_t known = wordsTold_.size();
    if (wordsTold_.intern(word).v > known)
        pipe_.filling().places.emplace_back(word, placeOf(pid, address));
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

/// Whether a frame lies in the runtime library of C++, which stands between programs and the C library.
bool LockTraceListener::isRuntime(AddressFrameId frame) const
{
    const ModuleId module = stacks_->frame(frame).module;
    return module && isRuntimeObject(space_->module(module).path);
}

/// The function that the chain lacks behind that frame; null if none is lost or it cannot be told.
const std::string* LockTraceListener::lostCaller(AddressStackId at)
{
    const AddressStack& node = stacks_->stack(at);
    const AddressFrame& frame = stacks_->frame(node.frame);
    if (!frame.callerMayLack || !node.caller)
        return nullptr;
    const AddressFrame& caller = stacks_->frame(stacks_->stack(node.caller).frame);
    const CallGap& gap = chainCode_->gap(frame.module, frame.offset, caller.module, caller.offset);
    return gap.kind == CallGap::Kind::Lost ? &gap.function : nullptr;
}

/// Of user code only what belongs to the wait has to be named: names cost time.
LockTraceListener::WaitFrames LockTraceListener::waitFramesOf(TraceStackId stack)
{
    WaitFrames wait;
    const auto add = [&](const NamedFrame& frame, AddressStackId from) {
        wait.frames.push_back(frame);
        wait.from.push_back(from);
        return frame.kernel || classifier_.isPartOfWait(frame)
            || StackClassifier::isLockMethod(frame.function);
    };
    for (AddressStackId at{stack.v}; at; at = stacks_->stack(at).caller) {
        const AddressFrameId frame = stacks_->stack(at).frame;
        const bool kernel = isKernel(frame);
        const std::vector<std::string>& names = namesOf(frame);
        bool goesOn = false;
        for (const std::string& name : names)
            goesOn = add({name, kernel, name.empty() && isRuntime(frame)}, at) || goesOn;
        if (!goesOn)
            break;
        if (const std::string* lost = lostCaller(at); lost != nullptr && !add({*lost, false}, {}))
            break;
    }
    return wait;
}

TraceStackClass LockTraceListener::classify(TraceStackId stack)
{
    return classifier_.classify(waitFramesOf(stack).frames);
}

/// The global object that the call before a return address is for, by its address in the process.
std::optional<uint64_t> LockTraceListener::objectOfCall(int32_t pid, const AddressFrame& caller)
{
    if (!caller.module || caller.kind != AddressKind::ReturnAddress || caller.offset == 0)
        return std::nullopt;
    const MappedModule& module = space_->module(caller.module);
    const std::optional<uint64_t> callSite = symbolizer_.addressOf(module, caller.offset - 1);
    const FunctionCode code = symbolizer_.codeAround(module, caller.offset - 1);
    if (module.kind != ModuleKind::File || !callSite || code.machine != CodeMachine::X86_64)
        return std::nullopt;
    std::vector<Instruction> instructions;
    disassembler_.decode(code.bytes, code.address, instructions);
    const std::optional<uint64_t> object = constantFirstArgument(instructions, *callSite);
    if (!object)
        return std::nullopt;
    const uint64_t distance = *object - *callSite;
    ResolvedObject resolved;
    if (!symbolizer_.resolveObject(module, caller.offset - 1, static_cast<int64_t>(distance), resolved))
        return std::nullopt;
    for (const Mapping& mapping : codeOf(pid)) {
        if (mapping.module == caller.module && caller.offset - 1 - mapping.offset < mapping.length)
            return mapping.start + (caller.offset - 1 - mapping.offset) + distance;
    }
    return std::nullopt;
}

ParkedPlace LockTraceListener::parkedPlaceOf(int32_t pid, TraceStackId stack)
{
    const WaitFrames wait = waitFramesOf(stack);
    const size_t site = classifier_.siteOf(wait.frames);
    if (site >= wait.frames.size())
        return {false, 0};
    const AddressStackId at = wait.from[site];
    if (at) {
        if (const auto object = objectOfCall(pid, stacks_->frame(stacks_->stack(at).frame)))
            return {true, *object};
    }
    const uint32_t module = at ? stacks_->frame(stacks_->stack(at).frame).module.v : 0;
    const auto [number, isNew] = callSites_.try_emplace(
        {module, std::string(wait.frames[site].function)}, static_cast<uint32_t>(callSites_.size() + 1));
    return {false, number->second};
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
    if (const auto shared = shared_.find(pid, address))
        return {.module = {shared->object}, .offset = shared->offset, .shared = true};
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
    return variables_->userVariable(address, word->second.module, word->second.offset, word->second.distance);
}

TracedVariable LockTraceListener::kernelVariable(uint64_t address)
{
    return variables_->kernelVariable(address);
}

void LockTraceListener::learn(uint64_t address, const TracedCall& call)
{
    variables_->learnPerCpu(address, call.lock, call.variable);
}

TracedCall LockTraceListener::lockOf(TraceStackId stack)
{
    const auto [known, isNew] = calledLocks_.try_emplace(stack.v);
    if (isNew)
        known->second = calledLock(stack);
    return known->second;
}

TracedCall LockTraceListener::calledLock(TraceStackId stack)
{
    const std::vector<NamedFrame> frames = namedFrames(stack);
    const size_t site = classifier_.siteOf(frames);
    if (site >= frames.size())
        return {};
    CalledLock lock = named_->framesOf({stack.v})[site].lock;
    if (lock.source == LockSource::Line)
        lock = {};
    if (lock.source == LockSource::None && !frames[site].kernel)
        if (const CalledLock* own = named_->ownLockOf({stack.v}))
            lock = *own;
    return {.lock = std::string(lock.name),
        .expression = std::string(lock.expression),
        .kind = std::string(lock.kind),
        .variable = lock.source == LockSource::Symbol,
        .verified = lock.verified,
        .btf = lock.source == LockSource::Btf};
}

std::optional<KernelLock> LockTraceListener::kernelLockOf(TraceStackId stack)
{
    if (!kernel_)
        return std::nullopt;
    const auto [known, isNew] = kernelLocks_.try_emplace(stack.v);
    if (isNew)
        known->second = lockOfKnownKernel(stack);
    return known->second;
}

std::optional<KernelLock> LockTraceListener::lockOfKnownKernel(TraceStackId stack)
{
    std::vector<std::string_view> chain;
    for (const NamedFrame& frame : namedFrames(stack)) {
        if (!frame.kernel)
            break;
        chain.push_back(frame.function);
    }
    return KernelLocks::builtIn().takenIn(chain, Era::of(*kernel_));
}

std::vector<NamedFrame> LockTraceListener::namedFrames(TraceStackId stack)
{
    std::vector<NamedFrame> frames;
    if (!stack)
        return frames;
    for (const TextFrame& frame : named_->framesOf({stack.v}))
        frames.push_back({frame.symbol == kUnknown ? std::string_view() : frame.symbol,
            isKernelObject(frame.object), isRuntimeObject(frame.object)});
    return frames;
}

/// The frame that `find` finds as a place in the code; empty when there is none.
const TracedPlace& LockTraceListener::placeAt(TraceStackId stack, Places& known, FindPlace find)
{
    const auto [at, isNew] = known.try_emplace(stack.v);
    if (!isNew || !stack)
        return at->second;
    const std::span<const TextFrame> frames = named_->framesOf({stack.v});
    const size_t place = (classifier_.*find)(namedFrames(stack));
    if (place >= frames.size() || frames[place].symbol == kUnknown)
        return at->second;
    const TextFrame& frame = frames[place];
    at->second = {.function = std::string(frame.symbol),
        .file = std::string(frame.file),
        .line = frame.line,
        .recovered = frame.recovered,
        .calledFrom = frame.calleeMissing};
    return at->second;
}

TracedPlace LockTraceListener::siteOf(TraceStackId stack)
{
    return placeAt(stack, sites_, &StackClassifier::siteOf);
}

/// Holders are told apart by function alone.
TracedPlace LockTraceListener::holderSiteOf(TraceStackId stack)
{
    TracedPlace place = placeAt(stack, holderSites_, &StackClassifier::releaseSiteOf);
    place.file.clear();
    place.line = 0;
    return place;
}

std::string LockTraceListener::sleepOf(TraceStackId stack)
{
    return placeAt(stack, sleeps_, &StackClassifier::sleepSiteOf).function;
}

void LockTraceListener::deliver(NamedStacks& stacks, const ThreadNames&, RecordSink& sink)
{
    pipe_.finish();
    if (!firstOffset_)
        return;
    named_ = &stacks;
    variables_.emplace(*space_, symbolizer_, stacks.lockModules());
    TraceAnalysis analysis = follower_.analyser().finish();
    foldLocks(analysis, copiesInProcesses(analysis, *this));
    foldLocks(analysis, copiesOnProcessors(analysis, *this));
    findInnerLocks(analysis);
    SectionRecord section;
    section.kind = SectionKind::LockTrace;
    section.quantity = QuantityKind::Wait;
    section.unit = Unit::Nanoseconds;
    section.format = kRecordingFormat;
    section.position = {.chain = inputName_, .offset = *firstOffset_};
    LockTraceRecord record = traceRecord(analysis, *this);
    record.hasStacks = std::ranges::any_of(
        analysis.sites, [&](const TraceSite& site) { return !siteOf(site.stack).function.empty(); });
    std::map<std::string, uint64_t> counts; // several events may have one name
    for (const RecordedCount& count : counts_) {
        if (count.samples > 0)
            counts[count.event] += count.samples;
    }
    record.eventCounts.assign(counts.begin(), counts.end());
    record.untold = untold_;
    record.cutToCpus = !filter_.cpus.empty();
    record.problem = analysis.check();
    sink.lockTrace(sink.section(section), record);
    variables_.reset();
    named_ = nullptr;
}

} // namespace whichlock
