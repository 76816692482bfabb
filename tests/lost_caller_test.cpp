// SPDX-License-Identifier: GPL-3.0-or-later
// A recording whose chains lack the caller of the innermost function, from its bytes to its stacks; the code
// is that of a program of the build.
#include "analyzer/session/session.h"
#include "tests/support/perf_data_writer.h"
#include "tests/support/symbol_fixtures.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

constexpr uint64_t kBase = 0x555555554000;
constexpr uint64_t kUserMark = static_cast<uint64_t>(-512);
constexpr uint16_t kUserMode = 2;
constexpr uint64_t kPeriod = 250'000; // ns

class LostCallerTest : public testing::Test {
protected:
    void SetUp() override
    {
        symbols_ = nmSymbols(fixture("whole"));
        const std::string bytes = readWhole(fixture("whole"));
        if (symbols_.empty() || bytes.size() < 20 || bytes[18] != 0x3e) // EM_X86_64
            GTEST_SKIP() << "no nm, or not for this processor";
        writer_.attr({.type = 1, .config = 0, .period = kPeriod, .sampleType = 0x127, .flags = {18}});
        Bytes payload = writer_.bytes();
        payload.u32(100).u32(100).u64(kBase).u64(0x10000).u64(0).text("/srv/app/program");
        payload.u32(100).u32(100).u64(1000);
        writer_.record(1, kUserMode, payload);
    }

    uint64_t at(const char* symbol, uint64_t offset) const
    {
        return kBase + symbols_.at(symbol).address + offset;
    }
    uint64_t endOf(const char* symbol) const { return at(symbol, symbols_.at(symbol).size); }

    /// The stack of a sample as `leaf < caller*`: a star marks what was recovered, a question mark a frame
    /// below which something may be missing.
    std::string stackOf(std::initializer_list<uint64_t> chain)
    {
        PerfFileWriter writer = writer_;
        Bytes payload = writer.bytes();
        payload.u64(*chain.begin()).u32(100).u32(100).u64(2000).u64(kPeriod).u64(chain.size() + 1);
        payload.u64(kUserMark).u64s(chain);
        writer.record(9, kUserMode, payload);
        const std::string bytes = writer.file();
        std::vector<std::unique_ptr<Source>> sources;
        sources.push_back(Source::fromMemory("perf.data", bytes));
        const Profile profile = loadSession(std::move(sources), {},
            {.debugDirs = {fixtureFolder("whole")}, .debugRoot = "/nonexistent", .inlines = false});
        std::string text;
        for (StackId one = profile.sections.at(0).cells.at(0).stack; one; one = profile.stack(one).parent) {
            const Frame& frame = profile.frame(profile.stack(one).frame);
            text += (text.empty() ? "" : " < ") + std::string(profile.string(frame.symbol))
                + (frame.recovered ? "*" : "") + (frame.calleeMissing ? "?" : "");
        }
        return text;
    }

    std::map<std::string, NmSymbol> symbols_;
    PerfFileWriter writer_;
};

TEST_F(LostCallerTest, isPutWhereTheCallBeforeTheReturnAddressShowsIt)
{
    // callAtTheEdge() ends with its call of leave(); main's frame does not say whom it called.
    EXPECT_EQ(stackOf({at("_ZN4shop5outerEi", 3), endOf("callAtTheEdge"), at("main", 1)}),
        "shop::outer < leave* < callAtTheEdge < main");
}

TEST_F(LostCallerTest, isNobodyWhereTheInnermostFunctionWasCalled)
{
    EXPECT_EQ(
        stackOf({at("leave", 3), endOf("callAtTheEdge"), at("main", 1)}), "leave < callAtTheEdge < main");
}

TEST_F(LostCallerTest, isSaidToBePossibleWhereNoCallIsSeen)
{
    EXPECT_EQ(stackOf({at("leave", 3), at("main", 1)}), "leave < main?");
}

TEST_F(LostCallerTest, isPutBehindALockRoutineThatItJumpedTo)
{
    // callAtTheEdge() called leave(), so the routine was reached from there by a jump.
    EXPECT_EQ(stackOf({at("_ZN4shop5outerEi", 3), at("__pthread_alt_unlock", 2), endOf("callAtTheEdge"),
                  at("main", 1)}),
        "shop::outer < __pthread_alt_unlock? < leave* < callAtTheEdge < main");
}

TEST_F(LostCallerTest, isLookedForAtTheInnermostFrameOnly)
{
    EXPECT_EQ(stackOf({at("leave", 3), endOf("callAtTheEdge"), endOf("callAtTheEdge")}),
        "leave < callAtTheEdge < callAtTheEdge");
    EXPECT_EQ(stackOf({at("leave", 3)}), "leave");
}

} // namespace
} // namespace whichlock::test
