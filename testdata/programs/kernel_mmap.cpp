// SPDX-License-Identifier: GPL-3.0-or-later
// Threads that map, touch and unmap memory: the kernel serialises them by the mmap lock of the process. A
// program cannot measure a lock of the kernel; it counts its calls and the time in them.
#include "truth.h"

#include <sys/mman.h>

std::atomic<int64_t> g_inCallsNs = 0;
std::atomic<int64_t> g_calls = 0;

[[gnu::noinline]] void mapAndTouch(size_t bytes)
{
    const int64_t before = truth::nowNs();
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        std::abort();
    for (size_t at = 0; at < bytes; at += 4096)
        static_cast<volatile char*>(memory)[at] = 1;
    munmap(memory, bytes);
    g_inCallsNs += truth::nowNs() - before;
    ++g_calls;
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 400);
    truth::start();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.push_back(truth::thread("mapper", [rounds, i] {
            truth::stayOn(i);
            for (int round = 0; round < rounds; ++round)
                mapAndTouch(256 * 1024);
        }));
    truth::joinAll(threads);
    truth::print("kernel_mmap",
        " \"operations\": " + std::to_string(g_calls)
            + ", \"operations_ns\": " + std::to_string(g_inCallsNs));
}
