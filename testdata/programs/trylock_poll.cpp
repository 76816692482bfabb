// SPDX-License-Identifier: GPL-3.0-or-later
// A mutex that its waiters never wait for: they try to take it until they get it, and work a little in
// between. No futex tells of that. rebuildCache() holds it for long, askCache() tries.
#include "truth.h"

#include <mutex>

/// lock() tries again and again.
class PolledMutex {
public:
    void lock()
    {
        while (!mutex_.try_lock())
            truth::burn(40);
    }
    void unlock() { mutex_.unlock(); }

private:
    std::mutex mutex_;
} g_cache;

const truth::Lock kCache{"g_cache", "PolledMutex", &g_cache, true};

[[gnu::noinline]] void rebuildCache()
{
    const truth::Held held(g_cache, kCache, __func__);
    truth::burn(600);
}

[[gnu::noinline]] void askCache()
{
    const truth::Held held(g_cache, kCache, __func__);
    truth::burn(30);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 20);
    truth::start();
    std::vector<std::thread> threads;
    threads.push_back(truth::thread("rebuilder", [rounds] {
        truth::stayOn(0);
        for (int round = 0; round < rounds; ++round) {
            rebuildCache();
            truth::burn(200);
        }
    }));
    threads.push_back(truth::thread("asker", [rounds] {
        truth::stayOn(1);
        for (int round = 0; round < 2 * rounds; ++round) {
            askCache();
            truth::burn(100);
        }
    }));
    truth::joinAll(threads);
    truth::print("trylock_poll");
}
