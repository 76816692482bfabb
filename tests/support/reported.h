// SPDX-License-Identifier: GPL-3.0-or-later
// One session from its inputs to all views of its report, for tests that look at views.
#pragma once

#include "analyzer/report/document.h"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace whichlock::test {

using Json = nlohmann::json;

/// A session and what it becomes.
struct Reported {
    Profile profile;
    Report report;
    Json json; ///< renderJson(), parsed
    std::string text;
    std::string markdown;
    std::string brief; ///< the text with --brief

    /// The text with every run of blanks and line ends as one blank: sentences can be found in it.
    std::string flatText() const;
    /// The sections of a kind (`cpu-profile`), in order.
    std::vector<Json> sections(std::string_view kind) const;
    /// The rows of all lock tables.
    std::vector<Json> lockRows() const;
};

/// Reads files of testdata, given by their path below it, as one session. A file that cannot be opened
/// stands in the profile's diagnostics.
Reported reportOfSample(const std::vector<std::string>& paths);
/// Reads texts as inputs of the names given with them.
Reported reportOfTexts(
    const std::vector<std::pair<std::string, std::string>>& namedTexts, const Query& query = {});

} // namespace whichlock::test
