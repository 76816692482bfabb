// SPDX-License-Identifier: GPL-3.0-or-later
// Code by its bytes; what they are stands beside them.
#include "analyzer/naming/constant_argument.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

constexpr uint64_t kCode = 0x1000;

std::optional<uint64_t> argumentIn(std::initializer_list<uint8_t> code, uint64_t callSite)
{
    const std::vector<uint8_t> bytes(code);
    Disassembler disassembler;
    std::vector<Instruction> instructions;
    disassembler.decode(bytes, kCode, instructions);
    return constantFirstArgument(instructions, callSite);
}

TEST(ConstantArgument, isTheAddressThatTheCodeLoads)
{
    EXPECT_EQ(argumentIn({0x48, 0x8d, 0x3d, 0xf9, 0x2f, 0x00, 0x00, // lea 0x2ff9(%rip),%rdi: 0x4000
                             0xe8, 0x00, 0x01, 0x00, 0x00},         // call
                  kCode + 11),
        0x4000U);
    EXPECT_EQ(argumentIn({0xbf, 0x40, 0x41, 0x40, 0x00, // mov $0x404140,%edi
                             0xe8, 0x00, 0x01, 0x00, 0x00},
                  kCode + 5),
        0x404140U);
}

TEST(ConstantArgument, isFollowedThroughRegistersThatCallsKeep)
{
    EXPECT_EQ(argumentIn({0x48, 0x8d, 0x1d, 0xf9, 0x2f, 0x00, 0x00, // lea 0x2ff9(%rip),%rbx
                             0xe8, 0x00, 0x01, 0x00, 0x00,          // call
                             0x48, 0x89, 0xdf,                      // mov %rbx,%rdi
                             0xe8, 0x00, 0x01, 0x00, 0x00},
                  kCode + 15),
        0x4000U);
}

TEST(ConstantArgument, isNotKnownOverACallOrWhereWaysMeet)
{
    EXPECT_FALSE(argumentIn({0x48, 0x8d, 0x3d, 0xf9, 0x2f, 0x00, 0x00, // lea 0x2ff9(%rip),%rdi
                                0xe8, 0x00, 0x01, 0x00, 0x00,          // call: may change %rdi
                                0xe8, 0x00, 0x01, 0x00, 0x00},
        kCode + 12));
    EXPECT_FALSE(argumentIn({0x74, 0x07,                                  // je to the call
                                0x48, 0x8d, 0x3d, 0xf9, 0x2f, 0x00, 0x00, // lea 0x2ff9(%rip),%rdi
                                0xe8, 0x00, 0x01, 0x00, 0x00},
        kCode + 9));
    EXPECT_FALSE(argumentIn({0x48, 0x8b, 0x3d, 0xf9, 0x2f, 0x00, 0x00, // mov 0x2ff9(%rip),%rdi: what is there
                                0xe8, 0x00, 0x01, 0x00, 0x00},
        kCode + 7));
}

TEST(ConstantArgument, staysInALoopWhereTheRegisterHasNoOtherValue)
{
    EXPECT_EQ(argumentIn({0x48, 0x8d, 0x1d, 0xf9, 0x2f, 0x00, 0x00, // lea 0x2ff9(%rip),%rbx
                             0x48, 0x89, 0xdf,                      // again: mov %rbx,%rdi
                             0xe8, 0x00, 0x01, 0x00, 0x00,          // call
                             0x75, 0xf6,                            // jne again
                             0x5b, 0xc3},                           // pop %rbx; ret
                  kCode + 10),
        0x4000U);
    EXPECT_FALSE(argumentIn({0x48, 0x8d, 0x1d, 0xf9, 0x2f, 0x00, 0x00, // lea 0x2ff9(%rip),%rbx
                                0x48, 0x89, 0xdf,                      // again: mov %rbx,%rdi
                                0xe8, 0x00, 0x01, 0x00, 0x00,          // call
                                0x48, 0xff, 0xc3,                      // inc %rbx
                                0x75, 0xf3, 0xc3},                     // jne again; ret
        kCode + 10));
}

TEST(ConstantArgument, isNoneOutsideOfCalls)
{
    EXPECT_FALSE(argumentIn({0x48, 0x8d, 0x3d, 0xf9, 0x2f, 0x00, 0x00, 0xc3}, kCode + 7));
    EXPECT_FALSE(argumentIn({}, kCode));
}

} // namespace
} // namespace whichlock::test
