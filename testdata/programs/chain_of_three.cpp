// SPDX-License-Identifier: GPL-3.0-or-later
// A waits for B, and B for C: the front desk needs the ledger, whose holder needs the archive, which is held
// for 2 ms at a time. The root of the waiting for the ledger is the archive.
#include "truth.h"

#include <mutex>

std::mutex g_ledger;
std::mutex g_archive;
const truth::Lock kLedger{"g_ledger", "std::mutex", &g_ledger};
const truth::Lock kArchive{"g_archive", "std::mutex", &g_archive};

[[gnu::noinline]] void copyArchive()
{
    const truth::Held held(g_archive, kArchive, __func__);
    truth::burn(2000);
}

[[gnu::noinline]] void readArchive()
{
    const truth::Held held(g_archive, kArchive, __func__);
    truth::burn(20);
}

[[gnu::noinline]] void settle()
{
    const truth::Held held(g_ledger, kLedger, __func__);
    truth::burn(50);
    readArchive();
    truth::burn(50);
}

[[gnu::noinline]] void look()
{
    const truth::Held held(g_ledger, kLedger, __func__);
    truth::burn(20);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 30);
    truth::start();
    std::vector<std::thread> threads;
    threads.push_back(truth::thread("archive", [rounds] {
        for (int round = 0; round < rounds; ++round) {
            copyArchive();
            usleep(500);
        }
    }));
    threads.push_back(truth::thread("clerk", [rounds] {
        for (int round = 0; round < 2 * rounds; ++round) {
            settle();
            usleep(200);
        }
    }));
    threads.push_back(truth::thread("desk", [rounds] {
        for (int round = 0; round < 4 * rounds; ++round) {
            look();
            usleep(200);
        }
    }));
    truth::joinAll(threads);
    truth::print("chain_of_three");
}
