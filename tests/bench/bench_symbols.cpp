// SPDX-License-Identifier: GPL-3.0-or-later
// Names, lines and inlined functions of many addresses of one ELF file, beside llvm-symbolizer and addr2line
// where they are installed: time and peak memory of each in a process of its own.
// bench_symbols [ELF] [addresses] [threads]; without a file its own binary.
#include "analyzer/symbols/elf_symbols.h"
#include "analyzer/symbols/symbolizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace whichlock::bench {
namespace {

/// Addresses inside functions, all over the file, the same in every run.
std::vector<uint64_t> pickAddresses(const std::string& path, size_t count)
{
    auto file = ElfFile::open(path);
    if (!file)
        return {};
    SymbolTable table;
    addElfSymbols(**file, SymbolChoice::Functions, table);
    table.finish();
    std::vector<SymbolHit> functions;
    for (const ElfSegment& segment : (*file)->segments()) {
        constexpr uint64_t kStepBytes = 64;
        SymbolHit hit;
        for (uint64_t at = 0; segment.executable && at < segment.memoryBytes; at += kStepBytes)
            if (table.find(segment.address + at, hit) && hit.size > 1)
                functions.push_back(hit);
    }
    std::mt19937_64 random(1);
    std::vector<uint64_t> addresses;
    for (size_t i = 0; i < count && !functions.empty(); ++i) {
        const SymbolHit& function = functions[random() % functions.size()];
        addresses.push_back(function.address + random() % function.size);
    }
    return addresses;
}

/// Runs `work` in a process of its own and prints time and peak memory.
void measure(const char* name, const std::function<void()>& work)
{
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child == 0) {
        work();
        std::_Exit(0);
    }
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fmt::print("{:<18} not run\n", name);
    else
        fmt::print(
            "{:<18} {:8.3f} s {:8.1f} MB peak\n", name, seconds, static_cast<double>(usage.ru_maxrss) / 1024);
    std::fflush(stdout);
}

void resolveAll(const std::string& path, const std::vector<uint64_t>& addresses, unsigned threads)
{
    // A kernel without a reference symbol: offsets are the file's own addresses.
    Symbolizer symbolizer({.vmlinux = path, .threads = threads});
    const MappedModule module{.kind = ModuleKind::Kernel, .path = "[kernel.kallsyms]"};
    std::vector<SymbolRequest> requests;
    requests.reserve(addresses.size());
    for (const uint64_t address : addresses)
        requests.push_back({.module = 0, .offset = address});
    size_t named = 0;
    size_t inlined = 0;
    for (const ResolvedAddress& resolved : symbolizer.resolveAll(std::span(&module, 1), requests)) {
        named += !resolved.function.empty();
        inlined += resolved.chain.size() > 1;
    }
    fmt::print("  {} named, {} of them in inlined functions\n", named, inlined);
    std::fflush(stdout);
}

void runTool(const std::string& command)
{
    ::execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
    std::_Exit(1);
}

int run(const std::string& path, size_t count, unsigned threads)
{
    const std::vector<uint64_t> addresses = pickAddresses(path, count);
    if (addresses.empty()) {
        fmt::print("{}: no functions\n", path);
        return 1;
    }
    const std::string list = fmt::format("/tmp/bench_symbols.{}", ::getpid());
    if (std::FILE* file = std::fopen(list.c_str(), "w")) {
        for (const uint64_t address : addresses)
            fmt::print(file, "0x{:x}\n", address);
        std::fclose(file);
    }
    fmt::print("{} addresses of {}\n", addresses.size(), path);
    std::fflush(stdout);
    for (const unsigned each : {1U, threads})
        measure(fmt::format("whichlock x{}", each).c_str(), [&] { resolveAll(path, addresses, each); });
    const std::string tail = " < " + list + " > /dev/null 2>&1";
    measure("llvm-symbolizer", [&] { runTool("llvm-symbolizer --inlines --obj='" + path + "'" + tail); });
    measure("addr2line", [&] { runTool("addr2line -i -f -e '" + path + "'" + tail); });
    std::remove(list.c_str());
    return 0;
}

} // namespace
} // namespace whichlock::bench

int main(int argc, char** argv)
{
    const std::string path = argc > 1 ? argv[1] : "/proc/self/exe";
    const size_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000;
    const unsigned threads = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 2;
    char resolved[4096];
    const char* real = ::realpath(path.c_str(), resolved);
    return whichlock::bench::run(real != nullptr ? real : path, count, std::max(threads, 1U));
}
