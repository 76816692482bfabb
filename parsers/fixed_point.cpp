// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/fixed_point.h"

#include <charconv>

namespace whichlock {
namespace {

__extension__ using Wide = unsigned __int128;

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// mantissa * 10^exponent, rounded to nearest; empty on overflow.
std::optional<int64_t> scaled(int64_t mantissa, int exponent)
{
    for (; exponent > 0; --exponent) {
        if (__builtin_mul_overflow(mantissa, 10, &mantissa))
            return std::nullopt;
    }
    for (; exponent < -1 && mantissa != 0; ++exponent)
        mantissa /= 10;
    if (exponent == -1)
        mantissa = (mantissa + (mantissa < 0 ? -5 : 5)) / 10;
    else if (exponent < -1)
        mantissa = 0;
    return mantissa;
}

/// The number times 10^decimals. Accepts an exponent only if `exponentAllowed`.
std::optional<int64_t> parseScaled(std::string_view text, int decimals, bool exponentAllowed)
{
    size_t at = 0;
    const bool negative = at < text.size() && text[at] == '-';
    if (negative)
        ++at;
    int64_t mantissa = 0;
    int exponent = decimals;
    bool anyDigit = false;
    bool pastPoint = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (isDigit(c)) {
            anyDigit = true;
            if (pastPoint && exponent <= -3)
                continue; // beyond any digit that is kept
            if (__builtin_mul_overflow(mantissa, 10, &mantissa)
                || __builtin_add_overflow(mantissa, c - '0', &mantissa))
                return std::nullopt;
            if (pastPoint)
                --exponent;
        } else if ((c == '.' || c == ',') && !pastPoint && anyDigit) {
            pastPoint = true;
        } else {
            break;
        }
    }
    if (!anyDigit)
        return std::nullopt;
    if (at < text.size()) {
        if (!exponentAllowed || (text[at] != 'e' && text[at] != 'E'))
            return std::nullopt;
        int power = 0;
        const char* begin = text.data() + at + 1;
        const char* end = text.data() + text.size();
        if (begin != end && *begin == '+' && (++begin == end || !isDigit(*begin)))
            return std::nullopt;
        const auto [stop, error] = std::from_chars(begin, end, power);
        if (error != std::errc() || stop != end || power < -30 || power > 18)
            return std::nullopt;
        exponent += power;
    }
    return scaled(negative ? -mantissa : mantissa, exponent);
}

} // namespace

std::optional<FixedPoint> parseFixedPoint(std::string_view text)
{
    const auto value = parseScaled(text, 6, false);
    return value ? std::optional(FixedPoint{*value}) : std::nullopt;
}

std::optional<FixedPoint> parseScientific(std::string_view text)
{
    const auto value = parseScaled(text, 6, true);
    return value ? std::optional(FixedPoint{*value}) : std::nullopt;
}

std::optional<Share> parsePercent(std::string_view text)
{
    const auto value = parseScaled(text, 7, true);
    return value ? std::optional(Share{*value}) : std::nullopt;
}

std::optional<uint64_t> parseUnsigned(std::string_view text)
{
    uint64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size() || text.empty())
        return std::nullopt;
    return value;
}

Share saturatedSum(Share a, Share b)
{
    Share sum;
    if (__builtin_add_overflow(a.ppb, b.ppb, &sum.ppb))
        sum.ppb = a.ppb < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

Share shareOf(uint64_t part, uint64_t whole)
{
    if (whole == 0)
        return {};
    const Wide share = (static_cast<Wide>(part) * Share::kWhole + whole / 2) / whole;
    return {share > INT64_MAX ? INT64_MAX : static_cast<int64_t>(share)};
}

} // namespace whichlock
