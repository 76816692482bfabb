// SPDX-License-Identifier: GPL-3.0-or-later
// Chains that are recorded by frame pointers lack a function: the innermost one, where it set up no frame,
// leaves the frame of its caller in place, and the first return address read leads past that caller. The call
// before the return address tells which function that was.
#pragma once

#include <cstdint>
#include <string>

namespace whichlock {

class ModuleReader;

/// What lies between the innermost frame of a process in such a chain and the next one.
struct CallGap {
    enum class Kind : uint8_t {
        Unknown, ///< no code at hand, or the call goes through a register: a function may be missing
        None,    ///< the next frame called the innermost function itself
        Lost,    ///< the next frame called `function`, which the chain lacks
    };

    Kind kind = Kind::Unknown;
    std::string function{};   ///< readable; empty if nothing is lost
    bool otherModule = false; ///< it is of neither module as far as is known: the dynamic linker found it

    bool operator==(const CallGap&) const = default;
};

/// Compares what is called before `returnOffset` of `caller` with the function at `leafOffset` of `leaf`.
CallGap callGap(ModuleReader& leaf, uint64_t leafOffset, ModuleReader& caller, uint64_t returnOffset);

} // namespace whichlock
