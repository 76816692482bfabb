// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/recorded_stacks.h"

#include <algorithm>
#include <optional>

namespace whichlock {
namespace {

constexpr size_t kCacheSlots = 1U << 14U;

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

bool isGuest(AddressMode mode)
{
    return mode == AddressMode::GuestUser || mode == AddressMode::GuestKernel;
}

} // namespace

AddressMode addressModeOf(PerfCpuMode mode)
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

RecordedStacks::RecordedStacks(const AddressSpace& space)
    : space_(space)
    , cache_(kCacheSlots)
{
}

AddressStackId RecordedStacks::stackOf(const PerfSample& sample, AddressMode mode)
{
    const auto pid = static_cast<int32_t>(sample.pid);
    if (unwinder_ != nullptr && !sample.userStack.empty() && addUnwound(sample, mode))
        return stackOfFrames();
    if (!sample.callchain.empty()) {
        const ChainCache::Key key{sample.callchain.bytes(), mode, space_.version(AddressMode::User, pid),
            space_.version(AddressMode::Kernel, pid)};
        const uint64_t hash = ChainCache::hashOf(key);
        if (const AddressStackId known = chains_.find(key, hash))
            return known;
        path_.clear();
        const bool hasGuest = addChain(sample.callchain, mode, pid);
        if (!path_.empty()) {
            const AddressStackId stack = stackOfFrames();
            if (!hasGuest) // their mappings are not in the key
                chains_.remember(key, hash, stack);
            return stack;
        }
    }
    if (!sample.has(sample_bit::kIp))
        return {};
    return push({}, frameAt(mode, pid, sample.ip, AddressKind::InstructionPointer));
}

AddressFrameId RecordedStacks::frameAt(AddressMode mode, int32_t pid, uint64_t address, AddressKind kind)
{
    return frameIn(placeOf(mode, pid), address, kind);
}

AddressFrameId RecordedStacks::frameIn(
    const Place& place, uint64_t address, AddressKind kind, bool callerMayLack)
{
    const uint64_t hash = mixBits(address
        ^ mixBits(
            place.version << 3U | static_cast<uint64_t>(kind) << 1U | static_cast<uint64_t>(callerMayLack)));
    CachedFrame& cached = cache_[hash % kCacheSlots];
    if (cached.frame && cached.address == address && cached.version == place.version && cached.kind == kind
        && cached.callerMayLack == callerMayLack)
        return cached.frame;
    AddressFrame frame{.module = {}, .offset = address, .kind = kind, .callerMayLack = callerMayLack};
    if (const auto location = space_.find(place.mode, place.pid, address)) {
        frame.module = location->module;
        frame.offset = location->offset;
    }
    cached = {address, place.version, kind, callerMayLack, frames_.intern(frame)};
    return cached.frame;
}

/// Adds the frames of a chain to path_; whether a guest's were among them. The address of the leaf, and where
/// another mode was entered, are no return addresses.
bool RecordedStacks::addChain(U64Span chain, AddressMode mode, int32_t pid)
{
    bool hasGuest = isGuest(mode);
    bool exact = true;
    Place place = placeOf(mode, pid);
    for (size_t i = 0; i < chain.size(); ++i) {
        const uint64_t entry = chain[i];
        if (entry >= kFirstContextMark) {
            if (const auto next = modeOfMark(entry)) {
                place = placeOf(*next, pid);
                hasGuest = hasGuest || isGuest(*next);
                exact = true;
            }
            continue;
        }
        // The kernel knows its own stacks exactly. Those of processes it follows by frame pointers, whichever
        // way else the recorder can.
        path_.push_back(
            frameIn(place, entry, exact ? AddressKind::InstructionPointer : AddressKind::ReturnAddress,
                exact && place.mode == AddressMode::User));
        exact = false;
    }
    return hasGuest;
}

/// The kernel part of the chain, and the user part by the unwinder; false when that cannot tell.
bool RecordedStacks::addUnwound(const PerfSample& sample, AddressMode mode)
{
    unwound_.clear();
    if (!unwinder_->unwind(sample, space_, unwound_) || unwound_.empty())
        return false;
    const auto pid = static_cast<int32_t>(sample.pid);
    size_t kernelEntries = 0;
    AddressMode at = mode;
    while (kernelEntries < sample.callchain.size()) {
        const uint64_t entry = sample.callchain[kernelEntries];
        if (entry >= kFirstContextMark)
            at = modeOfMark(entry).value_or(at);
        if (at == AddressMode::User)
            break;
        ++kernelEntries;
    }
    path_.clear();
    addChain(sample.callchain.subspan(0, kernelEntries), mode, pid);
    if (path_.empty() && mode == AddressMode::Kernel && sample.has(sample_bit::kIp))
        path_.push_back(frameAt(mode, pid, sample.ip, AddressKind::InstructionPointer));
    const Place user = placeOf(AddressMode::User, pid);
    for (const UserAddress& one : unwound_)
        path_.push_back(frameIn(user, one.address, one.kind));
    return true;
}

/// Call chains begin at the innermost frame; stacks are interned from the outermost.
AddressStackId RecordedStacks::stackOfFrames()
{
    AddressStackId stack;
    for (size_t i = path_.size(); i-- > 0;)
        stack = push(stack, path_[i]);
    return stack;
}

} // namespace whichlock
