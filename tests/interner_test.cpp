// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/model/interner.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace whichlock {
namespace {

struct Row {
    int value = 0;

    bool operator==(const Row&) const = default;
};

/// All rows hash alike: only comparing them can tell them apart.
uint64_t hashOf(const Row&)
{
    return 0x12345678'9abcdef0ULL;
}

struct WideRow {
    uint64_t value = 0;

    bool operator==(const WideRow&) const = default;
};

/// Only the upper half differs, which the table is not indexed by; and only every 16th row.
uint64_t hashOf(const WideRow& row)
{
    return (row.value / 16) << 32;
}

using RowId = Id<struct RowTag>;

TEST(Interner, keepsRowsOfEqualHashApart)
{
    Interner<Row, RowId> rows;
    for (int i = 0; i < 500; ++i)
        EXPECT_EQ(rows.intern({i}).v, static_cast<uint32_t>(i) + 1);
    for (int i = 0; i < 500; ++i) {
        const RowId id = rows.intern({i});
        EXPECT_EQ(id.v, static_cast<uint32_t>(i) + 1);
        EXPECT_EQ(rows[id].value, i);
    }
    EXPECT_EQ(rows.size(), 500U);
}

TEST(Interner, keepsIdsWhileItGrows)
{
    Interner<WideRow, RowId> rows;
    for (uint64_t i = 0; i < 5000; ++i) {
        ASSERT_EQ(rows.intern({i}).v, i + 1);
        ASSERT_EQ(rows.intern({i / 2}).v, i / 2 + 1);
    }
    EXPECT_EQ(rows.size(), 5000U);
}

TEST(StringInterner, givesTheEmptyTextNoRow)
{
    StringInterner strings;
    EXPECT_EQ(strings.intern("").v, 0U);
    EXPECT_EQ(strings.intern("a").v, 1U);
    EXPECT_EQ(strings.intern("").v, 0U);
    EXPECT_EQ(strings.size(), 1U);
    EXPECT_EQ(strings[StringId{}], "");
}

TEST(StringInterner, keepsTextsAndIdsWhileItGrows)
{
    StringInterner strings;
    const std::string_view first = strings[strings.intern("the first")];
    // More than one block of 64 KiB, and texts larger than a block.
    for (int i = 0; i < 30'000; ++i)
        ASSERT_EQ(strings.intern("name " + std::to_string(i)).v, static_cast<uint32_t>(i) + 2);
    const std::string huge(200'000, 'x');
    const StringId hugeId = strings.intern(huge);
    EXPECT_EQ(strings[hugeId], huge);
    EXPECT_EQ(strings.intern("after the huge one").v, hugeId.v + 1);
    EXPECT_EQ(strings[StringId{1}].data(), first.data());
    EXPECT_EQ(first, "the first");
    for (int i = 0; i < 30'000; i += 777)
        EXPECT_EQ(strings[StringId{static_cast<uint32_t>(i) + 2}], "name " + std::to_string(i));
}

TEST(StringInterner, comparesWholeTexts)
{
    using namespace std::string_view_literals;
    StringInterner strings;
    std::set<uint32_t> ids;
    // Lengths around the words of eight bytes that are hashed, and bytes that end C strings.
    for (const std::string_view text : {"a"sv, "a\0"sv, "a\0\0"sv, "\0a"sv, "abcdefg"sv, "abcdefg\0"sv,
             "abcdefgh"sv, "abcdefgh\0"sv, "abcdefghi"sv, "abcdefghj"sv, "bbcdefghi"sv})
        ids.insert(strings.intern(text).v);
    EXPECT_EQ(ids.size(), 11U);
    EXPECT_EQ(strings.intern("abcdefgh\0"sv).v, 8U);
}

} // namespace
} // namespace whichlock
