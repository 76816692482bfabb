// SPDX-License-Identifier: GPL-3.0-or-later
// Call paths of a robot's profile, taken apart. Each printed percentage is of a function with all that it
// calls, on paths of at most five functions: what stands for itself is what no printed path below it has.
#pragma once

#include "parsers/fixed_point.h"

#include <string>
#include <string_view>
#include <vector>

namespace whichlock::lkp {

/// One printed path, the innermost function first.
struct CallPath {
    std::string path{};          ///< functions with points between them
    std::vector<Share> shares{}; ///< one a commit, with all that is called
    uint64_t line = 0;
    std::vector<Share> own{}; ///< without the printed paths below it; by takeApart()
    bool hasPathsBelow = false;
};

/// Fills in what of each path is in no other one; the parts are disjoint. Paths below which lies one that
/// could belong to several of them keep nothing.
void takeApart(std::vector<CallPath>& paths);

} // namespace whichlock::lkp
