// SPDX-License-Identifier: GPL-3.0-or-later
// Every sample with an expected.json gives the figures, names and grades that stand there.
#include "analyzer/report/document.h"
#include "analyzer/session/session.h"
#include "tests/support/expected_report.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> casesWithRightValues()
{
    std::vector<fs::path> cases;
    for (const auto& entry : fs::recursive_directory_iterator(WHICHLOCK_TESTDATA)) {
        if (entry.path().filename() == "expected.json")
            cases.push_back(entry.path().parent_path());
    }
    std::sort(cases.begin(), cases.end());
    return cases;
}

class RightValues : public testing::TestWithParam<fs::path> { };

TEST_P(RightValues, areInTheReport)
{
    const auto expected = nlohmann::json::parse(std::ifstream(GetParam() / "expected.json"));
    std::vector<std::string> paths;
    for (const std::string name : expected.at("inputs"))
        paths.push_back(GetParam() / name);
    OpenedInputs opened = openInputs(paths);
    ASSERT_TRUE(opened.errors.empty());
    const Profile profile = loadSession(std::move(opened.sources));
    const Report report = buildReport(profile, {}, RoutineTable::builtIn());
    EXPECT_EQ(report.internalError, "");
    for (const std::string& difference :
        differences(expected, nlohmann::json::parse(renderJson(report)), profile))
        ADD_FAILURE() << difference;
}

INSTANTIATE_TEST_SUITE_P(
    Samples, RightValues, testing::ValuesIn(casesWithRightValues()), [](const auto& param) {
        std::string name =
            param.param.parent_path().filename().string() + "_" + param.param.filename().string();
        std::replace_if(
            name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; },
            '_');
        return name;
    });

} // namespace
} // namespace whichlock::test
