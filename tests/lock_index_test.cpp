// SPDX-License-Identifier: GPL-3.0-or-later
// The index of who takes which lock, and its copy on disk.
#include "analyzer/naming/lock_index_cache.h"
#include "tests/support/lock_fixtures.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace whichlock {
namespace {

LockIndex indexOf(const std::string& folder, const std::string& program)
{
    const auto namer = test::openNamer(test::lockFixture(folder, program));
    return namer != nullptr ? buildLockIndex(*namer) : LockIndex();
}

const LockSummary* find(const std::vector<LockSummary>& summaries, std::string_view lock)
{
    for (const LockSummary& one : summaries)
        if (one.lock == lock)
            return &one;
    return nullptr;
}

TEST(LockIndex, countsFunctionsAndCallSitesOfEachLock)
{
    const LockIndex index = indexOf("O2", "pthread_sites");
    const auto summaries = summariseLocks(index.rows);
    // g_mutex: in globals(), inlinedForwarder() and withSwitch(). Shard::map: in member() and withSwitch().
    const LockSummary* global = find(summaries, "g_mutex");
    ASSERT_NE(global, nullptr);
    EXPECT_EQ(global->functionCount, 3U);
    EXPECT_EQ(global->callSiteCount, 3U);
    const LockSummary* map = find(summaries, "Shard::map");
    ASSERT_NE(map, nullptr);
    EXPECT_EQ(map->functionCount, 2U);
    EXPECT_EQ(map->kind, "rwlock");
}

TEST(LockIndex, givesTheFunctionsThatWereInlined)
{
    const LockIndex index = indexOf("O2", "pthread_sites");
    LockIndexFilter filter{.function = "lockIt"};
    size_t found = 0;
    for (const LockIndexRow& row : index.rows)
        if (filter.takes(row)) {
            EXPECT_EQ(row.function, "inlinedForwarder");
            EXPECT_EQ(row.inlined, std::vector<std::string>{"lockIt"});
            ++found;
        }
    EXPECT_EQ(found, 2U);
}

TEST(LockIndex, leavesOutCallsInsideOfLockRoutines)
{
    for (const LockIndexRow& row : indexOf("O0", "cxx_sites").rows) {
        EXPECT_EQ(row.function.find("std::lock_guard"), std::string::npos) << row.function;
        EXPECT_EQ(row.function.find("std::mutex::"), std::string::npos) << row.function;
        EXPECT_EQ(row.function.find("gthread"), std::string::npos) << row.function;
    }
}

TEST(LockIndex, filtersByAnyPartOfALocksName)
{
    LockIndexRow row{
        .function = "dput", .lock = "struct dentry::d_lockref.lock", .expression = "dentry->d_lockref.lock"};
    EXPECT_TRUE((LockIndexFilter{.lock = "d_lockref"}.takes(row)));
    EXPECT_TRUE((LockIndexFilter{.function = "dput", .lock = "dentry"}.takes(row)));
    EXPECT_FALSE((LockIndexFilter{.lock = "i_lock"}.takes(row)));
    EXPECT_FALSE((LockIndexFilter{.function = "dpu"}.takes(row)));
}

TEST(LockIndexCache, givesBackWhatWasWritten)
{
    const LockIndex index = indexOf("O2", "cxx_sites");
    ASSERT_FALSE(index.rows.empty());
    const auto id = BuildId::fromHex(index.buildId);
    ASSERT_TRUE(id);
    const std::string folder = test::scratchPath("cache/whichlock");
    std::filesystem::remove_all(folder);
    const LockIndexCache cache(folder);
    EXPECT_FALSE(cache.read(*id));
    ASSERT_TRUE(cache.write(*id, index));
    const auto again = cache.read(*id);
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, index);
    // No temporary file is left, and no other build is answered with this one.
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
    EXPECT_FALSE(cache.read(*BuildId::fromHex(std::string(40, '7'))));
}

TEST(LockIndexCache, isWholeForReadersWhileOthersWrite)
{
    const LockIndex index = indexOf("O2", "pthread_sites");
    const auto id = BuildId::fromHex(index.buildId);
    ASSERT_TRUE(id);
    const std::string folder = test::scratchPath("cache-of-many");
    std::filesystem::remove_all(folder);
    const LockIndexCache cache(folder);
    ASSERT_TRUE(cache.write(*id, index));
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&, i] {
                for (int round = 0; round < 20; ++round) {
                    if (i % 2 == 0)
                        wrong += cache.write(*id, index) ? 0 : 1;
                    else
                        wrong += cache.read(*id) == index ? 0 : 1;
                }
            });
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "nothing is left over";
}

/// What one of several processes on a cache does; false if it met something wrong.
bool useCache(const std::string& folder, const BuildId& id, const LockIndex& index, unsigned role)
{
    enum Role : unsigned { Writes, Reads, Cuts, Changes, kRoles };
    const LockIndexCache cache(folder);
    const std::string file = folder + "/locks-" + id.hex();
    std::mt19937 random(role);
    for (int round = 0; round < 40; ++round) {
        std::error_code gone;
        const uint64_t bytes = std::filesystem::file_size(file, gone);
        if (role % kRoles == Writes && !cache.write(id, index))
            return false;
        if (role % kRoles == Reads)
            if (const auto found = cache.read(id); found && *found != index)
                return false;
        if (role % kRoles == Cuts && !gone && bytes != 0)
            std::filesystem::resize_file(file, random() % bytes, gone);
        if (role % kRoles == Changes && !gone && bytes != 0) {
            std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
            stream.seekp(static_cast<std::streamoff>(random() % bytes));
            stream.put(static_cast<char>(random()));
        }
    }
    return true;
}

TEST(LockIndexCache, givesNothingWrongToAnyOfManyProcesses)
{
    const LockIndex index = indexOf("O2", "pthread_sites");
    const auto id = BuildId::fromHex(index.buildId);
    ASSERT_TRUE(id);
    const std::string folder = test::scratchPath("cache-of-processes");
    std::filesystem::remove_all(folder);
    std::vector<pid_t> processes;
    for (unsigned role = 0; role < 8; ++role) {
        const pid_t process = ::fork();
        ASSERT_GE(process, 0);
        if (process == 0)
            ::_exit(useCache(folder, *id, index, role) ? 0 : 1);
        processes.push_back(process);
    }
    for (const pid_t process : processes) {
        int status = -1;
        ASSERT_EQ(::waitpid(process, &status, 0), process);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    // Whatever they left, the next one makes good.
    const LockIndexCache cache(folder);
    ASSERT_TRUE(cache.write(*id, index));
    EXPECT_EQ(cache.read(*id), index);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "nothing is left over";
}

TEST(LockIndexCache, takesNoFileOfAnotherVersionAndReplacesIt)
{
    const LockIndex index = indexOf("O2", "pthread_sites");
    const auto id = BuildId::fromHex(index.buildId);
    const std::string folder = test::scratchPath("cache-of-versions");
    std::filesystem::remove_all(folder);
    const LockIndexCache cache(folder);
    ASSERT_TRUE(cache.write(*id, index));
    const std::string file = folder + "/locks-" + id->hex();
    std::string text = test::readBytes(file);
    const size_t version = text.find(' ', text.find(' ') + 1) - 1; // `whichlock-lock-index 2 CHECKSUM`
    for (const char other : {'0', '1', '9', 'x'}) {
        text[version] = other;
        test::writeBytes(file, text);
        EXPECT_FALSE(cache.read(*id)) << other;
        ASSERT_TRUE(cache.write(*id, index));
        EXPECT_EQ(cache.read(*id), index);
    }
    // Neither a folder in its place nor one that cannot be made stops anybody.
    std::filesystem::remove(file);
    std::filesystem::create_directories(file + "/inside");
    EXPECT_FALSE(cache.read(*id));
    EXPECT_FALSE(cache.write(*id, index));
    EXPECT_FALSE(LockIndexCache("/proc/none/cache").write(*id, index));
}

TEST(LockIndex, isTheSameForAnyNumberOfThreads)
{
    const std::string path = test::lockFixture("O2", "pthread_sites");
    const ModuleFiles files{.code = path, .debug = path, .verified = true};
    const auto one = buildLockIndex(files, LockEntries::builtIn(), 1);
    const auto four = buildLockIndex(files, LockEntries::builtIn(), 4);
    ASSERT_TRUE(one);
    ASSERT_TRUE(four);
    EXPECT_EQ(*one, *four);
    EXPECT_EQ(*one, indexOf("O2", "pthread_sites"));
}

TEST(LockIndexCache, takesNoDamagedFile)
{
    const std::string text = encodeLockIndex(indexOf("O2", "pthread_sites"));
    ASSERT_TRUE(decodeLockIndex(text));
    for (size_t at = 0; at < text.size(); at += 7) {
        EXPECT_FALSE(decodeLockIndex(text.substr(0, at)));
        std::string changed = text;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        EXPECT_FALSE(decodeLockIndex(changed)) << at;
    }
}

TEST(LockIndexCache, keepsNothingWithoutAFolderOrBuildId)
{
    EXPECT_FALSE(LockIndexCache("").write(*BuildId::fromHex("abcd"), {}));
    EXPECT_FALSE(LockIndexCache(test::scratchPath("cache2")).write(BuildId(), {}));
}

} // namespace
} // namespace whichlock
