// SPDX-License-Identifier: GPL-3.0-or-later
// Call frame information that is built byte by byte: every instruction, expressions, damage.
#include "analyzer/symbols/cfi_module.h"
#include "analyzer/symbols/dwarf_expression.h"
#include "analyzer/symbols/unwind_rows.h"
#include "tests/support/cfi_writer.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace whichlock::test {
namespace {

constexpr uint64_t kStart = 0x1000;
constexpr uint64_t kLength = 0x1000;
constexpr uint8_t kRbx = 3;
constexpr uint8_t kRbp = 6;
constexpr uint8_t kRsp = 7;
constexpr uint8_t kReturn = 16;

/// What every function begins with: CFA = rsp + 8, the return address below it.
std::string entryProgram()
{
    return Bytes().u8(0x0c).uleb(kRsp).uleb(8).u8(0x80 | kReturn).uleb(1).str();
}

CfiSection sectionOf(const CfiWriter& writer, CfiKind kind = CfiKind::EhFrame)
{
    return {writer.section(), kind == CfiKind::EhFrame ? CfiWriter::kSectionAddress : 0, kind,
        ByteOrder::Little, 8};
}

/// The row of `program` at so many bytes from the start of a function.
std::optional<CfiRow> rowOf(const std::string& program, uint64_t into)
{
    static std::deque<CfiWriter> writers; // rows are views into their sections
    CfiWriter& writer = writers.emplace_back();
    writer.common(entryProgram());
    writer.range(kStart, kLength, program);
    CfiModule module(sectionOf(writer));
    const auto found = module.find(kStart + into);
    return found ? std::optional(found->row) : std::nullopt;
}

RegisterRule ruleOf(const std::string& program, uint8_t column)
{
    const auto row = rowOf(program, 0);
    EXPECT_TRUE(row);
    return row ? row->registers[column] : RegisterRule{};
}

TEST(CfiProgram, beginsWithWhatTheFunctionsHaveInCommon)
{
    const auto row = rowOf("", 5);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->cfaRegister, kRsp);
    EXPECT_EQ(row->cfaOffset, 8);
    EXPECT_EQ(row->registers[kReturn], (RegisterRule{RegisterRuleKind::AtCfa, -8}));
    EXPECT_EQ(row->registers[kRbx].kind, RegisterRuleKind::Same);
}

TEST(CfiProgram, advancesByEachFormOfStep)
{
    const auto offsetAt = [](uint64_t into) {
        const std::string program = Bytes()
                                        .u8(0x40 | 1)
                                        .u8(0x0e)
                                        .uleb(16)
                                        .u8(0x02)
                                        .u8(2)
                                        .u8(0x0e)
                                        .uleb(24)
                                        .u8(0x03)
                                        .u16(0x100)
                                        .u8(0x0e)
                                        .uleb(32)
                                        .u8(0x04)
                                        .u32(0x200)
                                        .u8(0x0e)
                                        .uleb(40)
                                        .str();
        const auto row = rowOf(program, into);
        return row ? row->cfaOffset : -1;
    };
    EXPECT_EQ(offsetAt(0), 8);
    EXPECT_EQ(offsetAt(1), 16);
    EXPECT_EQ(offsetAt(2), 16);
    EXPECT_EQ(offsetAt(3), 24);
    EXPECT_EQ(offsetAt(0x102), 24);
    EXPECT_EQ(offsetAt(0x103), 32);
    EXPECT_EQ(offsetAt(0x302), 32);
    EXPECT_EQ(offsetAt(0x303), 40);
    EXPECT_EQ(offsetAt(kLength - 1), 40);
    EXPECT_EQ(offsetAt(kLength), -1);
}

TEST(CfiProgram, multipliesStepsByTheCodeAlignment)
{
    CfiWriter writer;
    writer.common(entryProgram(), false, kReturn, 4);
    writer.range(kStart, kLength, Bytes().u8(0x40 | 2).u8(0x0e).uleb(16).str());
    CfiModule module(sectionOf(writer));
    EXPECT_EQ(module.find(kStart + 7)->row.cfaOffset, 8);
    EXPECT_EQ(module.find(kStart + 8)->row.cfaOffset, 16);
}

TEST(CfiProgram, definesTheCfaInEachForm)
{
    const auto cfa = [](const std::string& program) {
        const auto row = rowOf(program, 0);
        return row ? std::pair(row->cfaRegister, row->cfaOffset) : std::pair(uint64_t{99}, int64_t{0});
    };
    using Pair = std::pair<uint64_t, int64_t>;
    EXPECT_EQ(cfa(Bytes().u8(0x0c).uleb(kRbp).uleb(16).str()), Pair(kRbp, 16));
    EXPECT_EQ(cfa(Bytes().u8(0x12).uleb(kRbp).sleb(-2).str()), Pair(kRbp, 16));
    EXPECT_EQ(cfa(Bytes().u8(0x0d).uleb(kRbp).str()), Pair(kRbp, 8));
    EXPECT_EQ(cfa(Bytes().u8(0x0e).uleb(300).str()), Pair(kRsp, 300));
    EXPECT_EQ(cfa(Bytes().u8(0x13).sleb(-3).str()), Pair(kRsp, 24));
    EXPECT_EQ(rowOf(Bytes().u8(0x0f).block("\x77\x08").str(), 0)->cfaExpression, "\x77\x08");
    // A register after an expression is no expression any more.
    EXPECT_EQ(cfa(Bytes().u8(0x0f).block("\x77\x08").u8(0x0c).uleb(kRbp).uleb(16).str()), Pair(kRbp, 16));
}

TEST(CfiProgram, setsRegistersInEachForm)
{
    using enum RegisterRuleKind;
    EXPECT_EQ(ruleOf(Bytes().u8(0x80 | kRbx).uleb(3).str(), kRbx), (RegisterRule{AtCfa, -24}));
    EXPECT_EQ(ruleOf(Bytes().u8(0x05).uleb(kRbx).uleb(3).str(), kRbx), (RegisterRule{AtCfa, -24}));
    EXPECT_EQ(ruleOf(Bytes().u8(0x11).uleb(kRbx).sleb(-3).str(), kRbx), (RegisterRule{AtCfa, 24}));
    EXPECT_EQ(ruleOf(Bytes().u8(0x2f).uleb(kRbx).uleb(3).str(), kRbx), (RegisterRule{AtCfa, 24}));
    EXPECT_EQ(ruleOf(Bytes().u8(0x14).uleb(kRbx).uleb(2).str(), kRbx), (RegisterRule{CfaPlus, -16}));
    EXPECT_EQ(ruleOf(Bytes().u8(0x15).uleb(kRbx).sleb(-2).str(), kRbx), (RegisterRule{CfaPlus, 16}));
    EXPECT_EQ(ruleOf(Bytes().u8(0x09).uleb(kRbx).uleb(12).str(), kRbx), (RegisterRule{OtherRegister, 12}));
    EXPECT_EQ(ruleOf(Bytes().u8(0x07).uleb(kReturn).str(), kReturn), (RegisterRule{Undefined, 0}));
    EXPECT_EQ(ruleOf(Bytes().u8(0x08).uleb(kReturn).str(), kReturn), (RegisterRule{Same, 0}));
    EXPECT_EQ(ruleOf(Bytes().u8(0x10).uleb(kRbx).block("\x77\x28").str(), kRbx),
        (RegisterRule{AtExpression, 0, "\x77\x28"}));
    EXPECT_EQ(ruleOf(Bytes().u8(0x16).uleb(kRbx).block("\x77\x28").str(), kRbx),
        (RegisterRule{Expression, 0, "\x77\x28"}));
    // Vector registers and the size of pushed arguments are passed over.
    EXPECT_EQ(ruleOf(Bytes().u8(0x05).uleb(40).uleb(3).u8(0x2e).uleb(16).u8(0x80 | kRbx).uleb(2).str(), kRbx),
        (RegisterRule{AtCfa, -16}));
}

TEST(CfiProgram, restoresWhatTheFunctionsHaveInCommon)
{
    const std::string lost = Bytes().u8(0x07).uleb(kReturn).str();
    EXPECT_EQ(ruleOf(lost + Bytes().u8(0xc0 | kReturn).str(), kReturn),
        (RegisterRule{RegisterRuleKind::AtCfa, -8}));
    EXPECT_EQ(ruleOf(lost + Bytes().u8(0x06).uleb(kReturn).str(), kReturn),
        (RegisterRule{RegisterRuleKind::AtCfa, -8}));
}

TEST(CfiProgram, remembersAndRestoresWholeRows)
{
    const std::string program = Bytes()
                                    .u8(0x0e)
                                    .uleb(16)
                                    .u8(0x80 | kRbx)
                                    .uleb(2)
                                    .u8(0x0a)
                                    .u8(0x40 | 4)
                                    .u8(0x0e)
                                    .uleb(8)
                                    .u8(0x08)
                                    .uleb(kRbx)
                                    .u8(0x40 | 4)
                                    .u8(0x0b)
                                    .str();
    EXPECT_EQ(rowOf(program, 3)->cfaOffset, 16);
    EXPECT_EQ(rowOf(program, 4)->cfaOffset, 8);
    EXPECT_EQ(rowOf(program, 4)->registers[kRbx].kind, RegisterRuleKind::Same);
    EXPECT_EQ(rowOf(program, 8)->cfaOffset, 16);
    EXPECT_EQ(rowOf(program, 8)->registers[kRbx], (RegisterRule{RegisterRuleKind::AtCfa, -16}));
}

TEST(CfiProgram, hasNoRowWhenItIsDamaged)
{
    EXPECT_FALSE(rowOf(Bytes().u8(0x0b).str(), 0)) << "restores what was not remembered";
    EXPECT_FALSE(rowOf(Bytes().u8(0x3f).str(), 0)) << "no such instruction";
    EXPECT_FALSE(rowOf(Bytes().u8(0x0f).uleb(1000).str(), 0)) << "an expression beyond the end";
    EXPECT_FALSE(rowOf(Bytes().u8(0x0d).uleb(1000).str(), 0)) << "a CFA by no register";
    EXPECT_FALSE(rowOf(std::string(100, '\x0a'), 0)) << "remembers without end";
}

TEST(CfiProgram, countsSignedReturnAddressesOfArm)
{
    EXPECT_FALSE(rowOf("", 0)->returnSigned);
    EXPECT_TRUE(rowOf("\x2d", 0)->returnSigned);
    EXPECT_FALSE(rowOf("\x2d\x2d", 0)->returnSigned);
}

TEST(CfiSection, hasTheSameEntriesByItsHeader)
{
    CfiWriter writer;
    writer.common(entryProgram());
    for (uint64_t i = 0; i < 20; ++i) {
        if (i == 10)
            writer.common(entryProgram(), true);
        writer.range(0x1000 + i * 0x100, 0x80, "");
    }
    const CfiSection section = sectionOf(writer);
    constexpr uint64_t kHeaderAddress = 0x90000;
    const std::string header = writer.header(kHeaderAddress);
    const auto byHeader = section.entriesByHeader(header, kHeaderAddress);
    const auto scanned = section.entries();
    ASSERT_TRUE(byHeader);
    ASSERT_EQ(byHeader->size(), 20U);
    ASSERT_EQ(scanned.size(), 20U);
    for (size_t i = 0; i < scanned.size(); ++i) {
        EXPECT_EQ((*byHeader)[i].start, 0x1000 + i * 0x100);
        EXPECT_EQ(scanned[i].start, (*byHeader)[i].start);
        EXPECT_EQ(scanned[i].offset, (*byHeader)[i].offset);
        const auto range = section.rangeAt(scanned[i].offset);
        ASSERT_TRUE(range);
        EXPECT_EQ(range->length, 0x80U);
        EXPECT_EQ(range->common.signalFrame, i >= 10);
        EXPECT_EQ(range->common.returnColumn, 16U);
    }
}

TEST(CfiSection, readsDebugFrames)
{
    CfiWriter writer(true);
    writer.common(entryProgram());
    writer.range(0x2000, 0x100, "");
    writer.range(0x1000, 0x100, Bytes().u8(0x0e).uleb(32).str());
    CfiModule module(sectionOf(writer, CfiKind::DebugFrame));
    EXPECT_EQ(module.find(0x1080)->row.cfaOffset, 32);
    EXPECT_EQ(module.find(0x2000)->row.cfaOffset, 8);
    EXPECT_FALSE(module.find(0x1100));
    EXPECT_FALSE(module.find(0x500));
}

TEST(CfiSection, survivesBeingCutAnywhere)
{
    CfiWriter writer;
    writer.common(entryProgram());
    writer.range(
        kStart, kLength, Bytes().u8(0x41).u8(0x0f).block("\x77\x08").u8(0x0a).u8(0x41).u8(0x0b).str());
    writer.range(2 * kStart, kLength, Bytes().u8(0x10).uleb(kRbx).block("\x77\x28").str());
    constexpr uint64_t kHeaderAddress = 0x90000;
    const std::string header = writer.header(kHeaderAddress);
    for (size_t cut = 0; cut <= writer.section().size(); ++cut) {
        // A copy of its own, so that a sanitizer sees every byte that is read behind it.
        const std::vector<char> bytes(
            writer.section().begin(), writer.section().begin() + static_cast<std::ptrdiff_t>(cut));
        const CfiSection section(
            {bytes.data(), bytes.size()}, CfiWriter::kSectionAddress, CfiKind::EhFrame, ByteOrder::Little, 8);
        EXPECT_LE(section.entries().size(), 2U);
        CfiModule module(section);
        module.find(kStart);
        module.find(2 * kStart);
        if (cut <= header.size())
            section.entriesByHeader(std::string_view(header).substr(0, cut), kHeaderAddress);
    }
}

TEST(CfiSection, survivesRandomBytes)
{
    std::mt19937 random(1);
    CfiWriter writer;
    writer.common(entryProgram());
    for (uint64_t i = 0; i < 8; ++i)
        writer.range(kStart + i * 64, 64, Bytes().u8(0x41).u8(0x0e).uleb(16).u8(0x80 | kRbx).uleb(2).str());
    for (int round = 0; round < 4000; ++round) {
        std::string bytes = writer.section();
        for (int i = 0; i < 4; ++i)
            bytes[random() % bytes.size()] = static_cast<char>(random());
        for (const CfiKind kind : {CfiKind::EhFrame, CfiKind::DebugFrame}) {
            CfiModule module(
                CfiSection(bytes, CfiWriter::kSectionAddress, kind, ByteOrder::Little, round % 2 ? 8 : 4));
            for (uint64_t i = 0; i < 8; ++i)
                module.find(kStart + i * 64 + 3);
        }
    }
}

std::optional<uint64_t> evaluate(const std::string& expression, std::optional<uint64_t> initial = {})
{
    RegisterFile registers;
    registers.set(kRsp, 0x7000);
    registers.set(kReturn, 0x401b);
    static const std::string words = Bytes().u64(0x1122334455667788).u64(0x99).str();
    return evaluateExpression(expression, initial, registers, {.start = 0x7000, .bytes = words});
}

TEST(DwarfExpression, computesTheCfaOfProcedureLinkage)
{
    // What linkers write for .plt: rsp + 8 + ((rip & 15) >= 11) * 8.
    const std::string plt = "\x77\x08\x80" + std::string(1, '\0') + "\x3f\x1a\x3b\x2a\x33\x24\x22";
    EXPECT_EQ(evaluate(plt), 0x7000U + 8 + 8);
    RegisterFile registers;
    registers.set(kRsp, 0x7000);
    registers.set(kReturn, 0x4010);
    EXPECT_EQ(evaluateExpression(plt, {}, registers, {}), 0x7000U + 8);
}

TEST(DwarfExpression, knowsEachOperation)
{
    const auto binary = [](int64_t left, int64_t right, uint8_t operation) {
        return evaluate(Bytes().u8(0x11).sleb(left).u8(0x11).sleb(right).u8(operation).str());
    };
    EXPECT_EQ(evaluate("\x30"), 0U);
    EXPECT_EQ(evaluate("\x4f"), 31U);
    EXPECT_EQ(evaluate(Bytes().u8(0x08).u8(0xff).str()), 255U);
    EXPECT_EQ(evaluate(Bytes().u8(0x09).u8(0xff).str()), UINT64_MAX);
    EXPECT_EQ(evaluate(Bytes().u8(0x0b).u16(0xfffe).str()), UINT64_MAX - 1);
    EXPECT_EQ(evaluate(Bytes().u8(0x0c).u32(0xfffffffe).str()), 0xfffffffeU);
    EXPECT_EQ(evaluate(Bytes().u8(0x0d).u32(0xfffffffe).str()), UINT64_MAX - 1);
    EXPECT_EQ(evaluate(Bytes().u8(0x0e).u64(1ULL << 40U).str()), 1ULL << 40U);
    EXPECT_EQ(evaluate(Bytes().u8(0x10).uleb(300).str()), 300U);
    EXPECT_EQ(binary(12, 10, 0x1a), 8U);
    EXPECT_EQ(binary(-12, 4, 0x1b), static_cast<uint64_t>(-3));
    EXPECT_EQ(binary(INT64_MIN, -1, 0x1b), static_cast<uint64_t>(INT64_MIN));
    EXPECT_EQ(binary(1, 0, 0x1b), std::nullopt);
    EXPECT_EQ(binary(12, 10, 0x1c), 2U);
    EXPECT_EQ(binary(12, 10, 0x1d), 2U);
    EXPECT_EQ(binary(12, 10, 0x1e), 120U);
    EXPECT_EQ(binary(12, 10, 0x21), 14U);
    EXPECT_EQ(binary(12, 10, 0x22), 22U);
    EXPECT_EQ(binary(1, 4, 0x24), 16U);
    EXPECT_EQ(binary(1, 64, 0x24), 0U);
    EXPECT_EQ(binary(-16, 60, 0x25), 15U);
    EXPECT_EQ(binary(-16, 2, 0x26), static_cast<uint64_t>(-4));
    EXPECT_EQ(binary(12, 10, 0x27), 6U);
    EXPECT_EQ(binary(-1, 1, 0x2d), 1U);
    EXPECT_EQ(binary(-1, 1, 0x2b), 0U);
    EXPECT_EQ(evaluate(Bytes().u8(0x31).u8(0x1f).str()), UINT64_MAX);
    EXPECT_EQ(evaluate(Bytes().u8(0x31).u8(0x20).str()), UINT64_MAX - 1);
    EXPECT_EQ(evaluate(Bytes().u8(0x31).u8(0x23).uleb(200).str()), 201U);
    EXPECT_EQ(evaluate("\x31\x32\x33\x17\x13"), 1U) << "rot puts the top third: 3 1 2";
    EXPECT_EQ(evaluate("\x31\x32\x16"), 1U);
    EXPECT_EQ(evaluate("\x31\x32\x14"), 1U);
    EXPECT_EQ(evaluate("\x31\x32\x33\x15\x02"), 1U);
    EXPECT_EQ(evaluate("\x77\x08\x06"), 0x99U) << "the word at rsp + 8";
    EXPECT_EQ(evaluate(std::string("\x77\x00\x94\x04", 4)), 0x55667788U);
    EXPECT_EQ(evaluate("\x23\x08\x06", 0x7000), 0x99U) << "the CFA lies on the stack";
    EXPECT_EQ(evaluate(Bytes().u8(0x31).u8(0x28).u16(1).u8(0x35).u8(0x36).str()), 6U) << "jumps over the 5";
}

TEST(DwarfExpression, endsWhateverComes)
{
    EXPECT_EQ(evaluate(""), std::nullopt);
    EXPECT_EQ(evaluate("\x22"), std::nullopt) << "nothing to add";
    EXPECT_EQ(evaluate(Bytes().u8(0x2f).u16(static_cast<uint16_t>(-3)).str()), std::nullopt) << "a loop";
    EXPECT_EQ(evaluate(Bytes().u8(0x2f).u16(100).str()), std::nullopt);
    EXPECT_EQ(evaluate(std::string(100, '\x31')), std::nullopt) << "too deep";
    EXPECT_EQ(evaluate("\x31\x06"), std::nullopt) << "no memory there";
    EXPECT_EQ(evaluate(std::string("\x73\x00", 2)), std::nullopt) << "a register that was not recorded";
    EXPECT_EQ(evaluate("\xe0"), std::nullopt);
    std::mt19937 random(2);
    for (int round = 0; round < 20000; ++round) {
        std::string expression(random() % 24, '\0');
        for (char& byte : expression)
            byte = static_cast<char>(random());
        evaluate(expression, 1);
    }
}

TEST(UnwindRows, keepsEqualRowsOnce)
{
    UnwindRows rows;
    const CfiCommon common{.returnColumn = kReturn};
    CfiRow row{.hasCfa = true, .cfaRegister = kRsp, .cfaOffset = 16};
    row.registers[kRbx] = {RegisterRuleKind::AtCfa, -16};
    const UnwindRowId first = rows.add(row, common);
    EXPECT_EQ(rows.add(row, common), first);
    CfiRow other = row;
    other.registers[kRbx].value = -24;
    EXPECT_NE(rows.add(other, common), first);
    EXPECT_NE(rows.add(row, {.returnColumn = kReturn, .signalFrame = true}), first);
    EXPECT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows.rulesOf(rows[first])[0], (UnwindRule{-16, kRbx, RegisterRuleKind::AtCfa}));
    row.cfaOffset = int64_t{1} << 40U;
    EXPECT_FALSE(rows.add(row, common)) << "no frame is that large";
}

} // namespace
} // namespace whichlock::test
