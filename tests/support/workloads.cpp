// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/workloads.h"

#include "analyzer/session/session.h"

#include <algorithm>
#include <fstream>
#include <ostream>

namespace whichlock::test {
namespace {

namespace fs = std::filesystem;

SymbolizerOptions symbolsOf(const Workload& workload)
{
    return {.debugDirs = {workload.folder / "symbols"},
        .kallsyms = workload.folder / "kallsyms",
        .debugRoot = "/nonexistent",
        .inlines = false};
}

} // namespace

void PrintTo(const Workload& workload, std::ostream* out)
{
    *out << workload.name;
}

std::vector<Workload> workloads()
{
    std::vector<Workload> found;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(WHICHLOCK_TESTDATA) / "perf-data")) {
        if (entry.path().extension() == ".data")
            found.push_back(
                {entry.path().parent_path().filename(), entry.path().parent_path(), entry.path()});
    }
    std::sort(
        found.begin(), found.end(), [](const Workload& a, const Workload& b) { return a.name < b.name; });
    return found;
}

Workload workloadOf(const std::string& name)
{
    const std::vector<Workload> all = workloads();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Workload& one) { return one.name == name; });
    return found == all.end() ? Workload() : *found;
}

std::string bytesOf(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

nlohmann::json truthOf(const Workload& workload)
{
    return nlohmann::json::parse(std::ifstream(workload.folder / "truth.json"));
}

Profile profileOf(const Workload& workload, const std::string& bytes)
{
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(Source::fromMemory("recording", bytes));
    return loadSession(std::move(sources), {}, symbolsOf(workload));
}

Profile profileOf(const Workload& workload)
{
    return profileOf(workload, bytesOf(workload.recording));
}

} // namespace whichlock::test
