// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers at the edge of 64 bits, in places where they are multiplied: a figure is right or absent.
#include "tests/support/reported.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace whichlock::test {
namespace {

std::string readprofileOf(uint64_t idle, uint64_t other)
{
    return fmt::format("{} default_idle 7.8125\n{} schedule 1.5000\n{} dput 0.2500\n{} total 0.1000\n", idle,
        other, other, idle + 2 * other);
}

TEST(LargeNumbers, ofTwoProfilesAreComparedOrLeftOut)
{
    // A count is compared in millionths: 9.2e12 is the largest that fits.
    const std::string text = "Before:\n\n" + readprofileOf(9'000'000'000'000, 4'000'000'000'000)
        + "\nAfter:\n\n" + readprofileOf(99'000'000'000'000, 2'000'000'000'000) + "\nBye.\n";
    const Reported reported = reportOfTexts({{"mail.txt", text}});
    ASSERT_EQ(reported.profile.sections.size(), 2U);
    ASSERT_EQ(reported.json.at("comparisons").size(), 1U);
    size_t compared = 0;
    for (const Json& row : reported.json.at("comparisons")[0].at("rows")) {
        if (row.at("what") == "default_idle") {
            EXPECT_EQ(row.at("before"), 9e12);
            EXPECT_TRUE(row.at("after").is_null()) << row;
            EXPECT_FALSE(row.contains("change_percent"));
        } else if (row.at("what") == "dput") {
            EXPECT_EQ(row.at("before"), 4e12);
            EXPECT_EQ(row.at("change_percent"), -50);
            ++compared;
        } else if (row.at("what") == "total") {
            EXPECT_TRUE(row.at("before").is_null()) << row;
            EXPECT_TRUE(row.at("after").is_null()) << row;
        }
    }
    EXPECT_EQ(compared, 1U);
}

std::string kprobesPoint(int cpus, uint64_t hits, uint64_t us, uint64_t ns)
{
    return fmt::format("Scalability total CPUs is {},    Total probe hit is {}\n"
                       "Total time in usec is {},    Per Probe Hit in nsec is {}\n"
                       "----------------------------------------------------------------------\n",
        cpus, hits, us, ns);
}

TEST(LargeNumbers, ofAScalingSeriesGiveNoWrongEfficiency)
{
    const std::string text = "Scalable results for 2.6.9 kernel\n"
                             "----------------------------------------------------------------------\n"
        + kprobesPoint(1, 1, 1'000'000, 1) + kprobesPoint(2, 9'000'000, 1, 1)
        + kprobesPoint(3, 9'000'000, 1, 1);
    const Reported reported = reportOfTexts({{"scale.txt", text}});
    ASSERT_EQ(reported.sections("measurements").size(), 1U);
    const Json scaling = reported.sections("measurements")[0].value("scaling", Json());
    ASSERT_FALSE(scaling.is_null());
    EXPECT_EQ(scaling.at("throughput_first"), 1);
    EXPECT_EQ(scaling.at("throughput_last"), 9e12);
    EXPECT_EQ(scaling.at("speedup_last"), 9e12);
    // 9e12 / 3 * 100 % does not fit into millionths.
    EXPECT_FALSE(scaling.contains("efficiency_last_percent")) << scaling;
}

TEST(LargeNumbers, ofAFlatProfileKeepTheirShares)
{
    const Reported reported = reportOfTexts(
        {{"profile.txt", readprofileOf(9'223'372'036'854'775'807ULL, 4'611'686'018'427'387'904ULL)}});
    ASSERT_EQ(reported.profile.sections.size(), 1U);
    EXPECT_EQ(reported.report.internalError, "");
    const Json& section = reported.json.at("sections")[0];
    EXPECT_EQ(section.at("total"), 18'446'744'073'709'551'615ULL);
    EXPECT_NEAR(section.at("idle_share_of_total_percent").get<double>(), 50, 1e-6);
}

TEST(LargeNumbers, beyondTheSumAreLeftOutAndTold)
{
    const std::string text = "18446744073709551615 default_idle 7.8125\n5 schedule 1.5000\n7 dput 0.2500\n";
    const Reported reported = reportOfTexts({{"profile.txt", text}});
    EXPECT_EQ(reported.report.internalError, "");
    ASSERT_EQ(reported.profile.sections.size(), 1U);
    EXPECT_EQ(reported.profile.sections[0].rows, 3U);
    EXPECT_EQ(reported.json.at("diagnostics").at(0).at("code"), "number-overflow");
    EXPECT_EQ(reported.json.at("diagnostics").at(0).at("count"), 2);
}

} // namespace
} // namespace whichlock::test
