// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/child_process.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace whichlock::bench {
namespace {

/// RssAnon of /proc/PID/status, in bytes.
uint64_t anonymousBytes(pid_t pid)
{
    const std::string path = "/proc/" + std::to_string(pid) + "/status";
    std::FILE* const file = std::fopen(path.c_str(), "r");
    if (file == nullptr)
        return 0;
    char line[256];
    unsigned long long kilobytes = 0;
    while (std::fgets(line, sizeof line, file) != nullptr)
        if (std::sscanf(line, "RssAnon: %llu", &kilobytes) == 1)
            break;
    std::fclose(file);
    return kilobytes * 1024;
}

double medianOf(std::vector<double> values, double otherwise)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? otherwise : values[values.size() / 2];
}

[[noreturn]] void become(const std::vector<std::string>& command)
{
    std::vector<char*> arguments;
    for (const std::string& word : command)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        ::dup2(nothing, stream);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
}

} // namespace

RunFigures run(const std::vector<std::string>& command, bool watchMemory)
{
    RunFigures figures;
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child < 0)
        return figures;
    if (child == 0)
        become(command);
    int status = 0;
    struct rusage usage = {};
    while (watchMemory && ::wait4(child, &status, WNOHANG, &usage) == 0) {
        figures.privateBytes = std::max(figures.privateBytes, anonymousBytes(child));
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    if (!watchMemory)
        ::wait4(child, &status, 0, &usage);
    figures.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto secondsOf = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    figures.cpuSeconds = secondsOf(usage.ru_utime) + secondsOf(usage.ru_stime);
    figures.status = WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status) : -1;
    return figures;
}

RunFigures measure(const std::vector<std::string>& command, unsigned runs)
{
    RunFigures figures = run(command, true); // brings the files into the cache, too
    std::vector<double> wall = {};
    std::vector<double> cpu = {};
    for (unsigned i = 0; i < runs; ++i) {
        const RunFigures one = run(command);
        wall.push_back(one.seconds);
        cpu.push_back(one.cpuSeconds);
    }
    figures.seconds = medianOf(wall, figures.seconds);
    figures.cpuSeconds = medianOf(cpu, figures.cpuSeconds);
    return figures;
}

bool isThere(const std::string& program)
{
    return run({program, "--version"}).status == 0;
}

} // namespace whichlock::bench
