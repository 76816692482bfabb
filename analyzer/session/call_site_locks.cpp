// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/call_site_locks.h"

#include "analyzer/naming/relocate_object.h"
#include "analyzer/symbols/module_finder.h"

namespace whichlock {
namespace {

constexpr size_t kMostFrames = 24;

} // namespace

CallSiteLocks::CallSiteLocks(const RecordedStacks& stacks, const AddressSpace& space, Symbolizer& symbolizer)
    : stacks_(stacks)
    , space_(space)
    , symbolizer_(symbolizer)
{
}

CallSiteLocks::~CallSiteLocks() = default;

CallSiteLocks::Module& CallSiteLocks::moduleOf(ModuleId id)
{
    Module& module = modules_[id.v];
    if (module.opened)
        return module;
    module.opened = true;
    const ModuleFiles& files = symbolizer_.filesOf(space_.module(id));
    // What is missing or unreadable was said when the addresses got their names.
    if (files.code.empty() || files.debug.empty())
        return module;
    module.verified = files.verified;
    if (auto namer = LockNamer::open(files))
        module.namer = std::move(*namer);
    return module;
}

/// The addresses in the call instructions of a stack, from its innermost frame on, as far as they are of one
/// module.
std::vector<uint64_t> CallSiteLocks::callSites(AddressStackId stack, const LockNamer& namer)
{
    std::vector<uint64_t> addresses;
    const ModuleId module = stacks_.frame(stacks_.stack(stack).frame).module;
    const uint64_t base = namer.image().isRelocated() ? kModuleCodeBase : 0;
    for (AddressStackId at = stack; at && addresses.size() < kMostFrames; at = stacks_.stack(at).caller) {
        const AddressFrame& frame = stacks_.frame(stacks_.stack(at).frame);
        if (frame.module != module || frame.kind == AddressKind::InstructionPointer)
            break;
        const uint64_t back = frame.kind == AddressKind::ReturnAddress ? 1 : 0;
        const auto address = frame.offset >= back
            ? symbolizer_.addressOf(space_.module(module), frame.offset - back)
            : std::nullopt;
        if (!address)
            break;
        addresses.push_back(base + *address);
    }
    return addresses;
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
    const ModuleId id = stacks_.frame(frame).module;
    Module* module = id ? &moduleOf(id) : nullptr;
    if (module == nullptr || module->namer == nullptr)
        return byFrame_[frame.v] = nullptr;
    const auto name = module->namer->nameOfChain(callSites(stack, *module->namer));
    module->namer->trim();
    const Named* result = nullptr;
    if (name && name->isNamed()) {
        Named& named = *names_.emplace_back(std::make_unique<Named>());
        named.name = name->text();
        named.expression = name->expression;
        named.lock = {.source = name->source == NameSource::Symbol ? LockSource::Symbol : LockSource::Type,
            .verified = module->verified,
            .name = named.name,
            .expression = named.expression};
        result = &named;
    }
    // Chains that lead to one call site are many; few of its names depend on who called further out.
    if (!name || !name->dependsOnCallers)
        byFrame_[frame.v] = result;
    return result;
}

} // namespace whichlock
