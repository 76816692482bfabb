// SPDX-License-Identifier: GPL-3.0-or-later
// One ELF file, opened through libelf. Only regular files are opened, and never for writing.
#pragma once

#include "analyzer/symbols/build_id.h"
#include "parsers/result.h"

#include <libelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// A part of the file that is loaded into memory.
struct ElfSegment {
    uint64_t address = 0;
    uint64_t offset = 0;
    uint64_t fileBytes = 0;
    uint64_t memoryBytes = 0;
    bool executable = false;
};

/// Where the debug info of a stripped file is, as the file says.
struct DebugLink {
    std::string name;
    uint32_t crc = 0;
};

/// MT: one thread a handle, as libelf does no locking.
class ElfFile {
public:
    /// FileUnreadable if it is no regular file or no ELF object; the message says which.
    static Result<std::unique_ptr<ElfFile>> open(const std::string& path);
    ElfFile(const ElfFile&) = delete;
    ElfFile& operator=(const ElfFile&) = delete;
    ~ElfFile();

    Elf* elf() const { return elf_; }
    const std::string& path() const { return path_; }
    uint64_t sizeBytes() const { return size_; }
    int machine() const { return machine_; }
    bool isRelocatable() const { return relocatable_; }
    bool isBigEndian() const { return bigEndian_; }
    const std::vector<ElfSegment>& segments() const { return segments_; }

    BuildId buildId() const;
    std::optional<DebugLink> debugLink() const;
    /// File name of the common part that dwz took out of the debug info; empty if there is none.
    std::string alternateLink() const;
    bool hasSection(std::string_view name) const;
    /// Whether the code is in this file, not only its description (files with the debug info alone have
    /// none).
    bool hasCode() const;
    /// Whether debug info is compressed in a way that libelf cannot undo.
    bool hasUnknownCompression() const;
    /// Whether a section claims to become so large when inflated that it was not made by a compiler.
    bool hasCompressionBomb() const;

    /// The address in the file's own terms of a byte of the file. `executableOffset` is where the recorded
    /// mapping of the code began: in files with the debug info alone it stands for the lost file offsets.
    std::optional<uint64_t> addressOfOffset(uint64_t offset, uint64_t executableOffset) const;

private:
    ElfFile() = default;
    bool readHeaders();
    std::string textOfSection(std::string_view name, size_t most) const;

    std::string path_;
    uint64_t size_ = 0;
    int fd_ = -1;
    Elf* elf_ = nullptr;
    int machine_ = 0;
    bool relocatable_ = false;
    bool bigEndian_ = false;
    std::vector<ElfSegment> segments_;
};

/// libdw opens the file that dwz split off by itself, whatever has its name: whether that is a regular file,
/// or none.
bool isAlternateSafe(const ElfFile& file);

/// The CRC-32 of a file's content that debug links carry; none if the file cannot be read to its end.
std::optional<uint32_t> contentCrc(const std::string& path);

} // namespace whichlock
