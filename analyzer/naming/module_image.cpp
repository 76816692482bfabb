// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/module_image.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

namespace whichlock {
namespace {

/// Kernel symbols whose addresses mean something of their own in code.
constexpr std::array<std::string_view, 5> kSpecialNames = {
    "this_cpu_off", "__per_cpu_offset", "vmemmap_base", "__start___jump_table", "__stop___jump_table"};

template <class Number> Number numberAt(std::span<const uint8_t> bytes, size_t offset)
{
    Number number{};
    if (offset <= bytes.size() && sizeof number <= bytes.size() - offset)
        std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
}

void sortByAddress(std::vector<ImageSymbol>& symbols)
{
    std::stable_sort(symbols.begin(), symbols.end(), [](const ImageSymbol& a, const ImageSymbol& b) {
        return std::tie(a.address, a.size) < std::tie(b.address, b.size);
    });
}

/// Symbols nest hardly ever: a few looks back find the one around an address.
const ImageSymbol* around(const std::vector<ImageSymbol>& symbols, uint64_t address)
{
    constexpr int kMostLooks = 64;
    auto at = std::upper_bound(symbols.begin(), symbols.end(), address,
        [](uint64_t value, const ImageSymbol& symbol) { return value < symbol.address; });
    for (int looks = 0; at != symbols.begin() && looks < kMostLooks; ++looks) {
        --at;
        if (address - at->address < std::max<uint64_t>(at->size, 1))
            return &*at;
    }
    return nullptr;
}

} // namespace

Result<std::unique_ptr<ModuleImage>> ModuleImage::open(const ModuleFiles& files, const LockEntries& entries)
{
    const std::string& codePath = files.code.empty() ? files.debug : files.code;
    auto code = ElfImage::open(codePath);
    if (!code)
        return tl::make_unexpected(code.error());
    std::unique_ptr<ModuleImage> image(new ModuleImage);
    image->code_ = std::move(*code);
    image->entries_ = &entries;
    if (!image->code_->file().hasCode())
        return fail(DiagnosticCode::FileUnreadable,
            "has only the debug info; naming locks needs the code as well", {.chain = codePath});
    ElfImage* described = image->code_.get();
    if (!files.debug.empty() && files.debug != codePath) {
        auto debug = ElfImage::open(files.debug);
        if (!debug)
            return tl::make_unexpected(debug.error());
        image->debug_ = std::move(*debug);
        described = image->debug_.get();
    }
    image->dwarf_ = described->dwarf();
    image->readSymbols();
    if (image->dwarf_ == nullptr && !image->readBtf(files))
        return fail(DiagnosticCode::FileUnreadable,
            fmt::format("cannot tell the locks of its calls: {}", described->dwarfProblem()),
            {.chain = described->file().path()});
    if (!image->kernel_)
        image->readStubs();
    image->readHiddenJumps();
    return image;
}

/// Of modules the BTF of the kernel is what their own builds on.
bool ModuleImage::readBtf(const ModuleFiles& files)
{
    if (!kernel_)
        return false;
    std::vector<uint8_t> own = code_->btf();
    std::vector<uint8_t> base;
    const std::vector<uint8_t> named = files.btf.empty() ? std::vector<uint8_t>() : btfOfFile(files.btf);
    if (isRelocated())
        base = named;
    else if (own.empty())
        own = named;
    if (own.empty())
        return false;
    const auto dwarf = dwarfFromBtf(own, base, {functions_, perCpu_.low});
    if (dwarf)
        btf_ = MemoryDwarf::open(*dwarf);
    dwarf_ = btf_ != nullptr ? btf_->dwarf() : nullptr;
    return dwarf_ != nullptr;
}

void ModuleImage::readSymbols()
{
    for (const ImageSection& section : code_->sections()) {
        if (section.name == ".data..percpu")
            perCpu_ = {section.address, section.address + section.size};
        if (section.name == ".data..percpu" || section.name == "__ksymtab_strings"
            || section.name == ".gnu.linkonce.this_module" || section.name == ".modinfo")
            kernel_ = true;
    }
    std::vector<ImageSymbol> symbols = code_->symbols();
    if (debug_ != nullptr)
        if (std::vector<ImageSymbol> more = debug_->symbols(); more.size() > symbols.size())
            symbols = std::move(more);
    for (const ImageSymbol& symbol : symbols) {
        if (symbol.threadLocal)
            continue;
        if (!symbol.defined)
            imports_.emplace(symbol.address, symbol.name);
        else if (symbol.function)
            functions_.push_back(symbol);
        else if (symbol.object && symbol.size != 0)
            objects_.push_back(symbol);
        if (std::ranges::find(kSpecialNames, symbol.name) != kSpecialNames.end())
            byName_.emplace(symbol.name, symbol.address);
        if (symbol.function || !symbol.defined)
            if (const auto entry = entries_->find(symbol.name, kernel_))
                lockTargets_.emplace(symbol.address, *entry);
    }
    sortByAddress(functions_);
    sortByAddress(objects_);
}

/// Stubs of dynamic linking jump through a slot: `ff 25` and the distance.
void ModuleImage::readStubs()
{
    constexpr size_t kJumpBytes = 6;
    constexpr uint64_t kStubAlignment = 16;
    for (const auto& [slot, name] : code_->relocatedSlots()) {
        slots_.emplace(slot, name);
        if (const auto entry = entries_->find(name, kernel_))
            lockSlots_.emplace(slot, *entry);
    }
    for (const ImageSection& section : code_->sections()) {
        if (!section.executable || !section.name.starts_with(".plt"))
            continue;
        for (size_t at = 0; at + kJumpBytes <= section.bytes.size(); ++at) {
            if (section.bytes[at] != 0xff || section.bytes[at + 1] != 0x25)
                continue;
            const uint64_t place = section.address + at;
            const auto distance = static_cast<uint64_t>(int64_t{numberAt<int32_t>(section.bytes, at + 2)});
            const auto slot = slots_.find(place + kJumpBytes + distance);
            if (slot == slots_.end())
                continue;
            for (const uint64_t entry : {place, place & ~(kStubAlignment - 1)}) {
                stubs_.emplace(entry, slot->second);
                if (const auto routine = entries_->find(slot->second, kernel_))
                    lockTargets_.emplace(entry, *routine);
            }
        }
    }
}

/// Rows of `__jump_table` hold the distances from themselves to a patched jump and to its target.
void ModuleImage::readHiddenJumps()
{
    constexpr size_t kRowBytes = 16;
    std::span<const uint8_t> rows;
    uint64_t address = 0;
    const auto start = addressOf("__start___jump_table");
    const auto stop = addressOf("__stop___jump_table");
    if (start && stop && *stop > *start) {
        address = *start;
        rows = bytesAt(address, *stop - *start);
    } else {
        for (const ImageSection& section : code_->sections())
            if (section.name == "__jump_table") {
                address = section.address;
                rows = section.bytes;
            }
    }
    for (size_t at = 0; at + kRowBytes <= rows.size(); at += kRowBytes) {
        const auto from = static_cast<uint64_t>(int64_t{numberAt<int32_t>(rows, at)});
        const auto to = static_cast<uint64_t>(int64_t{numberAt<int32_t>(rows, at + 4)});
        hiddenJumps_.emplace_back(address + at + from, address + at + 4 + to);
    }
    std::ranges::sort(hiddenJumps_);
}

const ImageSection* ModuleImage::sectionAt(uint64_t address) const
{
    for (const ImageSection& section : code_->sections())
        if (section.size != 0 && section.contains(address))
            return &section;
    return nullptr;
}

std::span<const uint8_t> ModuleImage::bytesAt(uint64_t address, uint64_t most) const
{
    for (const ImageSection& section : code_->sections())
        if (!section.bytes.empty() && section.contains(address)
            && address - section.address < section.bytes.size())
            return section.bytes.subspan(address - section.address,
                std::min<uint64_t>(most, section.bytes.size() - (address - section.address)));
    return {};
}

bool ModuleImage::isData(uint64_t address) const
{
    const ImageSection* section = sectionAt(address);
    return section != nullptr && !section->executable;
}

const ImageSymbol* ModuleImage::functionAt(uint64_t address) const
{
    return around(functions_, address);
}

const ImageSymbol* ModuleImage::objectAt(uint64_t address) const
{
    return around(objects_, address);
}

std::optional<uint64_t> ModuleImage::addressOf(std::string_view name) const
{
    const auto found = byName_.find(name);
    return found != byName_.end() ? std::optional(found->second) : std::nullopt;
}

std::string_view ModuleImage::targetName(uint64_t address) const
{
    if (const auto stub = stubs_.find(address); stub != stubs_.end())
        return stub->second;
    if (const std::string_view import = importName(address); !import.empty())
        return import;
    const ImageSymbol* function = functionAt(address);
    return function != nullptr && function->address == address ? function->name : std::string_view();
}

bool ModuleImage::isNameOf(std::string_view name, uint64_t address) const
{
    for (auto at = std::ranges::lower_bound(functions_, address, {}, &ImageSymbol::address);
         at != functions_.end() && at->address == address; ++at)
        if (at->name == name)
            return true;
    return false;
}

std::string_view ModuleImage::importName(uint64_t address) const
{
    const auto import = imports_.find(address);
    return import != imports_.end() ? import->second : std::string_view();
}

std::string_view ModuleImage::slotName(uint64_t slot) const
{
    const auto found = slots_.find(slot);
    return found != slots_.end() ? found->second : std::string_view();
}

} // namespace whichlock
