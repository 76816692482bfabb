// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/elf_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace whichlock {
namespace {

constexpr uint64_t kPageBytes = 4096;
/// Linkers make a dozen; a kernel has five.
constexpr size_t kMostSegments = 4096;
constexpr uint32_t kCompressedZlib = 1;
/// `ZLIB` and the size in eight bytes.
constexpr size_t kOldHeaderBytes = 12;

std::array<uint32_t, 256> makeCrcTable()
{
    constexpr uint32_t kPolynomial = 0xedb88320;
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value & 1) != 0 ? value >> 1 ^ kPolynomial : value >> 1;
        table[i] = value;
    }
    return table;
}

/// Opens without waiting for anybody: a pipe or device of that name is not touched.
int openRegular(const std::string& path, uint64_t& size)
{
    struct stat info { };
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
        return -1;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0 && (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
        ::close(fd);
        return -1;
    }
    size = static_cast<uint64_t>(info.st_size);
    return fd;
}

} // namespace

Result<std::unique_ptr<ElfFile>> ElfFile::open(const std::string& path)
{
    std::unique_ptr<ElfFile> file(new ElfFile);
    file->path_ = path;
    file->fd_ = openRegular(path, file->size_);
    if (file->fd_ < 0)
        return fail(DiagnosticCode::FileUnreadable, "is no regular file that can be read", {.chain = path});
    elf_version(EV_CURRENT);
    file->elf_ = elf_begin(file->fd_, ELF_C_READ_MMAP, nullptr);
    if (file->elf_ == nullptr || elf_kind(file->elf_) != ELF_K_ELF || !file->readHeaders())
        return fail(DiagnosticCode::FileUnreadable, "is no readable ELF file", {.chain = path});
    return file;
}

ElfFile::~ElfFile()
{
    if (elf_ != nullptr)
        elf_end(elf_);
    if (fd_ >= 0)
        ::close(fd_);
}

bool ElfFile::readHeaders()
{
    GElf_Ehdr header;
    if (gelf_getehdr(elf_, &header) == nullptr)
        return false;
    machine_ = header.e_machine;
    relocatable_ = header.e_type == ET_REL;
    bigEndian_ = header.e_ident[EI_DATA] == ELFDATA2MSB;
    size_t count = 0;
    if (elf_getphdrnum(elf_, &count) != 0)
        count = 0;
    for (size_t i = 0; i < std::min(count, kMostSegments); ++i) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf_, static_cast<int>(i), &segment) == nullptr)
            break;
        if (segment.p_type == PT_LOAD)
            segments_.push_back({segment.p_vaddr, segment.p_offset, segment.p_filesz, segment.p_memsz,
                (segment.p_flags & PF_X) != 0});
    }
    return true;
}

BuildId ElfFile::buildId() const
{
    const void* bytes = nullptr;
    const ssize_t size = dwelf_elf_gnu_build_id(elf_, &bytes);
    if (size <= 0 || bytes == nullptr)
        return {};
    return BuildId::fromBytes({static_cast<const uint8_t*>(bytes), static_cast<size_t>(size)});
}

std::optional<DebugLink> ElfFile::debugLink() const
{
    GElf_Word crc = 0;
    const char* name = dwelf_elf_gnu_debuglink(elf_, &crc);
    // Only a name: what leads elsewhere is not followed.
    if (name == nullptr || *name == 0 || std::strchr(name, '/') != nullptr)
        return std::nullopt;
    return DebugLink{name, crc};
}

std::string ElfFile::textOfSection(std::string_view name, size_t most) const
{
    size_t names = 0;
    if (elf_getshdrstrndx(elf_, &names) != 0)
        return {};
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS)
            continue;
        const char* itsName = elf_strptr(elf_, names, header.sh_name);
        if (itsName == nullptr || name != itsName)
            continue;
        const Elf_Data* data = elf_rawdata(section, nullptr);
        if (data == nullptr || data->d_buf == nullptr)
            return {};
        const char* text = static_cast<const char*>(data->d_buf);
        return {text, ::strnlen(text, std::min(data->d_size, most))};
    }
    return {};
}

std::string ElfFile::alternateLink() const
{
    constexpr size_t kMostPathBytes = 4096;
    return textOfSection(".gnu_debugaltlink", kMostPathBytes);
}

bool ElfFile::hasSection(std::string_view name) const
{
    size_t names = 0;
    if (elf_getshdrstrndx(elf_, &names) != 0)
        return false;
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
        GElf_Shdr header;
        const char* itsName =
            gelf_getshdr(section, &header) != nullptr ? elf_strptr(elf_, names, header.sh_name) : nullptr;
        if (itsName != nullptr && name == itsName && header.sh_type != SHT_NOBITS && header.sh_size != 0)
            return true;
    }
    return false;
}

bool ElfFile::hasCode() const
{
    bool sections = false;
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr || (header.sh_flags & SHF_EXECINSTR) == 0)
            continue;
        sections = true;
        if (header.sh_type != SHT_NOBITS && header.sh_size != 0)
            return true;
    }
    // Without section headers only segments are left.
    return !sections && std::ranges::any_of(segments_, [](const ElfSegment& segment) {
        return segment.executable && segment.fileBytes != 0;
    });
}

bool ElfFile::hasUnknownCompression() const
{
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
        GElf_Shdr header;
        GElf_Chdr compression;
        if (gelf_getshdr(section, &header) != nullptr && (header.sh_flags & SHF_COMPRESSED) != 0
            && gelf_getchdr(section, &compression) != nullptr && compression.ch_type != kCompressedZlib)
            return true;
    }
    return false;
}

bool ElfFile::hasCompressionBomb() const
{
    // Debug info shrinks to a third, zeros by 1032.
    constexpr uint64_t kMostRatio = 100;
    constexpr uint64_t kAlwaysBytes = 1 << 20;
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
        GElf_Shdr header;
        GElf_Chdr compression;
        if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS)
            continue;
        uint64_t inflated = 0;
        if ((header.sh_flags & SHF_COMPRESSED) != 0) {
            inflated = gelf_getchdr(section, &compression) != nullptr ? compression.ch_size : 0;
        } else if (const Elf_Data* data = elf_rawdata(section, nullptr); data != nullptr
                   && data->d_buf != nullptr && data->d_size >= kOldHeaderBytes
                   && std::memcmp(data->d_buf, "ZLIB", 4) == 0) {
            const auto* bytes = static_cast<const uint8_t*>(data->d_buf); // sections called .zdebug
            for (size_t i = 4; i < kOldHeaderBytes; ++i)
                inflated = inflated << 8 | bytes[i];
        }
        if (inflated > kAlwaysBytes && inflated / kMostRatio > header.sh_size)
            return true;
    }
    return false;
}

std::optional<uint64_t> ElfFile::addressOfOffset(uint64_t offset, uint64_t executableOffset) const
{
    const auto code = std::ranges::find_if(segments_, &ElfSegment::executable);
    if (code != segments_.end() && code->fileBytes == 0) {
        // The stripped half is missing, and file offsets with it; but if there is one segment of code, its
        // mapping shows where that began.
        if (std::any_of(code + 1, segments_.end(), [](const ElfSegment& other) { return other.executable; })
            || executableOffset > offset)
            return std::nullopt;
        const uint64_t address = (code->address & ~(kPageBytes - 1)) + (offset - executableOffset);
        return address - code->address < code->memoryBytes ? std::optional(address) : std::nullopt;
    }
    // Mappings are whole pages: they show bytes beside the segment, too, but those are not of it.
    for (const ElfSegment& segment : segments_)
        if (offset - segment.offset < segment.fileBytes)
            return segment.address + (offset - segment.offset);
    return std::nullopt;
}

bool isAlternateSafe(const ElfFile& file)
{
    std::string link = file.alternateLink();
    if (link.empty())
        return true;
    if (link.front() != '/')
        link = file.path().substr(0, file.path().rfind('/') + 1) + link;
    struct stat info { };
    return ::stat(link.c_str(), &info) != 0 || S_ISREG(info.st_mode);
}

std::optional<uint32_t> contentCrc(const std::string& path)
{
    static const std::array<uint32_t, 256> kTable = makeCrcTable();
    uint64_t size = 0;
    const int fd = openRegular(path, size);
    if (fd < 0)
        return std::nullopt;
    std::vector<uint8_t> buffer(1 << 16);
    uint32_t crc = UINT32_MAX;
    ssize_t got = 0;
    while ((got = ::read(fd, buffer.data(), buffer.size())) > 0)
        for (ssize_t i = 0; i < got; ++i)
            crc = kTable[(crc ^ buffer[static_cast<size_t>(i)]) & 255] ^ crc >> 8;
    ::close(fd);
    return got == 0 ? std::optional(~crc) : std::nullopt;
}

} // namespace whichlock
