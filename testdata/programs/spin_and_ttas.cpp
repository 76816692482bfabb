// SPDX-License-Identifier: GPL-3.0-or-later
// Two spinlocks, one after the other, two threads each: a pthread_spinlock_t, whose waiting is in a function
// with a well known name, and one written by hand (test and test-and-set), whose waiting is in a function of
// the program. The processor time of the waits is measured.
#include "truth.h"

pthread_spinlock_t g_slots;
const truth::Lock kSlots{"g_slots", "pthread_spinlock_t", const_cast<int*>(&g_slots), true};

struct PthreadSpin {
    void lock() { pthread_spin_lock(&g_slots); }
    void unlock() { pthread_spin_unlock(&g_slots); }
} g_spin;

class TtasLock {
public:
    [[gnu::noinline]] void lock()
    {
        while (true) {
            if (!taken_.exchange(true, std::memory_order_acquire))
                return;
            while (taken_.load(std::memory_order_relaxed))
                asm volatile("pause");
        }
    }
    void unlock() { taken_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> taken_ = false;
} g_ring;

const truth::Lock kRing{"g_ring", "TtasLock", &g_ring, true};

[[gnu::noinline]] void takeSlot()
{
    const truth::Held held(g_spin, kSlots, __func__);
    truth::burn(100);
}

[[gnu::noinline]] void pushRing()
{
    const truth::Held held(g_ring, kRing, __func__);
    truth::burn(100);
}

template <class Work> void runTwo(const char* name, int rounds, Work work)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
        threads.push_back(truth::thread(name, [rounds, work] {
            for (int round = 0; round < rounds; ++round) {
                work();
                truth::burn(10);
            }
        }));
    truth::joinAll(threads);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 300);
    pthread_spin_init(&g_slots, PTHREAD_PROCESS_PRIVATE);
    truth::start();
    runTwo("slots", rounds, takeSlot);
    runTwo("ring", rounds, pushRing);
    truth::print("spin_and_ttas");
}
