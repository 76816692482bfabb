// SPDX-License-Identifier: GPL-3.0-or-later
// Calls, stubs and waiting loops in machine code that was assembled by hand.
#include "analyzer/symbols/call_before.h"
#include "analyzer/symbols/pause_loop.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace whichlock {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes words(std::initializer_list<uint32_t> all)
{
    Bytes bytes;
    for (const uint32_t word : all)
        for (unsigned shift = 0; shift < 32; shift += 8)
            bytes.push_back(static_cast<uint8_t>(word >> shift));
    return bytes;
}

/// The indexes that count as waiting, as `..ww`.
std::string waiting(CodeMachine machine, const Bytes& code)
{
    std::string marks;
    for (size_t i = 0; i < code.size(); i += machine == CodeMachine::Aarch64 ? 4 : 1)
        marks += inPauseLoop(machine, code, i) ? 'w' : '.';
    return marks;
}

TEST(CallBefore, readsDirectCallsOfX86Forwards)
{
    // 1000: e8 fb 0f 00 00  call 2000
    const CallBefore call = callBefore(CodeMachine::X86_64, 0x1005, Bytes{0x90, 0xe8, 0xfb, 0x0f, 0, 0});
    EXPECT_EQ(call.kind, CallKind::Direct);
    EXPECT_EQ(call.address, 0x2000U);
}

TEST(CallBefore, readsDirectCallsOfX86Backwards)
{
    // 1000: e8 7b ff ff ff  call f80
    const CallBefore call = callBefore(CodeMachine::X86_64, 0x1005, Bytes{0xe8, 0x7b, 0xff, 0xff, 0xff});
    EXPECT_EQ(call.kind, CallKind::Direct);
    EXPECT_EQ(call.address, 0xf80U);
}

TEST(CallBefore, readsCallsThroughTheSlotsOfTheLinker)
{
    // 1000: ff 15 fa 2f 00 00  call *0x2ffa(%rip)  # 4000
    const CallBefore call =
        callBefore(CodeMachine::X86_64, 0x1006, Bytes{0xff, 0x15, 0xfa, 0x2f, 0x00, 0x00});
    EXPECT_EQ(call.kind, CallKind::ThroughSlot);
    EXPECT_EQ(call.address, 0x4000U);
}

TEST(CallBefore, knowsNoTargetOfCallsThroughRegisters)
{
    const Bytes throughRax{0x48, 0x89, 0xdf, 0x90, 0xff, 0xd0};          // mov; nop; call *%rax
    const Bytes throughMemory{0x48, 0x8b, 0x07, 0xff, 0x50, 0x10};       // call *0x10(%rax)
    const Bytes throughThread{0x64, 0xff, 0x14, 0x25, 0x30, 0x06, 0, 0}; // call *%fs:0x630
    for (const Bytes& code : {throughRax, throughMemory, throughThread})
        EXPECT_EQ(callBefore(CodeMachine::X86_64, 0x1000, code).kind, CallKind::None);
    // blr x8
    EXPECT_EQ(callBefore(CodeMachine::Aarch64, 0x1000, words({0xd63f0100})).kind, CallKind::None);
}

TEST(CallBefore, readsBranchesWithLinkOfArm64)
{
    // 1000: bl 1100; 1000: bl f00
    const CallBefore forwards = callBefore(CodeMachine::Aarch64, 0x1004, words({0x94000040}));
    EXPECT_EQ(forwards.kind, CallKind::Direct);
    EXPECT_EQ(forwards.address, 0x1100U);
    const CallBefore backwards = callBefore(CodeMachine::Aarch64, 0x1004, words({0xd503201f, 0x97ffffc0}));
    EXPECT_EQ(backwards.kind, CallKind::Direct);
    EXPECT_EQ(backwards.address, 0xf00U);
}

TEST(CallBefore, findsNothingInTooFewBytesOrUnknownCode)
{
    const Bytes call{0xe8, 0, 0, 0, 0};
    for (size_t length = 0; length < call.size(); ++length)
        EXPECT_EQ(callBefore(CodeMachine::X86_64, 0x1000, std::span(call).last(length)).kind, CallKind::None);
    EXPECT_EQ(callBefore(CodeMachine::Aarch64, 0x1000, std::span(call).last(3)).kind, CallKind::None);
    EXPECT_EQ(callBefore(CodeMachine::Other, 0x1000, call).kind, CallKind::None);
}

TEST(SlotOfStub, readsStubsWithAndWithoutLandingPads)
{
    // 2030: ff 25 ca 9f 00 00  jmp *0x9fca(%rip)  # c000
    const Bytes plain{0xff, 0x25, 0xca, 0x9f, 0, 0, 0x68, 0, 0, 0, 0};
    EXPECT_EQ(slotOfStub(CodeMachine::X86_64, 0x2030, plain), 0xc000U);
    const Bytes marked{0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0xc6, 0x9f, 0, 0};
    EXPECT_EQ(slotOfStub(CodeMachine::X86_64, 0x2030, marked), 0xc000U);
    const Bytes bounded{0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0xc5, 0x9f, 0, 0};
    EXPECT_EQ(slotOfStub(CodeMachine::X86_64, 0x2030, bounded), 0xc000U);
    // 400: adrp x16, 11000; ldr x17, [x16, #0x18]; add x16, x16, #0x18; br x17
    const Bytes arm = words({0xb0000090, 0xf9400e11, 0x91006210, 0xd61f0220});
    EXPECT_EQ(slotOfStub(CodeMachine::Aarch64, 0x400, arm), 0x11018U);
    Bytes landing = words({0xd503245f});
    landing.insert(landing.end(), arm.begin(), arm.end());
    EXPECT_EQ(slotOfStub(CodeMachine::Aarch64, 0x400, landing), 0x11018U);
}

TEST(SlotOfStub, refusesOrdinaryCode)
{
    const Bytes function{0x55, 0x48, 0x89, 0xe5, 0xff, 0x25, 0, 0, 0, 0};
    EXPECT_FALSE(slotOfStub(CodeMachine::X86_64, 0x2000, function));
    EXPECT_FALSE(slotOfStub(CodeMachine::X86_64, 0x2000, Bytes{0xff, 0x25, 0, 0}));
    EXPECT_FALSE(slotOfStub(CodeMachine::Aarch64, 0x2000, words({0xa9bf7bfd, 0x910003fd})));
}

TEST(PauseLoop, isTheInnerLoopOfASpinLock)
{
    // The loop of pthread_spin_lock in glibc for x86_64:
    const Bytes code{0xf0, 0xff, 0x0f, // 0: lock decl (%rdi)
        0x75, 0x05,                    // 3: jne a
        0x31, 0xc0, 0xc3,              // 5: xor %eax,%eax; ret
        0x66, 0x90,                    // 8: nop
        0xf3, 0x90,                    // a: pause
        0x83, 0x3f, 0x00,              // c: cmpl $0,(%rdi)
        0x7f, 0xef,                    // f: jg 0
        0xeb, 0xf7};                   // 11: jmp a
    EXPECT_EQ(waiting(CodeMachine::X86_64, code), "..........wwwwwwwww");
}

TEST(PauseLoop, mayStandBehindItsTest)
{
    // test and test-and-set, the pause at the end of the loop
    const Bytes code{0xba, 1, 0, 0, 0, // 0: mov $1,%edx
        0x89, 0xd0,                    // 5: mov %edx,%eax
        0x87, 0x07,                    // 7: xchg %eax,(%rdi)
        0x85, 0xc0,                    // 9: test %eax,%eax
        0x74, 0x0a,                    // b: je 17
        0x8b, 0x07,                    // d: mov (%rdi),%eax
        0x85, 0xc0,                    // f: test %eax,%eax
        0x74, 0xf2,                    // 11: je 5
        0xf3, 0x90,                    // 13: pause
        0xeb, 0xf6,                    // 15: jmp d
        0xc3};                         // 17: ret
    EXPECT_EQ(waiting(CodeMachine::X86_64, code), ".............wwwwwwwwww.");
}

TEST(PauseLoop, leavesOutTheAtomicInstructionThatAlsoRunsWithoutWaiting)
{
    // 0: mov $1,%eax; 5: xchg %eax,(%rdi); 7: test; 9: je f; b: pause; d: jmp 0; f: ret
    const Bytes code{0xb8, 1, 0, 0, 0, 0x87, 0x07, 0x85, 0xc0, 0x74, 0x04, 0xf3, 0x90, 0xeb, 0xf1, 0xc3};
    EXPECT_EQ(waiting(CodeMachine::X86_64, code), "...........wwww.");
}

TEST(PauseLoop, needsAJumpBackOverThePause)
{
    const Bytes once{0xf3, 0x90, 0x83, 0x3f, 0x00, 0x75, 0x10, 0xc3};
    EXPECT_EQ(waiting(CodeMachine::X86_64, once), "........");
    const Bytes withoutPause{0x83, 0x3f, 0x00, 0x75, 0xfb, 0xc3};
    EXPECT_EQ(waiting(CodeMachine::X86_64, withoutPause), "......");
    EXPECT_FALSE(inPauseLoop(CodeMachine::X86_64, once, 100));
    EXPECT_FALSE(inPauseLoop(CodeMachine::Other, once, 0));
}

TEST(PauseLoop, isFoundInCodeOfArm64)
{
    // 0: mov w2,#1; 4: ldxr w1,[x0]; 8: cbz w1,14; c: yield; 10: b 4; 14: stxr w1,w2,[x0]; 18: ret
    const Bytes code =
        words({0x52800022, 0x885f7c01, 0x34000061, 0xd503203f, 0x17fffffd, 0x88017c02, 0xd65f03c0});
    EXPECT_EQ(waiting(CodeMachine::Aarch64, code), "...ww..");
}

TEST(PauseLoop, readsNoByteBeyondTheCode)
{
    const Bytes code{0xf3, 0x90, 0x83, 0x3f, 0x00, 0x7f, 0xf9, 0xeb, 0xf7};
    for (size_t length = 0; length <= code.size(); ++length) {
        const Bytes cut(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(length));
        for (size_t at = 0; at <= length; ++at) {
            inPauseLoop(CodeMachine::X86_64, cut, at);
            inPauseLoop(CodeMachine::Aarch64, cut, at);
        }
    }
}

} // namespace
} // namespace whichlock
