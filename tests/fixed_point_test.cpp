// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/fixed_point.h"

#include <gtest/gtest.h>

#include <string>

namespace whichlock {
namespace {

std::optional<int64_t> fixed(std::string_view text)
{
    const auto value = parseFixedPoint(text);
    return value ? std::optional(value->millionths) : std::nullopt;
}

std::optional<int64_t> percent(std::string_view text)
{
    const auto value = parsePercent(text);
    return value ? std::optional(value->ppb) : std::nullopt;
}

TEST(FixedPoint, readsDecimals)
{
    EXPECT_EQ(fixed("123"), 123'000'000);
    EXPECT_EQ(fixed("-1.5"), -1'500'000);
    EXPECT_EQ(fixed("43,4012"), 43'401'200);
    EXPECT_EQ(fixed("0"), 0);
    EXPECT_EQ(fixed("-0"), 0);
    EXPECT_EQ(fixed("007.50"), 7'500'000);
    EXPECT_EQ(fixed("5."), 5'000'000);
}

TEST(FixedPoint, roundsDigitsBeyondTheSixth)
{
    EXPECT_EQ(fixed("0.1234564"), 123'456);
    EXPECT_EQ(fixed("0.1234565"), 123'457);
    EXPECT_EQ(fixed("-0.1234565"), -123'457);
    EXPECT_EQ(fixed("0.12345649"), 123'456);
    EXPECT_EQ(fixed("0.123456499999999999999999999999999"), 123'456);
    EXPECT_EQ(fixed("0.9999999"), 1'000'000);
    EXPECT_EQ(fixed("0.0000004999"), 0);
}

TEST(FixedPoint, refusesWhatIsNoDecimal)
{
    for (const char* text : {"", "-", ".", ".5", ",5", "1.2.3", "1,234.5", "1e3", " 1", "1 ", "+1", "0x10",
             "1-", "--1", "1.5%", "nan", "inf", "-.5"})
        EXPECT_FALSE(fixed(text)) << text;
}

TEST(FixedPoint, refusesWhatDoesNotFit)
{
    EXPECT_EQ(fixed("9223372036854.775807"), INT64_MAX);
    EXPECT_EQ(fixed("-9223372036854.775807"), -INT64_MAX);
    EXPECT_FALSE(fixed("9223372036854.775808"));
    EXPECT_FALSE(fixed("9223372036855"));
    EXPECT_FALSE(fixed("99999999999999999999999999999999"));
    EXPECT_FALSE(fixed(std::string(1000, '9')));
    EXPECT_EQ(fixed(std::string(1000, '0') + "1"), 1'000'000);
}

TEST(Percent, readsTheFormsThatToolsPrint)
{
    EXPECT_EQ(percent("51.0125"), 510'125'000);
    EXPECT_EQ(percent("100.000"), Share::kWhole);
    EXPECT_EQ(percent("0"), 0);
    EXPECT_EQ(percent("7,32358"), 73'235'800);
    EXPECT_EQ(percent("7.5e-04"), 7'500); // 0.00075 %
    EXPECT_EQ(percent("7.5E-04"), 7'500);
    EXPECT_EQ(percent("7.5e+01"), 750'000'000);
    EXPECT_EQ(percent("1e2"), Share::kWhole);
    EXPECT_EQ(percent("1.0e-07"), 1);
    EXPECT_EQ(percent("5e-08"), 1); // half of a part per billion, away from zero
    EXPECT_EQ(percent("4.9e-08"), 0);
    EXPECT_EQ(percent("1e-30"), 0);
}

TEST(Percent, refusesBrokenExponentsAndOverflow)
{
    for (const char* text : {"", "e", "1e", "1e-", "1e+", "1e+-5", "1e--5", "1e1.5", "1e5x", "e5", "1e19",
             "1e-31", "1e18", "1e999999999999", "99999999999999", "%", "5 %"})
        EXPECT_FALSE(percent(text)) << text;
}

TEST(Unsigned, readsDigitsWholeOrNothing)
{
    EXPECT_EQ(parseUnsigned("0"), 0U);
    EXPECT_EQ(parseUnsigned("18446744073709551615"), UINT64_MAX);
    for (const char* text : {"", "18446744073709551616", "-1", "+1", "1 ", " 1", "1.0", "0x1", "12a"})
        EXPECT_FALSE(parseUnsigned(text)) << text;
}

TEST(ShareOf, roundsToNearest)
{
    EXPECT_EQ(shareOf(1, 3).ppb, 333'333'333);
    EXPECT_EQ(shareOf(2, 3).ppb, 666'666'667);
    EXPECT_EQ(shareOf(1, 2'000'000'000).ppb, 1);
    EXPECT_EQ(shareOf(1, 2'000'000'001).ppb, 0);
    EXPECT_EQ(shareOf(8'723'555, 208'218'076).ppb, 41'896'242); // 4.18962422 %
}

TEST(ShareOf, holdsAtTheEndsOfItsRange)
{
    EXPECT_EQ(shareOf(0, 0).ppb, 0);
    EXPECT_EQ(shareOf(5, 0).ppb, 0);
    EXPECT_EQ(shareOf(0, 5).ppb, 0);
    EXPECT_EQ(shareOf(UINT64_MAX, UINT64_MAX).ppb, Share::kWhole);
    EXPECT_EQ(shareOf(UINT64_MAX / 2, UINT64_MAX).ppb, Share::kWhole / 2);
    EXPECT_EQ(shareOf(1, UINT64_MAX).ppb, 0);
    // More than the whole does not happen; it must not become a small or negative share if it does.
    EXPECT_EQ(shareOf(UINT64_MAX, 1).ppb, INT64_MAX);
}

TEST(SaturatedSum, staysInRange)
{
    EXPECT_EQ(saturatedSum({1}, {2}).ppb, 3);
    EXPECT_EQ(saturatedSum({INT64_MAX}, {1}).ppb, INT64_MAX);
    EXPECT_EQ(saturatedSum({INT64_MIN}, {-1}).ppb, INT64_MIN);
}

} // namespace
} // namespace whichlock
