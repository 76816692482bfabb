// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/named_stacks.h"

#include "analyzer/locks/routine_table.h"

#include <fmt/format.h>

#include <optional>

namespace whichlock {
namespace {

constexpr std::string_view kUnknown = "[unknown]";

std::vector<ResolvedAddress> resolveFrames(
    const std::vector<AddressFrame>& frames, const AddressSpace& space, Symbolizer& symbolizer)
{
    std::vector<SymbolRequest> requests;
    std::vector<size_t> asked;
    for (size_t i = 0; i < frames.size(); ++i) {
        const AddressFrame& frame = frames[i];
        if (!frame.module)
            continue;
        requests.push_back({frame.module.v - 1, frame.offset, frame.kind});
        asked.push_back(i);
    }
    std::vector<ResolvedAddress> answers = symbolizer.resolveAll(space.modules(), requests);
    std::vector<ResolvedAddress> resolved(frames.size());
    for (size_t i = 0; i < asked.size(); ++i)
        resolved[asked[i]] = std::move(answers[i]);
    return resolved;
}

constexpr uint8_t kNoRoutine = 1;
constexpr uint8_t kTakes = 2;
constexpr uint8_t kGivesBack = 3;

/// Whether a function takes or waits for locks, or gives them back.
uint8_t routineByName(const RoutineTable& routines, std::string_view function)
{
    uint8_t found = kNoRoutine;
    if (function.empty())
        return found;
    for (const Routine* row : routines.find(function, {})) {
        if (row->roles.has(Role::AcquireWrapper) || row->roles.has(Role::SlowpathSpin)
            || row->roles.has(Role::SlowpathBlock) || row->roles.has(Role::OwnerSpin))
            return kTakes;
        if (row->roles.has(Role::Release))
            found = kGivesBack;
    }
    return found;
}

std::string_view nameOfModule(const MappedModule& module)
{
    return module.kind == ModuleKind::Kernel ? std::string_view("[kernel.kallsyms]") : module.path;
}

} // namespace

NamedStacks::NamedStacks(const RecordedStacks& stacks, const AddressSpace& space, Symbolizer& symbolizer,
    const RoutineTable& routines, EvidenceLog* evidence)
    : stacks_(stacks)
    , table_(routines)
    , entries_(routines)
    , code_(symbolizer, space)
    , resolved_(resolveFrames(stacks.frames(), space, symbolizer))
    , routines_(stacks.frames().size())
    , modules_(space, symbolizer, entries_, evidence)
    , locks_(stacks, modules_)
{
    objects_.reserve(stacks.frames().size());
    for (const AddressFrame& frame : stacks.frames())
        objects_.push_back(frame.module ? nameOfModule(space.module(frame.module)) : kUnknown);
}

std::span<const TextFrame> NamedStacks::framesOf(AddressStackId stack)
{
    frames_.clear();
    bool calleeMissing = false;
    constexpr size_t kNone = SIZE_MAX;
    const AddressFrame* routine = nullptr; // the frame before, if it is of a routine of locks
    size_t callers = kNone;                // where the frames behind the last lock routine begin
    for (AddressStackId at = stack; at; at = stacks_.stack(at).caller) {
        const AddressStack& node = stacks_.stack(at);
        const AddressFrame& frame = stacks_.frame(node.frame);
        if (routine != nullptr && !isLockOrRelease(node.frame))
            appendTailCaller(*routine, node.frame);
        routine = !frame.callerMayLack && isLockOrRelease(node.frame) ? &frame : nullptr;
        const size_t first = frames_.size();
        appendFrame(node.frame);
        frames_[first].calleeMissing = calleeMissing;
        if (at == stack && frame.kind == AddressKind::InstructionPointer)
            frames_[0].waitLoop = code_.waits(frame.module, frame.offset);
        if (isLockRoutine(node.frame)) {
            callers = frames_.size();
        } else if (callers != kNone) {
            // The first frame outwards of the lock routine calls it, or a function that the chain lacks:
            // there it can be told what was passed.
            nameLock(at, callers);
            callers = kNone;
        }
        calleeMissing = frame.callerMayLack && node.caller && !appendLostCaller(frame, node.caller);
    }
    return frames_;
}

/// Whether it is known what lies between the innermost frame of a process and the next one; what does is
/// appended.
bool NamedStacks::appendLostCaller(const AddressFrame& leaf, AddressStackId callers)
{
    const AddressFrameId callerId = stacks_.stack(callers).frame;
    const AddressFrame& caller = stacks_.frame(callerId);
    const CallGap& gap = code_.gap(leaf.module, leaf.offset, caller.module, caller.offset);
    if (gap.kind == CallGap::Kind::Lost)
        frames_.push_back({.symbol = gap.function,
            .object = gap.otherModule ? kUnknown : objectOf(callerId),
            .recovered = true});
    return gap.kind != CallGap::Kind::Unknown;
}

void NamedStacks::nameLock(AddressStackId caller, size_t firstFrame)
{
    const CalledLock* lock = locks_.takenAt(caller);
    const ModuleId module = stacks_.frame(stacks_.stack(caller).frame).module;
    for (size_t i = firstFrame; i < frames_.size(); ++i) {
        if (lock != nullptr)
            frames_[i].lock = *lock;
        else if (module && frames_[i].line != 0)
            frames_[i].lock = {.source = LockSource::Line,
                .verified = modules_.isVerified(module),
                .name = lineText(frames_[i].file, frames_[i].line)};
    }
}

std::string_view NamedStacks::lineText(std::string_view file, uint32_t line)
{
    const std::string_view name = file.substr(file.rfind('/') + 1);
    return *lines_.insert(fmt::format("{}:{}", name, line)).first;
}

/// A function that ends by jumping to a lock routine leaves no frame: its caller seems to call the routine.
/// Whom it did call, the instruction before the return address says.
void NamedStacks::appendTailCaller(const AddressFrame& routine, AddressFrameId caller)
{
    const AddressFrame& frame = stacks_.frame(caller);
    if (frame.kind != AddressKind::ReturnAddress)
        return;
    const uint64_t back = routine.kind == AddressKind::ReturnAddress && routine.offset > 0 ? 1 : 0;
    const CallGap& gap = code_.gap(routine.module, routine.offset - back, frame.module, frame.offset);
    if (gap.kind == CallGap::Kind::Lost)
        frames_.push_back({.symbol = gap.function,
            .object = gap.otherModule ? kUnknown : objectOf(caller),
            .recovered = true});
}

/// The methods of such a class may call a function of the C library that makes the system call.
const CalledLock* NamedStacks::ownLockOf(AddressStackId stack)
{
    constexpr int kMostFrames = 4;
    int looked = 0;
    for (AddressStackId at = stack; at && looked < kMostFrames; at = stacks_.stack(at).caller) {
        const AddressFrame& frame = stacks_.frame(stacks_.stack(at).frame);
        if (!frame.module || modules_.isKernel(frame.module) || frame.kind == AddressKind::InstructionPointer)
            continue;
        ++looked;
        if (const CalledLock* lock = locks_.takenAt(at))
            return lock;
    }
    return nullptr;
}

uint8_t NamedStacks::routineOf(AddressFrameId frame)
{
    uint8_t& known = routines_[frame.v - 1];
    if (known == 0)
        known = routineByName(table_, resolved(frame).function);
    return known;
}

bool NamedStacks::isLockRoutine(AddressFrameId frame)
{
    return routineOf(frame) == kTakes;
}

bool NamedStacks::isLockOrRelease(AddressFrameId frame)
{
    return routineOf(frame) != kNoRoutine;
}

void NamedStacks::appendFrame(AddressFrameId frame)
{
    const ResolvedAddress& name = resolved(frame);
    const std::string_view object = objectOf(frame);
    for (size_t inlined = 0; inlined + 1 < name.chain.size(); ++inlined) {
        const SourceFrame& source = name.chain[inlined];
        frames_.push_back({.symbol = source.function,
            .object = object,
            .file = source.file,
            .line = source.line,
            .inlined = true});
    }
    frames_.push_back({.symbol = name.function.empty() ? kUnknown : name.function,
        .object = object,
        .symbolOffset = name.symbolOffset});
    if (!name.chain.empty()) {
        frames_.back().file = name.chain.back().file;
        frames_.back().line = name.chain.back().line;
    }
}

} // namespace whichlock
