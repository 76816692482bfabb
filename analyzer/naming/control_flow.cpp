// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/control_flow.h"

#include <algorithm>

namespace whichlock {
namespace {

constexpr size_t kMostComputedJumps = 8;

}

ControlFlow::ControlFlow(std::vector<Instruction> instructions, bool trapsReturn, const HiddenJumps& hidden)
    : instructions_(std::move(instructions))
    , trapsReturn_(trapsReturn)
{
    for (uint32_t index = 0; index < instructions_.size(); ++index) {
        const Instruction& one = instructions_[index];
        if (one.isJump() && one.target != 0)
            jumpsTo_.emplace(one.target, index);
        else if (one.operation == Operation::Jump && computedJumps_.size() < kMostComputedJumps)
            computedJumps_.push_back(index);
        const auto first =
            std::lower_bound(hidden.begin(), hidden.end(), std::pair(one.address, uint64_t{0}));
        for (auto jump = first; jump != hidden.end() && jump->first == one.address; ++jump)
            if (jump->second != one.target)
                jumpsTo_.emplace(jump->second, index);
    }
}

std::optional<uint32_t> ControlFlow::find(uint64_t address) const
{
    const auto after = std::upper_bound(instructions_.begin(), instructions_.end(), address,
        [](uint64_t value, const Instruction& one) { return value < one.address; });
    if (after == instructions_.begin() || address >= (after - 1)->end())
        return std::nullopt;
    return static_cast<uint32_t>(after - instructions_.begin() - 1);
}

void ControlFlow::predecessors(uint32_t index, std::vector<Edge>& edges) const
{
    edges.clear();
    bool trap = false;
    if (index > 0) {
        const Instruction& before = instructions_[index - 1];
        trap = before.operation == Operation::Trap;
        if (!trap && !before.endsBlock() && before.end() == instructions_[index].address)
            edges.push_back({index - 1, true});
    }
    const auto [first, last] = jumpsTo_.equal_range(instructions_[index].address);
    for (auto jump = first; jump != last; ++jump)
        edges.push_back({jump->second, false});
    // Warnings of kernels are traps that return; other ways are better evidence.
    if (trap && trapsReturn_)
        edges.push_back({index - 1, false});
    if (edges.empty() && index > 0)
        for (const uint32_t jump : computedJumps_)
            edges.push_back({jump, false});
}

} // namespace whichlock
