// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/shared_mappings.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

PerfMapping mapping(uint32_t pid, uint64_t start, uint64_t length, uint64_t inode, uint32_t flags = 1)
{
    return {.pid = pid,
        .start = start,
        .length = length,
        .isData = true,
        .hasDetails = true,
        .flags = flags,
        .inode = inode};
}

TEST(SharedMappings, giveOnePlaceToAWordThatTwoProcessesHave)
{
    SharedMappings shared;
    shared.add(mapping(1, 0x1000, 0x1000, 77));
    PerfMapping second = mapping(2, 0x8000, 0x1000, 77);
    second.pageOffset = 0x200;
    shared.add(second);
    const auto first = shared.find(1, 0x1208);
    const auto other = shared.find(2, 0x8008);
    ASSERT_TRUE(first && other);
    EXPECT_EQ(first->object, other->object);
    EXPECT_EQ(first->offset, 0x208U);
    EXPECT_EQ(other->offset, 0x208U);
    EXPECT_FALSE(shared.find(1, 0x2000));
    EXPECT_FALSE(shared.find(1, 0xfff));
    EXPECT_FALSE(shared.find(3, 0x1208));
}

TEST(SharedMappings, areNoneOfPrivateOnesAndOfWhatHasNoFile)
{
    SharedMappings shared;
    shared.add(mapping(1, 0x1000, 0x1000, 77, 2));
    shared.add(mapping(1, 0x3000, 0x1000, 0));
    EXPECT_FALSE(shared.find(1, 0x1008));
    EXPECT_FALSE(shared.find(1, 0x3008));
}

TEST(SharedMappings, areCutByWhatIsMappedOverThem)
{
    SharedMappings shared;
    shared.add(mapping(1, 0x1000, 0x4000, 77));
    shared.add(mapping(1, 0x2000, 0x1000, 5, 2)); // private, in the middle
    EXPECT_EQ(shared.find(1, 0x1800)->offset, 0x800U);
    EXPECT_FALSE(shared.find(1, 0x2800));
    EXPECT_EQ(shared.find(1, 0x3800)->offset, 0x2800U);
    shared.add(mapping(1, 0x0, 0x4800, 78)); // over the beginning of the rest
    EXPECT_EQ(shared.find(1, 0x4900)->offset, 0x3900U);
    EXPECT_NE(shared.find(1, 0x4700)->object, shared.find(1, 0x4900)->object);
    shared.add(mapping(1, UINT64_MAX - 10, 100, 79)); // wraps
    EXPECT_FALSE(shared.find(1, 5).has_value() && shared.find(1, 5)->offset == 16);
}

TEST(SharedMappings, areInheritedAndLostAtExec)
{
    SharedMappings shared;
    shared.add(mapping(1, 0x1000, 0x1000, 77));
    shared.fork(2, 1);
    shared.add(mapping(2, 0x1000, 0x1000, 5, 2));
    EXPECT_TRUE(shared.find(1, 0x1008)); // the child's own mapping is not the parent's
    EXPECT_FALSE(shared.find(2, 0x1008));
    shared.fork(3, 1);
    shared.exec(1);
    EXPECT_FALSE(shared.find(1, 0x1008));
    EXPECT_TRUE(shared.find(3, 0x1008));
    shared.fork(3, 9); // the pid is used again, by a child of who shares nothing
    EXPECT_FALSE(shared.find(3, 0x1008));
}

} // namespace
} // namespace whichlock::test
