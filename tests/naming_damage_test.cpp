// SPDX-License-Identifier: GPL-3.0-or-later
// Programs with damaged headers, code and debug info: names may be missing then, but nothing crashes or
// hangs.
#include "analyzer/naming/lock_index.h"
#include "analyzer/naming/object_namer.h"
#include "analyzer/naming/relocate_object.h"
#include "tests/support/lock_fixtures.h"

#include <gtest/gtest.h>

#include <random>

namespace whichlock {
namespace {

/// Everything that reads a module.
void readAll(const std::string& path)
{
    auto namer = LockNamer::open(ModuleFiles{.code = path, .debug = path}, {.evidence = true});
    if (!namer)
        return;
    const LockIndex index = buildLockIndex(**namer);
    EXPECT_LE(index.rows.size(), 1000U);
    ObjectNamer objects((*namer)->image());
    for (const ImageSymbol& symbol : (*namer)->image().objects())
        objects.nameOf(symbol.address + symbol.size / 2);
}

void damage(const std::string& from, uint32_t seed, size_t firstByte, const std::string& to)
{
    std::string bytes = test::readBytes(from);
    ASSERT_GT(bytes.size(), firstByte);
    std::mt19937 random(seed);
    const size_t changes = 1 + random() % 40;
    for (size_t i = 0; i < changes; ++i)
        bytes[firstByte + random() % (bytes.size() - firstByte)] = static_cast<char>(random());
    test::writeBytes(to, bytes);
}

TEST(NamingDamage, survivesChangedBytesAnywhere)
{
    const std::string from = test::lockFixture("O2", "pthread_sites");
    const std::string path = test::scratchPath("changed");
    for (uint32_t seed = 0; seed < 150; ++seed) {
        damage(from, seed, 0, path);
        readAll(path);
    }
}

TEST(NamingDamage, survivesChangedDebugInfo)
{
    const std::string from = test::lockFixture("O1", "pthread_sites");
    const std::string bytes = test::readBytes(from);
    // Debug sections stand behind all that is loaded; their first name is .debug_aranges.
    const size_t debug = bytes.size() / 3;
    const std::string path = test::scratchPath("changed-debug");
    for (uint32_t seed = 1000; seed < 1200; ++seed) {
        damage(from, seed, debug, path);
        readAll(path);
    }
}

TEST(NamingDamage, survivesChangedObjects)
{
    const std::string from = test::fixturePath("locks-changed/relocatable.o");
    const std::string path = test::scratchPath("changed-object");
    for (uint32_t seed = 2000; seed < 2100; ++seed) {
        damage(from, seed, 0, path);
        readAll(path);
    }
}

TEST(NamingDamage, survivesTruncation)
{
    const std::string bytes = test::readBytes(test::lockFixture("O2", "pthread_sites"));
    const std::string path = test::scratchPath("cut");
    for (size_t i = 1; i < 40; ++i) {
        test::writeBytes(path, bytes.substr(0, bytes.size() * i / 40));
        readAll(path);
    }
}

TEST(NamingDamage, relocatesNoNonsense)
{
    std::mt19937 random(7);
    std::string bytes = test::readBytes(test::fixturePath("locks-changed/relocatable.o"));
    for (int i = 0; i < 200; ++i) {
        std::vector<uint8_t> content(bytes.begin(), bytes.end());
        for (int change = 0; change < 20; ++change)
            content[random() % content.size()] = static_cast<uint8_t>(random());
        relocateObject(content);
    }
    std::vector<uint8_t> empty;
    EXPECT_FALSE(relocateObject(empty));
    std::vector<uint8_t> text(100, 'x');
    EXPECT_FALSE(relocateObject(text));
}

} // namespace
} // namespace whichlock
