// SPDX-License-Identifier: GPL-3.0-or-later
// Source lines and inlined functions of an address, out of the debug info of one file.
#pragma once

#include "analyzer/symbols/dwarf_units.h"
#include "analyzer/symbols/elf_file.h"
#include "analyzer/symbols/source_frame.h"

#include <memory>
#include <vector>

namespace whichlock {

/// MT: one thread a handle; libdw was seen to lose entries when two threads share one.
class DwarfLines {
public:
    /// Null if the file has no debug info that can be read. The file must outlive this.
    static std::unique_ptr<DwarfLines> open(const ElfFile& file);
    DwarfLines(const DwarfLines&) = delete;
    DwarfLines& operator=(const DwarfLines&) = delete;
    ~DwarfLines();

    /// The functions whose code this address is, innermost first, each with the line that runs there; the
    /// last one is the function that the others were inlined into. Names are as the linker knows them. Empty
    /// if nothing is known. Cheap when addresses come in ascending order.
    std::vector<SourceFrame> lookUp(uint64_t address);

private:
    DwarfLines() = default;
    bool begin();
    void readLines(Dwarf_Die& unitDie);
    static SourceFrame lineOf(Dwarf_Die& unitDie, uint64_t address);
    std::vector<Dwarf_Die> scopesOf(Dwarf_Die function, uint64_t address);

    const ElfFile* file_ = nullptr;
    Dwarf* dwarf_ = nullptr;
    DwarfUnits units_;
    Dwarf_Off lastUnit_ = UINT64_MAX;
    size_t linesHeld_ = 0;
    DwarfBudget budget_ = 0; ///< grows with the file and with each look-up
};

} // namespace whichlock
