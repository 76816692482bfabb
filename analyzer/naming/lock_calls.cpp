// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/lock_calls.h"

#include <cstring>

namespace whichlock {
namespace {

/// A call or jump by its bytes, with where the distance in it counts from.
struct Branch {
    uint64_t bytes = 0;
    size_t distanceAt = 0;
    bool jump = false;
    bool throughSlot = false;
};

/// What may be a call or jump at these bytes. Code is not decoded from its start for this: in practice no
/// other bytes lead to the very address of a lock routine.
std::optional<Branch> branchAt(std::span<const uint8_t> bytes)
{
    if (bytes.size() < 5)
        return std::nullopt;
    if (bytes[0] == 0xe8 || bytes[0] == 0xe9)
        return Branch{5, 1, bytes[0] == 0xe9, false};
    if (bytes.size() < 6)
        return std::nullopt;
    if (bytes[0] == 0xff && (bytes[1] == 0x15 || bytes[1] == 0x25))
        return Branch{6, 2, bytes[1] == 0x25, true};
    if (bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80)
        return Branch{6, 2, true, false};
    return std::nullopt;
}

std::optional<LockCall> callTo(
    const ModuleImage& image, uint64_t address, uint64_t target, bool slot, bool jump)
{
    const auto& known = slot ? image.lockSlots() : image.lockTargets();
    const auto entry = known.find(target);
    if (entry == known.end())
        return std::nullopt;
    return LockCall{address, entry->second, slot ? image.slotName(target) : image.targetName(target), jump};
}

} // namespace

std::vector<LockCall> findLockCalls(const ModuleImage& image)
{
    std::vector<LockCall> calls;
    for (const ImageSection& section : image.sections()) {
        if (!section.executable || section.name.starts_with(".plt")
            || section.name == ".altinstr_replacement")
            continue;
        for (size_t at = 0; at < section.bytes.size(); ++at) {
            const auto branch = branchAt(section.bytes.subspan(at));
            if (!branch)
                continue;
            int32_t distance = 0;
            std::memcpy(&distance, section.bytes.data() + at + branch->distanceAt, sizeof distance);
            const uint64_t address = section.address + at;
            const uint64_t target = address + branch->bytes + static_cast<uint64_t>(int64_t{distance});
            const auto call = callTo(image, address, target, branch->throughSlot, branch->jump);
            if (!call)
                continue;
            const ImageSymbol* around = image.functionAt(address);
            if (around == nullptr || !image.entries().find(around->name, image.isKernel()))
                calls.push_back(*call);
        }
    }
    return calls;
}

std::optional<LockCall> lockCallOf(const ModuleImage& image, const Instruction& instruction)
{
    if (instruction.operation != Operation::Call && !instruction.isJump())
        return std::nullopt;
    const bool jump = instruction.isJump();
    if (instruction.target != 0)
        return callTo(image, instruction.address, instruction.target, false, jump);
    const bool fixed = instruction.to.kind == OperandKind::Memory && instruction.to.base >= x86::kRegisters
        && instruction.to.index >= x86::kRegisters;
    if (!fixed)
        return std::nullopt;
    return callTo(image, instruction.address, static_cast<uint64_t>(instruction.to.constant), true, jump);
}

} // namespace whichlock
