// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/call_before.h"

#include <algorithm>
#include <array>
#include <elf.h>

namespace whichlock {
namespace {

constexpr size_t kWordBytes = 4;

uint32_t wordAt(std::span<const uint8_t> bytes, size_t at)
{
    uint32_t word = 0;
    for (size_t i = 0; i < kWordBytes; ++i)
        word |= static_cast<uint32_t>(bytes[at + i]) << (8 * i);
    return word;
}

/// A signed field of `bits` bits, as a distance that may be added to an address.
uint64_t signExtended(uint64_t value, unsigned bits)
{
    const uint64_t sign = uint64_t{1} << (bits - 1);
    value &= (sign << 1) - 1;
    return (value ^ sign) - sign;
}

CallBefore callBeforeX86(uint64_t returnAddress, std::span<const uint8_t> before)
{
    constexpr uint8_t kCall = 0xe8; // call rel32
    constexpr size_t kCallBytes = 5;
    constexpr size_t kSlotCallBytes = 6; // ff 15: call *disp32(%rip)
    const size_t end = before.size();
    if (end < kCallBytes)
        return {};
    const uint64_t address = returnAddress + signExtended(wordAt(before, end - kWordBytes), 32);
    if (before[end - kCallBytes] == kCall)
        return {CallKind::Direct, address};
    if (end >= kSlotCallBytes && before[end - kSlotCallBytes] == 0xff && before[end - kCallBytes] == 0x15)
        return {CallKind::ThroughSlot, address};
    return {};
}

CallBefore callBeforeAarch64(uint64_t returnAddress, std::span<const uint8_t> before)
{
    if (before.size() < kWordBytes)
        return {};
    const uint32_t word = wordAt(before, before.size() - kWordBytes);
    constexpr uint32_t kBranchAndLink = 0x94000000;
    constexpr uint32_t kOpcode = 0xfc000000;
    if ((word & kOpcode) != kBranchAndLink)
        return {};
    return {CallKind::Direct, returnAddress - kWordBytes + signExtended(uint64_t{word} << 2, 28)};
}

std::optional<uint64_t> slotOfStubX86(uint64_t address, std::span<const uint8_t> code)
{
    constexpr std::array<uint8_t, 4> kLandingPad = {0xf3, 0x0f, 0x1e, 0xfa}; // endbr64
    size_t at = 0;
    if (code.size() >= kLandingPad.size() && std::ranges::equal(code.first(kLandingPad.size()), kLandingPad))
        at = kLandingPad.size();
    if (at < code.size() && code[at] == 0xf2) // bnd
        ++at;
    constexpr size_t kJumpBytes = 6; // ff 25: jmp *disp32(%rip)
    if (code.size() < at + kJumpBytes || code[at] != 0xff || code[at + 1] != 0x25)
        return std::nullopt;
    return address + at + kJumpBytes + signExtended(wordAt(code, at + 2), 32);
}

std::optional<uint64_t> slotOfStubAarch64(uint64_t address, std::span<const uint8_t> code)
{
    constexpr uint32_t kLandingPad = 0xd503245f; // bti c
    size_t at = 0;
    if (code.size() >= kWordBytes && wordAt(code, 0) == kLandingPad)
        at = kWordBytes;
    if (code.size() < at + 2 * kWordBytes)
        return std::nullopt;
    const uint32_t page = wordAt(code, at);
    const uint32_t load = wordAt(code, at + kWordBytes);
    // adrp x16, page; ldr x17, [x16, #offset]
    if ((page & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
        return std::nullopt;
    constexpr unsigned kPageBits = 12;
    const uint64_t pages = (page >> 5 & 0x7ffff) << 2 | (page >> 29 & 3);
    const uint64_t base = (address + at) >> kPageBits << kPageBits;
    return base + (signExtended(pages, 21) << kPageBits) + (uint64_t{load >> 10 & 0xfff} << 3);
}

} // namespace

CodeMachine codeMachineOf(int elfMachine)
{
    if (elfMachine == EM_X86_64)
        return CodeMachine::X86_64;
    return elfMachine == EM_AARCH64 ? CodeMachine::Aarch64 : CodeMachine::Other;
}

CallBefore callBefore(CodeMachine machine, uint64_t returnAddress, std::span<const uint8_t> before)
{
    switch (machine) {
    case CodeMachine::X86_64:
        return callBeforeX86(returnAddress, before);
    case CodeMachine::Aarch64:
        return callBeforeAarch64(returnAddress, before);
    case CodeMachine::Other:
        break;
    }
    return {};
}

std::optional<uint64_t> slotOfStub(CodeMachine machine, uint64_t address, std::span<const uint8_t> code)
{
    switch (machine) {
    case CodeMachine::X86_64:
        return slotOfStubX86(address, code);
    case CodeMachine::Aarch64:
        return slotOfStubAarch64(address, code);
    case CodeMachine::Other:
        break;
    }
    return std::nullopt;
}

} // namespace whichlock
