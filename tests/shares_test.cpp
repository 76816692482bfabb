// SPDX-License-Identifier: GPL-3.0-or-later
// Shares, intervals, means and changes against published values and hand arithmetic.
#include "analyzer/report/shares.h"
#include "parsers/record.h"

#include <cmath>
#include <gtest/gtest.h>

namespace whichlock {
namespace {

double percent(Share share)
{
    return static_cast<double>(share.ppb) / static_cast<double>(Share::kPercent);
}

FixedPoint fixed(std::string_view text)
{
    const auto value = parseFixedPoint(text);
    EXPECT_TRUE(value) << text;
    return value.value_or(FixedPoint{});
}

TEST(WilsonInterval, hasThePublishedLimits)
{
    struct Published {
        uint64_t hits;
        uint64_t samples;
        double low;
        double high;
    };
    // Method 3 of R. G. Newcombe, Two-sided confidence intervals for the single proportion (1998), table I;
    // and 10 of 100, 0 of 30, as the formula of E. B. Wilson (1927) gives them with z = 1.959964.
    constexpr Published kPublished[] = {{81, 263, 25.53, 36.62}, {15, 148, 6.24, 16.05}, {0, 20, 0, 16.11},
        {1, 29, 0.61, 17.18}, {29, 29, 88.30, 100}, {10, 100, 5.523, 17.437}, {0, 30, 0, 11.351}};
    for (const Published& right : kPublished) {
        const ShareInterval found = wilsonInterval(right.hits, right.samples);
        const double tolerance = right.samples == 100 || right.samples == 30 ? 0.0006 : 0.006;
        EXPECT_NEAR(percent(found.low), right.low, tolerance) << right.hits << " of " << right.samples;
        EXPECT_NEAR(percent(found.high), right.high, tolerance) << right.hits << " of " << right.samples;
    }
}

TEST(WilsonInterval, staysBetweenNothingAndEverything)
{
    EXPECT_EQ(wilsonInterval(0, 1).low.ppb, 0);
    EXPECT_EQ(wilsonInterval(1, 1).high.ppb, Share::kWhole);
    EXPECT_EQ(wilsonInterval(0, 0).low.ppb, 0);
    EXPECT_EQ(wilsonInterval(0, 0).high.ppb, 0);
    const ShareInterval huge = wilsonInterval(UINT64_MAX / 2, UINT64_MAX);
    EXPECT_NEAR(percent(huge.low), 50, 0.0001);
    EXPECT_NEAR(percent(huge.high), 50, 0.0001);
}

TEST(WilsonInterval, holdsTheShareAndMirrorsItsComplement)
{
    for (const uint64_t samples : {1U, 7U, 30U, 999U}) {
        for (uint64_t hits = 0; hits <= samples; hits += 1 + samples / 9) {
            const ShareInterval interval = wilsonInterval(hits, samples);
            const Share share = shareOf(hits, samples);
            EXPECT_LE(interval.low, share);
            EXPECT_GE(interval.high, share);
            const ShareInterval rest = wilsonInterval(samples - hits, samples);
            EXPECT_NEAR(
                static_cast<double>(interval.low.ppb), static_cast<double>(Share::kWhole - rest.high.ppb), 2);
        }
    }
}

TEST(Quotient, roundsToNearestAndAwayFromZeroOnATie)
{
    EXPECT_EQ(quotient(fixed("1"), fixed("3"))->millionths, 333'333);
    EXPECT_EQ(quotient(fixed("2"), fixed("3"))->millionths, 666'667);
    EXPECT_EQ(quotient(FixedPoint{1}, fixed("2"))->millionths, 1);
    EXPECT_EQ(quotient(FixedPoint{-1}, fixed("2"))->millionths, -1);
    EXPECT_EQ(quotient(FixedPoint{1}, fixed("-2"))->millionths, -1);
    EXPECT_EQ(quotient(fixed("29947"), fixed("453"))->millionths, 66'108'168); // 66.10816777
}

TEST(Quotient, isNothingByZeroOrBeyondTheRange)
{
    EXPECT_FALSE(quotient(fixed("1"), fixed("0")));
    EXPECT_FALSE(quotient(FixedPoint{INT64_MAX}, FixedPoint{1}));
    EXPECT_FALSE(quotient(FixedPoint{INT64_MIN}, FixedPoint{1}));
    EXPECT_EQ(quotient(FixedPoint{INT64_MAX}, fixed("1"))->millionths, INT64_MAX);
    EXPECT_EQ(quotient(FixedPoint{INT64_MIN}, fixed("1"))->millionths, INT64_MIN);
}

TEST(ChangePercent, isHandArithmetic)
{
    EXPECT_EQ(changePercent(fixed("3.55"), fixed("4.97"))->millionths, 40'000'000);
    EXPECT_EQ(changePercent(fixed("3.03"), fixed("0.97"))->millionths, -67'986'799); // -67.98679868
    EXPECT_EQ(changePercent(fixed("2218"), fixed("1673"))->millionths, -24'571'686); // -24.57168620
    EXPECT_EQ(changePercent(fixed("5"), fixed("0"))->millionths, -100'000'000);
    EXPECT_EQ(changePercent(fixed("5"), fixed("5"))->millionths, 0);
    EXPECT_EQ(changePercent(fixed("-10"), fixed("5"))->millionths, -150'000'000);
}

TEST(ChangePercent, isNothingFromZeroOrBeyondTheRange)
{
    EXPECT_FALSE(changePercent(fixed("0"), fixed("5")));
    EXPECT_FALSE(changePercent(fixed("0"), fixed("0")));
    EXPECT_FALSE(changePercent(FixedPoint{1}, FixedPoint{INT64_MAX}));
    EXPECT_FALSE(changePercent(FixedPoint{INT64_MAX}, FixedPoint{INT64_MIN / 2})
        && changePercent(FixedPoint{1}, FixedPoint{INT64_MIN}));
}

TEST(MeanOf, passesCellsThatCouldNotBeRead)
{
    const std::vector<std::vector<int64_t>> rows = {
        {17, 1, kNoCounter}, {18, kNoCounter, kNoCounter}, {19}, {20, 2, kNoCounter}, {19, 4, kNoCounter}};
    EXPECT_EQ(meanOf(rows, 0, 0, rows.size())->millionths, 18'600'000);
    EXPECT_EQ(meanOf(rows, 0, 1, rows.size())->millionths, 19'000'000);
    EXPECT_EQ(meanOf(rows, 1, 0, rows.size())->millionths, 2'333'333);
    EXPECT_FALSE(meanOf(rows, 2, 0, rows.size()));
    EXPECT_FALSE(meanOf(rows, 3, 0, rows.size()));
    EXPECT_FALSE(meanOf(rows, 0, 2, 2));
}

TEST(MeanOf, doesNotOverflow)
{
    const std::vector<std::vector<int64_t>> rows(3, {INT64_MAX});
    EXPECT_FALSE(meanOf(rows, 0, 0, 3)); // the mean is right, but has no six digits behind the point
    const std::vector<std::vector<int64_t>> large(1'000, {9'000'000'000'000});
    EXPECT_EQ(meanOf(large, 0, 0, large.size()), FixedPoint::fromInteger(9'000'000'000'000));
}

Weight weightOf(uint64_t value, int64_t printedPpb = 0)
{
    Weight weight;
    weight.value = value;
    weight.samples = 1;
    weight.printed.ppb = printedPpb;
    return weight;
}

TEST(SectionWhole, isThePrintedTotal)
{
    Section section;
    section.total = 1000;
    const SectionWhole whole(section, weightOf(900));
    EXPECT_EQ(whole.total(), 1000U);
    EXPECT_EQ(whole.basis(), "printed");
    EXPECT_EQ(whole.unlisted().value, 100U);
    EXPECT_NEAR(percent(*whole.part(weightOf(300)).ofTotal), 30, 1e-9);
    EXPECT_NEAR(percent(*whole.shareWithout(weightOf(300), weightOf(500))), 60, 1e-9);
    EXPECT_FALSE(whole.shareWithout(weightOf(300), weightOf(1000)));
}

TEST(SectionWhole, isTheSumOfTheRowsWithoutATotalOrWithOneThatIsTooSmall)
{
    for (const std::optional<uint64_t> total : {std::optional<uint64_t>(), std::optional<uint64_t>(899)}) {
        Section section;
        section.total = total;
        const SectionWhole whole(section, weightOf(900));
        EXPECT_EQ(whole.total(), 900U);
        EXPECT_EQ(whole.basis(), "sum of the listed rows");
        EXPECT_EQ(whole.unlisted().value, 0U);
        EXPECT_NEAR(percent(*whole.part(weightOf(300)).ofTotal), 33.3333333, 1e-6);
    }
}

TEST(SectionWhole, isAHundredPercentWherePercentagesArePrinted)
{
    Section section;
    section.sharesPrinted = true;
    const SectionWhole whole(section, weightOf(900, 80 * Share::kPercent));
    EXPECT_FALSE(whole.total());
    EXPECT_EQ(whole.unlisted().printed.ppb, 20 * Share::kPercent);
    const Weight lock = weightOf(100, 22 * Share::kPercent);
    EXPECT_NEAR(percent(*whole.part(lock).ofTotal), 22, 1e-9);
    // 22 of 100 - 45
    EXPECT_NEAR(percent(*whole.shareWithout(lock, weightOf(0, 45 * Share::kPercent))), 40, 1e-9);
    EXPECT_FALSE(whole.shareWithout(lock, weightOf(0, Share::kWhole)));
    // Rounded percentages may add up to more than everything.
    const SectionWhole more(section, weightOf(900, Share::kWhole + 1000));
    EXPECT_EQ(more.unlisted().printed.ppb, 0);
}

} // namespace
} // namespace whichlock
