// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of the workload programs of testdata, with what the programs measured in those very runs.
#pragma once

#include "analyzer/model/profile.h"
#include "analyzer/symbols/symbolizer_options.h"

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace whichlock::test {

struct Workload {
    std::string name{};
    std::filesystem::path folder{};
    std::filesystem::path recording{};
};

void PrintTo(const Workload& workload, std::ostream* out);

/// All of them by name.
std::vector<Workload> workloads();
/// The one of that name; an empty one if there is none.
Workload workloadOf(const std::string& name);

std::string bytesOf(const std::filesystem::path& path);
nlohmann::json truthOf(const Workload& workload);
/// Only with the names that lie beside the recording.
Profile profileOf(const Workload& workload, const std::string& bytes);
Profile profileOf(const Workload& workload);

} // namespace whichlock::test
