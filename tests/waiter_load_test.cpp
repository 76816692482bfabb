// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/waiter_load.h"

#include <numeric>

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

TEST(WaiterLoad, countsWallTimeOnceHoweverManyWait)
{
    WaiterLoad load(1000);
    load.waitBegins(1100);
    load.waitBegins(1150);
    load.waitEnds(1200);
    load.waitEnds(1250); // 150 by the wall clock, 100 + 100 of waiting
    load.waitBegins(2000);
    load.waitEnds(2010);
    load.advance(5000);
    EXPECT_EQ(load.contendedWallNs(), 160U);
    EXPECT_EQ(load.maxWaiters(), 2U);
    EXPECT_EQ(load.waiters(), 0U);
    const auto& strip = load.strip().waitNs();
    EXPECT_EQ(std::accumulate(strip.begin(), strip.end(), uint64_t{0}), 210U);
}

TEST(WaiterStrip, keepsTheSumOfAllWaitingWhenItGetsWider)
{
    WaiterStrip strip;
    strip.add(0, 100, 3);
    const uint64_t narrow = strip.bucketNs();
    strip.add(1'000'000'000, 3'000'000'000, 2);
    EXPECT_GT(strip.bucketNs(), narrow);
    ASSERT_EQ(strip.waitNs().size(), WaiterStrip::kBuckets);
    const auto& sums = strip.waitNs();
    EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), uint64_t{0}), 300U + 4'000'000'000U);
    EXPECT_EQ(sums[0], 300U);
    const size_t last = 2'999'999'999 / strip.bucketNs();
    EXPECT_GT(sums[last], 0U);
    EXPECT_LT(last, WaiterStrip::kBuckets);
}

} // namespace
} // namespace whichlock::test
