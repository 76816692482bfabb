// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/value_format.h"

#include "parsers/input/text_cleaning.h"

#include <algorithm>
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

/// With one digit behind the point; what shows as zero has no sign.
std::string signedDecimal(FixedPoint value)
{
    const std::string text = decimal(value.millionths, kFixedPointDigits, 1);
    return value.millionths > 0 && text != "0.0" ? '+' + text : text;
}

bool isControl(std::string_view character)
{
    const auto byte = static_cast<unsigned char>(character[0]);
    // C1 controls are U+0080..U+009F: 0xc2 0x80..0x9f in UTF-8.
    return byte < 0x20 || byte == 0x7f
        || (character.size() == 2 && byte == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
}

bool isInsideCharacter(const std::string& text, size_t at)
{
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
}

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
    return signedDecimal(percent) + " %";
}

std::string formatPoints(FixedPoint points)
{
    return signedDecimal(points);
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

std::string formatMilliseconds(uint64_t ns)
{
    // Nanoseconds are millionths of milliseconds.
    constexpr int kDecimals = 3;
    return formatDecimal({static_cast<int64_t>(std::min<uint64_t>(ns, INT64_MAX))}, kDecimals);
}

std::string formatMicroseconds(uint64_t ns)
{
    constexpr uint64_t kNs = 1000;
    return fmt::format("{}.{:03}", ns / kNs, ns % kNs);
}

std::string formatCount(uint64_t value)
{
    return fmt::format("{}", value);
}

std::string formatRate(FixedPoint value)
{
    constexpr int64_t kThousand = 1000;
    constexpr int64_t kShownAsAMillion = 999'950; // one digit behind the point would make it 1000.0 k
    if (value.millionths >= kShownAsAMillion * FixedPoint::kScale)
        return decimal(value.millionths / (kThousand * kThousand), kFixedPointDigits, 2) + " M";
    if (value.millionths >= 10 * kThousand * FixedPoint::kScale)
        return decimal(value.millionths / kThousand, kFixedPointDigits, 1) + " k";
    return formatNumber(value);
}

std::string elideMiddle(const std::string& text, size_t width)
{
    if (text.size() <= width || width < 5)
        return text;
    size_t front = (width - 2) / 2;
    size_t back = text.size() - (width - 2 - front);
    while (front > 0 && isInsideCharacter(text, front))
        --front;
    while (isInsideCharacter(text, back))
        ++back;
    return text.substr(0, front) + ".." + text.substr(back);
}

std::string printable(std::string_view text)
{
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const size_t length = utf8Length(text);
        const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
        if (character == "\t")
            result += ' ';
        else if (length == 0 || isControl(character))
            result +=
                '?'; // bytes of no character may be controls to a terminal that expects another encoding
        else
            result += character;
        text.remove_prefix(character.size());
    }
    return result;
}

} // namespace whichlock
