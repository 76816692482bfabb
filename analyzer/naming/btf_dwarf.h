// SPDX-License-Identifier: GPL-3.0-or-later
// The types and prototypes of BTF as DWARF, so that whoever reads the one reads the other. BTF knows no
// variables of functions: what it adds are parameters by the calling convention, members, and the variables
// of each processor.
#pragma once

#include "analyzer/naming/elf_image.h"

#include <cstdint>
#include <span>
#include <vector>

namespace whichlock {

/// Where the symbols that BTF names are.
struct BtfPlaces {
    std::span<const ImageSymbol> symbols{};
    uint64_t perCpuBase = 0; ///< of the section with the variables of each processor
};

/// A whole ELF file with one unit of DWARF 4. `base` is the BTF that a split one builds on, else empty. Fails
/// if it is no BTF of this byte order, or damaged; references to types that do not exist become void.
Result<std::vector<uint8_t>> dwarfFromBtf(
    std::span<const uint8_t> btf, std::span<const uint8_t> base, const BtfPlaces& places);

/// Whether the bytes begin as BTF does.
bool looksLikeBtf(std::span<const uint8_t> bytes);

/// The BTF in a file: its section .BTF, or all of it. Empty if it has none.
std::vector<uint8_t> btfOfFile(const std::string& path);

/// Debug info in memory. MT: one thread.
class MemoryDwarf {
public:
    /// Null if the content cannot be read.
    static std::unique_ptr<MemoryDwarf> open(std::vector<uint8_t> content);
    MemoryDwarf(const MemoryDwarf&) = delete;
    MemoryDwarf& operator=(const MemoryDwarf&) = delete;
    ~MemoryDwarf();

    Dwarf* dwarf() const { return dwarf_; }

private:
    MemoryDwarf() = default;

    std::vector<uint8_t> content_;
    Elf* elf_ = nullptr;
    Dwarf* dwarf_ = nullptr;
};

} // namespace whichlock
