// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/elf_image.h"

#include "analyzer/naming/relocate_object.h"

#include <algorithm>
#include <fstream>
#include <gelf.h>

namespace whichlock {
namespace {

/// Modules have a few megabytes, with debug info up to a few hundred.
constexpr uint64_t kMostObjectBytes = uint64_t{2} << 30;

bool readWhole(const std::string& path, uint64_t size, std::vector<uint8_t>& content)
{
    std::ifstream stream(path, std::ios::binary);
    content.resize(size);
    return size != 0
        && static_cast<bool>(
            stream.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(size)));
}

bool isUsableName(std::string_view name)
{
    return !name.empty() && !name.starts_with(".L") && !name.starts_with("__pfx_")
        && !name.starts_with("__cfi_");
}

} // namespace

std::vector<uint8_t> sectionBytes(Elf* elf, std::string_view name)
{
    size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return {};
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS
            || (header.sh_flags & SHF_COMPRESSED) != 0)
            continue;
        const char* found = elf_strptr(elf, names, header.sh_name);
        const Elf_Data* data = found != nullptr && found == name ? elf_rawdata(section, nullptr) : nullptr;
        if (data != nullptr && data->d_buf != nullptr) {
            const auto* bytes = static_cast<const uint8_t*>(data->d_buf);
            return {bytes, bytes + data->d_size};
        }
    }
    return {};
}

Result<std::unique_ptr<ElfImage>> ElfImage::open(const std::string& path)
{
    auto file = ElfFile::open(path);
    if (!file)
        return tl::make_unexpected(file.error());
    std::unique_ptr<ElfImage> image(new ElfImage);
    image->file_ = std::move(*file);
    if (image->file_->machine() != EM_X86_64)
        return fail(DiagnosticCode::FileUnreadable,
            "is for a processor whose code is not followed yet; only x86-64 is", {.chain = path});
    if (image->file_->isRelocatable())
        if (auto done = image->relocate(); !done)
            return tl::make_unexpected(done.error());
    image->readSections();
    return image;
}

ElfImage::~ElfImage()
{
    if (dwarf_ != nullptr)
        dwarf_end(dwarf_);
    if (relocated_ != nullptr)
        elf_end(relocated_);
}

Result<void> ElfImage::relocate()
{
    const std::string& path = file_->path();
    if (file_->sizeBytes() > kMostObjectBytes || !readWhole(path, file_->sizeBytes(), content_))
        return fail(DiagnosticCode::FileUnreadable, "cannot be read to its end", {.chain = path});
    if (!relocateObject(content_))
        return fail(DiagnosticCode::FileUnreadable, "is a module whose relocations cannot be applied",
            {.chain = path});
    relocated_ = elf_memory(reinterpret_cast<char*>(content_.data()), content_.size());
    if (relocated_ == nullptr)
        return fail(DiagnosticCode::FileUnreadable, "is no readable ELF file", {.chain = path});
    return {};
}

void ElfImage::readSections()
{
    size_t names = 0;
    const bool named = elf_getshdrstrndx(elf(), &names) == 0;
    sections_.emplace_back();
    for (Elf_Scn* section = elf_nextscn(elf(), nullptr); section != nullptr;
         section = elf_nextscn(elf(), section)) {
        ImageSection one;
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) != nullptr && (header.sh_flags & SHF_ALLOC) != 0) {
            const char* name = named ? elf_strptr(elf(), names, header.sh_name) : nullptr;
            one.name = name != nullptr ? name : "";
            one.address = header.sh_addr;
            one.size = header.sh_size;
            one.executable = (header.sh_flags & SHF_EXECINSTR) != 0;
            if (header.sh_type != SHT_NOBITS)
                if (const Elf_Data* data = elf_rawdata(section, nullptr);
                    data != nullptr && data->d_buf != nullptr)
                    one.bytes = {static_cast<const uint8_t*>(data->d_buf), data->d_size};
        }
        sections_.push_back(one);
    }
}

std::vector<ImageSymbol> ElfImage::symbols() const
{
    std::vector<ImageSymbol> symbols;
    for (const GElf_Word type : {GElf_Word{SHT_SYMTAB}, GElf_Word{SHT_DYNSYM}}) {
        for (Elf_Scn* section = elf_nextscn(elf(), nullptr); section != nullptr;
             section = elf_nextscn(elf(), section)) {
            GElf_Shdr header;
            Elf_Data* data = nullptr;
            if (gelf_getshdr(section, &header) == nullptr || header.sh_type != type || header.sh_entsize == 0
                || (data = elf_getdata(section, nullptr)) == nullptr)
                continue;
            const uint64_t count = std::min<uint64_t>(data->d_size / header.sh_entsize, INT32_MAX);
            for (uint64_t i = 1; i < count; ++i) {
                GElf_Sym from;
                const char* name = gelf_getsym(data, static_cast<int>(i), &from) != nullptr
                    ? elf_strptr(elf(), header.sh_link, from.st_name)
                    : nullptr;
                const std::string_view text = name != nullptr ? name : "";
                const bool placed = from.st_shndx != SHN_UNDEF && from.st_shndx < sections_.size();
                const bool absolute = from.st_shndx == SHN_ABS;
                if (!isUsableName(text) || (from.st_shndx == SHN_UNDEF && from.st_value == 0)
                    || (!placed && !absolute && from.st_shndx != SHN_UNDEF))
                    continue;
                const int kind = GELF_ST_TYPE(from.st_info);
                ImageSymbol symbol{text.substr(0, text.find('@')), from.st_value, from.st_size};
                symbol.defined = from.st_shndx != SHN_UNDEF;
                const bool code = !placed || sections_[from.st_shndx].executable;
                symbol.function = kind == STT_FUNC || kind == STT_GNU_IFUNC || (kind == STT_NOTYPE && code);
                symbol.object = kind == STT_OBJECT || (kind == STT_NOTYPE && !code);
                symbol.threadLocal = kind == STT_TLS;
                symbols.push_back(symbol);
            }
        }
        if (!symbols.empty())
            break;
    }
    return symbols;
}

std::vector<std::pair<uint64_t, std::string_view>> ElfImage::relocatedSlots() const
{
    std::vector<std::pair<uint64_t, std::string_view>> slots;
    if (relocated_ != nullptr)
        return slots;
    for (Elf_Scn* section = elf_nextscn(elf(), nullptr); section != nullptr;
         section = elf_nextscn(elf(), section)) {
        GElf_Shdr header;
        GElf_Shdr symbolHeader;
        if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_RELA
            || (header.sh_flags & SHF_ALLOC) == 0 || header.sh_entsize == 0)
            continue;
        Elf_Scn* symbolSection = elf_getscn(elf(), header.sh_link);
        Elf_Data* data = elf_getdata(section, nullptr);
        Elf_Data* symbolData = symbolSection != nullptr ? elf_getdata(symbolSection, nullptr) : nullptr;
        if (data == nullptr || symbolData == nullptr || gelf_getshdr(symbolSection, &symbolHeader) == nullptr)
            continue;
        const uint64_t count = std::min<uint64_t>(data->d_size / header.sh_entsize, INT32_MAX);
        for (uint64_t i = 0; i < count; ++i) {
            GElf_Rela entry;
            GElf_Sym symbol;
            if (gelf_getrela(data, static_cast<int>(i), &entry) == nullptr
                || gelf_getsym(symbolData, static_cast<int>(GELF_R_SYM(entry.r_info)), &symbol) == nullptr)
                continue;
            const char* name = elf_strptr(elf(), symbolHeader.sh_link, symbol.st_name);
            if (name != nullptr && *name != 0)
                slots.emplace_back(entry.r_offset, name);
        }
    }
    return slots;
}

Dwarf* ElfImage::dwarf()
{
    if (!dwarfTried_) {
        dwarfTried_ = true;
        if (!file_->hasCompressionBomb() && isAlternateSafe(*file_))
            dwarf_ = dwarf_begin_elf(elf(), DWARF_C_READ, nullptr);
    }
    return dwarf_;
}

std::string ElfImage::dwarfProblem() const
{
    if (file_->hasCompressionBomb())
        return "its debug info claims to be too large when inflated";
    if (file_->hasUnknownCompression())
        return "its debug info is compressed in a way (zstd) that is not read; "
               "`objcopy --decompress-debug-sections` makes a copy that is";
    if (!file_->hasSection(".debug_info") && !file_->hasSection(".zdebug_info"))
        return "it has no debug info";
    return "its debug info cannot be read";
}

} // namespace whichlock
