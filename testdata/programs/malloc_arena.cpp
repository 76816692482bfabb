// SPDX-License-Identifier: GPL-3.0-or-later
// Threads that allocate from one arena while another one trims it again and again: all of them wait for the
// arena's own mutex, which the program cannot see. What is measured is how long the calls took.
#include "truth.h"

#include <malloc.h>

const truth::Lock kArena{"main_arena.mutex", "arena", nullptr};
std::atomic<bool> g_stop = false;

/// The time of a call that may wait for the arena.
template <class Call> [[gnu::always_inline]] inline auto timed(const char* site, Call call)
{
    truth::Acquisition& acquisition = truth::ask(kArena, site);
    auto result = call();
    truth::got(acquisition);
    acquisition.released = acquisition.got;
    return result;
}

[[gnu::noinline]] void* newBlock()
{
    return timed(__func__, [] { return malloc(3000); }); // too large for what each thread keeps itself
}

[[gnu::noinline]] void fill(std::vector<void*>& blocks)
{
    for (int i = 0; i < 50; ++i)
        blocks.push_back(newBlock());
    for (void* block : blocks)
        free(block);
    blocks.clear();
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 30);
    mallopt(M_ARENA_MAX, 1);
    std::vector<void*> holes; // keep the trimmer busy
    for (int i = 0; i < 4000; ++i)
        holes.push_back(malloc(9000));
    for (size_t i = 0; i < holes.size(); i += 2)
        free(holes[i]);
    truth::start();
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
        threads.push_back(truth::thread("allocator", [rounds] {
            std::vector<void*> blocks;
            blocks.reserve(64);
            for (int round = 0; round < rounds; ++round) {
                fill(blocks);
                truth::burn(100);
            }
            g_stop = true;
        }));
    threads.push_back(truth::thread("trimmer", [] {
        while (!g_stop)
            malloc_trim(0);
    }));
    truth::joinAll(threads);
    truth::print("malloc_arena");
}
