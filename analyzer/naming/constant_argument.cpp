// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/constant_argument.h"

#include <algorithm>
#include <array>
#include <set>

namespace whichlock {
namespace {

using Constant = std::optional<uint64_t>;
using Registers = std::array<Constant, x86::kRegisters>;

/// Registers that a called function may change.
constexpr uint16_t kCallerSaved = 1U << x86::kRax | 1U << x86::kRdx | 1U << x86::kRcx | 1U << x86::kRsi
    | 1U << x86::kRdi | 1U << 8U | 1U << 9U | 1U << 10U | 1U << 11U;

bool isRegister(const Operand& operand)
{
    return operand.kind == OperandKind::Register && operand.base < x86::kRegisters;
}

/// What an instruction puts into its register, if that is a constant.
Constant resultOf(const Instruction& one, const Registers& registers)
{
    const bool fixed = one.from.base == Operand::kNoRegister && one.from.index == Operand::kNoRegister
        && one.from.segment == SegmentBase::None;
    switch (one.operation) {
    case Operation::LoadAddress:
        return fixed ? Constant(static_cast<uint64_t>(one.from.constant)) : std::nullopt;
    case Operation::Move:
        if (one.from.kind == OperandKind::Constant)
            return static_cast<uint64_t>(one.from.constant);
        return isRegister(one.from) && one.from.bytes == sizeof(uint64_t) ? registers[one.from.base]
                                                                          : std::nullopt;
    default:
        return std::nullopt;
    }
}

/// Registers that an instruction changes besides its operand.
uint16_t alsoChanged(const Instruction& one)
{
    if (one.operation == Operation::Call)
        return kCallerSaved;
    if (one.operation == Operation::Leave)
        return 1U << x86::kRbp;
    return one.written;
}

bool changesOperand(const Instruction& one)
{
    return isRegister(one.to) && one.operation != Operation::Push && one.operation != Operation::Call
        && one.operation != Operation::Other && !one.isJump();
}

void apply(const Instruction& one, Registers& registers)
{
    const uint16_t changed = alsoChanged(one);
    for (size_t i = 0; i < registers.size(); ++i) {
        if ((changed >> i & 1U) != 0)
            registers[i] = std::nullopt;
    }
    if (changesOperand(one))
        registers[one.to.base] = resultOf(one, registers);
}

/// Registers that hold one constant from the first time on that the function writes them: what it found in
/// them is put back before it returns, and nothing is called in between.
Registers lastingConstants(std::span<const Instruction> function)
{
    Registers lasting;
    uint16_t spoilt = kCallerSaved | 1U << x86::kRsp;
    const Registers none;
    for (const Instruction& one : function) {
        if (one.operation != Operation::Leave)
            spoilt = static_cast<uint16_t>(spoilt | alsoChanged(one));
        if (!changesOperand(one) || one.operation == Operation::Pop)
            continue;
        const Constant value = resultOf(one, none);
        Constant& known = lasting[one.to.base];
        if (!value || (known && known != value))
            spoilt = static_cast<uint16_t>(spoilt | 1U << one.to.base);
        known = value;
    }
    for (size_t i = 0; i < lasting.size(); ++i) {
        if ((spoilt >> i & 1U) != 0)
            lasting[i] = std::nullopt;
    }
    return lasting;
}

} // namespace

std::optional<uint64_t> constantFirstArgument(std::span<const Instruction> function, uint64_t callSite)
{
    std::set<uint64_t> targets;
    for (const Instruction& one : function) {
        if (one.isJump() && one.target != 0)
            targets.insert(one.target);
    }
    const Registers lasting = lastingConstants(function);
    Registers registers;
    Registers written; // of the lasting ones, those that have been written further up
    bool reached = true;
    for (const Instruction& one : function) {
        if (!reached || targets.contains(one.address))
            registers = written;
        if (callSite >= one.address && callSite < one.end())
            return one.operation == Operation::Call || one.operation == Operation::Jump ? registers[x86::kRdi]
                                                                                        : std::nullopt;
        apply(one, registers);
        for (size_t i = 0; i < written.size(); ++i) {
            if (lasting[i] && registers[i] == lasting[i])
                written[i] = lasting[i];
        }
        reached = !one.endsBlock();
    }
    return std::nullopt;
}

} // namespace whichlock
