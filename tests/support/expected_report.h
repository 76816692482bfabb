// SPDX-License-Identifier: GPL-3.0-or-later
// Checks a JSON report against the right values of a sample (its expected.json), which were worked out from
// the tables by hand and by other tools. testdata/README.md tells the keys.
#pragma once

#include "analyzer/model/profile.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace whichlock::test {

/// What differs, a line each; empty if the report is right.
std::vector<std::string> differences(
    const nlohmann::json& expected, const nlohmann::json& report, const Profile& profile);

} // namespace whichlock::test
