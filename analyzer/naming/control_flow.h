// SPDX-License-Identifier: GPL-3.0-or-later
// The instructions of one function and how control reaches each of them. Hot and cold parts are one graph.
#pragma once

#include "analyzer/naming/instruction.h"

#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whichlock {

/// Half-open.
struct AddressRange {
    uint64_t low = 0;
    uint64_t high = 0;

    bool contains(uint64_t address) const { return address >= low && address < high; }
    bool operator==(const AddressRange&) const = default;
};

/// Jumps that no instruction shows: from a patched place to its target, as `__jump_table` of kernels lists
/// them. Sorted by the place.
using HiddenJumps = std::vector<std::pair<uint64_t, uint64_t>>;

class ControlFlow {
public:
    static constexpr uint32_t kNone = UINT32_MAX;

    /// A way into an instruction.
    struct Edge {
        uint32_t from = kNone;
        bool applies =
            true; ///< false: the instruction at `from` jumps here, and its other effects do not matter
    };

    /// Takes decoded instructions, sorted by address. In kernels code runs on behind a trap.
    ControlFlow(std::vector<Instruction> instructions, bool trapsReturn, const HiddenJumps& hidden);

    const Instruction& at(uint32_t index) const { return instructions_[index]; }
    size_t size() const { return instructions_.size(); }
    /// The instruction that covers an address.
    std::optional<uint32_t> find(uint64_t address) const;
    /// The ways into an instruction, the one from the instruction before it first.
    void predecessors(uint32_t index, std::vector<Edge>& edges) const;
    /// Whether jumps lead to the instruction.
    bool isJumpTarget(uint32_t index) const { return jumpsTo_.count(instructions_[index].address) != 0; }

private:
    std::vector<Instruction> instructions_;
    std::unordered_multimap<uint64_t, uint32_t> jumpsTo_;
    std::vector<uint32_t> computedJumps_; ///< of switches: what nothing else leads to is their target
    bool trapsReturn_ = false;
};

} // namespace whichlock
