// SPDX-License-Identifier: GPL-3.0-or-later
// What unwinding has to know of a processor: how perf numbers its registers, and what DWARF calls them.
#pragma once

#include "analyzer/symbols/dwarf_expression.h"
#include "parsers/perf_data/sample.h"

#include <optional>
#include <span>
#include <string_view>

namespace whichlock {

struct UnwindArch {
    std::string_view name{};
    std::span<const uint8_t> columns{}; ///< DWARF number of the n-th register of perf; kNoColumn: none
    uint8_t pcOfPerf = 0;               ///< which of perf's registers is the pc
    uint8_t stackPointer = 0;           ///< DWARF numbers
    uint8_t framePointer = 0;
    /// Column that stands for the return address while a call pushes it; kNoColumn where a register has it.
    uint8_t pushedReturn = 0;
    uint64_t signBits = 0; ///< of an address: what an authentication code may occupy

    static constexpr uint8_t kNoColumn = UINT8_MAX;
};

/// By the name that a recording has for its machine (`x86_64`, `aarch64`); null for others.
const UnwindArch* unwindArch(std::string_view machine);

/// By the set of registers that perf takes for unwinding; null for others.
const UnwindArch* unwindArchOfMask(uint64_t mask);

/// The registers and the pc of a sample.
struct UnwindStart {
    RegisterFile registers{};
    uint64_t pc = 0;
};

/// None without a pc and a stack pointer, and for tasks of 32 bits.
std::optional<UnwindStart> unwindStart(const UnwindArch& arch, const PerfRegisters& registers);

} // namespace whichlock
