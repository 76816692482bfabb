// SPDX-License-Identifier: GPL-3.0-or-later
// Forty threads wait for one condition; each broadcast wakes all of them, and one after the other they get
// the mutex for a moment. As in convoy_condvar, a wait for the mutex begins with the broadcast.
#include "truth.h"

#include <condition_variable>
#include <mutex>

constexpr int kThreads = 40;

std::mutex g_gate;
std::condition_variable g_opened;
const truth::Lock kGate{"g_gate", "std::mutex", &g_gate};
int g_generation = 0;
int g_waiting = 0;
int64_t g_broadcastNs = 0;

[[gnu::noinline]] void waitForGeneration(int wanted)
{
    truth::Acquisition* acquisition = &truth::ask(kGate, __func__);
    std::unique_lock guard(g_gate);
    truth::got(*acquisition);
    ++g_waiting;
    while (g_generation < wanted) {
        acquisition->released = truth::nowNs();
        const int64_t slept = acquisition->released;
        g_opened.wait(guard);
        acquisition = &truth::ask(kGate, "waitForGeneration (again)", false, std::max(slept, g_broadcastNs));
        truth::got(*acquisition);
    }
    --g_waiting;
    truth::burn(20);
    acquisition->released = truth::nowNs();
}

[[gnu::noinline]] bool openGate()
{
    const truth::Held held(g_gate, kGate, __func__);
    if (g_waiting < kThreads)
        return false;
    ++g_generation;
    g_broadcastNs = truth::nowNs();
    g_opened.notify_all();
    return true;
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 3);
    truth::start();
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
        threads.push_back(truth::thread("sheep", [rounds] {
            for (int round = 1; round <= rounds; ++round)
                waitForGeneration(round);
        }));
    threads.push_back(truth::thread("shepherd", [rounds] {
        for (int round = 0; round < rounds;) {
            usleep(10'000);
            round += openGate() ? 1 : 0;
        }
    }));
    truth::joinAll(threads);
    truth::print("herd");
}
