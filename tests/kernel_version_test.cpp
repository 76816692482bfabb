// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/kernel_version.h"

#include <gtest/gtest.h>

namespace whichlock {

namespace {

KernelVersion version(std::string_view text)
{
    const auto read = KernelVersion::parse(text);
    EXPECT_TRUE(read.has_value()) << text;
    return read.value_or(KernelVersion());
}

Era era(std::string_view since, std::string_view until)
{
    Era range;
    if (!since.empty())
        range.since = version(since);
    if (!until.empty())
        range.until = version(until);
    return range;
}

} // namespace

TEST(KernelVersion, readsTheNumbersInFrontOfWhateverFollows)
{
    EXPECT_EQ(toString(version("2.6.8.1-mm1")), "2.6.8.1");
    EXPECT_EQ(toString(version("2.6.16.5")), "2.6.16.5");
    EXPECT_EQ(toString(version("6.1.55-foo")), "6.1.55");
    EXPECT_EQ(toString(version("2.5.28-3")), "2.5.28");
    EXPECT_EQ(toString(version("2.6.0-test11")), "2.6.0");
    EXPECT_EQ(toString(version("2.5")), "2.5");
    EXPECT_EQ(toString(version("5.10.0.14.0")), "5.10.0.14");
    EXPECT_EQ(version("6.1.55-foo").parts, 3);
}

TEST(KernelVersion, refusesTextWithoutTwoNumbersInFront)
{
    EXPECT_FALSE(KernelVersion::parse(""));
    EXPECT_FALSE(KernelVersion::parse("6"));
    EXPECT_FALSE(KernelVersion::parse("linux-2.6.8"));
    EXPECT_FALSE(KernelVersion::parse("2.-6"));
    EXPECT_FALSE(KernelVersion::parse("99999.1"));
    EXPECT_EQ(toString(version("2.6.99999")), "2.6");
}

TEST(KernelVersion, comparesByNumberNotByText)
{
    EXPECT_LT(version("2.6.8"), version("2.6.16"));
    EXPECT_LT(version("2.6.8"), version("2.6.8.1"));
    EXPECT_LT(version("2.4.37"), version("2.5"));
    EXPECT_LT(version("5.19"), version("6.1"));
    EXPECT_EQ(version("2.6"), version("2.6.0"));
}

TEST(Era, includesBothEndsAndTakesUntilAsAPrefix)
{
    EXPECT_TRUE(era("2.4", "2.4").contains(version("2.4.37")));
    EXPECT_FALSE(era("2.4", "2.4").contains(version("2.5.0")));
    EXPECT_TRUE(era("2.4", "2.6").contains(version("2.6.39")));
    EXPECT_FALSE(era("2.4", "2.6").contains(version("3.0")));
    EXPECT_TRUE(era("2.4", "2.6.8").contains(version("2.6.8.1-mm1")));
    EXPECT_FALSE(era("2.4", "2.6.8").contains(version("2.6.9")));
    EXPECT_FALSE(era("2.6.9", "").contains(version("2.6.8.1")));
    EXPECT_TRUE(era("2.6.9", "").contains(version("6.1.55")));
    EXPECT_TRUE(era("", "2.6.8").contains(version("2.0.36")));
    EXPECT_TRUE(era("", "").contains(version("2.0.36")));
}

TEST(Era, ofASeriesOverlapsWhatHoldsForPartOfIt)
{
    const Era series25 = Era::of(version("2.5"));
    EXPECT_TRUE(series25.overlaps(era("2.5.27", "2.5.29")));
    EXPECT_TRUE(era("2.5.27", "2.5.29").overlaps(series25));
    EXPECT_TRUE(series25.overlaps(era("2.4", "2.6.8")));
    EXPECT_FALSE(series25.overlaps(era("2.4", "2.4")));
    EXPECT_FALSE(series25.overlaps(era("2.6", "")));
    EXPECT_TRUE(series25.overlaps(era("", "")));
    EXPECT_TRUE(Era::of(version("2.6.16.5")).overlaps(era("2.6.16", "2.6.24")));
    EXPECT_FALSE(Era::of(version("2.6.16.5")).overlaps(era("2.6.9", "2.6.15")));
}

TEST(Era, coversOnlyWhatLiesWhollyInIt)
{
    EXPECT_TRUE(era("2.4", "2.6.8").covers(Era::of(version("2.5"))));
    EXPECT_FALSE(era("2.5.27", "2.5.29").covers(Era::of(version("2.5"))));
    EXPECT_TRUE(era("2.5.27", "2.5.29").covers(Era::of(version("2.5.28-3"))));
    EXPECT_FALSE(era("2.4", "2.6.8").covers(era("2.4", "")));
    EXPECT_TRUE(era("", "").covers(era("2.4", "")));
    EXPECT_FALSE(era("2.4", "").covers(era("", "2.6")));
}

TEST(Era, intersectGivesTheCommonPartOrNothing)
{
    const auto common = era("2.4", "2.6.8").intersect(Era::of(version("2.6")));
    ASSERT_TRUE(common);
    EXPECT_EQ(toString(*common->since), "2.6");
    EXPECT_EQ(toString(*common->until), "2.6.8");
    const auto open = era("2.6.33", "").intersect(era("", ""));
    ASSERT_TRUE(open);
    EXPECT_EQ(toString(*open->since), "2.6.33");
    EXPECT_FALSE(open->until);
    EXPECT_FALSE(era("2.4", "2.4").intersect(era("2.6", "")));
}

TEST(Era, isInvalidWhenItEndsBeforeItBegins)
{
    EXPECT_FALSE(era("2.6.9", "2.6.8").valid());
    EXPECT_TRUE(era("2.6.9", "2.6").valid());
    EXPECT_TRUE(era("2.6.8", "2.6.8").valid());
}

} // namespace whichlock
