// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/unwind_arch.h"

#include <array>

namespace whichlock {
namespace {

constexpr uint8_t kNone = UnwindArch::kNoColumn;
constexpr uint64_t kAbi64 = 2;

// perf: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8-r15.
constexpr std::array<uint8_t, 24> kX86Columns = {0, 3, 2, 1, 4, 5, 6, 7, kNone, kNone, kNone, kNone, kNone,
    kNone, kNone, kNone, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr UnwindArch kX86{.name = "x86_64",
    .columns = kX86Columns,
    .pcOfPerf = 8,
    .stackPointer = 7,
    .framePointer = 6,
    .pushedReturn = 16};

// perf: x0-x29 lr sp pc, numbered as in DWARF.
constexpr std::array<uint8_t, 33> kArmColumns = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
    18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, kNone};
constexpr UnwindArch kArm{.name = "aarch64",
    .columns = kArmColumns,
    .pcOfPerf = 32,
    .stackPointer = 31,
    .framePointer = 29,
    .pushedReturn = kNone,
    .signBits = 0xffff000000000000};

} // namespace

const UnwindArch* unwindArch(std::string_view machine)
{
    for (const UnwindArch* arch : {&kX86, &kArm})
        if (arch->name == machine)
            return arch;
    return machine == "arm64" ? &kArm : nullptr;
}

const UnwindArch* unwindArchOfMask(uint64_t mask)
{
    constexpr uint64_t kX86Mask = 0xff0fff; // all but segments
    constexpr uint64_t kArmMask = 0x1ffffffff;
    return mask == kX86Mask ? &kX86 : mask == kArmMask ? &kArm : nullptr;
}

std::optional<UnwindStart> unwindStart(const UnwindArch& arch, const PerfRegisters& registers)
{
    if (registers.abi != kAbi64)
        return std::nullopt;
    UnwindStart start;
    bool hasPc = false;
    size_t next = 0;
    for (size_t bit = 0; bit < 64 && next < registers.values.size(); ++bit) {
        if ((registers.mask >> bit & 1U) == 0)
            continue;
        const uint64_t value = registers.values[next++];
        if (bit == arch.pcOfPerf) {
            start.pc = value;
            hasPc = true;
        } else if (bit < arch.columns.size() && arch.columns[bit] != kNone) {
            start.registers.set(arch.columns[bit], value);
        }
    }
    if (!hasPc || !start.registers.has(arch.stackPointer))
        return std::nullopt;
    return start;
}

} // namespace whichlock
