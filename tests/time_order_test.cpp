// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/time_order.h"

#include <gtest/gtest.h>

#include <string>

namespace whichlock::test {
namespace {

class TimeOrderTest : public testing::Test {
protected:
    void add(uint64_t time, char item) { order_.add(time, item); }
    void round()
    {
        order_.roundEnded([this](uint64_t, char one) { released_ += one; });
    }
    void end()
    {
        order_.releaseAll([this](uint64_t, char one) { released_ += one; });
    }

    TimeOrder<char> order_;
    std::string released_;
};

TEST_F(TimeOrderTest, sortsAcrossTheBuffersOfARound)
{
    add(30, 'c'); // of one processor
    add(10, 'a'); // of another
    add(20, 'b');
    end();
    EXPECT_EQ(released_, "abc");
}

TEST_F(TimeOrderTest, keepsTheOrderOfArrivalAtOneTime)
{
    add(5, 'x');
    add(5, 'y');
    add(5, 'z');
    end();
    EXPECT_EQ(released_, "xyz");
}

TEST_F(TimeOrderTest, holdsBackWhatTheNextRoundMayStillPrecede)
{
    add(10, 'a');
    add(40, 'd');
    round(); // nothing is known to be complete yet
    EXPECT_EQ(released_, "");
    add(20, 'b');
    add(50, 'e');
    round(); // complete up to 40
    EXPECT_EQ(released_, "abd");
    add(45, 'f');
    end();
    EXPECT_EQ(released_, "abdfe");
}

} // namespace
} // namespace whichlock::test
