// SPDX-License-Identifier: GPL-3.0-or-later
// The calls of lock routines in machine code.
#pragma once

#include "analyzer/naming/module_image.h"

#include <optional>
#include <string_view>
#include <vector>

namespace whichlock {

/// A call of a routine that takes a lock.
struct LockCall {
    uint64_t address = 0; ///< of the call or jump
    LockEntry entry{};
    std::string_view routine{};
    bool tail = false; ///< a jump: the caller's frame is gone
};

/// All direct calls of lock routines in a module, by address, without those in lock routines themselves.
std::vector<LockCall> findLockCalls(const ModuleImage& image);

/// The call of a lock routine that an instruction is; nothing if it is none.
std::optional<LockCall> lockCallOf(const ModuleImage& image, const Instruction& instruction);

} // namespace whichlock
