// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/duration_histogram.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

TEST(DurationHistogram, hasExactCountsSumsAndExtremes)
{
    DurationHistogram histogram;
    for (const uint64_t ns : {7U, 1000U, 12345678U})
        histogram.add(ns);
    EXPECT_EQ(histogram.count(), 3U);
    EXPECT_EQ(histogram.sumNs(), 12346685U);
    EXPECT_EQ(histogram.minNs(), 7U);
    EXPECT_EQ(histogram.maxNs(), 12345678U);
    EXPECT_EQ(histogram.percentileNs(1), 7U);
    EXPECT_EQ(DurationHistogram().percentileNs(99), 0U);
}

TEST(DurationHistogram, hasPercentilesWithinThreePercentOfSortedDurations)
{
    std::mt19937_64 random(7);
    std::vector<uint64_t> durations;
    DurationHistogram histogram;
    for (int i = 0; i < 5000; ++i) {
        durations.push_back(random() >> (random() % 60));
        histogram.add(durations.back());
    }
    std::ranges::sort(durations);
    for (const unsigned percent : {1U, 50U, 90U, 99U, 100U}) {
        const auto exact = static_cast<double>(durations[durations.size() * percent / 100 - 1]);
        EXPECT_NEAR(static_cast<double>(histogram.percentileNs(percent)), exact, exact * 0.03) << percent;
    }
}

TEST(DurationHistogram, addsUpToOneOfAllDurationsWhenMerged)
{
    DurationHistogram all;
    DurationHistogram one;
    DurationHistogram other;
    for (uint64_t i = 0; i < 1000; ++i) {
        all.add(i * i);
        (i % 3 == 0 ? one : other).add(i * i);
    }
    one.add(other);
    EXPECT_EQ(one.count(), all.count());
    EXPECT_EQ(one.sumNs(), all.sumNs());
    EXPECT_EQ(one.percentileNs(50), all.percentileNs(50));
    EXPECT_EQ(one.percentileNs(99), all.percentileNs(99));
}

TEST(DurationHistogram, takesTheLongestDurationThereIs)
{
    DurationHistogram histogram;
    histogram.add(UINT64_MAX);
    EXPECT_EQ(histogram.percentileNs(50), UINT64_MAX);
}

} // namespace
} // namespace whichlock::test
