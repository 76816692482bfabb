// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/cfi_module.h"

#include <algorithm>
#include <gelf.h>

namespace whichlock {
namespace {

std::unique_ptr<ElfFile> openOrNull(const std::string& path)
{
    if (path.empty())
        return nullptr;
    auto file = ElfFile::open(path);
    return file ? std::move(*file) : nullptr;
}

ByteOrder orderOf(const ElfFile& file)
{
    return file.isBigEndian() ? ByteOrder::Big : ByteOrder::Little;
}

uint8_t addressBytesOf(const ElfFile& file)
{
    return gelf_getclass(file.elf()) == ELFCLASS32 ? 4 : 8;
}

struct SectionBytes {
    std::string_view bytes{};
    uint64_t address = 0;
};

/// Bytes of a section; they live as long as the file is open.
SectionBytes sectionOf(const ElfFile& file, std::string_view name)
{
    size_t names = 0;
    if (elf_getshdrstrndx(file.elf(), &names) != 0)
        return {};
    for (Elf_Scn* section = elf_nextscn(file.elf(), nullptr); section != nullptr;
         section = elf_nextscn(file.elf(), section)) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS)
            continue;
        const char* itsName = elf_strptr(file.elf(), names, header.sh_name);
        if (itsName == nullptr || name != itsName)
            continue;
        if ((header.sh_flags & SHF_COMPRESSED) != 0
            && (file.hasCompressionBomb() || elf_compress(section, 0, 0) < 0))
            return {};
        const Elf_Data* data = elf_rawdata(section, nullptr);
        if (data == nullptr || data->d_buf == nullptr)
            return {};
        return {{static_cast<const char*>(data->d_buf), data->d_size}, header.sh_addr};
    }
    return {};
}

} // namespace

CfiModule::CfiModule(const ModuleFiles& files)
    : code_(openOrNull(files.code))
{
    if (files.debug != files.code)
        debug_ = openOrNull(files.debug);
    if (code_ != nullptr)
        addSections(*code_);
    if (debug_ != nullptr)
        addSections(*debug_);
}

CfiModule::CfiModule(const CfiSection& section)
{
    tables_.push_back({.section = section});
}

void CfiModule::addSections(const ElfFile& file)
{
    const SectionBytes frames = sectionOf(file, ".eh_frame");
    if (!frames.bytes.empty()) {
        const SectionBytes header = sectionOf(file, ".eh_frame_hdr");
        tables_.push_back({.section = CfiSection(frames.bytes, frames.address, CfiKind::EhFrame,
                               orderOf(file), addressBytesOf(file)),
            .header = header.bytes,
            .headerAddress = header.address});
    } else {
        addTableOfSegment(file);
    }
    const SectionBytes debugFrames = sectionOf(file, ".debug_frame");
    if (!debugFrames.bytes.empty())
        tables_.push_back({.section = CfiSection(debugFrames.bytes, 0, CfiKind::DebugFrame, orderOf(file),
                               addressBytesOf(file))});
}

/// Files without section headers still have a segment with the header, which says where .eh_frame begins.
void CfiModule::addTableOfSegment(const ElfFile& file)
{
    size_t size = 0;
    const char* raw = elf_rawfile(file.elf(), &size);
    size_t count = 0;
    if (raw == nullptr || elf_getphdrnum(file.elf(), &count) != 0)
        return;
    const std::string_view bytes(raw, size);
    for (size_t i = 0; i < count; ++i) {
        GElf_Phdr segment;
        if (gelf_getphdr(file.elf(), static_cast<int>(i), &segment) == nullptr)
            return;
        constexpr size_t kHeadBytes = 8;
        if (segment.p_type != PT_GNU_EH_FRAME || segment.p_offset >= size || segment.p_filesz < kHeadBytes)
            continue;
        const std::string_view header = bytes.substr(segment.p_offset, segment.p_filesz);
        constexpr uint8_t kRelativeToPlaceSigned32 = 0x1b;
        if (header.size() < kHeadBytes || static_cast<uint8_t>(header[1]) != kRelativeToPlaceSigned32)
            return;
        ByteReader reader(header.substr(4), orderOf(file));
        const uint64_t frames = segment.p_vaddr + 4
            + static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(reader.u32())));
        for (const ElfSegment& loaded : file.segments()) {
            const uint64_t into = frames - loaded.address;
            if (into >= loaded.fileBytes || loaded.offset > size || into >= size - loaded.offset)
                continue;
            tables_.push_back(
                {.section = CfiSection(bytes.substr(loaded.offset + into, loaded.fileBytes - into), frames,
                     CfiKind::EhFrame, orderOf(file), addressBytesOf(file)),
                    .header = header,
                    .headerAddress = segment.p_vaddr});
        }
        return;
    }
}

std::optional<uint64_t> CfiModule::addressOfOffset(uint64_t offset, uint64_t executableOffset) const
{
    if (const ElfFile* file = code_ != nullptr ? code_.get() : debug_.get())
        return file->addressOfOffset(offset, executableOffset);
    return tables_.empty() ? std::nullopt : std::optional(offset);
}

std::optional<CfiModule::Found> CfiModule::findIn(Table& table, uint64_t address)
{
    if (!table.indexed) {
        table.indexed = true;
        std::optional<std::vector<CfiSection::Entry>> sorted;
        if (!table.header.empty())
            sorted = table.section.entriesByHeader(table.header, table.headerAddress);
        table.entries = sorted ? std::move(*sorted) : table.section.entries();
    }
    const auto next = std::ranges::upper_bound(table.entries, address, {}, &CfiSection::Entry::start);
    if (next == table.entries.begin())
        return std::nullopt;
    const std::optional<CfiRange> range = table.section.rangeAt(std::prev(next)->offset);
    if (!range || !range->contains(address))
        return std::nullopt;
    std::optional<CfiRow> row = rowAt(*range, address, table.section);
    return row ? std::optional(Found{*range, *row}) : std::nullopt;
}

std::optional<CfiModule::Found> CfiModule::find(uint64_t address)
{
    for (Table& table : tables_)
        if (std::optional<Found> found = findIn(table, address))
            return found;
    return std::nullopt;
}

} // namespace whichlock
