// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks that tracers print one frame a line, innermost first: `schedule+92`, `ffffffff81785085 schedule`,
// `b'schedule'`, `7f12ab sem_wait+0x1f (libc.so.6)`. Pure functions on strings.
#pragma once

#include "parsers/record.h"

#include <optional>
#include <string_view>

namespace whichlock::stacklines {

/// Longer stacks are none.
inline constexpr size_t kMostFrames = 2048;

/// The frame that an indented line is; empty for prose, code and numbers.
std::optional<TextFrame> frameOf(std::string_view line);

/// Blanks and tabs at the begin of the line.
size_t indentOf(std::string_view line);

} // namespace whichlock::stacklines
