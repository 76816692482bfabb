// SPDX-License-Identifier: GPL-3.0-or-later
// Threads with a lock each: many acquisitions, and nobody ever waits. What it measures as waits are moments
// in which the thread itself was interrupted between asking and getting.
#include "truth.h"

#include <mutex>

struct alignas(64) Own {
    std::mutex mutex;
} g_own[2];

const truth::Lock kOwn[2] = {
    {"g_own[0].mutex", "std::mutex", &g_own[0].mutex}, {"g_own[1].mutex", "std::mutex", &g_own[1].mutex}};

[[gnu::noinline]] void addUp(int which)
{
    const truth::Held held(g_own[which].mutex, kOwn[which], __func__);
    truth::burn(10);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 3000);
    truth::start();
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
        threads.push_back(truth::thread("alone", [rounds, i] {
            for (int round = 0; round < rounds; ++round) {
                addUp(i);
                truth::burn(10);
            }
        }));
    truth::joinAll(threads);
    truth::print("no_contention");
}
