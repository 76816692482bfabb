// SPDX-License-Identifier: GPL-3.0-or-later
// Follows the argument of a call backwards through the machine code, until what it points to can be named.
#pragma once

#include "analyzer/naming/step_back.h"
#include "analyzer/naming/value_namer.h"

namespace whichlock {

/// An instruction that the value came through, and what the value is before it.
struct SliceStep {
    uint64_t address = 0;
    SymbolicValue value{};
};

/// Where a path of the slice ended.
struct SliceEnd {
    uint64_t address = 0;
    SymbolicValue value{};
};

/// What a slice found.
struct SliceResult {
    NameCandidate best{};
    SliceEnd named{};                    ///< where on its path and as what value the best name was told
    std::vector<NameCandidate> others{}; ///< full names of other locks on other paths
    std::vector<SliceStep> steps{};      ///< to the best name, from the call on
    std::vector<SliceEnd> ends{};        ///< of paths without a full name
    bool exhausted = false;              ///< the code is too large to follow every path
};

/// MT: one thread.
class BackwardSlice {
public:
    BackwardSlice(FunctionModel& function, DwarfTypes& types, LockType kind);
    ~BackwardSlice();

    /// Follows a value from where the instruction of this number is about to run.
    SliceResult run(uint32_t instruction, const SymbolicValue& value);
    /// What the value is in terms of the registers at the function's entry; nothing if it depends on anything
    /// else, or on the way taken.
    std::optional<SymbolicValue> valueAtEntry(uint32_t instruction, const SymbolicValue& value);

private:
    struct Path;
    struct Found;
    void followAll(uint32_t instruction, const SymbolicValue& value);
    void follow(Path path);
    bool isFirstVisit(uint32_t at, uint32_t from, const SymbolicValue& value);
    bool step(Path& path, const Instruction& instruction);
    void branch(const Path& path, uint32_t from, SymbolicValue value);
    void end(const Path& path, bool atEntry);
    SymbolicValue inEntryRegisters(const SymbolicValue& value);
    bool tryName(const Path& path, const SymbolicValue& value, uint64_t address);
    bool locationChanges(const SymbolicValue& value, const Instruction& instruction) const;
    void finish();

    FunctionModel& function_;
    ValueNamer namer_;
    StepBack stepBack_;
    SliceResult result_;
    std::vector<Path> pending_;
    std::vector<Found> found_; ///< full names, the nearest to the call first
    std::unordered_map<uint64_t, std::vector<SymbolicValue>> visited_; ///< values by edge
    std::set<int64_t> loopStrides_;
    bool naming_ = true;
    int budget_ = 0;
};

/// Whether two names are of one lock, one told from a larger object than the other.
bool nameSameLock(const NameCandidate& a, const NameCandidate& b);

} // namespace whichlock
