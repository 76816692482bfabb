// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/lock_variables.h"

#include <algorithm>
#include <fmt/format.h>

namespace whichlock {
namespace {

constexpr uint64_t kPageBytes = 4096;
/// More processors than any machine has: what goes beyond is no set of processors.
constexpr size_t kMostProcessors = 8192;

ModuleId hostKernel(const AddressSpace& space)
{
    const std::vector<MappedModule>& modules = space.modules();
    for (uint32_t i = 0; i < modules.size(); ++i)
        if (modules[i].kind == ModuleKind::Kernel && !modules[i].guest)
            return {i + 1};
    return {};
}

} // namespace

LockVariables::LockVariables(const AddressSpace& space, Symbolizer& symbolizer, LockModules& modules)
    : space_(space)
    , symbolizer_(symbolizer)
    , modules_(modules)
    , kernel_(hostKernel(space))
{
}

TracedVariable LockVariables::userVariable(
    uint64_t address, ModuleId module, uint64_t codeOffset, int64_t distance)
{
    ResolvedObject symbol;
    const bool hasSymbol = symbolizer_.resolveObject(space_.module(module), codeOffset, distance, symbol);
    ObjectNamer* objects = modules_.objectsOf(module);
    const auto code = objects != nullptr ? modules_.addressOf(module, codeOffset) : std::nullopt;
    const uint64_t inFile = code.value_or(0) + static_cast<uint64_t>(distance);
    const auto object = code ? objects->nameOf(inFile) : std::nullopt;
    TracedVariable variable;
    if (object && !object->lockType.empty() && !object->perCpu)
        variable = describe(module, *object);
    else if (hasSymbol)
        variable = {.name = symbol.name,
            .offset = symbol.offset,
            .object = space_.module(module).path,
            .verified = symbol.verified};
    writeDown(address, inFile, module, variable, symbol, false);
    return variable;
}

TracedVariable LockVariables::kernelVariable(uint64_t address)
{
    if (!kernel_)
        return {};
    settlePerCpu();
    const MappedModule& kernel = space_.module(kernel_);
    if (!kernel.reference.empty() && address < kernel.referenceAddress) {
        // Below the image: memory that the kernel took at run time, as that of each processor.
        ObjectNamer* objects = perCpuOffsets_.empty() ? nullptr : modules_.objectsOf(kernel_);
        return objects != nullptr ? perCpuVariable(*objects, address) : TracedVariable{};
    }
    const uint64_t offset = address - kernel.referenceAddress;
    ResolvedObject symbol;
    if (!symbolizer_.resolveKernelObject(kernel, offset, symbol))
        return {};
    ObjectNamer* objects = modules_.objectsOf(kernel_);
    const auto linked = objects != nullptr ? modules_.addressOf(kernel_, offset) : std::nullopt;
    const auto object = linked ? objects->nameOf(*linked) : std::nullopt;
    const TracedVariable variable = object && !object->lockType.empty()
        ? describe(kernel_, *object)
        : TracedVariable{symbol.name, symbol.offset, kernel.path, symbol.verified};
    writeDown(address, linked.value_or(0), kernel_, variable, symbol, false);
    return variable;
}

void LockVariables::writeDown(uint64_t address, uint64_t inFile, ModuleId module,
    const TracedVariable& variable, const ResolvedObject& symbol, bool perCpu)
{
    if (modules_.log() == nullptr || variable.name.empty())
        return;
    VariableEvidence evidence{.module = modules_.evidenceOf(module), .address = address};
    evidence.addressInFile = inFile;
    evidence.name = variable.name;
    if (!symbol.name.empty())
        evidence.symbol = fmt::format("{}+{:#x} of {} bytes", symbol.name, symbol.offset, symbol.size);
    evidence.perCpu = perCpu;
    modules_.log()->variables.push_back(std::move(evidence));
}

TracedVariable LockVariables::describe(ModuleId module, const ObjectName& object) const
{
    return {.name = object.name,
        .offset = 0,
        .object = space_.module(module).path,
        .verified = modules_.isVerified(module)};
}

TracedVariable LockVariables::perCpuVariable(ObjectNamer& objects, uint64_t address)
{
    for (const uint64_t offset : perCpuOffsets_) {
        const auto object = objects.nameOf(address - offset);
        if (object && object->perCpu && !object->lockType.empty()
            && object->lockAddress == address - offset) {
            TracedVariable variable = describe(kernel_, *object);
            writeDown(address, address - offset, kernel_, variable, {}, true);
            return variable;
        }
    }
    return {};
}

/// Where the area of a processor may begin, if the lock at this address is that of its variable: at a page,
/// so that few places are possible.
std::vector<uint64_t> LockVariables::possibleOffsets(
    uint64_t address, const std::string& name, std::string ObjectName::*field)
{
    std::vector<uint64_t> offsets;
    LockNamer* namer = modules_.namerOf(kernel_);
    ObjectNamer* objects = namer != nullptr ? modules_.objectsOf(kernel_) : nullptr;
    if (objects == nullptr)
        return offsets;
    for (const ImageSymbol& symbol : namer->image().objects()) {
        if (!namer->image().isPerCpu(symbol.address))
            continue;
        uint64_t linked = (symbol.address & ~(kPageBytes - 1)) | (address & (kPageBytes - 1));
        linked += linked < symbol.address ? kPageBytes : 0;
        for (; linked - symbol.address < symbol.size; linked += kPageBytes) {
            const auto object = objects->nameOf(linked);
            if (object && object->perCpu && (*object).*field == name && object->lockAddress == linked)
                offsets.push_back(address - linked);
        }
    }
    std::ranges::sort(offsets);
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    return offsets;
}

void LockVariables::learnPerCpu(uint64_t address, const std::string& name, bool isVariable)
{
    if (!kernel_ || name.empty() || address >= space_.module(kernel_).referenceAddress
        || perCpuOffsets_.size() >= kMostProcessors || perCpuGuesses_[name].size() >= kMostProcessors)
        return;
    const std::vector<uint64_t> offsets =
        possibleOffsets(address, name, isVariable ? &ObjectName::name : &ObjectName::lockClass);
    if (offsets.size() != 1)
        return;
    if (isVariable)
        perCpuOffsets_.insert(offsets.front());
    else
        perCpuGuesses_[name][address] = offsets.front();
}

/// That an object of a type begins where the page of a processor's variable allows it happens by chance once
/// in hundreds; that all of several objects do, hardly ever.
void LockVariables::settlePerCpu()
{
    constexpr size_t kFewestObjects = 2;
    for (const auto& [name, guesses] : perCpuGuesses_)
        for (const auto& [address, offset] : guesses)
            if (guesses.size() >= kFewestObjects)
                perCpuOffsets_.insert(offset);
    perCpuGuesses_.clear();
}

} // namespace whichlock
