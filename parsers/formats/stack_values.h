// SPDX-License-Identifier: GPL-3.0-or-later
// Texts with a value a stack: what the values are, as far as the text around them says, and what tools write
// behind the names of frames.
#pragma once

#include "parsers/format.h"

#include <optional>
#include <string_view>

namespace whichlock::stackvalues {

/// What is added up by stack.
enum class Told : uint8_t {
    Nothing, ///< the text does not say
    Samples, ///< of the processor
    OffCpu,  ///< time that threads were off their processors
};

struct Values {
    Told told = Told::Nothing;
    uint64_t nsEach = 0;      ///< of OffCpu: ns of a value of one
    bool unitAssumed = false; ///< the unit is not printed: the usual one of such tools
};

/// By the caption, the command and the paragraph above, and the name of the input.
Values valuesToldBy(const Surroundings& around, std::string_view inputName);

/// Sets kind, quantity and unit; `fractional`: values have digits behind the point.
void setQuantity(const Values& values, bool fractional, SectionRecord& record);

/// A printed decimal in the unit of a section; `rounded` where digits are lost. Empty: it is none, or does
/// not fit.
struct Value {
    uint64_t value = 0;
    bool rounded = false;
};
std::optional<Value> valueOf(std::string_view text, const Values& values, bool fractional);

/// A frame of that name without the mark that tells where it belongs: `_[k]` kernel, `_[i]` inlined,
/// `_[j]` made at run time, `_[w]` of who woke the thread.
TextFrame frameOf(std::string_view name);

/// The object of frames that are marked as the kernel's.
inline constexpr std::string_view kKernelObject = "[kernel.kallsyms]";

} // namespace whichlock::stackvalues
