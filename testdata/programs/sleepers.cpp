// SPDX-License-Identifier: GPL-3.0-or-later
// Two hundred threads sleep and wait for nothing but the end; three contend for a mutex. By the time off the
// processor the sleepers outweigh the lock a hundred times.
#include "truth.h"

#include <mutex>

std::mutex g_counter;
const truth::Lock kCounter{"g_counter", "std::mutex", &g_counter};

[[gnu::noinline]] void count()
{
    const truth::Held held(g_counter, kCounter, __func__);
    truth::burn(300);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 30);
    constexpr int kSleepers = 200;
    truth::start();
    std::vector<std::thread> threads;
    for (int i = 0; i < kSleepers; ++i)
        threads.push_back(truth::thread("sleeper", [] { usleep(100'000); }));
    for (int i = 0; i < 3; ++i)
        threads.push_back(truth::thread("counter", [rounds] {
            for (int round = 0; round < rounds; ++round) {
                count();
                truth::burn(100);
            }
        }));
    truth::joinAll(threads);
    truth::print("sleepers");
}
