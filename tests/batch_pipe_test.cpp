// SPDX-License-Identifier: GPL-3.0-or-later
// Batches are worked on in the order in which they were filled, all of them, and what goes wrong comes out
// where they are filled.
#include "parsers/input/batch_pipe.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

namespace whichlock {
namespace {

using Numbers = std::vector<int>;

TEST(BatchPipe, keepsTheOrderOfManyBatches)
{
    Numbers seen;
    BatchPipe<Numbers> pipe([&](Numbers& batch) { seen.insert(seen.end(), batch.begin(), batch.end()); });
    constexpr int kCount = 10'001;
    for (int i = 0; i < kCount; ++i) {
        pipe.filling().push_back(i);
        if (pipe.filling().size() == 7)
            pipe.pass();
    }
    pipe.finish();
    Numbers expected(kCount);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(seen, expected);
}

TEST(BatchPipe, worksOnWhatWasNeverPassedWhenItFinishes)
{
    Numbers seen;
    BatchPipe<Numbers> pipe([&](Numbers& batch) { seen = batch; });
    pipe.filling() = {1, 2, 3};
    pipe.finish();
    EXPECT_EQ(seen, (Numbers{1, 2, 3}));
}

TEST(BatchPipe, hasDoneAllOfItWhenItIsSettled)
{
    size_t seen = 0;
    BatchPipe<Numbers> pipe([&](Numbers& batch) { seen += batch.size(); }, 3);
    for (size_t i = 1; i <= 1000; ++i) {
        pipe.filling().push_back(0);
        if (i % 4 == 0)
            pipe.pass();
        if (i % 10 == 0) {
            pipe.settle();
            ASSERT_EQ(seen, i);
        }
    }
}

TEST(BatchPipe, doesNotWaitForeverWhenTheWorkThrows)
{
    BatchPipe<Numbers> pipe([](Numbers& batch) {
        if (batch.front() == 3)
            throw std::runtime_error("three");
    });
    const auto fill = [&] {
        for (int i = 0; i < 100; ++i) {
            pipe.filling().push_back(i);
            pipe.pass();
        }
        pipe.finish();
    };
    EXPECT_THROW(fill(), std::runtime_error);
}

TEST(BatchPipe, canBeLeftInTheMiddle)
{
    int worked = 0;
    {
        BatchPipe<Numbers> pipe([&](Numbers&) { ++worked; });
        for (int i = 0; i < 3; ++i) {
            pipe.filling().push_back(i);
            pipe.pass();
        }
        pipe.filling().push_back(3);
    }
    EXPECT_EQ(worked, 3); // what was passed is done, what was not is dropped
}

} // namespace
} // namespace whichlock
