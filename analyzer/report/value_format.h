// SPDX-License-Identifier: GPL-3.0-or-later
// How a scaled integer is shown. Every view uses these; none has a format of its own.
#pragma once

#include "parsers/fixed_point.h"

#include <cstdint>
#include <string>

namespace whichlock {

/// `4.19 %`, `0.00 %`; a share that is not zero never prints as zero: `<0.01 %`.
std::string formatShare(Share share, int decimals = 2);
/// `-2.8 %`, `+40.0 %`.
std::string formatChange(FixedPoint percent);
/// `+23.7`: percentage points.
std::string formatPoints(FixedPoint points);
/// `108.622`, `1588`: without trailing zeros, at most three decimals.
std::string formatNumber(FixedPoint value);
/// Exactly `decimals` digits behind the point.
std::string formatDecimal(FixedPoint value, int decimals);
/// Nanoseconds as milliseconds: `114.313`.
std::string formatMilliseconds(uint64_t ns);
/// Nanoseconds as microseconds: `15.860`.
std::string formatMicroseconds(uint64_t ns);
/// Plain digits.
std::string formatCount(uint64_t value);
/// A number of bytes or events in words: `2.21 M`, `33.4 k`.
std::string formatRate(FixedPoint value);
/// The middle is left out where the text has more than `width` characters.
std::string elideMiddle(const std::string& text, size_t width);
/// The text without control characters and bytes that are no UTF-8, so that input cannot steer a terminal.
std::string printable(std::string_view text);

} // namespace whichlock
