// SPDX-License-Identifier: GPL-3.0-or-later
// An ELF file as it would lie in memory, with its DWARF. Kernel modules are given addresses and relocated:
// all others see them as if they were linked.
#pragma once

#include "analyzer/symbols/elf_file.h"

#include <elfutils/libdw.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// A section with its final address; without bytes if the file leaves them out.
struct ImageSection {
    std::string_view name;
    uint64_t address = 0;
    uint64_t size = 0;
    std::span<const uint8_t> bytes{};
    bool executable = false;

    bool contains(uint64_t value) const { return value >= address && value - address < size; }
};

/// A symbol with its final address. Undefined ones of modules have addresses of their own, too.
struct ImageSymbol {
    std::string_view name; ///< without the version
    uint64_t address = 0;
    uint64_t size = 0;
    bool function = false; ///< or a label in a section of code
    bool object = false;
    bool defined = true;
    bool threadLocal = false;
};

/// The bytes of a section by name, whether it is loaded or not; empty if there is none.
std::vector<uint8_t> sectionBytes(Elf* elf, std::string_view name);

/// MT: one thread.
class ElfImage {
public:
    static Result<std::unique_ptr<ElfImage>> open(const std::string& path);
    ElfImage(const ElfImage&) = delete;
    ElfImage& operator=(const ElfImage&) = delete;
    ~ElfImage();

    const ElfFile& file() const { return *file_; }
    bool isRelocated() const { return relocated_ != nullptr; }
    const std::vector<ImageSection>& sections() const { return sections_; }
    /// Symbols of .symtab, else of .dynsym.
    std::vector<ImageSymbol> symbols() const;
    /// The names that dynamic relocations put into slots of memory, as those that stubs jump through.
    std::vector<std::pair<uint64_t, std::string_view>> relocatedSlots() const;
    /// The type information of the kernel in the file; empty if there is none.
    std::vector<uint8_t> btf() const { return sectionBytes(elf(), ".BTF"); }
    /// The debug info; null if there is none that can be read.
    Dwarf* dwarf();
    /// Why there is no debug info, as the rest of a sentence.
    std::string dwarfProblem() const;

private:
    ElfImage() = default;
    Elf* elf() const { return relocated_ != nullptr ? relocated_ : file_->elf(); }
    Result<void> relocate();
    void readSections();

    std::unique_ptr<ElfFile> file_;
    std::vector<uint8_t> content_; ///< of relocated files: a copy that was changed
    Elf* relocated_ = nullptr;
    std::vector<ImageSection> sections_; ///< by section number
    Dwarf* dwarf_ = nullptr;
    bool dwarfTried_ = false;
};

} // namespace whichlock
