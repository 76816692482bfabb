// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/module_data.h"

namespace whichlock {
namespace {

std::unique_ptr<ElfFile> openOrNull(const std::string& path)
{
    if (path.empty())
        return nullptr;
    auto file = ElfFile::open(path);
    return file ? std::move(*file) : nullptr;
}

/// Marks where sections begin and end: no variables.
bool isSectionMark(std::string_view name)
{
    return name.starts_with("__start_") || name.starts_with("__stop_") || name.starts_with("__end_")
        || name.starts_with("__init_") || name == "_sdata" || name == "_edata" || name == "_end"
        || name.starts_with("__bss_") || name.starts_with("__brk_");
}

} // namespace

ModuleReader::ModuleReader(ModuleData& data)
    : data_(data)
    , code_(openOrNull(data.files().code))
{
    if (data.files().debug != data.files().code)
        debug_ = openOrNull(data.files().debug);
}

DwarfLines* ModuleReader::lines()
{
    if (!linesOpened_ && data_.inlines()) {
        if (debug_ != nullptr)
            lines_ = DwarfLines::open(*debug_);
        else if (code_ != nullptr && !data_.files().debug.empty())
            lines_ = DwarfLines::open(*code_);
    }
    linesOpened_ = true;
    return lines_.get();
}

ResolvedAddress ModuleReader::resolve(uint64_t offset, AddressKind kind)
{
    ResolvedAddress resolved;
    const uint64_t adjustment = kind == AddressKind::ReturnAddress ? 1 : 0;
    const MappedModule& module = data_.module();
    switch (module.kind) {
    case ModuleKind::KernelRange:
        resolved.function = module.path; // as recorded
        resolved.symbolOffset = offset;
        resolved.verified = true;
        break;
    case ModuleKind::Anonymous:
        resolveAnonymous(offset, adjustment, resolved);
        break;
    case ModuleKind::File:
    case ModuleKind::Vdso:
        resolveInFiles(offset, adjustment, resolved);
        break;
    case ModuleKind::Kernel:
    case ModuleKind::KernelModule:
        if (data_.files().found())
            resolveInFiles(offset, adjustment, resolved);
        else if (data_.kernelTable() != nullptr)
            resolveInKernelText(offset, adjustment, resolved);
        break;
    }
    if (resolved.chain.empty() && !resolved.function.empty())
        resolved.chain.push_back({.function = resolved.function});
    return resolved;
}

void ModuleReader::resolveAnonymous(uint64_t address, uint64_t adjustment, ResolvedAddress& resolved)
{
    const PerfMap::Entry* entry = data_.perfMap().find(address - adjustment);
    if (entry == nullptr)
        return;
    resolved.function = entry->name;
    resolved.symbolOffset = address - entry->symbolStart;
    resolved.symbolSize = entry->end - entry->symbolStart;
}

/// Names out of kallsyms or System.map: nothing in such a text proves that it is of this kernel.
void ModuleReader::resolveInKernelText(uint64_t offset, uint64_t adjustment, ResolvedAddress& resolved)
{
    const MappedModule& module = data_.module();
    const SymbolTable& table = data_.kernelTable()->symbols.functions;
    const bool isModule = module.kind == ModuleKind::KernelModule;
    uint64_t base = module.referenceAddress; // modules: only the table of the very boot has their addresses
    if (!isModule && !module.reference.empty()) {
        const auto reference = table.referenceAddress(module.reference);
        if (!reference)
            return;
        base = *reference;
    }
    SymbolHit hit;
    const uint64_t address = base + offset;
    if (!table.find(address - adjustment, hit))
        return;
    if (hit.module == (isModule ? kernelModuleName(module.path) : std::string()))
        addSymbol(hit, address, resolved);
}

std::optional<uint64_t> ModuleReader::addressOf(uint64_t offset) const
{
    const MappedModule& module = data_.module();
    if (module.kind == ModuleKind::Kernel) {
        if (module.reference.empty())
            return offset;
        const auto reference = data_.functions().referenceAddress(module.reference);
        return reference ? std::optional(*reference + offset) : std::nullopt;
    }
    const ElfFile* file = code_ != nullptr ? code_.get() : debug_.get();
    if (file == nullptr)
        return std::nullopt;
    if (module.kind == ModuleKind::KernelModule && file->isRelocatable())
        return offset;
    return file->addressOfOffset(offset, module.executableOffset);
}

void ModuleReader::resolveInFiles(uint64_t offset, uint64_t adjustment, ResolvedAddress& resolved)
{
    if (offset < adjustment)
        return;
    const std::optional<uint64_t> address = addressOf(offset - adjustment);
    if (!address)
        return;
    SymbolHit hit;
    if (data_.functions().find(*address, hit))
        addSymbol(hit, *address + adjustment, resolved);
    if (DwarfLines* info = lines(); info != nullptr) {
        resolved.chain = info->lookUp(*address);
        for (SourceFrame& frame : resolved.chain)
            frame.function = demangled_.of(frame.function);
        if (!resolved.chain.empty() && resolved.function.empty())
            resolved.function = resolved.chain.back().function;
        else if (!resolved.chain.empty())
            resolved.chain.back().function = resolved.function;
    }
    resolved.verified = data_.files().verified && !resolved.chain.empty();
    if (!resolved.function.empty())
        resolved.verified = data_.files().verified;
}

void ModuleReader::addSymbol(const SymbolHit& hit, uint64_t address, ResolvedAddress& resolved)
{
    resolved.function = demangled_.of(hit.name);
    resolved.symbolOffset = address - hit.address;
    resolved.symbolSize = hit.size;
}

bool ModuleReader::resolveKernelObject(uint64_t offset, ResolvedObject& object)
{
    const MappedModule& module = data_.module();
    SymbolHit hit;
    uint64_t address = module.referenceAddress + offset;
    bool found = false;
    if (data_.files().found()) {
        const std::optional<uint64_t> linked = addressOf(offset);
        address = linked.value_or(0);
        found = linked && data_.objects().find(address, hit);
    } else if (data_.kernelTable() != nullptr) {
        const Kallsyms& table = data_.kernelTable()->symbols;
        const auto reference = table.functions.referenceAddress(module.reference);
        address = reference.value_or(0) + offset;
        // Without all data symbols (CONFIG_KALLSYMS_ALL) the few that are there do not tell where they end.
        // The addresses of modules are those of one boot.
        constexpr size_t kFunctionsPerObject = 10;
        found = reference && table.objects.size() >= table.functions.size() / kFunctionsPerObject
            && table.objects.find(address, hit)
            && (hit.module.empty() || *reference == module.referenceAddress);
    }
    if (found && !isSectionMark(hit.name))
        object = {std::string(hit.name), address - hit.address, hit.size,
            data_.files().found() && data_.files().verified};
    return found && !isSectionMark(hit.name);
}

bool ModuleReader::resolveObject(uint64_t codeOffset, int64_t distance, ResolvedObject& object)
{
    const std::optional<uint64_t> code = addressOf(codeOffset);
    if (!code)
        return false;
    const uint64_t address = *code + static_cast<uint64_t>(distance);
    SymbolHit hit;
    if (!data_.objects().find(address, hit))
        return false;
    object = {demangled_.of(hit.name), address - hit.address, hit.size, data_.files().verified};
    return true;
}

} // namespace whichlock
