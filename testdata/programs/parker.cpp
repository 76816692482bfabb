// SPDX-License-Identifier: GPL-3.0-or-later
// A lock that parks each waiter on a futex word of its own thread, as lock libraries do that keep their own
// queues. The addresses of the waits are those of threads, and none is that of the lock.
#include "truth.h"

#include <linux/futex.h>
#include <sys/syscall.h>

struct Waiter {
    std::atomic<int> released = 0;
    Waiter* next = nullptr;
};

class ParkingLock {
public:
    [[gnu::noinline]] void lock()
    {
        static thread_local Waiter own;
        own.released = 0;
        own.next = nullptr;
        lockQueue();
        if (!held_) {
            held_ = true;
            unlockQueue();
            return;
        }
        *(first_ == nullptr ? &first_ : &last_->next) = &own;
        last_ = &own;
        unlockQueue();
        while (own.released == 0)
            syscall(SYS_futex, &own.released, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
    }

    /// Hands the lock to the first waiter.
    [[gnu::noinline]] void unlock()
    {
        lockQueue();
        Waiter* next = first_;
        if (next == nullptr)
            held_ = false;
        else
            first_ = next->next;
        unlockQueue();
        if (next == nullptr)
            return;
        next->released = 1;
        syscall(SYS_futex, &next->released, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }

private:
    void lockQueue()
    {
        while (queueTaken_.test_and_set(std::memory_order_acquire))
            sched_yield();
    }
    void unlockQueue() { queueTaken_.clear(std::memory_order_release); }

    std::atomic_flag queueTaken_ = ATOMIC_FLAG_INIT;
    bool held_ = false;
    Waiter* first_ = nullptr;
    Waiter* last_ = nullptr;
} g_cache;

const truth::Lock kCache{"g_cache", "ParkingLock", &g_cache};

[[gnu::noinline]] void refill()
{
    const truth::Held held(g_cache, kCache, __func__);
    truth::burn(500);
}

[[gnu::noinline]] void fetch()
{
    const truth::Held held(g_cache, kCache, __func__);
    truth::burn(50);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 60);
    truth::start();
    std::vector<std::thread> threads;
    threads.push_back(truth::thread("refill", [rounds] {
        for (int round = 0; round < rounds; ++round) {
            refill();
            usleep(200);
        }
    }));
    for (int i = 0; i < 3; ++i)
        threads.push_back(truth::thread("fetch", [rounds] {
            for (int round = 0; round < rounds; ++round) {
                fetch();
                truth::burn(100);
            }
        }));
    truth::joinAll(threads);
    truth::print("parker");
}
