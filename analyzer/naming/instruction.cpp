// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/instruction.h"

#include <array>
#include <capstone/capstone.h>
#include <fmt/format.h>
#include <optional>

namespace whichlock {
namespace {

constexpr uint8_t kWordBytes = 8;

struct RegisterPart {
    RegisterNumber number = Operand::kNoRegister;
    uint8_t bytes = 0;
};

/// Capstone's registers as those of DWARF; what is no general register has no number.
std::array<RegisterPart, X86_REG_ENDING> makeRegisters()
{
    std::array<RegisterPart, X86_REG_ENDING> parts{};
    struct Names {
        x86_reg word, half, quarter, low;
    };
    static constexpr Names kNames[x86::kRegisters] = {{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL},
        {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL},
        {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL},
        {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL},
        {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
        {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
        {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
        {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
        {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
        {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
        {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
        {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
        {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
        {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
        {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
        {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B}};
    for (uint8_t number = 0; number < x86::kRegisters; ++number) {
        parts[kNames[number].word] = {number, 8};
        parts[kNames[number].half] = {number, 4};
        parts[kNames[number].quarter] = {number, 2};
        parts[kNames[number].low] = {number, 1};
    }
    parts[X86_REG_AH] = {x86::kRax, 1};
    parts[X86_REG_BH] = {x86::kRbx, 1};
    parts[X86_REG_CH] = {x86::kRcx, 1};
    parts[X86_REG_DH] = {x86::kRdx, 1};
    return parts;
}

RegisterPart partOf(unsigned reg)
{
    static const auto kParts = makeRegisters();
    return reg < kParts.size() ? kParts[reg] : RegisterPart{};
}

Operand operandOf(const cs_insn& instruction, const cs_x86_op& from)
{
    Operand operand;
    operand.bytes = from.size;
    switch (from.type) {
    case X86_OP_REG:
        operand.kind = OperandKind::Register;
        operand.base = partOf(from.reg).number;
        operand.bytes = partOf(from.reg).bytes;
        break;
    case X86_OP_IMM:
        operand.kind = OperandKind::Constant;
        operand.constant = from.imm;
        break;
    case X86_OP_MEM:
        operand.kind = OperandKind::Memory;
        operand.constant = from.mem.disp;
        if (from.mem.base == X86_REG_RIP)
            operand.constant =
                wrappedSum(operand.constant, static_cast<int64_t>(instruction.address + instruction.size));
        else
            operand.base = partOf(from.mem.base).number;
        operand.index = partOf(from.mem.index).number;
        operand.scale = static_cast<uint8_t>(from.mem.scale);
        if (from.mem.segment == X86_REG_GS)
            operand.segment = SegmentBase::PerCpu;
        else if (from.mem.segment == X86_REG_FS)
            operand.segment = SegmentBase::Tls;
        break;
    default:
        break;
    }
    return operand;
}

bool isMoveIf(unsigned id)
{
    switch (id) {
    case X86_INS_CMOVA:
    case X86_INS_CMOVAE:
    case X86_INS_CMOVB:
    case X86_INS_CMOVBE:
    case X86_INS_CMOVE:
    case X86_INS_CMOVG:
    case X86_INS_CMOVGE:
    case X86_INS_CMOVL:
    case X86_INS_CMOVLE:
    case X86_INS_CMOVNE:
    case X86_INS_CMOVNO:
    case X86_INS_CMOVNP:
    case X86_INS_CMOVNS:
    case X86_INS_CMOVO:
    case X86_INS_CMOVP:
    case X86_INS_CMOVS:
        return true;
    default:
        return false;
    }
}

bool leavesOperands(unsigned id)
{
    return id == X86_INS_CMP || id == X86_INS_TEST || id == X86_INS_BT || id == X86_INS_NOP
        || id == X86_INS_PREFETCHT0 || id == X86_INS_PREFETCHNTA || id == X86_INS_PREFETCHW
        || id == X86_INS_ENDBR64;
}

/// The operation of instructions whose first operand is a register or memory that is written.
Operation writingOperation(const cs_insn& instruction, const Operand& to, const Operand& from)
{
    const bool whole = to.bytes == kWordBytes;
    // A move of four bytes clears the rest: the whole value is known only of constants.
    const bool constant =
        from.kind == OperandKind::Constant && to.kind == OperandKind::Register && to.bytes >= 4;
    switch (instruction.id) {
    case X86_INS_MOV:
    case X86_INS_MOVABS:
        return whole || constant ? Operation::Move : Operation::Other;
    case X86_INS_LEA:
        return whole ? Operation::LoadAddress : Operation::Other;
    case X86_INS_ADD:
        return whole && to.kind == OperandKind::Register ? Operation::Add : Operation::Other;
    case X86_INS_SUB:
        if (from.kind == OperandKind::Register && from.base == to.base && to.bytes >= 4)
            return Operation::SetZero;
        return whole && to.kind == OperandKind::Register ? Operation::Subtract : Operation::Other;
    case X86_INS_XOR:
        return from.kind == OperandKind::Register && to.kind == OperandKind::Register && from.base == to.base
                && to.bytes >= 4
            ? Operation::SetZero
            : Operation::Other;
    case X86_INS_INC:
        return whole && to.kind == OperandKind::Register ? Operation::Increment : Operation::Other;
    case X86_INS_DEC:
        return whole && to.kind == OperandKind::Register ? Operation::Decrement : Operation::Other;
    case X86_INS_SHL:
    case X86_INS_SAL: {
        constexpr int64_t kMostShift = 40;
        const bool simple = whole && to.kind == OperandKind::Register && from.kind == OperandKind::Constant
            && from.constant >= 0 && from.constant < kMostShift;
        return simple ? Operation::ShiftLeft : Operation::Other;
    }
    case X86_INS_AND: {
        constexpr int64_t kLowBits = -64;
        const bool tags = whole && to.kind == OperandKind::Register && from.kind == OperandKind::Constant
            && from.constant < 0 && from.constant >= kLowBits;
        return tags ? Operation::ClearLowBits : Operation::Other;
    }
    default:
        return isMoveIf(instruction.id) && whole ? Operation::MoveIf : Operation::Other;
    }
}

void addWritten(RegisterNumber number, uint16_t& written)
{
    if (number < x86::kRegisters)
        written = static_cast<uint16_t>(written | 1U << number);
}

/// Branches and what works on the stack; nothing for all others.
std::optional<Operation> controlOperation(const cs_insn& instruction)
{
    switch (instruction.id) {
    case X86_INS_CALL:
        return Operation::Call;
    case X86_INS_RET:
        return Operation::Return;
    case X86_INS_UD2:
        return Operation::Trap;
    case X86_INS_PUSH:
        return Operation::Push;
    case X86_INS_POP:
        return Operation::Pop;
    case X86_INS_LEAVE:
        return Operation::Leave;
    case X86_INS_JMP:
        return Operation::Jump;
    default:
        break;
    }
    for (uint8_t i = 0; i < instruction.detail->groups_count; ++i)
        if (instruction.detail->groups[i] == CS_GRP_JUMP)
            return Operation::JumpIf;
    return std::nullopt;
}

Instruction instructionOf(const cs_insn& from)
{
    Instruction result;
    result.address = from.address;
    result.bytes = static_cast<uint8_t>(from.size);
    const cs_x86& x86 = from.detail->x86;
    if (x86.op_count > 0)
        result.to = operandOf(from, x86.operands[0]);
    if (x86.op_count > 1)
        result.from = operandOf(from, x86.operands[1]);
    if (const auto control = controlOperation(from)) {
        result.operation = *control;
        const bool branch = result.operation == Operation::Call || result.isJump();
        if (branch && result.to.kind == OperandKind::Constant)
            result.target = static_cast<uint64_t>(result.to.constant);
        return result;
    }
    for (uint8_t i = 0; i < from.detail->regs_write_count; ++i)
        addWritten(partOf(from.detail->regs_write[i]).number, result.written);
    if (leavesOperands(from.id))
        return result;
    result.operation = writingOperation(from, result.to, result.from);
    if (result.operation != Operation::Other)
        return result;
    if (result.to.kind == OperandKind::Register)
        addWritten(result.to.base, result.written);
    if ((from.id == X86_INS_XCHG || from.id == X86_INS_XADD) && result.from.kind == OperandKind::Register)
        addWritten(result.from.base, result.written);
    if (from.id == X86_INS_XCHG || from.id == X86_INS_XADD || from.id == X86_INS_CMPXCHG)
        addWritten(from.id == X86_INS_CMPXCHG ? x86::kRax : Operand::kNoRegister, result.written);
    return result;
}

} // namespace

Disassembler::Disassembler()
{
    csh handle = 0;
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
        return;
    cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    handle_ = handle;
}

Disassembler::~Disassembler()
{
    csh handle = handle_;
    if (handle != 0)
        cs_close(&handle);
}

void Disassembler::decode(
    std::span<const uint8_t> code, uint64_t address, std::vector<Instruction>& instructions)
{
    cs_insn* instruction = handle_ != 0 ? cs_malloc(handle_) : nullptr;
    if (instruction == nullptr)
        return;
    const uint8_t* at = code.data();
    size_t left = code.size();
    while (left > 0) {
        if (cs_disasm_iter(handle_, &at, &left, &address, instruction)) {
            instructions.push_back(instructionOf(*instruction));
        } else {
            ++at;
            --left;
            ++address;
        }
    }
    cs_free(instruction, 1);
}

std::string Disassembler::text(std::span<const uint8_t> code, uint64_t address)
{
    cs_insn* instruction = handle_ != 0 ? cs_malloc(handle_) : nullptr;
    if (instruction == nullptr)
        return {};
    const uint8_t* at = code.data();
    size_t left = code.size();
    std::string text;
    if (cs_disasm_iter(handle_, &at, &left, &address, instruction))
        text = fmt::format("{} {}", instruction->mnemonic, instruction->op_str);
    cs_free(instruction, 1);
    return text;
}

} // namespace whichlock
