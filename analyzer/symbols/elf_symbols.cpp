// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/elf_symbols.h"

#include <algorithm>
#include <gelf.h>
#include <optional>

namespace whichlock {
namespace {

struct SectionInfo {
    uint64_t address = 0;
    uint64_t size = 0;
    bool executable = false;
    bool allocated = false;
};

/// ppc64 ELFv1: a function symbol is the address of a descriptor, whose first word is the code.
struct Descriptors {
    uint64_t address = 0;
    const Elf_Data* data = nullptr;
    bool bigEndian = true;

    std::optional<uint64_t> codeOf(uint64_t descriptor) const
    {
        constexpr uint64_t kWordBytes = 8;
        if (data == nullptr || data->d_buf == nullptr || descriptor < address || data->d_size < kWordBytes
            || descriptor - address > data->d_size - kWordBytes)
            return std::nullopt;
        const auto* bytes = static_cast<const uint8_t*>(data->d_buf) + (descriptor - address);
        uint64_t code = 0;
        for (uint64_t i = 0; i < kWordBytes; ++i)
            code = code << 8 | bytes[bigEndian ? i : kWordBytes - 1 - i];
        return code;
    }
};

/// `$x`, `$d.1` mark code and data on ARM and RISC-V; `.L` labels are the compiler's own.
bool isMarker(std::string_view name)
{
    return name.empty() || name.starts_with('$') || name.starts_with(".L") || name.starts_with("__pfx_")
        || name.starts_with("__cfi_");
}

class SymbolReader {
public:
    SymbolReader(const ElfFile& file, SymbolChoice choice, SymbolTable& table)
        : file_(file)
        , choice_(choice)
        , table_(table)
    {
        readSections();
    }

    void readAll()
    {
        for (Elf_Scn* section = elf_nextscn(file_.elf(), nullptr); section != nullptr;
             section = elf_nextscn(file_.elf(), section)) {
            GElf_Shdr header;
            if (gelf_getshdr(section, &header) != nullptr
                && (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
                readTable(section, header);
        }
    }

private:
    void readSections()
    {
        size_t names = 0;
        const bool named = elf_getshdrstrndx(file_.elf(), &names) == 0;
        uint64_t codeEnd = 0; // of relocatable files: the code sections, one behind the other
        sections_.emplace_back();
        for (Elf_Scn* section = elf_nextscn(file_.elf(), nullptr); section != nullptr;
             section = elf_nextscn(file_.elf(), section)) {
            GElf_Shdr header{};
            SectionInfo info;
            if (gelf_getshdr(section, &header) != nullptr) {
                info = {header.sh_addr, header.sh_size, (header.sh_flags & SHF_EXECINSTR) != 0,
                    (header.sh_flags & SHF_ALLOC) != 0};
                const char* name = named ? elf_strptr(file_.elf(), names, header.sh_name) : nullptr;
                const std::string_view text = name != nullptr ? name : "";
                if (file_.isRelocatable())
                    place(info, header.sh_addralign, text, codeEnd);
                if (text == ".opd" && file_.machine() == EM_PPC64 && header.sh_type != SHT_NOBITS)
                    descriptors_ = {header.sh_addr, elf_rawdata(section, nullptr), file_.isBigEndian()};
            }
            sections_.push_back(info);
        }
    }

    /// Where the kernel puts a section of a module: code first, in the order of the file; init code
    /// elsewhere.
    static void place(SectionInfo& info, uint64_t alignment, std::string_view name, uint64_t& codeEnd)
    {
        constexpr uint64_t kMostAlignment = 1 << 20;
        if (!info.executable || !info.allocated || name.starts_with(".init")
            || info.size > SymbolEntry::kNoLimit / 2 - codeEnd) {
            info.executable = false;
            return;
        }
        if (alignment > 1 && alignment <= kMostAlignment && (alignment & (alignment - 1)) == 0)
            codeEnd = (codeEnd + alignment - 1) & ~(alignment - 1);
        info.address = codeEnd;
        codeEnd += info.size;
    }

    void readTable(Elf_Scn* section, const GElf_Shdr& header)
    {
        Elf_Data* data = elf_getdata(section, nullptr);
        if (data == nullptr || header.sh_entsize == 0)
            return;
        const size_t count = std::min<uint64_t>(data->d_size / header.sh_entsize, INT32_MAX);
        for (size_t i = 1; i < count; ++i) {
            GElf_Sym symbol;
            if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr)
                break;
            const char* name = elf_strptr(file_.elf(), header.sh_link, symbol.st_name);
            if (name != nullptr)
                addSymbol(symbol, name, header.sh_type == SHT_SYMTAB);
        }
    }

    bool wanted(const GElf_Sym& symbol, const SectionInfo& section) const
    {
        const int type = GELF_ST_TYPE(symbol.st_info);
        if (choice_ == SymbolChoice::Objects)
            return type == STT_OBJECT && symbol.st_size != 0 && section.allocated;
        const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
        // Assembler code often has no type; only in sections of code is it code.
        const bool label = type == STT_NOTYPE && section.executable;
        return label || (function && (section.executable || descriptors_.data != nullptr));
    }

    void addSymbol(const GElf_Sym& symbol, std::string_view name, bool complete)
    {
        if (symbol.st_shndx == SHN_UNDEF
            || symbol.st_shndx >= std::min<size_t>(sections_.size(), SHN_LORESERVE))
            return;
        const SectionInfo& section = sections_[symbol.st_shndx];
        if (isMarker(name) || !wanted(symbol, section))
            return;
        SymbolEntry entry{.address = symbol.st_value, .size = symbol.st_size};
        if (file_.isRelocatable())
            entry.address += section.address;
        if (choice_ == SymbolChoice::Functions && !moveToCode(entry, section))
            return;
        // With the full table the next symbol ends one without size; with the dynamic one what lies between
        // may belong to functions that are not listed.
        if (complete && choice_ == SymbolChoice::Functions)
            entry.limit = section.address + section.size;
        entry.binding = bindingOf(GELF_ST_BIND(symbol.st_info));
        entry.name = name.substr(0, name.find('@'));
        if (entry.name.starts_with('.') && descriptors_.data != nullptr)
            entry.name.remove_prefix(1); // `.name` is the code of descriptor `name`
        table_.add(entry);
    }

    bool moveToCode(SymbolEntry& entry, const SectionInfo& section) const
    {
        if (file_.machine() == EM_ARM)
            entry.address &= ~uint64_t{1}; // Thumb
        if (section.executable)
            return true;
        const std::optional<uint64_t> code = descriptors_.codeOf(entry.address);
        if (code)
            entry.address = *code;
        return code.has_value();
    }

    static SymbolBinding bindingOf(int binding)
    {
        if (binding == STB_WEAK)
            return SymbolBinding::Weak;
        return binding == STB_LOCAL ? SymbolBinding::Local : SymbolBinding::Global;
    }

    const ElfFile& file_;
    SymbolChoice choice_;
    SymbolTable& table_;
    std::vector<SectionInfo> sections_;
    Descriptors descriptors_;
};

} // namespace

void addElfSymbols(const ElfFile& file, SymbolChoice choice, SymbolTable& table)
{
    SymbolReader(file, choice, table).readAll();
}

} // namespace whichlock
