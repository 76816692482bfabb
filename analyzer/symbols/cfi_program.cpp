// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/cfi_program.h"

namespace whichlock {
namespace {

/// The largest functions have some thousands; more is damage or malice.
constexpr size_t kMostInstructions = 1 << 16;
constexpr size_t kMostRemembered = 64;

enum Instruction : uint8_t {
    Nop = 0x00,
    SetLocation = 0x01,
    Advance1 = 0x02,
    Advance2 = 0x03,
    Advance4 = 0x04,
    OffsetExtended = 0x05,
    RestoreExtended = 0x06,
    Undefined = 0x07,
    SameValue = 0x08,
    Register = 0x09,
    RememberState = 0x0a,
    RestoreState = 0x0b,
    DefineCfa = 0x0c,
    DefineCfaRegister = 0x0d,
    DefineCfaOffset = 0x0e,
    DefineCfaExpression = 0x0f,
    ExpressionRule = 0x10,
    OffsetExtendedSigned = 0x11,
    DefineCfaSigned = 0x12,
    DefineCfaOffsetSigned = 0x13,
    ValueOffset = 0x14,
    ValueOffsetSigned = 0x15,
    ValueExpression = 0x16,
    NegateReturnSigned = 0x2d, ///< on sparc it means something else
    GnuArgumentsSize = 0x2e,
    GnuNegativeOffsetExtended = 0x2f,
    // These carry a number in their low six bits.
    AdvanceShort = 0x40,
    OffsetShort = 0x80,
    RestoreShort = 0xc0,
};
constexpr uint8_t kShortMask = 0xc0;
constexpr uint8_t kShortNumber = 0x3f;

class CfiMachine {
public:
    CfiMachine(const CfiRange& range, uint64_t address, const CfiSection& section)
        : range_(range)
        , address_(address)
        , location_(range.start)
        , section_(section)
    {
    }

    std::optional<CfiRow> run()
    {
        if (!runProgram(range_.common.program))
            return std::nullopt;
        initial_ = row_;
        haveInitial_ = true;
        if (!runProgram(range_.program) || !row_.hasCfa)
            return std::nullopt;
        return row_;
    }

private:
    /// False for damage. Ends early behind the address that is asked for.
    bool runProgram(std::string_view program)
    {
        ByteReader reader(program, section_.order());
        passed_ = false;
        while (reader.remaining() != 0 && !passed_) {
            if (++steps_ > kMostInstructions)
                return false;
            const uint8_t byte = reader.u8();
            const bool fits = (byte & kShortMask) != 0 ? runShort(byte, reader)
                : byte <= Advance4                     ? runAdvance(byte, reader)
                : byte >= RememberState && byte <= DefineCfaOffsetSigned && byte != ExpressionRule
                    && byte != OffsetExtendedSigned
                ? runCfa(byte, reader)
                : runRegister(byte, reader);
            if (!fits || !reader.ok())
                return false;
        }
        return true;
    }

    bool runShort(uint8_t byte, ByteReader& reader)
    {
        const uint8_t number = byte & kShortNumber;
        switch (byte & kShortMask) {
        case AdvanceShort:
            advance(number);
            return true;
        case OffsetShort:
            set(number, {RegisterRuleKind::AtCfa, factored(readUleb(reader))});
            return true;
        default:
            return restore(number);
        }
    }

    bool runAdvance(uint8_t byte, ByteReader& reader)
    {
        switch (byte) {
        case Nop:
            return true;
        case SetLocation:
            return false; // no compiler writes it
        case Advance1:
            advance(reader.u8());
            return true;
        case Advance2:
            advance(reader.u16());
            return true;
        default:
            advance(reader.u32());
            return true;
        }
    }

    bool runCfa(uint8_t byte, ByteReader& reader)
    {
        switch (byte) {
        case RememberState:
            if (remembered_.size() >= kMostRemembered)
                return false;
            remembered_.push_back(row_);
            return true;
        case RestoreState:
            if (remembered_.empty())
                return false;
            row_ = remembered_.back();
            remembered_.pop_back();
            return true;
        case DefineCfa:
            row_.cfaRegister = readUleb(reader);
            row_.cfaOffset = static_cast<int64_t>(readUleb(reader));
            break;
        case DefineCfaSigned:
            row_.cfaRegister = readUleb(reader);
            row_.cfaOffset = factored(static_cast<uint64_t>(readSleb(reader)));
            break;
        case DefineCfaRegister:
            row_.cfaRegister = readUleb(reader);
            break;
        case DefineCfaOffset:
            row_.cfaOffset = static_cast<int64_t>(readUleb(reader));
            break;
        case DefineCfaOffsetSigned:
            row_.cfaOffset = factored(static_cast<uint64_t>(readSleb(reader)));
            break;
        default: // DefineCfaExpression
            row_.cfaExpression = reader.bytes(readUleb(reader));
            row_.hasCfa = !row_.cfaExpression.empty();
            return row_.hasCfa;
        }
        row_.hasCfa = row_.cfaRegister < kCfiRegisters;
        row_.cfaExpression = {};
        return row_.hasCfa;
    }

    bool runRegister(uint8_t byte, ByteReader& reader)
    {
        if (byte == NegateReturnSigned) {
            row_.returnSigned = !row_.returnSigned;
            return true;
        }
        const uint64_t column = readUleb(reader);
        switch (byte) {
        case GnuArgumentsSize:
            return true; // its operand is no register, but passed
        case OffsetExtended:
            set(column, {RegisterRuleKind::AtCfa, factored(readUleb(reader))});
            return true;
        case OffsetExtendedSigned:
            set(column, {RegisterRuleKind::AtCfa, factored(static_cast<uint64_t>(readSleb(reader)))});
            return true;
        case GnuNegativeOffsetExtended:
            set(column, {RegisterRuleKind::AtCfa, factored(0 - readUleb(reader))});
            return true;
        case ValueOffset:
            set(column, {RegisterRuleKind::CfaPlus, factored(readUleb(reader))});
            return true;
        case ValueOffsetSigned:
            set(column, {RegisterRuleKind::CfaPlus, factored(static_cast<uint64_t>(readSleb(reader)))});
            return true;
        case RestoreExtended:
            return restore(column);
        case Undefined:
            set(column, {RegisterRuleKind::Undefined});
            return true;
        case SameValue:
            set(column, {RegisterRuleKind::Same});
            return true;
        case Register:
            set(column, {RegisterRuleKind::OtherRegister, static_cast<int64_t>(readUleb(reader))});
            return true;
        case ExpressionRule:
        case ValueExpression: {
            const std::string_view expression = reader.bytes(readUleb(reader));
            set(column,
                {byte == ExpressionRule ? RegisterRuleKind::AtExpression : RegisterRuleKind::Expression, 0,
                    expression});
            return true;
        }
        default:
            return false;
        }
    }

    void advance(uint64_t delta)
    {
        const uint64_t next = location_ + delta * range_.common.codeAlignment;
        passed_ = haveInitial_ && next - range_.start > address_ - range_.start;
        if (!passed_)
            location_ = next;
    }

    void set(uint64_t column, const RegisterRule& rule)
    {
        if (column < kCfiRegisters)
            row_.registers[column] = rule;
    }

    bool restore(uint64_t column)
    {
        if (!haveInitial_)
            return false;
        if (column < kCfiRegisters)
            row_.registers[column] = initial_.registers[column];
        return true;
    }

    int64_t factored(uint64_t value) const
    {
        return static_cast<int64_t>(value * static_cast<uint64_t>(range_.common.dataAlignment));
    }

    const CfiRange& range_;
    uint64_t address_;
    uint64_t location_;
    const CfiSection& section_;
    CfiRow row_;
    CfiRow initial_;
    bool haveInitial_ = false;
    bool passed_ = false; ///< the next row begins behind the address
    size_t steps_ = 0;
    std::vector<CfiRow> remembered_;
};

} // namespace

std::optional<CfiRow> rowAt(const CfiRange& range, uint64_t address, const CfiSection& section)
{
    if (!range.contains(address))
        return std::nullopt;
    return CfiMachine(range, address, section).run();
}

} // namespace whichlock
