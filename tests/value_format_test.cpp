// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/value_format.h"
#include "parsers/input/text_cleaning.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace whichlock {
namespace {

FixedPoint fixed(std::string_view text)
{
    const auto value = parseFixedPoint(text);
    EXPECT_TRUE(value) << text;
    return value.value_or(FixedPoint{});
}

TEST(FormatShare, roundsHalfAwayFromZero)
{
    EXPECT_EQ(formatShare({41'896'242}), "4.19 %");
    EXPECT_EQ(formatShare({Share::kWhole}), "100.00 %");
    EXPECT_EQ(formatShare({41'850'000}), "4.19 %"); // 4.185
    EXPECT_EQ(formatShare({41'849'999}), "4.18 %");
    EXPECT_EQ(formatShare({290'384'272}, 1), "29.0 %");
    EXPECT_EQ(formatShare({290'384'272}, 0), "29 %");
    EXPECT_EQ(formatShare({-41'896'242}), "-4.19 %");
}

TEST(FormatShare, neverShowsSomethingAsNothing)
{
    EXPECT_EQ(formatShare({0}), "0.00 %");
    EXPECT_EQ(formatShare({1}), "<0.01 %");
    EXPECT_EQ(formatShare({49'999}), "<0.01 %");
    EXPECT_EQ(formatShare({50'000}), "0.01 %");
    EXPECT_EQ(formatShare({499'999}, 1), "<0.1 %");
    EXPECT_EQ(formatShare({500'000}, 1), "0.1 %");
    EXPECT_EQ(formatShare({0}, 1), "0.0 %");
}

TEST(FormatNumber, dropsZerosAtTheEndAndKeepsThreeDecimals)
{
    EXPECT_EQ(formatNumber(fixed("108.622")), "108.622");
    EXPECT_EQ(formatNumber(fixed("1588")), "1588");
    EXPECT_EQ(formatNumber(fixed("0.5")), "0.5");
    EXPECT_EQ(formatNumber(fixed("1000")), "1000");
    EXPECT_EQ(formatNumber(fixed("1.2345")), "1.235");
    EXPECT_EQ(formatNumber(fixed("1.9996")), "2");
    EXPECT_EQ(formatNumber(fixed("-0.0004")), "0");
    EXPECT_EQ(formatNumber(fixed("-7.25")), "-7.25");
    EXPECT_EQ(formatNumber({INT64_MAX}), "9223372036854.776");
    EXPECT_EQ(formatNumber({INT64_MIN}), "-9223372036854.776");
}

TEST(FormatDecimal, hasAsManyDigitsAsAsked)
{
    EXPECT_EQ(formatDecimal(fixed("4.7319"), 2), "4.73");
    EXPECT_EQ(formatDecimal(fixed("4.7319"), 0), "5");
    EXPECT_EQ(formatDecimal(fixed("2"), 3), "2.000");
    EXPECT_EQ(formatDecimal(fixed("-0.05"), 1), "-0.1");
    EXPECT_EQ(formatDecimal(fixed("-0.04"), 1), "0.0");
    EXPECT_EQ(formatDecimal(fixed("0.123456"), 6), "0.123456");
}

TEST(FormatChange, hasASignUnlessItShowsNothing)
{
    EXPECT_EQ(formatChange(fixed("40")), "+40.0 %");
    EXPECT_EQ(formatChange(fixed("-67.9868")), "-68.0 %");
    EXPECT_EQ(formatChange(fixed("-24.5717")), "-24.6 %");
    EXPECT_EQ(formatChange(fixed("0")), "0.0 %");
    EXPECT_EQ(formatChange(fixed("0.04")), "0.0 %");
    EXPECT_EQ(formatChange(fixed("-0.04")), "0.0 %");
    EXPECT_EQ(formatPoints(fixed("23.7333")), "+23.7");
    EXPECT_EQ(formatPoints(fixed("-17.8736")), "-17.9");
    EXPECT_EQ(formatPoints(fixed("0.04")), "0.0");
}

TEST(FormatRate, choosesTheUnit)
{
    EXPECT_EQ(formatRate(fixed("2206227.9")), "2.21 M");
    EXPECT_EQ(formatRate(fixed("33392.1")), "33.4 k");
    EXPECT_EQ(formatRate(fixed("10000")), "10.0 k");
    EXPECT_EQ(formatRate(fixed("9999")), "9999");
    EXPECT_EQ(formatRate(fixed("999949")), "999.9 k");
    EXPECT_EQ(formatRate(fixed("999950")), "1.00 M");
    EXPECT_EQ(formatRate(fixed("10476596")), "10.48 M");
    EXPECT_EQ(formatRate(fixed("0")), "0");
}

TEST(ElideMiddle, keepsBothEnds)
{
    EXPECT_EQ(elideMiddle("abcdefghij", 10), "abcdefghij");
    EXPECT_EQ(elideMiddle("abcdefghij", 9), "abc..ghij");
    EXPECT_EQ(elideMiddle("abcdefghij", 7), "ab..hij");
    EXPECT_EQ(elideMiddle("abcdefghij", 5), "a..ij");
    EXPECT_EQ(elideMiddle("abcdefghij", 4), "abcdefghij"); // nothing would be left of it
    EXPECT_EQ(elideMiddle("", 9), "");
}

TEST(ElideMiddle, cutsNoCharacterInTwo)
{
    const std::string text = "z\u00e4hler_\u20ac_\U0001f512_schl\u00f6sser_\u00e4\u00f6\u00fc\u00df";
    ASSERT_TRUE(isValidUtf8(text));
    for (size_t width = 5; width <= text.size(); ++width) {
        const std::string shown = elideMiddle(text, width);
        EXPECT_LE(shown.size(), width);
        EXPECT_TRUE(isValidUtf8(shown)) << width << ' ' << shown;
    }
}

TEST(Printable, leavesTextAsItIs)
{
    EXPECT_EQ(printable("dput+0x4c [vmlinux] ~"), "dput+0x4c [vmlinux] ~");
    const std::string text = "z\u00e4hler \u20ac \U0001f512";
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable(""), "");
}

TEST(Printable, takesTheEffectFromControlCharacters)
{
    using namespace std::string_view_literals;
    EXPECT_EQ(printable("a\033[31mb"), "a?[31mb");
    EXPECT_EQ(printable("a\tb"), "a b");
    EXPECT_EQ(printable("a\nb\rc\bd\007e\x7f"
                        "f"),
        "a?b?c?d?e?f");
    EXPECT_EQ(printable("a\0b"sv), "a?b");
    // U+009B is the one-character form of ESC [, in UTF-8 and as a byte of its own.
    EXPECT_EQ(printable("a\xc2\x9b"
                        "31mb"),
        "a?31mb");
    EXPECT_EQ(printable("a\xc2\x80\xc2\x9f\xc2\xa0"), "a??\xc2\xa0");
    EXPECT_EQ(printable("a\x9b"
                        "31mb"),
        "a?31mb");
}

TEST(Printable, givesValidUtf8WhateverComes)
{
    EXPECT_EQ(printable("caf\xe9"), "caf?");
    EXPECT_EQ(printable("\xc3"), "?");
    EXPECT_EQ(printable("\xe2\x82"), "??");
    EXPECT_EQ(printable("\xc0\xaf"), "??"); // an overlong slash
    EXPECT_EQ(printable("\xff\xfe"), "??");
    EXPECT_EQ(printable("\xc2\x41"), "?A");
    std::mt19937 random(7);
    for (int i = 0; i < 2000; ++i) {
        std::string bytes(random() % 12, '\0');
        for (char& byte : bytes)
            byte = static_cast<char>(random() % 3 == 0 ? random() % 256 : 0x80 + random() % 0x80);
        const std::string shown = printable(bytes);
        EXPECT_TRUE(isValidUtf8(shown));
        EXPECT_LE(shown.size(), bytes.size());
        EXPECT_TRUE(std::none_of(shown.begin(), shown.end(),
            [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }));
        for (size_t at = shown.find('\xc2'); at != std::string::npos; at = shown.find('\xc2', at + 1))
            EXPECT_GE(static_cast<unsigned char>(shown.at(at + 1)), 0xa0);
        EXPECT_EQ(printable(shown), shown);
    }
}

} // namespace
} // namespace whichlock
