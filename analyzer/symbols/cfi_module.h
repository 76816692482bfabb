// SPDX-License-Identifier: GPL-3.0-or-later
// The call frame information of one module, out of its file and the file with its debug info.
#pragma once

#include "analyzer/symbols/cfi_program.h"
#include "analyzer/symbols/elf_file.h"
#include "analyzer/symbols/module_finder.h"

#include <memory>
#include <vector>

namespace whichlock {

/// Sections and, from the first look-up on, which of their entries begins where. MT: one thread.
class CfiModule {
public:
    explicit CfiModule(const ModuleFiles& files);
    /// A section in memory instead of files; offsets are its addresses.
    explicit CfiModule(const CfiSection& section);

    /// What describes a byte of the module, by its address in the file's own terms.
    struct Found {
        CfiRange range;
        CfiRow row;
    };
    std::optional<Found> find(uint64_t address);
    /// See ElfFile::addressOfOffset().
    std::optional<uint64_t> addressOfOffset(uint64_t offset, uint64_t executableOffset) const;
    /// Whether it describes anything at all.
    bool hasRules() const { return !tables_.empty(); }

private:
    struct Table {
        CfiSection section{};
        std::string_view header{};
        uint64_t headerAddress = 0;
        bool indexed = false;
        std::vector<CfiSection::Entry> entries{};
    };

    void addSections(const ElfFile& file);
    void addTableOfSegment(const ElfFile& file);
    static std::optional<Found> findIn(Table& table, uint64_t address);

    std::unique_ptr<ElfFile> code_;
    std::unique_ptr<ElfFile> debug_;
    std::vector<Table> tables_; ///< in the order in which they are asked
};

} // namespace whichlock
