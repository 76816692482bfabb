// SPDX-License-Identifier: GPL-3.0-or-later
// Two threads take two mutexes in opposite orders and are stuck for good; after some time the program ends
// all the same. In a recording their waits begin and never end. A third thread waits for one of the two.
#include "truth.h"

#include <mutex>

std::mutex g_accounts;
std::mutex g_journal;
const truth::Lock kAccounts{"g_accounts", "std::mutex", &g_accounts};
const truth::Lock kJournal{"g_journal", "std::mutex", &g_journal};

std::atomic<int> g_holding = 0;

/// Until both hold their first mutex.
void waitForBoth()
{
    while (g_holding < 2)
        usleep(1000);
}

[[gnu::noinline]] void transfer()
{
    const truth::Held held(g_accounts, kAccounts, __func__);
    ++g_holding;
    waitForBoth();
    const truth::Held both(g_journal, kJournal, __func__);
}

[[gnu::noinline]] void audit()
{
    const truth::Held held(g_journal, kJournal, __func__);
    ++g_holding;
    waitForBoth();
    const truth::Held both(g_accounts, kAccounts, __func__);
}

[[gnu::noinline]] void balance()
{
    waitForBoth();
    const truth::Held held(g_accounts, kAccounts, __func__);
}

int main(int argc, char** argv)
{
    const int milliseconds = truth::countFrom(argc, argv, 200);
    truth::start();
    truth::thread("transfer", transfer).detach();
    truth::thread("audit", audit).detach();
    truth::thread("balance", balance).detach();
    usleep(static_cast<unsigned>(milliseconds) * 1000);
    truth::print("deadlock_cut_short");
    _exit(0);
}
