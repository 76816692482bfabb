// SPDX-License-Identifier: GPL-3.0-or-later
// A lock whose waiters call sched_yield() until they get it: they never sleep, no futex tells of them, and
// with more threads than processors they take turns with the holder.
#include "truth.h"

#include <sched.h>

class YieldLock {
public:
    [[gnu::noinline]] void lock()
    {
        while (taken_.exchange(true, std::memory_order_acquire))
            sched_yield();
    }
    void unlock() { taken_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> taken_ = false;
} g_pool;

const truth::Lock kPool{"g_pool", "YieldLock", &g_pool, true};

[[gnu::noinline]] void takeFromPool()
{
    const truth::Held held(g_pool, kPool, __func__);
    truth::burn(200);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 100);
    truth::start();
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.push_back(truth::thread("yielder", [rounds] {
            for (int round = 0; round < rounds; ++round) {
                takeFromPool();
                truth::burn(100);
            }
        }));
    truth::joinAll(threads);
    truth::print("yield_loop");
}
