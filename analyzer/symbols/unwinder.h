// SPDX-License-Identifier: GPL-3.0-or-later
// Unwinds the stack of a thread from its registers and a copy of its stack, frame by frame, by the call
// frame information of the mapped files. No address is evaluated twice.
#pragma once

#include "analyzer/symbols/address_space.h"
#include "analyzer/symbols/cfi_module.h"
#include "analyzer/symbols/row_cache.h"
#include "analyzer/symbols/symbolizer.h"
#include "analyzer/symbols/unwind_arch.h"

#include <functional>
#include <memory>
#include <vector>

namespace whichlock {

/// Why a chain ends where it does.
enum class UnwindEnd : uint8_t {
    Outermost,  ///< it is complete
    StackCut,   ///< the next frame lies beyond the copy of the stack
    NoMapping,  ///< the last address lies in nothing that was recorded as mapped
    NoFile,     ///< the file that the last address lies in is not at hand, or there is none
    NoRules,    ///< that file does not describe the frame: mostly code that has no caller
    FrameLimit, ///< there are more frames than are taken
    Broken,     ///< what is described cannot be
};

struct UnwoundFrame {
    uint64_t address = 0; ///< of the process
    ModuleId module{};    ///< none: nothing is known to be mapped there
    uint64_t offset = 0;  ///< see ModuleKind; the address itself without a module
    AddressKind kind = AddressKind::InstructionPointer;
    bool guessed = false; ///< found by the frame pointer, as nothing described the frame before it

    bool operator==(const UnwoundFrame&) const = default;
};

struct UnwindResult {
    UnwindEnd end = UnwindEnd::Outermost;
    ModuleId module{};    ///< of the last frame
    bool guessed = false; ///< of any frame
};

/// MT: one thread. For one AddressSpace, as it keeps what it learned by module id.
class Unwinder {
public:
    /// The limit of perf.
    static constexpr size_t kMostFrames = 127;
    /// Makes the call frame information of a module; asked once for each.
    using CfiOf = std::function<std::unique_ptr<CfiModule>(const MappedModule&)>;

    Unwinder(const UnwindArch& arch, CfiOf cfiOf);

    /// Appends the frames, innermost first; at least one.
    UnwindResult unwind(const AddressSpace& space, int32_t pid, const UnwindStart& start,
        const StackCopy& stack, std::vector<UnwoundFrame>& frames);

    /// Addresses evaluated and distinct rows so far, for benchmarks.
    size_t evaluatedAddresses() const { return cache_.size(); }
    size_t distinctRows() const { return rows_.size(); }

private:
    struct State {
        RegisterFile registers{};
        uint64_t pc = 0;
        bool exact = true; ///< the pc is no return address
        bool guessed = false;
    };

    UnwindRowId rowOf(const AddressSpace& space, ModuleId module, uint64_t offset);
    UnwindRowId evaluate(const AddressSpace& space, ModuleId module, uint64_t offset);
    std::optional<UnwindEnd> step(const UnwindRow& row, const StackCopy& stack, State& state) const;
    std::optional<uint64_t> cfaOf(
        const UnwindRow& row, const RegisterFile& registers, const StackCopy& stack) const;
    UnwindEnd endWithoutRow(ModuleId module) const;
    bool stepByFramePointer(const MappingTree& mappings, const StackCopy& stack, State& state) const;

    const UnwindArch& arch_;
    CfiOf cfiOf_;
    std::vector<std::unique_ptr<CfiModule>> modules_; ///< of module id n at n - 1
    UnwindRows rows_;
    RowCache cache_;
};

} // namespace whichlock
