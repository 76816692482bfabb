// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/relocate_object.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <string_view>
#include <vector>

namespace whichlock {
namespace {

class Relocator {
public:
    explicit Relocator(std::span<uint8_t> content)
        : content_(content)
    {
    }

    bool run()
    {
        if (!readHeaders())
            return false;
        placeSections();
        placeSymbols();
        for (const Elf64_Shdr& section : sections_)
            if (section.sh_type == SHT_RELA)
                apply(section);
        header_.e_type = ET_EXEC;
        put(0, header_);
        return true;
    }

private:
    template <class Row> bool get(uint64_t offset, Row& row) const
    {
        if (offset > content_.size() || sizeof row > content_.size() - offset)
            return false;
        std::memcpy(&row, content_.data() + offset, sizeof row);
        return true;
    }

    template <class Row> void put(uint64_t offset, const Row& row)
    {
        if (offset <= content_.size() && sizeof row <= content_.size() - offset)
            std::memcpy(content_.data() + offset, &row, sizeof row);
    }

    bool readHeaders()
    {
        if (!get(0, header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_type != ET_REL
            || header_.e_machine != EM_X86_64 || header_.e_shentsize != sizeof(Elf64_Shdr))
            return false;
        for (uint64_t i = 0; i < header_.e_shnum; ++i) {
            Elf64_Shdr section{};
            if (header_.e_shoff > content_.size() || !get(header_.e_shoff + i * sizeof section, section))
                return false;
            sections_.push_back(section);
        }
        return !sections_.empty();
    }

    std::string_view nameOf(uint32_t section, uint64_t offset) const
    {
        if (section >= sections_.size() || offset >= sections_[section].sh_size)
            return {};
        const uint64_t at = sections_[section].sh_offset + offset;
        if (at >= content_.size() || at < offset)
            return {};
        const char* text = reinterpret_cast<const char*>(content_.data() + at);
        return {text, ::strnlen(text, content_.size() - at)};
    }

    /// Code as symbol tables of modules count it: without init code, one section behind the other.
    void placeSections()
    {
        uint64_t code = kModuleCodeBase;
        uint64_t data = kModuleDataBase;
        constexpr uint64_t kMostBytes = kModuleImportBase - kModuleDataBase;
        for (size_t i = 0; i < sections_.size(); ++i) {
            Elf64_Shdr& section = sections_[i];
            if ((section.sh_flags & SHF_ALLOC) == 0)
                continue;
            const bool executable = (section.sh_flags & SHF_EXECINSTR) != 0
                && !nameOf(header_.e_shstrndx, section.sh_name).starts_with(".init");
            uint64_t& next = executable ? code : data;
            constexpr uint64_t kMostAlignment = 1 << 20;
            const uint64_t alignment = section.sh_addralign;
            if (alignment > 1 && alignment <= kMostAlignment && (alignment & (alignment - 1)) == 0)
                next = (next + alignment - 1) & ~(alignment - 1);
            section.sh_addr = next;
            next += std::min(section.sh_size, kMostBytes);
            put(header_.e_shoff + i * sizeof section, section);
        }
    }

    void placeSymbols()
    {
        for (size_t table = 0; table < sections_.size(); ++table) {
            const Elf64_Shdr& section = sections_[table];
            if (section.sh_type != SHT_SYMTAB || section.sh_offset > content_.size())
                continue;
            const uint64_t count =
                std::min<uint64_t>(section.sh_size, content_.size() - section.sh_offset) / sizeof(Elf64_Sym);
            std::vector<uint64_t>& addresses = symbols_;
            symbolTable_ = table;
            addresses.assign(count, 0);
            uint64_t import = kModuleImportBase;
            for (uint64_t i = 1; i < count; ++i) {
                const uint64_t at = section.sh_offset + i * sizeof(Elf64_Sym);
                Elf64_Sym symbol{};
                get(at, symbol);
                if (symbol.st_shndx == SHN_UNDEF)
                    symbol.st_value = import++;
                else if (symbol.st_shndx < sections_.size())
                    symbol.st_value += sections_[symbol.st_shndx].sh_addr;
                addresses[i] = symbol.st_value;
                put(at, symbol);
            }
            return;
        }
    }

    void apply(const Elf64_Shdr& relocations)
    {
        if (relocations.sh_info >= sections_.size() || relocations.sh_link != symbolTable_
            || relocations.sh_offset > content_.size())
            return;
        const Elf64_Shdr& target = sections_[relocations.sh_info];
        // Offsets into compressed content mean nothing; whoever reads such sections says so.
        if (target.sh_type == SHT_NOBITS || (target.sh_flags & SHF_COMPRESSED) != 0)
            return;
        const uint64_t count =
            std::min<uint64_t>(relocations.sh_size, content_.size() - relocations.sh_offset)
            / sizeof(Elf64_Rela);
        for (uint64_t i = 0; i < count; ++i) {
            Elf64_Rela entry{};
            get(relocations.sh_offset + i * sizeof entry, entry);
            applyOne(target, entry);
        }
    }

    void applyOne(const Elf64_Shdr& target, const Elf64_Rela& entry)
    {
        const uint64_t number = ELF64_R_SYM(entry.r_info);
        if (number >= symbols_.size() || entry.r_offset >= target.sh_size)
            return;
        const uint64_t value = symbols_[number] + static_cast<uint64_t>(entry.r_addend);
        const uint64_t place = target.sh_offset + entry.r_offset;
        const uint64_t relative = value - (target.sh_addr + entry.r_offset);
        switch (ELF64_R_TYPE(entry.r_info)) {
        case R_X86_64_64:
            put(place, value);
            break;
        case R_X86_64_PC64:
            put(place, relative);
            break;
        case R_X86_64_32:
        case R_X86_64_32S:
            put(place, static_cast<uint32_t>(value));
            break;
        case R_X86_64_PC32:
        case R_X86_64_PLT32:
            put(place, static_cast<uint32_t>(relative));
            break;
        default:
            break;
        }
    }

    std::span<uint8_t> content_;
    Elf64_Ehdr header_{};
    std::vector<Elf64_Shdr> sections_;
    std::vector<uint64_t> symbols_; ///< final addresses
    size_t symbolTable_ = SIZE_MAX;
};

} // namespace

bool relocateObject(std::span<uint8_t> content)
{
    return Relocator(content).run();
}

} // namespace whichlock
