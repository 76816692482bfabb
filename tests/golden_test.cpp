// SPDX-License-Identifier: GPL-3.0-or-later
// Every case of testdata prints what its expected files say. After a change that is meant: ./dev
// update-golden.
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace whichlock::test {
namespace {

class Golden : public testing::TestWithParam<GoldenCase> { };

std::string nameOf(const testing::TestParamInfo<GoldenCase>& testCase)
{
    std::string name = testCase.param.name;
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(goldenCases(WHICHLOCK_TESTDATA)), nameOf);

TEST_P(Golden, printsWhatIsExpected)
{
    removeActual(GetParam());
    const auto differences = runGolden(GetParam(), WHICHLOCK_PROGRAM, WHICHLOCK_SCRATCH);
    EXPECT_TRUE(differences.empty()) << reportDifferences(differences);
}

} // namespace
} // namespace whichlock::test
