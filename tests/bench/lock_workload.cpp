// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/lock_workload.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace whichlock::bench {
namespace {

constexpr int kMutexes = 4;
constexpr unsigned kDeepest = 24;

std::mutex mutexes[kMutexes];
std::atomic<uint64_t> sink = 0;
int pipeEnds[2];

void spend(unsigned rounds)
{
    uint64_t value = rounds;
    for (unsigned i = 0; i < rounds; ++i)
        value = value * 6364136223846793005U + 1442695040888963407U;
    sink += value;
}

void lockOne(std::minstd_rand& random)
{
    const std::lock_guard lock(mutexes[random() % kMutexes]);
    spend(200 + static_cast<unsigned>(random() % 2000));
}

void mapMemory(std::minstd_rand& random)
{
    constexpr size_t kBytes = 64 * 1024;
    void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return;
    static_cast<char*>(memory)[random() % kBytes] = 1;
    ::munmap(memory, kBytes);
}

void usePipe(std::minstd_rand& random)
{
    char bytes[512] = {static_cast<char>(random())};
    for (int i = 0; i < 4; ++i)
        if (::write(pipeEnds[1], bytes, sizeof bytes) > 0)
            sink += static_cast<uint64_t>(::read(pipeEnds[0], bytes, sizeof bytes));
}

void makeFile(std::minstd_rand& random)
{
    const std::string name = "bench." + std::to_string(random() % 8);
    const int fd = ::open(name.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        ::close(fd);
    ::unlink(name.c_str());
}

using Work = void (*)(std::minstd_rand&);

// Two functions that call each other in a random order: many different stacks.
[[gnu::noinline]] void deeperLeft(Work work, std::minstd_rand& random, unsigned depth);
[[gnu::noinline]] void deeperRight(Work work, std::minstd_rand& random, unsigned depth)
{
    if (depth == 0)
        work(random);
    else
        (depth % 3 == 0 ? deeperLeft : deeperRight)(work, random, depth - 1);
    sink += depth;
}
void deeperLeft(Work work, std::minstd_rand& random, unsigned depth)
{
    if (depth == 0)
        work(random);
    else
        (depth % 2 == 0 ? deeperLeft : deeperRight)(work, random, depth - 1);
    sink += depth + 1;
}

[[noreturn]] void forEver(Work work, unsigned seed)
{
    std::minstd_rand random(seed);
    while (true)
        (random() % 2 == 0 ? deeperLeft : deeperRight)(
            work, random, static_cast<unsigned>(random() % kDeepest));
}

[[noreturn]] void threadsOf(const std::vector<Work>& works)
{
    std::vector<std::thread> threads;
    for (size_t i = 1; i < works.size(); ++i)
        threads.emplace_back([work = works[i], i] { forEver(work, static_cast<unsigned>(i)); });
    forEver(works.front(), 7);
}

} // namespace

void runLockWorkload(std::string_view kind)
{
    if (kind == "threads")
        threadsOf({lockOne, lockOne, lockOne, lockOne});
    if (kind != "files")
        return;
    if (::pipe2(pipeEnds, O_CLOEXEC | O_NONBLOCK) != 0)
        return;
    constexpr int kFurtherProcesses = 3;
    for (int i = 0; i < kFurtherProcesses; ++i) {
        if (::fork() == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            threadsOf({usePipe, makeFile, mapMemory, usePipe, mapMemory, usePipe});
        }
    }
    threadsOf({makeFile, usePipe, mapMemory, usePipe});
}

} // namespace whichlock::bench
