// SPDX-License-Identifier: GPL-3.0-or-later
// A mutex is held across fdatasync(): who waits for it waits for the disk.
#include "truth.h"

#include <array>
#include <fcntl.h>
#include <mutex>

std::mutex g_store;
const truth::Lock kStore{"g_store", "std::mutex", &g_store};
std::atomic<bool> g_stop = false;
std::atomic<int64_t> g_syncNs = 0;

[[gnu::noinline]] void commit(int file)
{
    static std::array<char, 65536> page{};
    const truth::Held held(g_store, kStore, __func__);
    if (pwrite(file, page.data(), page.size(), 0) < 0)
        std::abort();
    const int64_t before = truth::nowNs();
    fdatasync(file);
    g_syncNs += truth::nowNs() - before;
    truth::burn(20); // so that the last call is not the one that gives the mutex back
}

[[gnu::noinline]] void look()
{
    const truth::Held held(g_store, kStore, __func__);
    truth::burn(10);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 20);
    const int file = open("store", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0)
        return 77;
    truth::start();
    std::vector<std::thread> threads;
    threads.push_back(truth::thread("committer", [file, rounds] {
        for (int round = 0; round < rounds; ++round) {
            commit(file);
            usleep(300);
        }
        g_stop = true;
    }));
    threads.push_back(truth::thread("looker", [] {
        while (!g_stop) {
            look();
            usleep(200);
        }
    }));
    truth::joinAll(threads);
    unlink("store");
    truth::print("io_under_lock", " \"sync_ns\": " + std::to_string(g_syncNs));
}
