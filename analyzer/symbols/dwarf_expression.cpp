// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/dwarf_expression.h"

namespace whichlock {
namespace {

constexpr size_t kMostDepth = 64;
constexpr size_t kMostSteps = 1000; ///< expressions can loop

enum Operation : uint8_t {
    Deref = 0x06,
    Const1U = 0x08,
    Const1S = 0x09,
    Const2U = 0x0a,
    Const2S = 0x0b,
    Const4U = 0x0c,
    Const4S = 0x0d,
    Const8U = 0x0e,
    Const8S = 0x0f,
    ConstU = 0x10,
    ConstS = 0x11,
    Dup = 0x12,
    Drop = 0x13,
    Over = 0x14,
    Pick = 0x15,
    Swap = 0x16,
    Rot = 0x17,
    Abs = 0x19,
    And = 0x1a,
    Div = 0x1b,
    Minus = 0x1c,
    Mod = 0x1d,
    Mul = 0x1e,
    Neg = 0x1f,
    Not = 0x20,
    Or = 0x21,
    Plus = 0x22,
    PlusConst = 0x23,
    ShiftLeft = 0x24,
    ShiftRight = 0x25,
    ShiftRightSigned = 0x26,
    Xor = 0x27,
    Branch = 0x28,
    Equal = 0x29,
    GreaterEqual = 0x2a,
    Greater = 0x2b,
    LessEqual = 0x2c,
    Less = 0x2d,
    NotEqual = 0x2e,
    Skip = 0x2f,
    Literal0 = 0x30,
    Literal31 = 0x4f,
    Base0 = 0x70,
    Base31 = 0x8f,
    BaseX = 0x92,
    DerefSize = 0x94,
    NoOperation = 0x96,
};

int64_t asSigned(uint64_t value)
{
    return static_cast<int64_t>(value);
}

class Evaluator {
public:
    Evaluator(std::string_view expression, const RegisterFile& registers, const StackCopy& memory)
        : expression_(expression)
        , reader_(expression, memory.order)
        , registers_(registers)
        , memory_(memory)
    {
    }

    std::optional<uint64_t> run(std::optional<uint64_t> initial)
    {
        if (initial)
            push(*initial);
        for (size_t steps = 0; reader_.remaining() != 0; ++steps) {
            if (steps >= kMostSteps || !step(reader_.u8()) || !reader_.ok())
                return std::nullopt;
        }
        if (depth_ == 0 || failed_)
            return std::nullopt;
        return stack_[depth_ - 1];
    }

private:
    bool step(uint8_t operation)
    {
        if (operation >= Literal0 && operation <= Literal31)
            push(operation - Literal0);
        else if (operation >= Base0 && operation <= Base31)
            pushRegister(operation - Base0);
        else if (operation == BaseX)
            pushRegister(readUleb(reader_));
        else if (operation >= Const1U && operation <= ConstS)
            pushConstant(operation);
        else if (operation >= Dup && operation <= Rot)
            arrange(operation);
        else if (operation == Branch || operation == Skip)
            jump(operation == Skip);
        else if (operation == Abs || operation == Neg || operation == Not || operation == PlusConst)
            unary(operation);
        else if (operation >= And && operation <= NotEqual)
            binary(operation);
        else if (operation == Deref || operation == DerefSize)
            load(operation == Deref ? uint8_t{8} : reader_.u8());
        else
            failed_ = operation != NoOperation;
        return !failed_;
    }

    void push(uint64_t value)
    {
        if (depth_ == kMostDepth)
            failed_ = true;
        else
            stack_[depth_++] = value;
    }

    uint64_t pop()
    {
        if (depth_ == 0) {
            failed_ = true;
            return 0;
        }
        return stack_[--depth_];
    }

    void pushRegister(uint64_t column)
    {
        const auto offset = static_cast<uint64_t>(readSleb(reader_));
        if (registers_.has(column))
            push(registers_.values[column] + offset);
        else
            failed_ = true;
    }

    void pushConstant(uint8_t operation)
    {
        switch (operation) {
        case Const1U:
            return push(reader_.u8());
        case Const1S:
            return push(static_cast<uint64_t>(static_cast<int8_t>(reader_.u8())));
        case Const2U:
            return push(reader_.u16());
        case Const2S:
            return push(static_cast<uint64_t>(static_cast<int16_t>(reader_.u16())));
        case Const4U:
            return push(reader_.u32());
        case Const4S:
            return push(static_cast<uint64_t>(static_cast<int32_t>(reader_.u32())));
        case Const8U:
        case Const8S:
            return push(reader_.u64());
        case ConstU:
            return push(readUleb(reader_));
        default:
            return push(static_cast<uint64_t>(readSleb(reader_)));
        }
    }

    /// Pushes a copy of the element that lies `below` the topmost.
    void pick(size_t below)
    {
        if (below >= depth_)
            failed_ = true;
        else
            push(stack_[depth_ - 1 - below]);
    }

    void arrange(uint8_t operation)
    {
        switch (operation) {
        case Dup:
            return pick(0);
        case Over:
            return pick(1);
        case Pick:
            return pick(reader_.u8());
        case Drop:
            pop();
            return;
        default:
            break;
        }
        const size_t moved = operation == Swap ? 2 : 3;
        if (depth_ < moved) {
            failed_ = true;
            return;
        }
        const uint64_t top = stack_[depth_ - 1];
        for (size_t i = depth_ - 1; i > depth_ - moved; --i)
            stack_[i] = stack_[i - 1];
        stack_[depth_ - moved] = top;
    }

    void jump(bool always)
    {
        const auto distance = static_cast<int16_t>(reader_.u16());
        const auto target = static_cast<int64_t>(expression_.size() - reader_.remaining()) + distance;
        if (!always && pop() == 0)
            return;
        if (target < 0 || static_cast<uint64_t>(target) > expression_.size())
            failed_ = true;
        else
            reader_ = ByteReader(expression_.substr(static_cast<size_t>(target)), memory_.order);
    }

    void unary(uint8_t operation)
    {
        const uint64_t value = pop();
        switch (operation) {
        case Abs:
            return push(asSigned(value) < 0 ? 0 - value : value);
        case Neg:
            return push(0 - value);
        case Not:
            return push(~value);
        default:
            return push(value + readUleb(reader_));
        }
    }

    void binary(uint8_t operation)
    {
        const uint64_t right = pop();
        const uint64_t left = pop();
        switch (operation) {
        case And:
            return push(left & right);
        case Or:
            return push(left | right);
        case Xor:
            return push(left ^ right);
        case Plus:
            return push(left + right);
        case Minus:
            return push(left - right);
        case Mul:
            return push(left * right);
        case Div:
        case Mod:
            return divide(left, right, operation);
        case ShiftLeft:
            return push(right < 64 ? left << right : 0);
        case ShiftRight:
            return push(right < 64 ? left >> right : 0);
        case ShiftRightSigned:
            return push(static_cast<uint64_t>(asSigned(left) >> (right < 64 ? right : 63)));
        case Equal:
            return push(left == right);
        case NotEqual:
            return push(left != right);
        case GreaterEqual:
            return push(asSigned(left) >= asSigned(right));
        case Greater:
            return push(asSigned(left) > asSigned(right));
        case LessEqual:
            return push(asSigned(left) <= asSigned(right));
        case Less:
            return push(asSigned(left) < asSigned(right));
        default:
            failed_ = true;
        }
    }

    /// Div is of signed numbers, mod of unsigned ones.
    void divide(uint64_t left, uint64_t right, uint8_t operation)
    {
        if (right == 0)
            failed_ = true;
        else if (operation == Mod)
            push(left % right);
        else if (asSigned(right) == -1)
            push(0 - left); // the one quotient that could overflow
        else
            push(static_cast<uint64_t>(asSigned(left) / asSigned(right)));
    }

    void load(uint8_t size)
    {
        const std::optional<uint64_t> word = memory_.word(pop());
        if (!word || (size != 8 && size != 4) || failed_) {
            failed_ = true;
            return;
        }
        const uint64_t half = memory_.order == ByteOrder::Little ? *word & UINT32_MAX : *word >> 32U;
        push(size == 8 ? *word : half);
    }

    std::string_view expression_;
    ByteReader reader_;
    const RegisterFile& registers_;
    const StackCopy& memory_;
    std::array<uint64_t, kMostDepth> stack_{};
    size_t depth_ = 0;
    bool failed_ = false;
};

} // namespace

std::optional<uint64_t> evaluateExpression(std::string_view expression, std::optional<uint64_t> initial,
    const RegisterFile& registers, const StackCopy& stack)
{
    return Evaluator(expression, registers, stack).run(initial);
}

} // namespace whichlock
