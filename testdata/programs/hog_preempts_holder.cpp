// SPDX-License-Identifier: GPL-3.0-or-later
// The holder of a mutex shares its processor with a hog of higher priority, which preempts it again and again
// while it holds: what makes the waiter on the other processor wait is the hog, not the holder's own work.
// Without the right to a higher priority the hog takes half of the processor. With `inversion` as the second
// argument the waiter is more important than the hog, which keeps the holder from ever letting it go on.
#include "truth.h"

#include <cstring>
#include <mutex>

std::mutex g_state;
const truth::Lock kState{"g_state", "std::mutex", &g_state};
std::atomic<bool> g_stop = false;
std::atomic<int64_t> g_holdCpuNs = 0;

[[gnu::noinline]] void updateState()
{
    const truth::Held held(g_state, kState, __func__);
    const int64_t before = truth::nowNs(CLOCK_THREAD_CPUTIME_ID);
    truth::burn(1000);
    g_holdCpuNs += truth::nowNs(CLOCK_THREAD_CPUTIME_ID) - before;
}

[[gnu::noinline]] void readState()
{
    const truth::Held held(g_state, kState, __func__);
    truth::burn(10);
}

void setPriority(int priority)
{
    const sched_param wanted{.sched_priority = priority};
    sched_setscheduler(0, SCHED_FIFO, &wanted);
}

int main(int argc, char** argv)
{
    const bool inversion = argc > 2 && std::strcmp(argv[2], "inversion") == 0;
    const int rounds = truth::countFrom(argc, argv, 40);
    truth::start();
    std::vector<std::thread> threads;
    threads.push_back(truth::thread("hog", [] {
        truth::stayOn(0);
        setPriority(1);
        while (!g_stop) {
            truth::burn(3000);
            usleep(700);
        }
    }));
    threads.push_back(truth::thread("holder", [rounds] {
        truth::stayOn(0);
        for (int round = 0; round < rounds; ++round)
            updateState();
        g_stop = true;
    }));
    threads.push_back(truth::thread("waiter", [inversion] {
        truth::stayOn(1);
        if (inversion)
            setPriority(2);
        while (!g_stop) {
            readState();
            usleep(200);
        }
    }));
    truth::joinAll(threads);
    truth::print("hog_preempts_holder", " \"updateState_hold_cpu_ns\": " + std::to_string(g_holdCpuNs));
}
