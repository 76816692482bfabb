// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/pause_loop.h"

#include <algorithm>
#include <optional>

namespace whichlock {
namespace {

/// What the loop search needs to know of a processor. x86 is read byte by byte, as nothing marks where its
/// instructions begin: that the bytes of a pause and of a short jump back over it stand by chance around an
/// address, within 64 bytes, is rare enough.
struct Machine {
    size_t step = 1; ///< bytes from one possible beginning of an instruction to the next
    size_t pauseBytes = 0;
    bool (*isPause)(std::span<const uint8_t> code) = nullptr;
    /// Bytes from the beginning of the jump to its target and to its end, if it is one.
    struct Jump {
        int64_t target = 0;
        size_t bytes = 0;
    };
    std::optional<Jump> (*jump)(std::span<const uint8_t> code) = nullptr;
    /// Whether the instruction does more than to look and wait: an atomic one, or the end of the function.
    bool (*isAction)(std::span<const uint8_t> code) = nullptr;
};

uint32_t wordOf(std::span<const uint8_t> code)
{
    return static_cast<uint32_t>(code[0]) | static_cast<uint32_t>(code[1]) << 8
        | static_cast<uint32_t>(code[2]) << 16 | static_cast<uint32_t>(code[3]) << 24;
}

bool isPauseX86(std::span<const uint8_t> code)
{
    return code.size() >= 2 && code[0] == 0xf3 && code[1] == 0x90;
}

std::optional<Machine::Jump> jumpX86(std::span<const uint8_t> code)
{
    constexpr size_t kShortJumpBytes = 2;
    if (code.size() < kShortJumpBytes || (code[0] != 0xeb && (code[0] & 0xf0) != 0x70))
        return std::nullopt;
    return Machine::Jump{
        static_cast<int8_t>(code[1]) + static_cast<int64_t>(kShortJumpBytes), kShortJumpBytes};
}

/// lock prefix, xchg with memory, ret.
bool isActionX86(std::span<const uint8_t> code)
{
    return code[0] == 0xf0 || code[0] == 0x86 || code[0] == 0x87 || code[0] == 0xc3;
}

bool isPauseAarch64(std::span<const uint8_t> code)
{
    if (code.size() < 4)
        return false;
    const uint32_t word = wordOf(code);
    return word == 0xd503203f || word == 0xd503205f || word == 0xd5033fdf; // yield, wfe, isb
}

int64_t signedField(uint32_t word, unsigned low, unsigned bits)
{
    const auto value = static_cast<int64_t>(word >> low & ((uint32_t{1} << bits) - 1));
    const int64_t sign = int64_t{1} << (bits - 1);
    return (value ^ sign) - sign;
}

std::optional<Machine::Jump> jumpAarch64(std::span<const uint8_t> code)
{
    if (code.size() < 4)
        return std::nullopt;
    const uint32_t word = wordOf(code);
    if ((word & 0xfc000000) == 0x14000000) // b
        return Machine::Jump{4 * signedField(word, 0, 26), 4};
    if ((word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000) // b.cond, cbz, cbnz
        return Machine::Jump{4 * signedField(word, 5, 19), 4};
    if ((word & 0x7e000000) == 0x36000000) // tbz, tbnz
        return Machine::Jump{4 * signedField(word, 5, 14), 4};
    return std::nullopt;
}

bool isActionAarch64(std::span<const uint8_t> code)
{
    if (code.size() < 4)
        return true;
    const uint32_t word = wordOf(code);
    return (word & 0x3b200c00) == 0x38200000                        // atomic memory operations
        || (word & 0x3fa07c00) == 0x08a07c00                        // cas
        || (word & 0x3fa00000) == 0x08000000                        // exclusive loads and stores
        || word == 0xd65f03c0 || (word & 0xfc000000) == 0x94000000; // ret, bl
}

constexpr Machine kX86{1, 2, isPauseX86, jumpX86, isActionX86};
constexpr Machine kAarch64{4, 4, isPauseAarch64, jumpAarch64, isActionAarch64};

struct Range {
    size_t begin = 0;
    size_t end = 0;
};

/// The innermost loop around the pause, by the jumps behind it; empty if there is none.
Range loopAround(const Machine& machine, std::span<const uint8_t> code, size_t pause)
{
    Range loop;
    const size_t last = std::min(code.size(), pause + kPauseLoopBytes);
    for (size_t at = pause + machine.pauseBytes; at < last; at += machine.step) {
        const auto jump = machine.jump(code.subspan(at));
        const int64_t target = jump ? static_cast<int64_t>(at) + jump->target : -1;
        if (target < 0 || target > static_cast<int64_t>(pause))
            continue;
        const Range found{static_cast<size_t>(target), at + jump->bytes};
        if (found.end - found.begin <= kPauseLoopBytes && (loop.end == 0 || found.begin >= loop.begin))
            loop = found;
    }
    return loop;
}

/// The part of that loop which does nothing but wait: from the pause on if something is done before it, and
/// up to the next thing that is done.
Range waitingPart(const Machine& machine, std::span<const uint8_t> code, size_t pause)
{
    Range part = loopAround(machine, code, pause);
    for (size_t at = part.begin; at < std::min(pause, part.end); at += machine.step) {
        if (machine.isAction(code.subspan(at)))
            part.begin = pause;
    }
    for (size_t at = pause + machine.pauseBytes; at < part.end; at += machine.step) {
        if (machine.isAction(code.subspan(at)))
            part.end = at + 1; // a sample there says that it has not run yet
    }
    return part;
}

bool inLoop(const Machine& machine, std::span<const uint8_t> code, size_t at)
{
    const size_t first = at > kPauseLoopBytes ? (at - kPauseLoopBytes) / machine.step * machine.step : 0;
    const size_t last = std::min(code.size(), at + kPauseLoopBytes);
    for (size_t pause = first; pause < last; pause += machine.step) {
        if (!machine.isPause(code.subspan(pause)))
            continue;
        const Range range = waitingPart(machine, code, pause);
        if (at >= range.begin && at < range.end)
            return true;
    }
    return false;
}

} // namespace

bool inPauseLoop(CodeMachine machine, std::span<const uint8_t> code, size_t at)
{
    if (at >= code.size())
        return false;
    switch (machine) {
    case CodeMachine::X86_64:
        return inLoop(kX86, code, at);
    case CodeMachine::Aarch64:
        return inLoop(kAarch64, code, at);
    case CodeMachine::Other:
        break;
    }
    return false;
}

} // namespace whichlock
