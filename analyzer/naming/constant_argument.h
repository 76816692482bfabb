// SPDX-License-Identifier: GPL-3.0-or-later
// The address that a call passes where the code itself has it: of a global object, without any debug info.
#pragma once

#include "analyzer/naming/instruction.h"

#include <optional>
#include <span>

namespace whichlock {

/// What the first argument of a call is if that is a constant on every way to it. `function` are all
/// instructions of the function in order; `callSite` lies in the call.
std::optional<uint64_t> constantFirstArgument(std::span<const Instruction> function, uint64_t callSite);

} // namespace whichlock
