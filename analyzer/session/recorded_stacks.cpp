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

/// How many entries of a chain come before its user part.
size_t entriesBeforeUser(U64Span chain, AddressMode mode)
{
    for (size_t i = 0; i < chain.size(); ++i) {
        if (chain[i] >= kFirstContextMark)
            mode = modeOfMark(chain[i]).value_or(mode);
        if (mode == AddressMode::User)
            return i;
    }
    return chain.size();
}

bool isHostMode(AddressMode mode)
{
    return mode == AddressMode::User || mode == AddressMode::Kernel;
}

bool isOfHost(U64Span chain, AddressMode mode)
{
    bool host = isHostMode(mode);
    for (size_t i = 0; host && i < chain.size(); ++i)
        host = chain[i] < kFirstContextMark || isHostMode(modeOfMark(chain[i]).value_or(mode));
    return host;
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
    U64Span chain = sample.callchain;
    AddressStackId user;
    if (unwinder_ != nullptr && !sample.userStack.empty())
        user = unwoundStack(sample);
    if (user)
        chain = chain.subspan(0, entriesBeforeUser(chain, mode));
    const AddressStackId stack = user ? pushChain(user, chain, mode, pid) : wholeChain(chain, mode, pid);
    if (stack != user || (user && mode == AddressMode::User) || !sample.has(sample_bit::kIp))
        return stack;
    return push(user, frameAt(mode, pid, sample.ip, AddressKind::InstructionPointer));
}

AddressFrameId RecordedStacks::frameAt(AddressMode mode, int32_t pid, uint64_t address, AddressKind kind)
{
    return frameIn(Place(space_, mode, pid), address, kind);
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

/// A chain of the host that came before, with the same mappings of kernel and process, is the same stack.
AddressStackId RecordedStacks::wholeChain(U64Span chain, AddressMode mode, int32_t pid)
{
    const ChainCache::Key key{.bytes = chain.bytes(),
        .version = space_.version(AddressMode::User, pid),
        .kernelVersion = space_.version(AddressMode::Kernel, pid),
        .mode = static_cast<uint32_t>(mode)};
    const uint64_t hash = ChainCache::hashOf(key);
    if (const AddressStackId known = wholeChains_.find(key, hash))
        return known;
    const AddressStackId stack = pushChain({}, chain, mode, pid);
    if (isOfHost(chain, mode))
        wholeChains_.remember(key, hash, stack);
    return stack;
}

/// Call chains begin at the innermost frame; stacks are made from the outermost, one mode after the other.
AddressStackId RecordedStacks::pushChain(AddressStackId caller, U64Span chain, AddressMode mode, int32_t pid)
{
    size_t end = chain.size();
    for (size_t i = chain.size(); i-- > 0;) {
        if (chain[i] < kFirstContextMark)
            continue;
        if (const auto begun = modeOfMark(chain[i])) {
            caller = pushPiece(caller, chain.subspan(i + 1, end - i - 1), Place(space_, *begun, pid));
            end = i;
        }
    }
    return end == 0 ? caller : pushPiece(caller, chain.subspan(0, end), Place(space_, mode, pid));
}

/// The first address, where the processor was or where another mode was entered, is no return address. The
/// kernel knows its own stacks exactly. Those of processes it follows by frame pointers, whichever way else
/// the recorder can.
AddressStackId RecordedStacks::pushPiece(AddressStackId caller, U64Span piece, const Place& place)
{
    const ChainCache::Key key{.bytes = piece.bytes(), .version = place.version, .caller = caller};
    const uint64_t hash = ChainCache::hashOf(key);
    if (const AddressStackId known = chains_.find(key, hash))
        return known;
    size_t first = 0;
    while (first < piece.size() && piece[first] >= kFirstContextMark)
        ++first;
    AddressStackId stack = caller;
    for (size_t i = piece.size(); i-- > first;) {
        if (piece[i] < kFirstContextMark)
            stack = push(stack,
                frameIn(place, piece[i],
                    i == first ? AddressKind::InstructionPointer : AddressKind::ReturnAddress,
                    i == first && place.mode == AddressMode::User));
    }
    chains_.remember(key, hash, stack);
    return stack;
}

AddressStackId RecordedStacks::unwoundStack(const PerfSample& sample)
{
    unwound_.clear();
    AddressStackId stack;
    if (!unwinder_->unwind(sample, space_, unwound_))
        return stack;
    const Place user(space_, AddressMode::User, static_cast<int32_t>(sample.pid));
    for (size_t i = unwound_.size(); i-- > 0;)
        stack = push(stack, frameIn(user, unwound_[i].address, unwound_[i].kind));
    return stack;
}

} // namespace whichlock
