// SPDX-License-Identifier: GPL-3.0-or-later
// Typed 32-bit references between the tables of a profile: a stack id cannot be passed for a string id.
#pragma once

#include <compare>
#include <cstdint>

namespace whichlock {

/// A row number in the table that Tag names; 0 = none, so that zeroed memory refers to nothing.
template <class Tag> struct Id {
    uint32_t v = 0;

    explicit operator bool() const { return v != 0; }
    auto operator<=>(const Id&) const = default;
};

using StringId = Id<struct StringTag>;
using FrameId = Id<struct FrameTag>;
using StackId = Id<struct StackTag>;
using ThreadGroupId = Id<struct ThreadGroupTag>;

} // namespace whichlock
