// SPDX-License-Identifier: GPL-3.0-or-later
// Unwinds the stacks of a recording with --call-graph dwarf, and reports on it beside `perf report` where
// that is installed: medians of five. bench_unwind [FILE]; without a file it records a compiler at work,
// which is a large program without symbols.
#include "tests/support/unwind_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace whichlock::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kRuns = 5;
constexpr double kNsPerSecond = 1e9;

struct Cost {
    double wall = 0; ///< in seconds, as cpu
    double cpu = 0;
};

double cpuSeconds(const rusage& usage)
{
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}

/// Wall and processor time of a command, in its own process; nothing if it fails.
std::optional<Cost> costOf(const std::string& command)
{
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child == 0) {
        ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        std::_Exit(1);
    }
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return std::nullopt;
    return Cost{
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), cpuSeconds(usage)};
}

void printCosts(const char* name, const std::string& command, int runs)
{
    std::vector<double> walls;
    std::vector<double> cpus;
    for (int i = 0; i < runs; ++i) {
        const std::optional<Cost> cost = costOf(command);
        if (!cost) {
            fmt::print("{:<28} not run, failed, or took too long\n", name);
            return;
        }
        walls.push_back(cost->wall);
        cpus.push_back(cost->cpu);
    }
    fmt::print(
        "{:<28} {:9.3f} s wall {:9.3f} s cpu (median of {})\n", name, median(walls), median(cpus), runs);
    std::fflush(stdout);
}

/// A source that keeps the compiler busy for some seconds.
std::string longSource()
{
    std::string source = "#include <algorithm>\n#include <functional>\n#include <iostream>\n#include <map>\n"
                         "#include <regex>\n#include <string>\n#include <vector>\n";
    for (int i = 0; i < 150; ++i)
        source += fmt::format(
            "int f{0}(std::map<std::string, std::vector<int>>& m, std::string s) {{ std::regex r(s); auto& v "
            "="
            " m[s + \"{0}\"]; v.push_back({0}); std::function<bool(int, int)> less = [&](int a, int b) "
            "{{ return (a ^ {0}) < b; }}; std::sort(v.begin(), v.end(), less); std::cout << s << {0}; "
            "return v[0] + std::regex_match(s, r); }}\n",
            i);
    return source;
}

std::string record(const fs::path& folder)
{
    fs::create_directories(folder);
    const std::string source = folder / "long.cpp";
    if (std::FILE* file = std::fopen(source.c_str(), "w")) {
        std::fputs(longSource().c_str(), file);
        std::fclose(file);
    }
    const std::string data = folder / "long.data";
    const auto cost = costOf(fmt::format(
        "perf record -q -F 2500 --call-graph dwarf,8192 -o '{}' g++ -O2 -c '{}' -o /dev/null 2> /dev/null",
        data, source));
    return cost ? data : std::string();
}

struct Totals {
    size_t samples = 0;
    size_t frames = 0;
    std::map<UnwindEnd, size_t> ends;
};

Totals unwindAll(test::UnwindReplay& replay)
{
    Totals totals;
    replay.run([&](const test::UnwindReplay::Unwound& one) {
        ++totals.samples;
        totals.frames += one.frames.size();
        ++totals.ends[one.result.end];
    });
    return totals;
}

int run(const std::string& path)
{
    test::UnwindReplay replay(path, {});
    if (!replay.readable()) {
        fmt::print("{}: no recording of a known processor\n", path);
        return 1;
    }
    Totals totals;
    std::vector<double> ns;
    for (int i = 0; i < kRuns; ++i) {
        rusage before{};
        rusage after{};
        ::getrusage(RUSAGE_SELF, &before);
        totals = unwindAll(replay);
        ::getrusage(RUSAGE_SELF, &after);
        ns.push_back((cpuSeconds(after) - cpuSeconds(before)) * kNsPerSecond);
    }
    fmt::print("{:.1f} MB, {} samples, {} frames, {} distinct addresses, {} distinct rows\n",
        static_cast<double>(fs::file_size(path)) / 1e6, totals.samples, totals.frames,
        replay.evaluatedAddresses(), replay.distinctRows());
    for (const auto& [end, count] : totals.ends)
        fmt::print("  end {}: {}\n", static_cast<int>(end), count);
    fmt::print("unwinding alone              {:9.3f} s cpu, {:.1f} ns a frame, everything evaluated anew\n",
        median(ns) / kNsPerSecond, median(ns) / static_cast<double>(std::max<size_t>(totals.frames, 1)));
    std::fflush(stdout);
    const std::string tail = fmt::format(" '{}' > /dev/null 2>&1", path);
    printCosts("whichlock report", "exec " WHICHLOCK_PROGRAM " report" + tail, kRuns);
    printCosts("perf report --no-inline", "exec timeout 600 perf report --stdio --no-inline -i" + tail, 1);
    return 0;
}

} // namespace
} // namespace whichlock::bench

int main(int argc, char** argv)
{
    using namespace whichlock::bench;
    if (argc > 1)
        return run(argv[1]);
    const fs::path folder = fs::temp_directory_path() / fmt::format("bench_unwind.{}", ::getpid());
    const std::string path = record(folder);
    if (path.empty())
        fmt::print("perf or g++ is not here, or must not record\n");
    const int status = path.empty() ? 0 : run(path);
    fs::remove_all(folder);
    return status;
}
