// SPDX-License-Identifier: GPL-3.0-or-later
// The expressions of call frame information, as linkers write them for stubs and C libraries for signal
// trampolines.
#pragma once

#include "analyzer/symbols/cfi_program.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace whichlock {

/// Values of the registers by their DWARF numbers. The column of the return address holds the pc.
struct RegisterFile {
    std::array<uint64_t, kCfiRegisters> values{};
    uint64_t known = 0; ///< a bit a register

    bool has(uint64_t column) const { return column < kCfiRegisters && (known >> column & 1U) != 0; }
    void set(size_t column, uint64_t value)
    {
        values[column] = value;
        known |= uint64_t{1} << column;
    }
    void forget(size_t column) { known &= ~(uint64_t{1} << column); }
};

/// The part of the memory of a thread that was recorded: its stack from the stack pointer upwards.
struct StackCopy {
    uint64_t start = 0;
    std::string_view bytes{};
    ByteOrder order = kHostOrder;

    /// The word at an address; none where nothing was recorded.
    std::optional<uint64_t> word(uint64_t address) const
    {
        const uint64_t at = address - start;
        if (bytes.size() < sizeof(uint64_t) || at > bytes.size() - sizeof(uint64_t))
            return std::nullopt;
        return loadInteger<uint64_t>(bytes.data() + at, order);
    }
};

/// What an expression yields; `initial` (the CFA, for rules of registers) lies on its stack at the start.
/// None if it is damaged, takes too long, or asks for what was not recorded.
std::optional<uint64_t> evaluateExpression(std::string_view expression, std::optional<uint64_t> initial,
    const RegisterFile& registers, const StackCopy& stack);

} // namespace whichlock
