// SPDX-License-Identifier: GPL-3.0-or-later
// The golden walker itself, on a scratch tree with a shell script for a program.
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <fstream>

namespace whichlock::test {
namespace {

namespace fs = std::filesystem;

class GoldenWalker : public testing::Test {
protected:
    void SetUp() override
    {
        root_ = fs::path(testing::TempDir())
            / ("golden_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
        fs::remove_all(root_);
        fs::create_directories(root_ / "cases/format/it's one");
        put("cases/format/it's one/input.txt", "");
        put("program", "#!/bin/sh\necho \"$@\"\n");
        fs::permissions(root_ / "program", fs::perms::owner_all);
    }
    void TearDown() override { fs::remove_all(root_); }

    void put(const std::string& path, const std::string& text) const { std::ofstream(root_ / path) << text; }
    std::string get(const std::string& name) const
    {
        std::ifstream in(root_ / "cases/format/it's one" / name);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    GoldenCase onlyCase() const { return goldenCases(root_ / "cases").at(0); }
    std::vector<Difference> run() const
    {
        return runGolden(onlyCase(), root_ / "program", root_ / "scratch");
    }

    fs::path root_;
};

TEST_F(GoldenWalker, failsWithoutExpectedText)
{
    const auto differences = run();
    ASSERT_EQ(differences.size(), 1U);
    EXPECT_TRUE(differences[0].missing);
    EXPECT_NE(reportDifferences(differences).find("is missing"), std::string::npos);
    EXPECT_EQ(get("actual.txt"), "report --format text input.txt\n");
}

TEST_F(GoldenWalker, passesAfterTheUpdateAndTakesArguments)
{
    put("cases/format/it's one/args", "--brief input.txt\n");
    rewriteExpected(run());
    EXPECT_EQ(get("expected.txt"), "report --format text --brief input.txt\n");
    EXPECT_TRUE(run().empty());
}

TEST_F(GoldenWalker, printsTheDifference)
{
    put("cases/format/it's one/expected.txt", "something else\n");
    const std::string text = reportDifferences(run());
    EXPECT_NE(text.find("-something else\n+report --format text input.txt\n"), std::string::npos) << text;
}

TEST_F(GoldenWalker, comparesErrorsAndExitStatus)
{
    put("program", "#!/bin/sh\necho bad >&2\nexit 2\n");
    put("cases/format/it's one/expected.txt", "");
    EXPECT_EQ(run().size(), 2U);
    put("cases/format/it's one/expected.err", "bad\n");
    put("cases/format/it's one/expected.exit", "2\n");
    EXPECT_TRUE(run().empty());
    put("program", "#!/bin/sh\n");
    rewriteExpected(run());
    EXPECT_FALSE(fs::exists(onlyCase().folder / "expected.err"));
    EXPECT_FALSE(fs::exists(onlyCase().folder / "expected.exit"));
}

TEST_F(GoldenWalker, comparesOtherViewsWhereTheyAreExpected)
{
    put("cases/format/it's one/expected.txt", "report --format text input.txt\n");
    put("cases/format/it's one/expected.md", "report --format markdown input.txt\n");
    put("cases/format/it's one/expected.report.json", "{}\n");
    const auto differences = run();
    ASSERT_EQ(differences.size(), 1U);
    EXPECT_EQ(differences[0].expected.filename(), "expected.report.json");
}

} // namespace
} // namespace whichlock::test
