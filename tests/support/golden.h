// SPDX-License-Identifier: GPL-3.0-or-later
// Golden cases: runs the program in each case folder of testdata and compares what it prints with the
// expected files. See testdata/README.md for the files of a case.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace whichlock::test {

struct GoldenCase {
    std::string name; ///< path below the root
    std::filesystem::path folder;
};

/// How test frameworks print a case.
inline void PrintTo(const GoldenCase& golden, std::ostream* out)
{
    *out << golden.name;
}

/// All folders below `root` that hold an input, in the order of their names.
std::vector<GoldenCase> goldenCases(const std::filesystem::path& root);

/// An expected file that differs from what the program did.
struct Difference {
    std::filesystem::path expected;
    std::string actual;
    bool missing = false; ///< there is no expected file
};

/// Runs `program report` in the case folder; `scratch` is a folder for its output. Compares standard output
/// with expected.txt (which must exist) and, where they exist, with expected.md and expected.report.json;
/// standard error with expected.err and the exit status with expected.exit, both empty when missing.
std::vector<Difference> runGolden(
    const GoldenCase& golden, const std::filesystem::path& program, const std::filesystem::path& scratch);

/// Writes actual.* beside the expected files and returns the differences in unified form.
std::string reportDifferences(const std::vector<Difference>& differences);
/// Removes what reportDifferences() wrote in earlier runs.
void removeActual(const GoldenCase& golden);
/// Makes the expected files agree.
void rewriteExpected(const std::vector<Difference>& differences);

} // namespace whichlock::test
