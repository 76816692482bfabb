// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that chains recorded by frame pointers lack, on a program of the build: where its functions are,
// nm says; where they call each other, their bytes.
#include "analyzer/symbols/symbolizer.h"
#include "tests/support/symbol_fixtures.h"

#include <gtest/gtest.h>

namespace whichlock {
namespace {

using test::fixture;
using test::fixtureFolder;

const MappedModule kProgram{.path = "/srv/app/program",
    .buildId = *BuildId::fromHex(std::string(40, '1')),
    .executableOffset = 0x1000};
const MappedModule kElsewhere{.path = "/srv/app/no-such-library.so"};

class CallGapTest : public testing::Test {
protected:
    void SetUp() override
    {
        symbols_ = test::nmSymbols(fixture("whole"));
        if (symbols_.empty())
            GTEST_SKIP() << "no nm here";
        bytes_ = test::readWhole(fixture("whole"));
        if (bytes_.size() < 20 || bytes_[18] != 0x3e) // EM_X86_64
            GTEST_SKIP() << "not for this processor";
    }

    uint64_t address(const char* name) const { return symbols_.at(name).address; }

    /// Code of the linker's default layout has equal file offsets and addresses.
    uint8_t byteAt(uint64_t at) const { return static_cast<uint8_t>(bytes_.at(at)); }

    /// Behind the first call of one function within another; 0 if there is none.
    uint64_t behindCall(const char* from, const char* to) const
    {
        const test::NmSymbol& function = symbols_.at(from);
        for (uint64_t at = function.address; at + 5 <= function.address + function.size; ++at) {
            int32_t distance = 0;
            for (unsigned i = 0; i < 4; ++i)
                distance |= static_cast<int32_t>(static_cast<uint32_t>(byteAt(at + 1 + i)) << 8 * i);
            if (byteAt(at) == 0xe8 && at + 5 + static_cast<uint64_t>(int64_t{distance}) == address(to))
                return at + 5;
        }
        return 0;
    }

    std::map<std::string, test::NmSymbol> symbols_;
    std::string bytes_;
    Symbolizer symbolizer_{{.debugDirs = {fixtureFolder("whole")}, .debugRoot = "/nonexistent"}};
};

TEST_F(CallGapTest, isNoneWhereTheInnermostFunctionWasCalledItself)
{
    const uint64_t behind = behindCall("main", "_ZN4shop5outerEi");
    ASSERT_NE(behind, 0U);
    const CallGap gap = symbolizer_.callGap(kProgram, address("_ZN4shop5outerEi") + 2, kProgram, behind);
    EXPECT_EQ(gap, (CallGap{.kind = CallGap::Kind::None}));
}

TEST_F(CallGapTest, namesTheFunctionThatWasCalledInstead)
{
    const uint64_t behind = behindCall("main", "_ZN4shop5outerEi");
    ASSERT_NE(behind, 0U);
    const CallGap lost{.kind = CallGap::Kind::Lost, .function = "shop::outer"};
    EXPECT_EQ(symbolizer_.callGap(kProgram, address("leave") + 2, kProgram, behind), lost);
    EXPECT_EQ(symbolizer_.callGap(kElsewhere, 0x1234, kProgram, behind), lost);
}

TEST_F(CallGapTest, readsTheCallThatIsTheLastInstruction)
{
    const test::NmSymbol& edge = symbols_.at("callAtTheEdge");
    const CallGap gap = symbolizer_.callGap(kElsewhere, 0x1234, kProgram, edge.address + edge.size);
    EXPECT_EQ(gap, (CallGap{.kind = CallGap::Kind::Lost, .function = "leave"}));
}

TEST_F(CallGapTest, followsStubsOfTheLinkerToTheImportedName)
{
    const test::NmSymbol& leave = symbols_.at("leave");
    const CallGap gap = symbolizer_.callGap(kElsewhere, 0x1234, kProgram, leave.address + leave.size);
    EXPECT_EQ(gap, (CallGap{.kind = CallGap::Kind::Lost, .function = "exit", .otherModule = true}));
}

TEST_F(CallGapTest, isUnknownWithoutACallOrWithoutTheCode)
{
    const CallGap unknown{.kind = CallGap::Kind::Unknown};
    const uint64_t leaf = address("leave");
    EXPECT_EQ(symbolizer_.callGap(kProgram, leaf, kProgram, address("main") + 1), unknown);
    EXPECT_EQ(symbolizer_.callGap(kProgram, leaf, kElsewhere, 0x1000), unknown);
    EXPECT_EQ(symbolizer_.callGap(kProgram, leaf, kProgram, UINT64_MAX), unknown);
    EXPECT_EQ(symbolizer_.callGap(kProgram, leaf, kProgram, 0), unknown);
}

TEST_F(CallGapTest, findsNoPauseWhereThereIsNone)
{
    const test::NmSymbol& function = symbols_.at("main");
    for (uint64_t i = 0; i < function.size; ++i)
        EXPECT_FALSE(symbolizer_.isPauseLoop(kProgram, function.address + i));
    EXPECT_FALSE(symbolizer_.isPauseLoop(kElsewhere, 0x1000));
    EXPECT_FALSE(symbolizer_.isPauseLoop(kProgram, UINT64_MAX));
}

} // namespace
} // namespace whichlock
