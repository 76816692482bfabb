// SPDX-License-Identifier: GPL-3.0-or-later
// A queue whose producers broadcast while they hold the mutex: all consumers wake, and queue up for it again
// inside pthread_cond_wait(). A wait for the mutex there begins when the consumer is woken; the time of the
// last broadcast stands for it, so that it contains the wake-up itself.
#include "truth.h"

#include <condition_variable>
#include <mutex>

std::mutex g_queue;
std::condition_variable g_filled;
const truth::Lock kQueue{"g_queue", "std::mutex", &g_queue};
int g_items = 0;
bool g_done = false;
int64_t g_broadcastNs = 0;

[[gnu::noinline]] void produce()
{
    const truth::Held held(g_queue, kQueue, __func__);
    ++g_items;
    truth::burn(200);
    g_broadcastNs = truth::nowNs();
    g_filled.notify_all();
    truth::burn(100); // the woken ones run into the mutex
}

[[gnu::noinline]] bool consume()
{
    truth::Acquisition* acquisition = &truth::ask(kQueue, __func__);
    std::unique_lock guard(g_queue);
    truth::got(*acquisition);
    while (g_items == 0 && !g_done) {
        acquisition->released = truth::nowNs();
        const int64_t slept = acquisition->released;
        g_filled.wait(guard);
        acquisition = &truth::ask(kQueue, "consume (again)", false, std::max(slept, g_broadcastNs));
        truth::got(*acquisition);
    }
    const bool any = g_items > 0;
    g_items -= any ? 1 : 0;
    truth::burn(50);
    acquisition->released = truth::nowNs();
    return any;
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 60);
    truth::start();
    std::vector<std::thread> consumers;
    for (int i = 0; i < 6; ++i)
        consumers.push_back(truth::thread("consumer", [] {
            while (consume())
                truth::burn(20);
        }));
    std::vector<std::thread> producers;
    for (int i = 0; i < 2; ++i)
        producers.push_back(truth::thread("producer", [rounds] {
            for (int round = 0; round < rounds; ++round) {
                produce();
                usleep(300);
            }
        }));
    truth::joinAll(producers);
    {
        const std::lock_guard guard(g_queue);
        g_done = true;
        g_broadcastNs = truth::nowNs();
    }
    g_filled.notify_all();
    truth::joinAll(consumers);
    truth::print("convoy_condvar");
}
