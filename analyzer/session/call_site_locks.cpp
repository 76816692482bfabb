// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/call_site_locks.h"

namespace whichlock {
namespace {

constexpr size_t kMostFrames = 24;

} // namespace

CallSiteLocks::CallSiteLocks(const RecordedStacks& stacks, LockModules& modules)
    : stacks_(stacks)
    , modules_(modules)
{
}

CallSiteLocks::~CallSiteLocks() = default;

std::vector<ChainSite> CallSiteLocks::callSites(AddressStackId stack)
{
    std::vector<ChainSite> sites;
    const ModuleId innermost = stacks_.frame(stacks_.stack(stack).frame).module;
    for (AddressStackId at = stack; at && sites.size() < kMostFrames; at = stacks_.stack(at).caller) {
        const AddressFrame& frame = stacks_.frame(stacks_.stack(at).frame);
        // No lock of a program is passed through a system call.
        if (!frame.module || modules_.isKernel(frame.module) != modules_.isKernel(innermost))
            break;
        LockNamer* namer =
            frame.kind != AddressKind::InstructionPointer ? modules_.namerOf(frame.module) : nullptr;
        const uint64_t back = frame.kind == AddressKind::ReturnAddress ? 1 : 0;
        const auto address = namer != nullptr && frame.offset >= back
            ? modules_.addressOf(frame.module, frame.offset - back)
            : std::nullopt;
        if (!address)
            break;
        sites.push_back({namer, *address});
    }
    return sites;
}

void CallSiteLocks::writeDown(const AddressFrame& frame, const std::optional<LockName>& name)
{
    if (modules_.log() == nullptr || !frame.module)
        return;
    const CallEvidence call{.module = modules_.evidenceOf(frame.module),
        .function = modules_.functionAt(frame.module, frame.offset, frame.kind),
        .offset = frame.offset,
        .name = name};
    // Many chains lead to one call.
    for (const CallEvidence& other : modules_.log()->calls)
        if (other.offset == call.offset && other.module.recordedPath == call.module.recordedPath
            && (other.name ? other.name->text() : "") == (name ? name->text() : ""))
            return;
    modules_.log()->calls.push_back(call);
}

const CalledLock* CallSiteLocks::takenAt(AddressStackId stack)
{
    const AddressFrameId frame = stacks_.stack(stack).frame;
    if (const auto known = byFrame_.find(frame.v); known != byFrame_.end())
        return known->second != nullptr ? &known->second->lock : nullptr;
    const auto [entry, isNew] = byStack_.try_emplace(stack.v);
    if (isNew)
        entry->second = nameOf(stack);
    return entry->second != nullptr ? &entry->second->lock : nullptr;
}

const CallSiteLocks::Named* CallSiteLocks::nameOf(AddressStackId stack)
{
    const AddressFrameId frame = stacks_.stack(stack).frame;
    const ModuleId module = stacks_.frame(frame).module;
    if (modules_.namerOf(module) == nullptr) {
        writeDown(stacks_.frame(frame), std::nullopt);
        return byFrame_[frame.v] = nullptr;
    }
    const std::vector<ChainSite> sites = callSites(stack);
    const auto name = LockNamer::nameOfChain(sites);
    writeDown(stacks_.frame(frame), name);
    for (const ChainSite& site : sites)
        site.module->trim();
    const Named* result = nullptr;
    if (name && name->isNamed()) {
        bool verified = true;
        AddressStackId at = stack;
        for (size_t used = 0; at && used < name->sitesUsed; ++used, at = stacks_.stack(at).caller)
            verified = verified && modules_.isVerified(stacks_.frame(stacks_.stack(at).frame).module);
        Named& named = *names_.emplace_back(std::make_unique<Named>());
        named.name = name->text();
        named.expression = name->expression;
        named.lock = {.source = name->source == NameSource::Symbol ? LockSource::Symbol
                : name->btf                                        ? LockSource::Btf
                                                                   : LockSource::Type,
            .verified = verified,
            .name = named.name,
            .expression = named.expression,
            .kind = lockKindName(name->kind)};
        result = &named;
    }
    // Chains that lead to one call site are many; few of its names depend on who called further out.
    if (!name || !name->dependsOnCallers)
        byFrame_[frame.v] = result;
    return result;
}

} // namespace whichlock
