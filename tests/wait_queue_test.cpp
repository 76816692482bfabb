// SPDX-License-Identifier: GPL-3.0-or-later
// Who waits, oldest first: the same as an ordered multiset, however many there are.
#include "analyzer/traces/wait_queue.h"

#include <gtest/gtest.h>

#include <random>

namespace whichlock {
namespace {

std::vector<WaitQueue::Wait> all(const WaitQueue& queue)
{
    std::vector<WaitQueue::Wait> waits;
    for (WaitQueue::Walk walk(queue); walk.current() != nullptr; walk.next())
        waits.push_back(*walk.current());
    return waits;
}

TEST(WaitQueue, keepsTheOrderOfTimeAndThenOfThreads)
{
    WaitQueue queue;
    queue.add({20, 1});
    queue.add({10, 9});
    queue.add({20, 0});
    queue.add({10, 9});
    EXPECT_EQ(all(queue), (std::vector<WaitQueue::Wait>{{10, 9}, {10, 9}, {20, 0}, {20, 1}}));
    EXPECT_EQ(queue.first(), (WaitQueue::Wait{10, 9}));
    EXPECT_TRUE(queue.remove({10, 9}));
    EXPECT_FALSE(queue.remove({10, 8}));
    EXPECT_EQ(queue.size(), 3U);
    EXPECT_EQ(queue.first(), (WaitQueue::Wait{10, 9}));
}

/// Grows past what is kept as an array and shrinks again, several times.
TEST(WaitQueue, isAnOrderedMultisetOfAnySize)
{
    WaitQueue queue;
    std::multiset<WaitQueue::Wait> expected;
    std::mt19937 random(7);
    for (int step = 0; step < 20'000; ++step) {
        const bool grows = step / 1500 % 2 == 0;
        const WaitQueue::Wait wait{random() % 1000, static_cast<int32_t>(random() % 4)};
        if (random() % 8 < (grows ? 6U : 2U)) {
            queue.add(wait);
            expected.insert(wait);
        } else {
            const bool any = random() % 3 == 0 || expected.empty();
            const WaitQueue::Wait gone = any ? wait : *expected.begin();
            const auto at = expected.find(gone);
            EXPECT_EQ(queue.remove(gone), at != expected.end());
            if (at != expected.end())
                expected.erase(at);
        }
        ASSERT_EQ(queue.size(), expected.size());
        if (step % 97 == 0) {
            ASSERT_EQ(all(queue), std::vector<WaitQueue::Wait>(expected.begin(), expected.end())) << step;
        }
    }
    queue.clear();
    EXPECT_TRUE(queue.empty());
}

TEST(WaitQueue, thousandsComeAndGoAtOneTime)
{
    WaitQueue queue;
    constexpr int32_t kThreads = 100'000;
    for (int32_t thread = kThreads; thread > 0; --thread)
        queue.add({5, thread});
    for (int32_t thread = 1; thread <= kThreads; ++thread)
        ASSERT_TRUE(queue.remove({5, thread}));
    EXPECT_TRUE(queue.empty());
}

} // namespace
} // namespace whichlock
