// SPDX-License-Identifier: GPL-3.0-or-later
// Printed decimals as scaled integers, so that a figure is never changed by reading it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace whichlock {

/// A decimal number in millionths. Holds up to 9.2e12 with six exact digits after the point.
struct FixedPoint {
    static constexpr int64_t kScale = 1'000'000;

    int64_t millionths = 0;

    static constexpr FixedPoint fromInteger(int64_t value) { return {value * kScale}; }
    auto operator<=>(const FixedPoint&) const = default;
};

/// A part of a whole in parts per billion: 1 % is 10,000,000. Percentages with seven digits are exact.
struct Share {
    static constexpr int64_t kWhole = 1'000'000'000;
    static constexpr int64_t kPercent = kWhole / 100;

    int64_t ppb = 0;

    auto operator<=>(const Share&) const = default;
};

/// The sum, or the number nearest to it that fits.
Share saturatedSum(Share a, Share b);

/// Reads `123`, `-1.5`, `43,4012` (decimal comma) whole; nothing else. Digits beyond the sixth are rounded.
/// Empty when the text is not such a number or does not fit.
std::optional<FixedPoint> parseFixedPoint(std::string_view text);

/// As parseFixedPoint(), also with an exponent: `1.323e+10`.
std::optional<FixedPoint> parseScientific(std::string_view text);

/// Reads a percentage without its sign: `51.0125`, `7.5e-04`, `100.000`, `0`, `7,32358`.
std::optional<Share> parsePercent(std::string_view text);

/// Reads a run of digits whole. Empty when it is none or does not fit into 64 bits.
std::optional<uint64_t> parseUnsigned(std::string_view text);

/// part/whole as a Share, rounded to nearest; anything of 0 is 0.
Share shareOf(uint64_t part, uint64_t whole);

} // namespace whichlock
