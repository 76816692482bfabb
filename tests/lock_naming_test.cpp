// SPDX-License-Identifier: GPL-3.0-or-later
// Names of locks at call sites, against what the sources of the fixtures say.
#include "tests/support/lock_fixtures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace whichlock {
namespace {

using test::lockFixture;
using test::openNamer;

/// Every call is named right; how many there were.
size_t expectRightNames(const std::string& folder, const std::string& program)
{
    const std::string path = lockFixture(folder, program);
    const auto namer = openNamer(path);
    if (namer == nullptr)
        return 0;
    size_t judged = 0;
    const std::string source = program == "vmlinux" ? "kernel_sites" : program;
    for (const test::SourceCall& one : test::markedCalls(*namer, path, source)) {
        if (one.line == 0)
            continue;
        ++judged;
        const LockName name = namer->nameCall(one.call);
        EXPECT_TRUE(test::isAllowed(one.mark, name.text()))
            << folder << " " << source << ".cpp:" << one.line << " is " << one.mark << ", not '"
            << name.text() << "' [" << name.expression << "]";
    }
    return judged;
}

class LockNames : public testing::TestWithParam<const char*> { };

TEST_P(LockNames, areThoseOfTheSourceForPthreads)
{
    EXPECT_GE(expectRightNames(GetParam(), "pthread_sites"), 32U);
}

TEST_P(LockNames, areThoseOfTheSourceForCxxLocks)
{
    EXPECT_GE(expectRightNames(GetParam(), "cxx_sites"), 23U);
}

INSTANTIATE_TEST_SUITE_P(Builds, LockNames,
    testing::Values("O0", "O1", "O2", "O3", "dwarf4", "frame-pointers", "fixed"), [](const auto& one) {
        std::string name = one.param;
        std::erase(name, '-');
        return name;
    });

/// Programs by other compilers and options: those that were built.
TEST(LockNaming, isRightForEveryBuild)
{
    size_t builds = 0;
    size_t judged = 0;
    for (const auto& entry : std::filesystem::directory_iterator(test::fixturePath(""))) {
        const std::string folder = entry.path().filename().string();
        if (!folder.starts_with("locks-by-"))
            continue;
        SCOPED_TRACE(folder);
        ++builds;
        for (const char* program : {"pthread_sites", "cxx_sites"}) {
            const size_t calls = expectRightNames(folder.substr(sizeof "locks-" - 1), program);
            EXPECT_GE(calls, std::string_view(program) == "cxx_sites" ? 20U : 30U);
            judged += calls;
        }
    }
    EXPECT_GE(builds, 2U);
    RecordProperty("builds", std::to_string(builds));
    RecordProperty("judged", std::to_string(judged));
}

TEST(LockNaming, readsTheLocksOfAKernel)
{
    EXPECT_EQ(expectRightNames("kernel", "vmlinux"), 6U);
}

TEST(LockNaming, givesTheSameAnswerAgain)
{
    const auto namer = openNamer(lockFixture("O2", "cxx_sites"));
    const auto other = openNamer(lockFixture("O2", "cxx_sites"));
    ASSERT_NE(namer, nullptr);
    ASSERT_NE(other, nullptr);
    std::vector<LockCall> calls = namer->findCalls();
    std::map<uint64_t, std::string> first;
    for (const LockCall& call : calls)
        first[call.address] = namer->nameAt(call.address)->text();
    std::reverse(calls.begin(), calls.end());
    for (const LockCall& call : calls) {
        namer->trim();
        EXPECT_EQ(namer->nameAt(call.address)->text(), first[call.address]);
        EXPECT_EQ(other->nameAt(call.address)->text(), first[call.address]) << "whatever was asked before";
    }
    for (int again = 0; again < 2; ++again)
        EXPECT_FALSE(namer->nameAt(1)) << "no code is there";
}

TEST(LockNaming, findsEveryMarkedCall)
{
    for (const char* folder : {"O0", "O2"}) {
        const std::string path = lockFixture(folder, "pthread_sites");
        const auto namer = openNamer(path);
        ASSERT_NE(namer, nullptr);
        std::set<uint32_t> seen;
        for (const test::SourceCall& one : test::markedCalls(*namer, path, "pthread_sites"))
            seen.insert(one.line);
        for (const auto& [line, mark] : test::marksOf("pthread_sites", "LOCK:"))
            EXPECT_TRUE(seen.count(line) != 0) << folder << " line " << line << " " << mark;
    }
}

/// The call of a lock routine in a function that forwards what it is given.
uint64_t lockCallIn(LockNamer& namer, const std::string& function)
{
    for (const auto& [called, address] : test::callsIn(namer, function))
        if (namer.callAt(address))
            return address;
    ADD_FAILURE() << function << " calls no lock routine";
    return 0;
}

TEST(LockNaming, givesWhatIsForwardedTheNameOfTheCaller)
{
    for (const char* folder : {"O0", "O2"}) {
        const auto namer = openNamer(lockFixture(folder, "pthread_sites"));
        ASSERT_NE(namer, nullptr);
        const auto calls = test::callsIn(*namer, "callers");
        const auto twice = test::callsIn(*namer, "forwardTwice");
        auto call = calls.begin();
        for (const auto& [line, mark] : test::marksOf("pthread_sites", "THROUGH")) {
            const std::string through = mark.substr(0, mark.find(':'));
            while (call != calls.end() && call->first != through)
                ++call;
            ASSERT_NE(call, calls.end()) << through;
            std::vector<uint64_t> chain;
            if (through == "forwardTwice") {
                chain.push_back(lockCallIn(*namer, "forward"));
                ASSERT_EQ(twice.size(), 1U);
                chain.push_back(twice.front().second);
            } else {
                chain.push_back(lockCallIn(*namer, through));
            }
            chain.push_back(call->second);
            const auto name = namer->nameOfChain(chain);
            ASSERT_TRUE(name);
            EXPECT_EQ(name->text(), mark.substr(mark.find(':') + 2)) << folder << " line " << line;
            ++call;
        }
    }
}

TEST(LockNaming, takesTheOutermostOfWrappersThatCallEachOther)
{
    const auto namer = openNamer(lockFixture("O0", "cxx_sites"));
    ASSERT_NE(namer, nullptr);
    // Without optimisation lock_guard and mutex::lock() are functions of their own.
    const auto inGuard = test::callsIn(*namer, "std::lock_guard<std::mutex>::lock_guard");
    const auto inMutex = test::callsIn(*namer, "std::mutex::lock");
    ASSERT_FALSE(inGuard.empty());
    ASSERT_FALSE(inMutex.empty());
    const auto inAdd = test::callsIn(*namer, "bank::Registry<int>::add");
    ASSERT_FALSE(inAdd.empty());
    const std::vector<uint64_t> chain = {
        inMutex.front().second, inGuard.front().second, inAdd.front().second};
    const auto name = namer->nameOfChain(chain);
    ASSERT_TRUE(name);
    EXPECT_EQ(name->text(), "bank::Registry<int>::mutex_");
    EXPECT_EQ(name->expression, "this->mutex_");
}

TEST(LockNaming, neverNamesAChainAfterAFunctionThatDoesNotCallTheNextOne)
{
    const auto namer = openNamer(lockFixture("O2", "pthread_sites"));
    ASSERT_NE(namer, nullptr);
    const uint64_t inForward = lockCallIn(*namer, "forward");
    const auto calls = test::callsIn(*namer, "callers");
    // The third call is one of ownLock(), which does not lead to forward().
    const auto other =
        std::find_if(calls.begin(), calls.end(), [](const auto& call) { return call.first == "ownLock"; });
    ASSERT_NE(other, calls.end());
    const auto name = namer->nameOfChain(std::vector{inForward, other->second});
    ASSERT_TRUE(name);
    EXPECT_FALSE(name->isNamed()) << name->text();
}

/// The call of this function in another one.
uint64_t callOf(LockNamer& namer, const std::string& function, const std::string& called)
{
    for (const auto& [name, address] : test::callsIn(namer, function))
        if (name.starts_with(called))
            return address;
    ADD_FAILURE() << function << " does not call " << called;
    return 0;
}

TEST(LockNaming, givesWhatALibraryIsPassedTheNameOfTheProgram)
{
    const auto library = openNamer(test::fixturePath("locks-wrapped/libwrapper.so"));
    const auto program = openNamer(lockFixture("wrapped", "wrapped_sites"));
    ASSERT_NE(library, nullptr);
    ASSERT_NE(program, nullptr);
    const ChainSite inLibrary{library.get(), lockCallIn(*library, "wrapLock")};
    const auto through = [&](const char* function) {
        const ChainSite inProgram{program.get(), callOf(*program, function, "wrapLock")};
        return LockNamer::nameOfChain(std::vector{inLibrary, inProgram});
    };
    const auto member = through("ofMember");
    ASSERT_TRUE(member);
    EXPECT_EQ(member->text(), "Book::mu");
    EXPECT_EQ(member->expression, "book->mu");
    EXPECT_EQ(member->sitesUsed, 2U);
    EXPECT_TRUE(member->dependsOnCallers);
    const auto global = through("ofGlobal");
    ASSERT_TRUE(global);
    EXPECT_EQ(global->text(), "g_book_lock");
    // A call of something else does not lead into the library's function.
    const ChainSite elsewhere{program.get(), callOf(*program, "main", "ofMember")};
    const auto wrong = LockNamer::nameOfChain(std::vector{inLibrary, elsewhere});
    ASSERT_TRUE(wrong);
    EXPECT_FALSE(wrong->isNamed()) << wrong->text();
}

TEST(LockNaming, takesTheObjectOfAClassThatCallsItselfALock)
{
    const auto program = openNamer(lockFixture("wrapped", "wrapped_sites"));
    ASSERT_NE(program, nullptr);
    const uint64_t site = callOf(*program, "ofOwnClass", "FastLock::enter");
    EXPECT_FALSE(program->callAt(site)) << "it is no lock routine";
    const auto name = program->nameOfChain(std::vector{site});
    ASSERT_TRUE(name);
    EXPECT_EQ(name->text(), "Book::fast");
    const uint64_t other = callOf(*program, "main", "ofMember");
    EXPECT_FALSE(program->nameOfChain(std::vector{other}));
}

TEST(LockNaming, tellsSymbolsFromTypesAndReadersFromWriters)
{
    const std::string path = lockFixture("O2", "pthread_sites");
    const auto namer = openNamer(path);
    ASSERT_NE(namer, nullptr);
    size_t readers = 0;
    for (const test::SourceCall& one : test::markedCalls(*namer, path, "pthread_sites")) {
        const LockName name = namer->nameCall(one.call);
        if (one.mark == "g_mutex" || one.mark == "functionStatic::once") {
            EXPECT_EQ(name.source, NameSource::Symbol);
            EXPECT_EQ(lockKindName(name.kind), "mutex");
        }
        if (one.mark == "Shard::mu") {
            EXPECT_EQ(name.source, NameSource::Type);
        }
        if (one.mark == "g_shard.map") {
            EXPECT_EQ(name.side, LockSide::Shared);
            EXPECT_EQ(lockKindName(name.kind), "rwlock");
            ++readers;
        }
    }
    EXPECT_EQ(readers, 1U);
}

TEST(LockNaming, readsCodeAndDebugInfoOutOfTwoFiles)
{
    const std::string code = test::fixturePath("locks-changed/stripped");
    const auto namer = openNamer(ModuleFiles{.code = code, .debug = code + ".debug", .verified = true});
    const auto whole = openNamer(lockFixture("O2", "pthread_sites"));
    ASSERT_NE(namer, nullptr);
    ASSERT_NE(whole, nullptr);
    const auto calls = namer->findCalls();
    EXPECT_EQ(calls.size(), whole->findCalls().size());
    for (const LockCall& call : calls)
        EXPECT_EQ(namer->nameCall(call).text(), whole->nameAt(call.address)->text());
}

TEST(LockNaming, readsCompressedDebugInfo)
{
    const auto namer = openNamer(test::fixturePath("locks-changed/compressed"));
    const auto whole = openNamer(lockFixture("O2", "pthread_sites"));
    ASSERT_NE(namer, nullptr);
    for (const LockCall& call : whole->findCalls())
        EXPECT_EQ(namer->nameAt(call.address)->text(), whole->nameCall(call).text());
}

TEST(LockNaming, readsDebugInfoThatSeveralProgramsShare)
{
    const std::string path = test::fixturePath("locks-changed/dwz");
    if (!std::filesystem::exists(path))
        GTEST_SKIP() << "dwz is not installed";
    const auto namer = openNamer(path);
    const auto whole = openNamer(lockFixture("O2", "pthread_sites"));
    ASSERT_NE(namer, nullptr);
    for (const LockCall& call : whole->findCalls())
        EXPECT_EQ(namer->nameAt(call.address)->text(), whole->nameCall(call).text());
}

TEST(LockNaming, relocatesAnObjectThatIsNotLinked)
{
    const auto object = openNamer(test::fixturePath("locks-changed/relocatable.o"));
    const auto linked = openNamer(lockFixture("fixed", "pthread_sites"));
    ASSERT_NE(object, nullptr);
    ASSERT_NE(linked, nullptr);
    std::multiset<std::string> fromObject;
    std::multiset<std::string> fromProgram;
    for (const LockCall& call : object->findCalls())
        fromObject.insert(std::string(call.routine) + " " + object->nameCall(call).text());
    for (const LockCall& call : linked->findCalls())
        fromProgram.insert(std::string(call.routine) + " " + linked->nameCall(call).text());
    EXPECT_EQ(fromObject.size(), 32U);
    EXPECT_EQ(fromObject, fromProgram);
}

TEST(LockNaming, saysWhatCannotBeRead)
{
    const std::string stripped = test::fixturePath("locks-changed/stripped");
    const auto noInfo = LockNamer::open(ModuleFiles{.code = stripped, .debug = stripped});
    ASSERT_FALSE(noInfo);
    EXPECT_NE(noInfo.error().message.find("has no debug info"), std::string::npos) << noInfo.error().message;
    const auto noCode = LockNamer::open(ModuleFiles{.debug = stripped + ".debug"});
    ASSERT_FALSE(noCode);
    EXPECT_NE(noCode.error().message.find("needs the code"), std::string::npos) << noCode.error().message;
    const auto noElf = LockNamer::open(ModuleFiles{.code = std::string(WHICHLOCK_SOURCE) + "/README.md"});
    EXPECT_FALSE(noElf);
}

TEST(LockNaming, showsTheInstructionsThatTheNameCameThrough)
{
    const std::string path = lockFixture("O2", "pthread_sites");
    const auto namer = openNamer(ModuleFiles{.code = path, .debug = path}, true);
    ASSERT_NE(namer, nullptr);
    for (const test::SourceCall& one : test::markedCalls(*namer, path, "pthread_sites")) {
        if (one.mark != "Pool::stats.inner")
            continue;
        const LockName name = namer->nameCall(one.call);
        EXPECT_EQ(name.evidence.routine, "pthread_mutex_lock");
        EXPECT_EQ(name.evidence.lockType, "pthread_mutex_t");
        ASSERT_EQ(name.evidence.frames.size(), 1U);
        EXPECT_EQ(name.evidence.frames[0].value, "rdi");
        ASSERT_FALSE(name.evidence.frames[0].steps.empty());
        EXPECT_FALSE(name.evidence.frames[0].steps[0].instruction.empty());
    }
}

TEST(LockNaming, namesNothingWhereNoLockIsTaken)
{
    const auto namer = openNamer(lockFixture("O2", "pthread_sites"));
    ASSERT_NE(namer, nullptr);
    EXPECT_FALSE(namer->nameAt(0));
    EXPECT_FALSE(namer->nameAt(UINT64_MAX));
    const auto calls = test::callsIn(*namer, "callers");
    ASSERT_FALSE(calls.empty());
    EXPECT_FALSE(namer->nameAt(calls.front().second)); // a call, but of forward()
    EXPECT_FALSE(namer->nameOfChain(std::span<const uint64_t>()));
}

} // namespace
} // namespace whichlock
