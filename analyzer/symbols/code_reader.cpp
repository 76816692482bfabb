// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/code_reader.h"

#include <algorithm>
#include <cstring>
#include <gelf.h>

namespace whichlock {
namespace {

/// Relocations that put the address of an imported function into a slot.
bool fillsSlot(CodeMachine machine, uint64_t type)
{
    if (machine == CodeMachine::X86_64)
        return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
    return machine == CodeMachine::Aarch64 && (type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT);
}

/// A symbol's name without its version; empty if there is none, or an absurdly long one.
std::string_view symbolName(Elf* elf, size_t section, size_t offset)
{
    constexpr size_t kMostBytes = 4096;
    const char* name = elf_strptr(elf, section, offset);
    const size_t length = name == nullptr ? 0 : ::strnlen(name, kMostBytes);
    if (length == kMostBytes)
        return {};
    const std::string_view text(name, length);
    return text.substr(0, text.find('@'));
}

} // namespace

CodeReader::CodeReader(const ElfFile& file)
    : file_(file)
    , machine_(file.isBigEndian() ? CodeMachine::Other : codeMachineOf(file.machine()))
{
    size_t size = 0;
    if (const char* bytes = elf_rawfile(file.elf(), &size); bytes != nullptr)
        image_ = {reinterpret_cast<const uint8_t*>(bytes), size};
}

const ElfSegment* CodeReader::segmentOf(uint64_t address) const
{
    for (const ElfSegment& segment : file_.segments())
        if (segment.executable && address - segment.address < segment.fileBytes)
            return &segment;
    return nullptr;
}

std::span<const uint8_t> CodeReader::code(uint64_t address, uint64_t most) const
{
    const ElfSegment* segment = segmentOf(address);
    if (segment == nullptr)
        return {};
    const uint64_t within = address - segment->address;
    if (segment->offset > image_.size() || within >= image_.size() - segment->offset)
        return {};
    const uint64_t offset = segment->offset + within;
    return image_.subspan(offset, std::min({most, segment->fileBytes - within, image_.size() - offset}));
}

std::span<const uint8_t> CodeReader::codeBefore(uint64_t address, uint64_t most) const
{
    if (address == 0)
        return {};
    // The byte before decides: a return address may stand just behind the end of the code.
    const ElfSegment* segment = segmentOf(address - 1);
    if (segment == nullptr)
        return {};
    const uint64_t length = std::min(most, address - segment->address);
    const std::span<const uint8_t> bytes = code(address - length, length);
    return bytes.size() == length ? bytes : std::span<const uint8_t>();
}

std::string CodeReader::importedByStub(uint64_t address)
{
    const auto slot = slotOfStub(machine_, address, code(address, kMostStubBytes));
    return slot ? importedBySlot(*slot) : std::string();
}

std::string CodeReader::importedBySlot(uint64_t address)
{
    if (!imports_)
        readSlots();
    const auto found = imports_->find(address);
    return found == imports_->end() ? std::string() : std::string(found->second);
}

std::vector<ExportedFunction> CodeReader::exported(std::string_view name)
{
    if (!exports_)
        readExports();
    std::vector<ExportedFunction> found;
    const auto [first, last] = exports_->equal_range(name);
    for (auto at = first; at != last; ++at)
        found.push_back(at->second);
    return found;
}

void CodeReader::readExports()
{
    exports_.emplace();
    for (Elf_Scn* section = elf_nextscn(file_.elf(), nullptr); section != nullptr;
         section = elf_nextscn(file_.elf(), section)) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNSYM
            || header.sh_entsize == 0)
            continue;
        Elf_Data* data = elf_getdata(section, nullptr);
        const size_t count =
            data == nullptr ? 0 : std::min<uint64_t>(data->d_size / header.sh_entsize, INT32_MAX);
        for (size_t i = 1; i < count; ++i) {
            GElf_Sym symbol;
            if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr)
                break;
            const auto type = GELF_ST_TYPE(symbol.st_info);
            if (symbol.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC))
                continue;
            const std::string_view name = symbolName(file_.elf(), header.sh_link, symbol.st_name);
            if (!name.empty())
                exports_->emplace(name, ExportedFunction{symbol.st_value, type == STT_GNU_IFUNC});
        }
    }
}

void CodeReader::readSlots()
{
    imports_.emplace();
    for (Elf_Scn* section = elf_nextscn(file_.elf(), nullptr); section != nullptr;
         section = elf_nextscn(file_.elf(), section)) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) != nullptr && header.sh_type == SHT_RELA
            && (header.sh_flags & SHF_ALLOC) != 0)
            readRelocations(section, header);
    }
}

void CodeReader::readRelocations(Elf_Scn* section, const GElf_Shdr& header)
{
    Elf_Scn* symbols = elf_getscn(file_.elf(), header.sh_link);
    GElf_Shdr symbolHeader;
    if (symbols == nullptr || gelf_getshdr(symbols, &symbolHeader) == nullptr)
        return;
    Elf_Data* names = elf_getdata(symbols, nullptr);
    Elf_Data* data = elf_getdata(section, nullptr);
    if (names == nullptr || data == nullptr || header.sh_entsize == 0)
        return;
    const size_t count = std::min<uint64_t>(data->d_size / header.sh_entsize, INT32_MAX);
    for (size_t i = 0; i < count; ++i) {
        GElf_Rela relocation;
        if (gelf_getrela(data, static_cast<int>(i), &relocation) == nullptr)
            return;
        const uint64_t number = GELF_R_SYM(relocation.r_info);
        GElf_Sym symbol;
        if (!fillsSlot(machine_, GELF_R_TYPE(relocation.r_info)) || number == 0 || number > INT32_MAX
            || gelf_getsym(names, static_cast<int>(number), &symbol) == nullptr)
            continue;
        const std::string_view name = symbolName(file_.elf(), symbolHeader.sh_link, symbol.st_name);
        if (!name.empty())
            imports_->emplace(relocation.r_offset, name);
    }
}

} // namespace whichlock
