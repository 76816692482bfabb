// SPDX-License-Identifier: GPL-3.0-or-later
// What a workload program knows about itself: each acquisition of a lock with the times of asking, getting
// and releasing. From these come the waits by call site, and who held the lock meanwhile; printed as JSON.
// Times are of CLOCK_MONOTONIC, as in recordings that are made with `-k CLOCK_MONOTONIC`.
#pragma once

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace truth {

constexpr int64_t kContendedNs = 2000; ///< a wait above this counts as contended

inline int64_t nowNs(clockid_t clock = CLOCK_MONOTONIC)
{
    timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

[[gnu::noinline]] inline void burnLoop(int64_t rounds)
{
    for (int64_t i = 0; i < rounds; ++i)
        asm volatile("" : "+r"(i));
}

inline int64_t g_roundsPerMs = 0;

/// Uses about so much processor time. It is counted, not timed: whoever is preempted still does all of it.
[[gnu::noinline]] inline void burn(int64_t microseconds)
{
    burnLoop(g_roundsPerMs * microseconds / 1000);
}

struct Lock {
    const char* name;
    const char* type;
    const void* address;
    bool spins = false; ///< its waits are measured in processor time, too
};

struct Acquisition {
    const Lock* lock;
    const char* site; ///< the function that asks
    bool shared;
    int64_t asked;
    int64_t got;      ///< 0 while it waits
    int64_t released; ///< 0 while it holds
    int64_t waitCpu;
};

/// Of one thread. References to its acquisitions stay valid while it grows.
struct Log {
    std::deque<Acquisition> acquisitions;
    std::string thread;
    int64_t cpuNs = 0;
    Log* next = nullptr;
};

inline std::atomic<Log*> g_logs = nullptr;
inline int64_t g_startNs = 0;

inline Log& log()
{
    static thread_local Log* own = nullptr;
    if (own == nullptr) {
        own = new Log;
        own->next = g_logs.load();
        while (!g_logs.compare_exchange_weak(own->next, own)) { }
    }
    return *own;
}

/// Begins to wait; `asked` may lie before now.
inline Acquisition& ask(const Lock& lock, const char* site, bool shared = false, int64_t asked = nowNs())
{
    const int64_t cpu = lock.spins ? nowNs(CLOCK_THREAD_CPUTIME_ID) : 0;
    log().acquisitions.push_back({&lock, site, shared, asked, 0, 0, cpu});
    return log().acquisitions.back();
}

inline void got(Acquisition& acquisition)
{
    acquisition.got = nowNs();
    if (acquisition.lock->spins)
        acquisition.waitCpu = nowNs(CLOCK_THREAD_CPUTIME_ID) - acquisition.waitCpu;
}

/// Holds anything with lock() and unlock(), and writes down how that went.
template <class Mutex> class Held {
public:
    [[gnu::always_inline]] Held(Mutex& mutex, const Lock& lock, const char* site, bool shared = false)
        : mutex_(mutex)
        , acquisition_(ask(lock, site, shared))
    {
        mutex_.lock();
        got(acquisition_);
    }
    [[gnu::always_inline]] ~Held()
    {
        acquisition_.released = nowNs();
        mutex_.unlock();
    }

private:
    Mutex& mutex_;
    Acquisition& acquisition_;
};

/// To be called first.
inline void start()
{
    constexpr int64_t kRounds = 1'000'000;
    int64_t least = INT64_MAX;
    for (int i = 0; i < 5; ++i) {
        const int64_t before = nowNs(CLOCK_THREAD_CPUTIME_ID);
        burnLoop(kRounds);
        least = std::min(least, nowNs(CLOCK_THREAD_CPUTIME_ID) - before);
    }
    g_roundsPerMs = kRounds * 1'000'000 / least;
    g_startNs = nowNs();
}

/// A thread with a name, whose processor time is written down.
template <class Work> std::thread thread(const char* name, Work work)
{
    return std::thread([name, work] {
        pthread_setname_np(pthread_self(), name);
        log().thread = name;
        work();
        log().cpuNs = nowNs(CLOCK_THREAD_CPUTIME_ID);
    });
}

inline void joinAll(std::vector<std::thread>& threads)
{
    for (std::thread& one : threads)
        one.join();
}

/// Keeps this thread on one processor; counted modulo the number of processors.
inline void stayOn(int processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(processor) % std::thread::hardware_concurrency(), &set);
    sched_setaffinity(0, sizeof set, &set);
}

/// The first argument as a count.
inline int countFrom(int argc, char** argv, int otherwise)
{
    return argc > 1 ? std::atoi(argv[1]) : otherwise;
}

/// To be called last, when no other thread runs or all others are stuck. `more` is put in as it is.
void print(const char* program, const std::string& more = {});

} // namespace truth
