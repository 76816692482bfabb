// SPDX-License-Identifier: GPL-3.0-or-later
// The whole text report of a perf.data file beside perf script, perf report and perf lock contention: wall
// time with the file in the cache (median), and private memory. Then the same kind of file in three sizes:
// time is to grow as the file does, memory is not to grow at all.
// bench_perf_data [--program WHICHLOCK] [--runs N] [--perf-runs N] [--megabytes N] [--folder DIR] [FILE...]
// Without files it records some, where perf is there and allowed to.
#include "tests/bench/child_process.h"
#include "tests/bench/grown_recording.h"
#include "tests/bench/lock_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

namespace whichlock::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kMegabyte = 1e6;

struct Options {
    std::string program = WHICHLOCK_PROGRAM;
    fs::path folder = fs::temp_directory_path() / "whichlock-bench";
    unsigned runs = 5;
    unsigned perfRuns = 3;
    uint64_t megabytes = 100;
    std::vector<std::string> files{};
};

/// One kind of recording that is made.
struct Kind {
    std::string name{};
    std::string workload{};
    std::vector<std::string> events{};
};

std::vector<Kind> kinds()
{
    return {
        {"contention", "files", {"-e", "lock:contention_begin,lock:contention_end"}},
        {"sched-futex", "threads",
            {"-e", "sched:sched_switch,sched:sched_waking,sched:sched_wakeup", "-e",
                "syscalls:sys_enter_futex,syscalls:sys_exit_futex"}},
        {"cpu-clock", "files", {"-e", "cpu-clock", "-F", "max"}},
    };
}

/// Records a workload for at most so many seconds, or until the file is large enough.
bool record(const Kind& kind, const std::string& file, uint64_t bytes, const std::string& self)
{
    constexpr int kMostSeconds = 25;
    const pid_t perf = ::fork();
    if (perf == 0) {
        ::setpgid(0, 0);
        std::vector<std::string> command = {
            "perf", "record", "-q", "-g", "-m", "4M", "-k", "CLOCK_MONOTONIC", "-o", file};
        command.insert(command.end(), kind.events.begin(), kind.events.end());
        command.insert(command.end(), {"--", self, "--load", kind.workload});
        std::vector<char*> arguments;
        for (std::string& word : command)
            arguments.push_back(word.data());
        arguments.push_back(nullptr);
        ::execvp("perf", arguments.data());
        ::_exit(127);
    }
    int status = 0;
    std::error_code error;
    for (int tenths = 0; tenths < 10 * kMostSeconds && ::waitpid(perf, &status, WNOHANG) == 0; ++tenths) {
        ::usleep(100'000);
        const uintmax_t size = fs::file_size(file, error);
        if (!error && size >= bytes)
            break;
    }
    ::kill(perf, SIGINT); // it ends the workload and writes the rest
    ::waitpid(perf, &status, 0);
    return fs::file_size(file, error) > 0 && !error;
}

struct Row {
    std::string what{};
    RunFigures figures{};
};

void print(const Row& row, const RunFigures& ours)
{
    const RunFigures& figures = row.figures;
    fmt::print("  {:<21} {:>8.3f} s {:>6.1f}x {:>8.3f} s CPU {:>6.1f}x {:>8.1f} MB private{}\n", row.what,
        figures.seconds, figures.seconds / ours.seconds, figures.cpuSeconds,
        figures.cpuSeconds / ours.cpuSeconds, static_cast<double>(figures.privateBytes) / kMegabyte,
        figures.status == 0 ? "" : fmt::format("  (exit {})", figures.status));
    std::fflush(stdout);
}

std::vector<std::string> reportCommand(const Options& options, const std::string& file)
{
    return {options.program, "report", "--kallsyms", "/proc/kallsyms", file};
}

void compare(const Options& options, const std::string& file, bool withPerf, bool hasContention)
{
    fmt::print("{} ({:.1f} MB)\n", file, static_cast<double>(fs::file_size(file)) / kMegabyte);
    const RunFigures ours = measure(reportCommand(options, file), options.runs);
    print({"whichlock report", ours}, ours);
    if (!withPerf)
        return;
    print({"perf script", measure({"perf", "script", "--no-inline", "-i", file}, options.perfRuns)}, ours);
    print(
        {"perf report", measure({"perf", "report", "--stdio", "--no-inline", "-i", file}, options.perfRuns)},
        ours);
    if (hasContention)
        print({"perf lock contention", measure({"perf", "lock", "contention", "-i", file}, options.perfRuns)},
            ours);
}

void showGrowth(const Options& options, const std::string& file, const std::string& name)
{
    fmt::print("{}: growth\n", name);
    for (const uint64_t megabytes : {10, 100, 1000}) {
        const std::string grown = options.folder / fmt::format("{}.{}MB.data", name, megabytes);
        if (!growRecording(file, grown, megabytes * 1'000'000)) {
            fmt::print("  {}: cannot be repeated\n", file);
            return;
        }
        const RunFigures figures = measure(reportCommand(options, grown), options.runs);
        const double size = static_cast<double>(fs::file_size(grown)) / kMegabyte;
        fmt::print("  {:>8.1f} MB {:>9.3f} s {:>8.3f} s CPU {:>9.1f} MB/s {:>9.1f} MB private\n", size,
            figures.seconds, figures.cpuSeconds, size / figures.seconds,
            static_cast<double>(figures.privateBytes) / kMegabyte);
        std::fflush(stdout);
        fs::remove(grown);
    }
}

int benchRecorded(const Options& options, const std::string& self)
{
    fs::create_directories(options.folder);
    fs::current_path(options.folder); // where the workload makes its files
    for (const Kind& kind : kinds()) {
        const std::string small = options.folder / (kind.name + ".small.data");
        const std::string large = options.folder / (kind.name + ".data");
        const uint64_t bytes = options.megabytes * 1'000'000;
        if (!fs::exists(large) && !record(kind, large, bytes, self)) {
            fmt::print("{}: perf record failed (it has to be allowed to: run as root)\n", kind.name);
            continue;
        }
        if (fs::file_size(large) < bytes) { // it is as fast as the machine is: the rest is repeated
            fs::rename(large, small);
            if (!growRecording(small, large, bytes))
                fs::rename(small, large);
        }
        if (!fs::exists(small))
            record(kind, small, bytes / 20, self);
        compare(options, large, true, kind.name == "contention");
        showGrowth(options, small, kind.name);
    }
    return 0;
}

Options optionsOf(int count, char** values)
{
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string word = values[i];
        const bool last = i + 1 == count;
        if (word == "--program" && !last)
            options.program = fs::absolute(values[++i]);
        else if (word == "--folder" && !last)
            options.folder = fs::absolute(values[++i]);
        else if (word == "--runs" && !last)
            options.runs = static_cast<unsigned>(std::strtoul(values[++i], nullptr, 10));
        else if (word == "--perf-runs" && !last)
            options.perfRuns = static_cast<unsigned>(std::strtoul(values[++i], nullptr, 10));
        else if (word == "--megabytes" && !last)
            options.megabytes = std::strtoul(values[++i], nullptr, 10);
        else
            options.files.push_back(fs::absolute(word));
    }
    return options;
}

} // namespace
} // namespace whichlock::bench

int main(int count, char** values)
{
    using namespace whichlock::bench;
    if (count == 3 && std::string_view(values[1]) == "--load") {
        runLockWorkload(values[2]);
        return 1;
    }
    const Options options = optionsOf(count, values);
    const bool withPerf = isThere("perf");
    for (const std::string& file : options.files)
        compare(options, file, withPerf, true);
    if (!options.files.empty())
        return 0;
    if (!withPerf) {
        fmt::print("perf is not there to record something: give perf.data files\n");
        return 0;
    }
    return benchRecorded(options, fs::read_symlink("/proc/self/exe"));
}
