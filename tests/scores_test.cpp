// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/recording_sink.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

std::vector<ScoreRecord> scoresIn(std::string_view text)
{
    RecordingSink sink;
    loadText(text, sink);
    EXPECT_TRUE(sink.sections.empty());
    return sink.scores;
}

TEST(Scores, takesTheHeadingThatAScoreStandsUnder)
{
    const auto scores = scoresIn("=============== Testing of addevent.syscall.entry ===============\n"
                                 "specjbb score: 2218\n\n"
                                 "=============== Testing of addevent.syscall.return ==============\n"
                                 "specjbb score: 1673\n");
    ASSERT_EQ(scores.size(), 2U);
    EXPECT_EQ(scores[0].name, "specjbb score");
    EXPECT_EQ(scores[0].value, FixedPoint::fromInteger(2218));
    EXPECT_EQ(scores[0].heading, "Testing of addevent.syscall.entry");
    EXPECT_EQ(scores[1].value, FixedPoint::fromInteger(1673));
    EXPECT_EQ(scores[1].heading, "Testing of addevent.syscall.return");
    EXPECT_EQ(scores[1].position.line, 5U);
}

TEST(Scores, takesTheTitleWhereThereIsNoHeading)
{
    const auto scores = scoresIn("2.5.40-mm1:\n\nThroughput 296.11 MB/sec 32 procs\n"
                                 "dbench 32  20.60s user 989.43s system 2674% cpu 37.767 total\n");
    ASSERT_EQ(scores.size(), 1U);
    EXPECT_EQ(scores[0].name, "Throughput, 32 procs");
    EXPECT_EQ(scores[0].unit, "MB/sec");
    EXPECT_EQ(scores[0].value, FixedPoint{296'110'000});
    EXPECT_EQ(scores[0].heading, "2.5.40-mm1");
}

TEST(Scores, takesTheLabelOnTheLineAsHeading)
{
    const auto scores =
        scoresIn("stock BK tree: ~43945 I/Os per second\n  >> patched: ~47149 I/Os per second\n");
    ASSERT_EQ(scores.size(), 2U);
    EXPECT_EQ(scores[0].name, scores[1].name);
    EXPECT_EQ(scores[0].name, "I/Os per second");
    EXPECT_EQ(scores[0].value, FixedPoint::fromInteger(43945));
    EXPECT_EQ(scores[0].heading, "stock BK tree");
    EXPECT_EQ(scores[1].value, FixedPoint::fromInteger(47149));
    EXPECT_EQ(scores[1].heading, "patched");
}

TEST(Scores, takesTheOtherTools)
{
    const auto scores =
        scoresIn("Throughput 61.5376 MB/sec (NB=76.9219 MB/sec  615.376 MBit/sec)  512 procs\n"
                 "Throughput 123.4 MB/sec  10 clients  10 procs  max_latency=12.345 ms\n"
                 "tps = 123.4 (including connections establishing)\n"
                 "average throughput = 1234 messages per second\n"
                 "transactions:                        10000  (1234.56 per sec.)\n"
                 "Time: 12.345\n"
                 "      Total time: 236.418 [sec]\n");
    ASSERT_EQ(scores.size(), 7U);
    EXPECT_EQ(scores[0].name, "Throughput, 512 procs");
    EXPECT_EQ(scores[1].name, "Throughput, 10 clients, 10 procs");
    EXPECT_EQ(scores[2].name, "tps (including connections establishing)");
    EXPECT_EQ(scores[3].value, FixedPoint::fromInteger(1234));
    EXPECT_EQ(scores[3].unit, "messages per second");
    EXPECT_EQ(scores[4].value, FixedPoint{1'234'560'000});
    EXPECT_EQ(scores[5].unit, "s");
    EXPECT_EQ(scores[6].value, FixedPoint{236'418'000});
}

TEST(Scores, stayTheCaptionOfTheProfileBelow)
{
    RecordingSink sink;
    loadText("stock BK tree: ~43945 I/Os per second\n\n"
             "[root@host1 sio]# readprofile -m /root/System.map\n"
             "204038 default_idle 6376.1875\n700889 snidle 1825.2318\n234641 cpu_idle 435.6854\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.title, "stock BK tree: ~43945 I/Os per second");
    EXPECT_EQ(sink.scores.size(), 1U);
}

TEST(Scores, leavesProseAlone)
{
    const auto scores = scoresIn("Spam score: 5\n"
                                 "the score: 12\n"
                                 "We saw 47149 I/Os per second here.\n"
                                 "and it made 47149 I/Os per second\n"
                                 "Throughput 5 times better\n"
                                 "Throughput was 296.11 MB/sec\n"
                                 "tps = 12 as before\n"
                                 "Time: 12:30\n"
                                 "patched: 47,149 I/Os per second\n");
    EXPECT_TRUE(scores.empty());
}

} // namespace
} // namespace whichlock::test
