// SPDX-License-Identifier: GPL-3.0-or-later
// Recorded stacks with the names of their functions: the one place where addresses become frames.
#pragma once

#include "analyzer/locks/routine_table.h"
#include "analyzer/session/call_site_locks.h"
#include "analyzer/session/chain_code.h"
#include "analyzer/session/recorded_stacks.h"
#include "parsers/record.h"

#include <set>
#include <span>
#include <string>

namespace whichlock {

/// MT: one thread.
class NamedStacks {
public:
    /// Names all addresses of `stacks`; all must outlive it.
    NamedStacks(const RecordedStacks& stacks, const AddressSpace& space, Symbolizer& symbolizer,
        const RoutineTable& routines, EvidenceLog* evidence = nullptr);

    /// The frames of a stack, innermost first; functions inlined into one come before it, and a caller that
    /// the recorded chain lacks stands in its place. Valid until the next call.
    std::span<const TextFrame> framesOf(AddressStackId stack);
    /// The lock of a class of the program's own in which this stack waits; null if that cannot be told.
    const CalledLock* ownLockOf(AddressStackId stack);
    /// What is known of an address of `stacks`.
    const ResolvedAddress& resolved(AddressFrameId frame) const { return resolved_[frame.v - 1]; }
    /// The modules that names of locks come from.
    LockModules& lockModules() { return modules_; }
    /// The file or kernel that an address lies in.
    std::string_view objectOf(AddressFrameId frame) const { return objects_[frame.v - 1]; }

private:
    void appendFrame(AddressFrameId frame);
    bool appendLostCaller(const AddressFrame& leaf, AddressStackId callers);
    void appendTailCaller(const AddressFrame& routine, AddressFrameId caller);
    bool isLockRoutine(AddressFrameId frame);
    bool isLockOrRelease(AddressFrameId frame);
    uint8_t routineOf(AddressFrameId frame);
    void nameLock(AddressStackId caller, size_t firstFrame);
    std::string_view lineText(std::string_view file, uint32_t line);

    const RecordedStacks& stacks_;
    const RoutineTable& table_;
    LockEntries entries_;
    ChainCode code_;
    std::vector<ResolvedAddress> resolved_; ///< of frame i + 1
    std::vector<std::string_view> objects_; ///< of frame i + 1
    std::vector<TextFrame> frames_;         ///< of the last call
    std::vector<uint8_t> routines_; ///< of frame i + 1: 0 not asked yet, 1 none, 2 takes, 3 gives back
    LockModules modules_;
    CallSiteLocks locks_;
    std::set<std::string> lines_; ///< texts of file and line
};

} // namespace whichlock
