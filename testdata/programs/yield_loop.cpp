// SPDX-License-Identifier: GPL-3.0-or-later
// A lock whose waiters call sched_yield() until they get it: they never sleep, no futex tells of them, and
// they give way to each other, all on one processor. That they do so is certain only with equal real-time
// priorities: other schedulers may let a thread go on that yields.
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
    truth::burn(20);
    usleep(30); // the others run, and yield
    truth::burn(5);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 100);
    truth::start();
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.push_back(truth::thread("yielder", [rounds] {
            truth::stayOn(1);
            const sched_param priority{.sched_priority = 1};
            sched_setscheduler(0, SCHED_FIFO, &priority);
            for (int round = 0; round < rounds; ++round) {
                takeFromPool();
                truth::burn(10);
            }
        }));
    truth::joinAll(threads);
    truth::print("yield_loop");
}
