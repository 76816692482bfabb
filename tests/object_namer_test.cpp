// SPDX-License-Identifier: GPL-3.0-or-later
// Addresses of locks as variables and members.
#include "analyzer/naming/object_namer.h"

#include "analyzer/symbols/demangle.h"
#include "tests/support/lock_fixtures.h"

#include <gtest/gtest.h>

namespace whichlock {
namespace {

class ObjectNames : public testing::Test {
protected:
    void SetUp() override
    {
        const std::string path = test::lockFixture("O2", "pthread_sites");
        auto image = ModuleImage::open(ModuleFiles{.code = path, .debug = path});
        ASSERT_TRUE(image);
        image_ = std::move(*image);
        namer_ = std::make_unique<ObjectNamer>(*image_);
    }

    /// Where the symbol table has a variable.
    uint64_t addressOf(std::string_view name) const
    {
        for (const ImageSymbol& symbol : image_->objects())
            if (demangle(symbol.name) == name)
                return symbol.address;
        ADD_FAILURE() << "no symbol " << name;
        return 0;
    }

    std::string nameAt(uint64_t address)
    {
        const auto object = namer_->nameOf(address);
        return object ? object->name : "-";
    }

    std::unique_ptr<ModuleImage> image_;
    std::unique_ptr<ObjectNamer> namer_;
};

// sizeof(Shard) is 8 + 40 + 56 + 4 + 4 * 4 and padding, 128 bytes; its members begin at 0, 8, 48, 104 and
// 108.
constexpr uint64_t kShardBytes = 128;

TEST_F(ObjectNames, areVariablesAndMembers)
{
    EXPECT_EQ(nameAt(addressOf("g_mutex")), "g_mutex");
    EXPECT_EQ(nameAt(addressOf("g_shard") + 8), "g_shard.mu");
    EXPECT_EQ(nameAt(addressOf("g_shard") + 104), "g_shard.tick");
    EXPECT_EQ(nameAt(addressOf("g_guarded") + 8), "g_guarded.lock");
}

TEST_F(ObjectNames, haveTheIndexOfTheElement)
{
    EXPECT_EQ(nameAt(addressOf("g_table") + 3 * kShardBytes + 8), "g_table[3].mu");
    EXPECT_EQ(nameAt(addressOf("g_table") + 7 * kShardBytes + 48), "g_table[7].map");
}

TEST_F(ObjectNames, areThoseOfTheLockAroundItsWords)
{
    // The writers of a pthread_rwlock_t sleep on its third word.
    const uint64_t lock = addressOf("g_shard") + 48;
    const auto object = namer_->nameOf(lock + 8);
    ASSERT_TRUE(object);
    EXPECT_EQ(object->name, "g_shard.map");
    EXPECT_EQ(object->lockAddress, lock);
    EXPECT_EQ(object->lockType, "pthread_rwlock_t");
}

TEST_F(ObjectNames, sayTheOffsetWhereNoLockIs)
{
    const auto object = namer_->nameOf(addressOf("g_shard"));
    ASSERT_TRUE(object);
    EXPECT_TRUE(object->lockType.empty());
    EXPECT_EQ(nameAt(addressOf("g_shard") + 112), "g_shard+0x70");
}

TEST_F(ObjectNames, areNoneOutsideOfVariables)
{
    EXPECT_EQ(nameAt(addressOf("g_table") + 8 * kShardBytes + 4096), "-");
    EXPECT_EQ(nameAt(0), "-");
    EXPECT_EQ(nameAt(UINT64_MAX), "-");
}

} // namespace
} // namespace whichlock
