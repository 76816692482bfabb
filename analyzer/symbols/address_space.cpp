// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/address_space.h"

#include <algorithm>

namespace whichlock {
namespace {

bool isKernel(AddressMode mode)
{
    return mode == AddressMode::Kernel || mode == AddressMode::GuestKernel;
}

bool isGuest(AddressMode mode)
{
    return mode == AddressMode::GuestUser || mode == AddressMode::GuestKernel;
}

bool makesSense(uint64_t start, uint64_t length)
{
    return length != 0 && length - 1 <= UINT64_MAX - start;
}

} // namespace

bool AddressSpace::insert(const MappingRecord& record)
{
    if (!makesSense(record.start, record.length))
        return false;
    Process& process = processFor(record.mode, record.pid);
    MappedModule module{
        .guest = isGuest(record.mode), .path = std::string(record.path), .buildId = record.buildId};
    Mapping mapping{record.start, record.length, record.fileOffset, {}, record.executable};
    if (isKernel(record.mode)) {
        module.kind = kernelModuleKind(record.path);
        if (module.kind == ModuleKind::Kernel) {
            module.reference = kernelReference(record.path);
            // Where it was loaded matters for tables of that boot; it stays out of the offset.
            module.referenceAddress = module.reference.empty() ? 0 : record.fileOffset;
            mapping.offset = record.start - module.referenceAddress;
        } else {
            module.referenceAddress = record.start - record.fileOffset;
        }
    } else {
        module.kind = userModuleKind(record.path);
        if (module.kind == ModuleKind::Anonymous) {
            module.pid = record.pid;
            module.epoch = process.epoch;
            mapping.offset = record.start;
        }
    }
    mapping.module = moduleFor(std::move(module));
    if (record.executable) {
        uint64_t& lowest = modules_[mapping.module.v - 1].executableOffset;
        lowest = std::min(lowest, mapping.offset);
    }
    setMappings(process, process.mappings.with(mapping));
    return true;
}

bool AddressSpace::insertKernelRange(uint64_t start, uint64_t length, std::string_view name)
{
    if (!makesSense(start, length))
        return false;
    const ModuleId module = moduleFor({.kind = ModuleKind::KernelRange, .path = std::string(name)});
    Process& kernel = kernels_[0];
    setMappings(kernel, kernel.mappings.with({start, length, 0, module, true}));
    return true;
}

void AddressSpace::removeKernelRange(uint64_t start, uint64_t length)
{
    Process& kernel = kernels_[0];
    const Mapping* mapping = kernel.mappings.find(start);
    // The end of a range whose beginning was not recorded must not tear a hole into the kernel.
    if (makesSense(start, length) && mapping != nullptr && mapping->start == start
        && module(mapping->module).kind == ModuleKind::KernelRange)
        setMappings(kernel, kernel.mappings.without(start, std::min(mapping->last(), start + (length - 1))));
}

void AddressSpace::fork(int32_t pid, int32_t parent, bool copyMappings, AddressMode mode)
{
    if (pid == parent)
        return; // a thread
    auto& processes = processes_[isGuest(mode)];
    const auto from = processes.find(parent);
    const Process inherited = copyMappings && from != processes.end() ? from->second : Process();
    const auto [at, isNew] = processes.try_emplace(pid);
    if (!isNew)
        ++at->second.epoch;
    at->second.mappings = inherited.mappings;
    at->second.version = inherited.version;
}

void AddressSpace::exec(int32_t pid, AddressMode mode)
{
    const auto [at, isNew] = processes_[isGuest(mode)].try_emplace(pid);
    if (isNew)
        return;
    ++at->second.epoch;
    at->second.mappings = {};
    at->second.version = 0;
}

void AddressSpace::setBuildId(std::string_view path, const BuildId& id, bool guest)
{
    if (!buildIds_[guest].try_emplace(std::string(path), id).second)
        return;
    for (MappedModule& module : modules_)
        if (module.guest == guest && module.path == path && module.buildId.empty())
            module.buildId = id;
}

std::optional<Location> AddressSpace::find(AddressMode mode, int32_t pid, uint64_t address) const
{
    const Process* process = findProcess(mode, pid);
    const Mapping* mapping = process != nullptr ? process->mappings.find(address) : nullptr;
    if (mapping == nullptr)
        return std::nullopt;
    const ProcessKey key = isKernel(mode) ? ProcessKey{} : ProcessKey{pid, process->epoch};
    return Location{mapping->module, mapping->offset + (address - mapping->start), key, mapping->executable};
}

ProcessKey AddressSpace::processOf(int32_t pid, AddressMode mode) const
{
    const Process* process = findProcess(mode, pid);
    return {pid, process != nullptr ? process->epoch : 0};
}

uint64_t AddressSpace::version(AddressMode mode, int32_t pid) const
{
    const Process* process = findProcess(mode, pid);
    return process != nullptr ? process->version : 0;
}

MappingTree AddressSpace::snapshot(AddressMode mode, int32_t pid) const
{
    const Process* process = findProcess(mode, pid);
    return process != nullptr ? process->mappings : MappingTree();
}

AddressSpace::Process& AddressSpace::processFor(AddressMode mode, int32_t pid)
{
    return isKernel(mode) ? kernels_[isGuest(mode)] : processes_[isGuest(mode)][pid];
}

const AddressSpace::Process* AddressSpace::findProcess(AddressMode mode, int32_t pid) const
{
    if (isKernel(mode))
        return &kernels_[isGuest(mode)];
    Recent& recent = recent_[static_cast<uint32_t>(pid) % kRecent];
    if (!isGuest(mode) && recent.pid == pid && recent.process != nullptr)
        return recent.process;
    const auto& processes = processes_[isGuest(mode)];
    const auto at = processes.find(pid);
    if (at == processes.end())
        return nullptr;
    if (!isGuest(mode))
        recent = {pid, &at->second};
    return &at->second;
}

void AddressSpace::setMappings(Process& process, MappingTree mappings)
{
    process.mappings = std::move(mappings);
    process.version = ++lastVersion_;
}

ModuleId AddressSpace::moduleFor(MappedModule module)
{
    ModuleKey key(module.kind, module.guest, module.path, module.buildId, module.pid, module.epoch,
        module.reference, module.referenceAddress);
    const auto [at, isNew] = moduleIds_.try_emplace(std::move(key));
    if (isNew) {
        const auto& recorded = buildIds_[module.guest];
        if (const auto id = recorded.find(module.path); module.buildId.empty() && id != recorded.end())
            module.buildId = id->second;
        modules_.push_back(std::move(module));
        at->second = {static_cast<uint32_t>(modules_.size())};
    }
    return at->second;
}

} // namespace whichlock
