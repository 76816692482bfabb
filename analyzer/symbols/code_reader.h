// SPDX-License-Identifier: GPL-3.0-or-later
// The machine code of one ELF file by address, and the symbols that its stubs import.
#pragma once

#include "analyzer/symbols/call_before.h"
#include "analyzer/symbols/elf_file.h"

#include <gelf.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// A function that a library offers to others.
struct ExportedFunction {
    uint64_t address = 0;  ///< in the file's own terms
    bool indirect = false; ///< the address is that of a function that chooses the implementation
};

/// MT: one thread a handle. The file must outlive this.
class CodeReader {
public:
    explicit CodeReader(const ElfFile& file);

    CodeMachine machine() const { return machine_; }
    /// The bytes from `address` on: as many as wanted, or fewer at the end of the code; empty if it is none.
    std::span<const uint8_t> code(uint64_t address, uint64_t most) const;
    /// The bytes that end at `address`: as many as wanted, or fewer at the beginning of the code.
    std::span<const uint8_t> codeBefore(uint64_t address, uint64_t most) const;
    /// The imported symbol, without its version, that a stub or a slot stands for; empty if none.
    std::string importedByStub(uint64_t address);
    std::string importedBySlot(uint64_t address);
    /// The functions of this name that others may import; several where the name has versions.
    std::vector<ExportedFunction> exported(std::string_view name);

private:
    const ElfSegment* segmentOf(uint64_t address) const;
    void readSlots();
    void readExports();
    void readRelocations(Elf_Scn* section, const GElf_Shdr& header);

    const ElfFile& file_;
    CodeMachine machine_;
    std::span<const uint8_t> image_{}; ///< the whole file
    // Read when first asked for. The names lie in the file: many entries may share a long one.
    std::optional<std::map<uint64_t, std::string_view>> imports_; ///< by slot
    std::optional<std::multimap<std::string_view, ExportedFunction>> exports_;
};

} // namespace whichlock
