// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the instructions of call frame information: how the registers of the caller are found at one address.
#pragma once

#include "analyzer/symbols/cfi_section.h"

#include <array>

namespace whichlock {

/// How the value that a register has in the caller is found.
enum class RegisterRuleKind : uint8_t {
    Same,          ///< it was not changed
    Undefined,     ///< it is lost; of the return address: there is no caller
    AtCfa,         ///< in memory at the CFA + value
    CfaPlus,       ///< the CFA + value
    OtherRegister, ///< in the register `value`
    AtExpression,  ///< in memory where the expression says
    Expression,    ///< the expression says it
};

struct RegisterRule {
    RegisterRuleKind kind = RegisterRuleKind::Same;
    int64_t value = 0;
    std::string_view expression{};

    bool operator==(const RegisterRule&) const = default;
};

/// Registers are numbered as DWARF does; vector registers lie beyond and are of no interest.
constexpr size_t kCfiRegisters = 33;

/// The rules that hold at one address.
struct CfiRow {
    bool hasCfa = false;
    uint64_t cfaRegister = 0; ///< without an expression: the CFA is this register + cfaOffset
    int64_t cfaOffset = 0;
    std::string_view cfaExpression{};
    std::array<RegisterRule, kCfiRegisters> registers{};
    bool returnSigned = false; ///< aarch64: the return address carries an authentication code
};

/// The row of an address that the range contains; none if its instructions are damaged.
std::optional<CfiRow> rowAt(const CfiRange& range, uint64_t address, const CfiSection& section);

} // namespace whichlock
