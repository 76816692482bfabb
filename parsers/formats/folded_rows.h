// SPDX-License-Identifier: GPL-3.0-or-later
// Single lines of folded stacks. Pure functions on strings.
#pragma once

#include "parsers/formats/stack_values.h"

#include <optional>
#include <string_view>
#include <vector>

namespace whichlock::folded {

/// Longer stacks are none.
inline constexpr size_t kMostFrames = 32 * 1024;

struct FoldedLine {
    std::string_view stack{};
    std::string_view value{}; ///< digits, perhaps with a point
    // Where two numbers end the line, it may be one of a differential profile:
    std::string_view stackOfTwo{};
    std::string_view first{}; ///< the first of its values; empty: one number ends the line
};

/// The line as a stack and its value; a stack without separators is one word.
std::optional<FoldedLine> lineOf(std::string_view text);

/// The frames, outermost first; a separator inside the brackets of a name does not count. False where there
/// are too many, or where a blank follows a separator as in prose.
bool splitFrames(std::string_view stack, std::vector<std::string_view>& frames);

/// The frames without their marks, innermost first. `-` stands between the frames of the program and those
/// of the kernel; what follows `--`, or `-` behind the scheduler, belongs to the thread that woke this one.
void framesOf(const std::vector<std::string_view>& names, std::vector<TextFrame>& frames);

/// Whether a program, a thread or the kernel begins in the function.
bool isEntry(std::string_view function);

} // namespace whichlock::folded
