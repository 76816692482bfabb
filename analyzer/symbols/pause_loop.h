// SPDX-License-Identifier: GPL-3.0-or-later
// Finds out by the machine code whether an address lies in a loop that only waits: a few instructions around
// the one that tells the processor so (x86 `pause`, arm64 `yield`, `isb`, `wfe`). That is how spin locks
// wait.
#pragma once

#include "analyzer/symbols/call_before.h"

#include <cstddef>
#include <span>

namespace whichlock {

/// Bytes on either side of an address that inPauseLoop() may look at.
inline constexpr size_t kPauseLoopBytes = 64;

/// Whether the instruction at index `at` of `code` belongs to such a loop. Errs on the side of no: atomic
/// instructions in the loop, which also run when nobody has to wait, do not count as waiting.
bool inPauseLoop(CodeMachine machine, std::span<const uint8_t> code, size_t at);

} // namespace whichlock
