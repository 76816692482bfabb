// SPDX-License-Identifier: GPL-3.0-or-later
// A lock made of a mutex, a condition variable and a flag, as interpreters have one around everything. Its
// waiters wait for the condition variable; the mutex inside is held for moments only and is not to blame.
#include "truth.h"

#include <condition_variable>
#include <mutex>

class InterpreterLock {
public:
    [[gnu::noinline]] void lock()
    {
        std::unique_lock guard(mutex_);
        while (taken_)
            released_.wait(guard);
        taken_ = true;
    }
    [[gnu::noinline]] void unlock()
    {
        {
            const std::lock_guard guard(mutex_);
            taken_ = false;
        }
        released_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable released_;
    bool taken_ = false;
} g_interpreter;

const truth::Lock kInterpreter{"g_interpreter", "InterpreterLock", &g_interpreter};

[[gnu::noinline]] void runBytecode()
{
    const truth::Held held(g_interpreter, kInterpreter, __func__);
    truth::burn(1000);
}

[[gnu::noinline]] void finishIo()
{
    const truth::Held held(g_interpreter, kInterpreter, __func__);
    truth::burn(30);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 50);
    truth::start();
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
        threads.push_back(truth::thread("bytecode", [rounds] {
            for (int round = 0; round < rounds; ++round)
                runBytecode();
        }));
    threads.push_back(truth::thread("io", [rounds] {
        for (int round = 0; round < rounds; ++round) {
            usleep(500);
            finishIo();
        }
    }));
    truth::joinAll(threads);
    truth::print("condvar_lock");
}
