// SPDX-License-Identifier: GPL-3.0-or-later
// Kernel versions and the ranges of them for which a row of a table holds.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whichlock {

/// The numbers at the front of a version: 2.6.8.1 of `2.6.8.1-mm1`.
struct KernelVersion {
    std::array<uint16_t, 4> part{};
    uint8_t parts = 0; ///< how many of them were given; the others are zero

    /// Reads the numbers at the front of a text; needs at least two. Whatever follows them is left out.
    static std::optional<KernelVersion> parse(std::string_view text);

    /// Missing parts count as zero: 2.6 equals 2.6.0 in order, though not in extent.
    std::strong_ordering operator<=>(const KernelVersion& other) const { return part <=> other.part; }
    bool operator==(const KernelVersion& other) const { return part == other.part; }
};

/// The version as it was read, without what followed the numbers.
std::string toString(const KernelVersion& version);

/// A range of versions. Both ends belong to it, and `until` is a prefix: 2.6 includes 2.6.39.
struct Era {
    std::optional<KernelVersion> since; ///< nothing = from the beginning
    std::optional<KernelVersion> until; ///< nothing = still

    /// The era of one version and all that refine it: 2.5 gives the whole series.
    static Era of(const KernelVersion& version) { return Era{version, version}; }

    bool contains(const KernelVersion& version) const;
    /// Whether a version exists that both contain.
    bool overlaps(const Era& other) const;
    /// Whether every version of the other era belongs to this one.
    bool covers(const Era& other) const;
    /// The versions that both contain; nothing if there are none.
    std::optional<Era> intersect(const Era& other) const;
    /// False if `since` lies after `until`.
    bool valid() const;
};

} // namespace whichlock
