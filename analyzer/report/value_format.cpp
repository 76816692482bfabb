// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/value_format.h"

#include <fmt/format.h>

namespace whichlock {
namespace {

int64_t powerOfTen(int exponent)
{
    int64_t power = 1;
    for (; exponent > 0; --exponent)
        power *= 10;
    return power;
}

/// value / 10^scale with `decimals` digits behind the point, rounded half away from zero.
std::string decimal(int64_t value, int scale, int decimals)
{
    const bool negative = value < 0;
    auto magnitude = negative ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
    const auto divisor = static_cast<uint64_t>(powerOfTen(scale - decimals));
    magnitude = magnitude / divisor + (magnitude % divisor >= (divisor + 1) / 2 && divisor > 1 ? 1 : 0);
    const auto unit = static_cast<uint64_t>(powerOfTen(decimals));
    const std::string_view sign = negative && magnitude != 0 ? "-" : "";
    if (decimals == 0)
        return fmt::format("{}{}", sign, magnitude);
    return fmt::format("{}{}.{:0{}}", sign, magnitude / unit, magnitude % unit, decimals);
}

constexpr int kFixedPointDigits = 6;
constexpr int kPercentDigitsOfShare = 7;

} // namespace

std::string formatShare(Share share, int decimals)
{
    const std::string text = decimal(share.ppb, kPercentDigitsOfShare, decimals);
    if (share.ppb > 0 && text == decimal(0, kPercentDigitsOfShare, decimals))
        return fmt::format(
            "<{} %", decimal(powerOfTen(kPercentDigitsOfShare - decimals), kPercentDigitsOfShare, decimals));
    return text + " %";
}

std::string formatChange(FixedPoint percent)
{
    return fmt::format(
        "{}{} %", percent.millionths > 0 ? "+" : "", decimal(percent.millionths, kFixedPointDigits, 1));
}

std::string formatPoints(FixedPoint points)
{
    return fmt::format(
        "{}{}", points.millionths > 0 ? "+" : "", decimal(points.millionths, kFixedPointDigits, 1));
}

std::string formatNumber(FixedPoint value)
{
    constexpr int kDecimals = 3;
    std::string text = decimal(value.millionths, kFixedPointDigits, kDecimals);
    while (text.back() == '0')
        text.pop_back();
    if (text.back() == '.')
        text.pop_back();
    return text;
}

std::string formatDecimal(FixedPoint value, int decimals)
{
    return decimal(value.millionths, kFixedPointDigits, decimals);
}

std::string formatCount(uint64_t value)
{
    return fmt::format("{}", value);
}

std::string formatRate(FixedPoint value)
{
    constexpr int64_t kThousand = 1000;
    if (value.millionths >= kThousand * kThousand * FixedPoint::kScale)
        return decimal(value.millionths / (kThousand * kThousand), kFixedPointDigits, 2) + " M";
    if (value.millionths >= 10 * kThousand * FixedPoint::kScale)
        return decimal(value.millionths / kThousand, kFixedPointDigits, 1) + " k";
    return formatNumber(value);
}

std::string elideMiddle(const std::string& text, size_t width)
{
    if (text.size() <= width || width < 5)
        return text;
    const size_t front = (width - 2) / 2;
    const size_t back = width - 2 - front;
    return text.substr(0, front) + ".." + text.substr(text.size() - back);
}

std::string printable(std::string_view text)
{
    std::string result;
    result.reserve(text.size());
    for (size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        // C1 controls are U+0080..U+009F: 0xc2 0x80..0x9f in UTF-8.
        const bool c1 =
            byte == 0xc2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xa0;
        if (byte < 0x20 || byte == 0x7f)
            result += byte == '\t' ? ' ' : '?';
        else if (c1)
            result += '?', ++at;
        else
            result += text[at];
    }
    return result;
}

} // namespace whichlock
