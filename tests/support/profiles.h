// SPDX-License-Identifier: GPL-3.0-or-later
// Small profiles written in the test that needs them.
#pragma once

#include "analyzer/model/profile.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock::test {

/// What is known about the recording besides its samples.
struct ProfileContext {
    std::string event = "cycles";
    std::string format = "perf-script";
    std::vector<std::pair<FactKind, std::string>> sectionFacts{};
    std::vector<std::pair<FactKind, std::string>> inputFacts{}; ///< as the text around the tables gives them
    std::vector<std::string> tableLabels{};                     ///< of a benchmark table beside the profile
};

/// A profile with call chains: `comm;outermost;...;leaf 10` gives ten samples. `name+0x4c` has an offset,
/// `name{irmw}` is inlined, recovered, misses a callee and waits in a loop: as many of these as are given.
Profile foldedProfile(std::initializer_list<std::string_view> lines, const ProfileContext& context = {});

/// A flat profile: `symbol 10` gives a row of ten.
Profile flatProfile(std::initializer_list<std::string_view> rows, const ProfileContext& context = {});

} // namespace whichlock::test
