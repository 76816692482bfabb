// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/kernel_version.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace whichlock {

namespace {

/// One end of an era on a line where a missing part is either below or above all numbers.
using Bound = std::array<uint32_t, 4>;
constexpr uint32_t kAbove = UINT32_MAX;

Bound lowerBound(const std::optional<KernelVersion>& since)
{
    Bound bound{};
    if (since)
        std::copy(since->part.begin(), since->part.end(), bound.begin());
    return bound;
}

Bound upperBound(const std::optional<KernelVersion>& until)
{
    Bound bound{kAbove, kAbove, kAbove, kAbove};
    if (until)
        std::copy_n(until->part.begin(), until->parts, bound.begin());
    return bound;
}

} // namespace

std::optional<KernelVersion> KernelVersion::parse(std::string_view text)
{
    KernelVersion version;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (version.parts < version.part.size()) {
        uint16_t number = 0;
        const auto [next, error] = std::from_chars(at, end, number);
        if (error != std::errc())
            break;
        version.part[version.parts++] = number;
        if (next == end || *next != '.')
            break;
        at = next + 1;
    }
    if (version.parts < 2)
        return std::nullopt;
    return version;
}

std::string toString(const KernelVersion& version)
{
    return fmt::format("{}", fmt::join(version.part.begin(), version.part.begin() + version.parts, "."));
}

bool Era::contains(const KernelVersion& version) const
{
    const Bound point = lowerBound(version);
    return lowerBound(since) <= point && point <= upperBound(until);
}

bool Era::overlaps(const Era& other) const
{
    return lowerBound(since) <= upperBound(other.until) && lowerBound(other.since) <= upperBound(until)
        && valid() && other.valid();
}

bool Era::covers(const Era& other) const
{
    return lowerBound(since) <= lowerBound(other.since) && upperBound(other.until) <= upperBound(until);
}

std::optional<Era> Era::intersect(const Era& other) const
{
    if (!overlaps(other))
        return std::nullopt;
    Era both;
    both.since = lowerBound(since) < lowerBound(other.since) ? other.since : since;
    both.until = upperBound(other.until) < upperBound(until) ? other.until : until;
    return both;
}

bool Era::valid() const
{
    return lowerBound(since) <= upperBound(until);
}

} // namespace whichlock
