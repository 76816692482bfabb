// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/lock_modules.h"

#include "analyzer/naming/relocate_object.h"
#include "analyzer/symbols/module_finder.h"

#include <fmt/format.h>

namespace whichlock {

LockModules::LockModules(
    const AddressSpace& space, Symbolizer& symbolizer, const LockEntries& entries, EvidenceLog* log)
    : space_(space)
    , symbolizer_(symbolizer)
    , entries_(entries)
    , log_(log)
{
}

LockModules::~LockModules() = default;

LockModules::Module& LockModules::moduleOf(ModuleId id)
{
    Module& module = modules_[id.v];
    if (module.opened)
        return module;
    module.opened = true;
    ModuleFiles files = symbolizer_.filesOf(space_.module(id));
    // What was refused or is unreadable was said when the addresses got their names.
    if (files.code.empty()) {
        module.problem = "its file is not at hand, or is not the recorded one";
        return module;
    }
    if (files.debug.empty())
        files.debug = files.code;
    files.btf = symbolizer_.options().btf;
    module.verified = files.verified;
    if (auto namer = LockNamer::open(files, {.evidence = log_ != nullptr, .entries = &entries_}))
        module.namer = std::move(*namer);
    else
        module.problem = namer.error().message;
    // Nothing proves which kernel a file of BTF is of.
    if (module.namer != nullptr && module.namer->image().isFromBtf() && !files.btf.empty())
        module.verified = false;
    return module;
}

LockNamer* LockModules::namerOf(ModuleId id)
{
    return id ? moduleOf(id).namer.get() : nullptr;
}

ObjectNamer* LockModules::objectsOf(ModuleId id)
{
    if (!id)
        return nullptr;
    Module& module = moduleOf(id);
    if (module.namer != nullptr && module.objects == nullptr)
        module.objects = std::make_unique<ObjectNamer>(module.namer->image());
    return module.objects.get();
}

bool LockModules::isKernel(ModuleId id) const
{
    const ModuleKind kind = space_.module(id).kind;
    return kind == ModuleKind::Kernel || kind == ModuleKind::KernelModule || kind == ModuleKind::KernelRange;
}

bool LockModules::isVerified(ModuleId id) const
{
    const auto module = modules_.find(id.v);
    return module != modules_.end() && module->second.verified;
}

ModuleEvidence LockModules::evidenceOf(ModuleId id)
{
    const MappedModule& recorded = space_.module(id);
    const Module& module = moduleOf(id);
    const ModuleFiles& files = symbolizer_.filesOf(recorded);
    return {.recordedPath = recorded.path,
        .recordedBuildId = recorded.buildId.hex(),
        .code = files.code,
        .debug = files.debug,
        .verified = files.verified,
        .problem = module.problem};
}

std::string LockModules::functionAt(ModuleId id, uint64_t offset, AddressKind kind)
{
    const ResolvedAddress found = symbolizer_.resolve(space_.module(id), offset, kind);
    if (found.function.empty())
        return fmt::format("{:#x}", offset);
    return found.symbolOffset == ResolvedAddress::kNoOffset
        ? found.function
        : fmt::format("{}+{:#x}", found.function, found.symbolOffset);
}

std::optional<uint64_t> LockModules::addressOf(ModuleId id, uint64_t offset)
{
    const auto address = symbolizer_.addressOf(space_.module(id), offset);
    const LockNamer* namer = namerOf(id);
    if (!address || namer == nullptr)
        return std::nullopt;
    return *address + (namer->image().isRelocated() ? kModuleCodeBase : 0);
}

} // namespace whichlock
