// SPDX-License-Identifier: GPL-3.0-or-later
// The inputs of testdata, found by walking it: a new case needs no further line anywhere.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace whichlock::test {

struct Sample {
    std::string folder; ///< of the format: `readprofile`, or `benchmarks` for tables of all kinds
    std::string name;   ///< `bins`, `refilled_quote_input2`: fit to be a part of a test's name
    std::string path;
    std::string text;
};

/// All inputs in testdata, in the order of their paths.
const std::vector<Sample>& samples();

/// Names parameterised tests after their sample.
inline constexpr auto kNameOfSample = [](const auto& testCase) { return testCase.param.name; };

/// How test frameworks print a sample: by its path.
void PrintTo(const Sample& sample, std::ostream* out);

} // namespace whichlock::test
