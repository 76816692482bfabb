// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/step_back.h"

#include <algorithm>

namespace whichlock {
namespace {

/// Registers that a call may change, one bit each: rax, rdx, rcx, rsi, rdi, r8 to r11.
constexpr uint32_t kCallClobbers = 0x0f37;
constexpr int64_t kWordBytes = 8;

} // namespace

SymbolicValue StepBack::before(const Instruction& instruction, const SymbolicValue& after)
{
    switch (instruction.operation) {
    case Operation::Call:
        return beforeCall(instruction, after);
    case Operation::Push: {
        const SymbolicValue top = terms_.ofRegister(x86::kRsp);
        const SymbolicValue stored = beforeStore(top, valueOf(instruction.to), after);
        return withRegister(x86::kRsp, TermPool::plus(top, -kWordBytes), stored);
    }
    case Operation::Pop:
        return beforePop(instruction, after);
    case Operation::Leave:
        return beforeLeave(after);
    case Operation::Jump:
    case Operation::JumpIf:
    case Operation::Return:
    case Operation::Trap:
    case Operation::ClearLowBits:
    case Operation::MoveIf:
        return after;
    case Operation::Other:
        return beforeWrites(instruction, after);
    case Operation::Move:
        if (instruction.to.kind == OperandKind::Memory)
            return beforeStore(addressOf(instruction.to), valueOf(instruction.from), after);
        break;
    case Operation::LoadAddress:
    case Operation::Add:
    case Operation::Subtract:
    case Operation::Increment:
    case Operation::Decrement:
    case Operation::ShiftLeft:
    case Operation::SetZero:
        break;
    }
    if (instruction.to.kind != OperandKind::Register || instruction.to.base >= x86::kRegisters
        || (terms_.registersOf(after) >> instruction.to.base & 1U) == 0)
        return after;
    const auto value = result(instruction);
    return withRegister(instruction.to.base, value ? *value : terms_.unknown(), after);
}

SymbolicValue StepBack::moved(const Instruction& instruction, const SymbolicValue& after)
{
    return withRegister(instruction.to.base, valueOf(instruction.from), after);
}

/// What an instruction puts into its first operand, a register.
std::optional<SymbolicValue> StepBack::result(const Instruction& instruction)
{
    const SymbolicValue old = terms_.ofRegister(instruction.to.base);
    switch (instruction.operation) {
    case Operation::Move:
        return valueOf(instruction.from);
    case Operation::LoadAddress:
        return addressOf(instruction.from);
    case Operation::Add:
        return terms_.sum(old, valueOf(instruction.from));
    case Operation::Subtract:
        return terms_.sum(old, valueOf(instruction.from), -1);
    case Operation::Increment:
        return TermPool::plus(old, 1);
    case Operation::Decrement:
        return TermPool::plus(old, -1);
    case Operation::ShiftLeft:
        return terms_.scaled(old, int64_t{1} << instruction.from.constant);
    case Operation::SetZero:
        return terms_.constant(0);
    default:
        return std::nullopt;
    }
}

/// The first thing that traced functions of kernels call; it keeps all registers.
bool StepBack::keepsRegisters(const Instruction& call) const
{
    if (call.target == 0 || call.address >= function_.entry() + 16)
        return false;
    const std::string_view name = function_.image().targetName(call.target);
    return name == "__fentry__" || name == "mcount";
}

SymbolicValue StepBack::beforeCall(const Instruction& call, const SymbolicValue& after)
{
    const uint32_t lost = terms_.registersOf(after) & kCallClobbers;
    if (lost == 0 || keepsRegisters(call))
        return after;
    return terms_.replaced(after, [&](const Term& term) -> std::optional<SymbolicValue> {
        if (term.kind != TermKind::Register || (kCallClobbers >> term.number & 1U) == 0)
            return std::nullopt;
        return term.number == x86::kRax ? function_.callResult(call) : terms_.unknown();
    });
}

SymbolicValue StepBack::beforePop(const Instruction& pop, const SymbolicValue& after)
{
    const SymbolicValue top = terms_.ofRegister(x86::kRsp);
    return terms_.replaced(after, [&](const Term& term) -> std::optional<SymbolicValue> {
        if (term.kind != TermKind::Register)
            return std::nullopt;
        if (term.number == x86::kRsp)
            return TermPool::plus(top, kWordBytes);
        return pop.to.kind == OperandKind::Register && term.number == pop.to.base ? std::optional(load(top))
                                                                                  : std::nullopt;
    });
}

SymbolicValue StepBack::beforeLeave(const SymbolicValue& after)
{
    const SymbolicValue frame = terms_.ofRegister(x86::kRbp);
    return terms_.replaced(after, [&](const Term& term) -> std::optional<SymbolicValue> {
        if (term.kind != TermKind::Register)
            return std::nullopt;
        if (term.number == x86::kRbp)
            return load(frame);
        return term.number == x86::kRsp ? std::optional(TermPool::plus(frame, kWordBytes)) : std::nullopt;
    });
}

/// Loads of exactly this address become what was stored there.
SymbolicValue StepBack::beforeStore(
    const SymbolicValue& address, const SymbolicValue& stored, const SymbolicValue& after)
{
    const auto loads = [](const Term& term) { return term.kind == TermKind::Load; };
    if (!terms_.anyTerm(after, loads))
        return after;
    return terms_.replaced(after, [&](const Term& term) -> std::optional<SymbolicValue> {
        return term.kind == TermKind::Load && term.inner == address ? std::optional(stored) : std::nullopt;
    });
}

/// Instructions that are not followed make unknown what they write.
SymbolicValue StepBack::beforeWrites(const Instruction& instruction, const SymbolicValue& after)
{
    SymbolicValue value = after;
    if ((terms_.registersOf(after) & instruction.written) != 0)
        value = terms_.replaced(after, [&](const Term& term) -> std::optional<SymbolicValue> {
            const bool written =
                term.kind == TermKind::Register && (instruction.written >> term.number & 1U) != 0;
            return written ? std::optional(terms_.unknown()) : std::nullopt;
        });
    return value;
}

SymbolicValue StepBack::withRegister(
    RegisterNumber number, const SymbolicValue& instead, const SymbolicValue& after)
{
    if (number >= x86::kRegisters || (terms_.registersOf(after) >> number & 1U) == 0)
        return after;
    return terms_.replaced(after, [&](const Term& term) -> std::optional<SymbolicValue> {
        return term.kind == TermKind::Register && term.number == number ? std::optional(instead)
                                                                        : std::nullopt;
    });
}

SymbolicValue StepBack::addressOf(const Operand& operand)
{
    SymbolicValue address = terms_.constant(operand.constant);
    if (operand.segment == SegmentBase::PerCpu)
        address = terms_.sum(address, terms_.perCpuBase());
    else if (operand.segment == SegmentBase::Tls)
        address = terms_.sum(address, terms_.tlsBase());
    if (operand.base < x86::kRegisters)
        address = terms_.sum(address, terms_.ofRegister(operand.base));
    if (operand.index < x86::kRegisters)
        address = terms_.sum(address, terms_.ofRegister(operand.index), operand.scale);
    return address;
}

SymbolicValue StepBack::valueOf(const Operand& operand)
{
    switch (operand.kind) {
    case OperandKind::Constant:
        return terms_.constant(operand.constant);
    case OperandKind::Register:
        if (operand.base < x86::kRegisters && operand.bytes == kWordBytes)
            return terms_.ofRegister(operand.base);
        break;
    case OperandKind::Memory:
        if (operand.bytes == kWordBytes)
            return load(addressOf(operand));
        break;
    case OperandKind::None:
        break;
    }
    return terms_.unknown();
}

/// Memory at an address; the variables that hold the base of per-CPU variables are that base.
SymbolicValue StepBack::load(const SymbolicValue& address)
{
    const ModuleImage& image = function_.image();
    const auto isAt = [&](std::string_view name) {
        const auto symbol = image.addressOf(name);
        return symbol && static_cast<uint64_t>(address.constant) == *symbol;
    };
    if (image.isKernel()) {
        const SymbolicValue perCpu = terms_.perCpuBase();
        if (isAt("this_cpu_off") && address.terms == perCpu.terms)
            return perCpu;
        if (isAt("__per_cpu_offset"))
            return perCpu;
    }
    return terms_.load(address);
}

} // namespace whichlock
