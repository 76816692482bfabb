// SPDX-License-Identifier: GPL-3.0-or-later
// Instructions of x86-64, as far as following a value backwards needs them.
#pragma once

#include "analyzer/naming/symbolic_value.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace whichlock {

enum class Operation : uint8_t {
    Move,
    LoadAddress,
    Add,
    Subtract,
    Increment,
    Decrement,
    ShiftLeft,
    SetZero,      ///< a register combined with itself
    ClearLowBits, ///< strips tags of a pointer: changes nothing but low bits
    MoveIf,       ///< the old value or the new one
    Push,
    Pop,
    Leave,
    Call,
    Jump,
    JumpIf,
    Return,
    Trap,  ///< ud2: ends the program, or the kernel goes on behind it
    Other, ///< changes `written`, else nothing that matters
};

enum class OperandKind : uint8_t { None, Register, Constant, Memory };
enum class SegmentBase : uint8_t { None, PerCpu, Tls };

/// One operand; of memory the address is base + index * scale + constant.
struct Operand {
    static constexpr RegisterNumber kNoRegister = 0xff;

    OperandKind kind = OperandKind::None;
    uint8_t bytes = 0;
    RegisterNumber base = kNoRegister; ///< of a register operand: the register
    RegisterNumber index = kNoRegister;
    uint8_t scale = 1;
    SegmentBase segment = SegmentBase::None;
    int64_t constant = 0; ///< with the instruction pointer already added
};

struct Instruction {
    uint64_t address = 0;
    uint64_t target = 0;  ///< of direct calls and jumps
    uint16_t written = 0; ///< registers that it changes in a way that is not described
    uint8_t bytes = 0;
    Operation operation = Operation::Other;
    Operand to{};
    Operand from{};

    uint64_t end() const { return address + bytes; }
    bool isJump() const { return operation == Operation::Jump || operation == Operation::JumpIf; }
    /// Whether the next instruction is not reached from this one.
    bool endsBlock() const { return operation == Operation::Jump || operation == Operation::Return; }
};

/// Decodes machine code. MT: one thread.
class Disassembler {
public:
    Disassembler();
    ~Disassembler();
    Disassembler(const Disassembler&) = delete;
    Disassembler& operator=(const Disassembler&) = delete;

    bool isReady() const { return handle_ != 0; }
    /// Appends the instructions of `code`, which lies at `address`; what cannot be decoded is passed over
    /// byte by byte.
    void decode(std::span<const uint8_t> code, uint64_t address, std::vector<Instruction>& instructions);
    /// One instruction as assembler text; empty if there is none.
    std::string text(std::span<const uint8_t> code, uint64_t address);

private:
    size_t handle_ = 0;
};

} // namespace whichlock
