// SPDX-License-Identifier: GPL-3.0-or-later
// One hot std::mutex with two places that take it: rewriteIndex() holds it sixteen times as long as
// lookUp(). Most of the waiting is in lookUp(), and most of it is because of rewriteIndex().
#include "truth.h"

#include <mutex>

std::mutex g_index;
const truth::Lock kIndex{"g_index", "std::mutex", &g_index};

[[gnu::noinline]] void rewriteIndex()
{
    const truth::Held held(g_index, kIndex, __func__);
    truth::burn(800);
}

[[gnu::noinline]] void lookUp()
{
    const truth::Held held(g_index, kIndex, __func__);
    truth::burn(50);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 40);
    truth::start();
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.push_back(truth::thread("writer", [rounds] {
            for (int round = 0; round < rounds; ++round) {
                rewriteIndex();
                truth::burn(300);
            }
        }));
        threads.push_back(truth::thread("reader", [rounds] {
            for (int round = 0; round < 2 * rounds; ++round) {
                lookUp();
                truth::burn(100);
            }
        }));
    }
    truth::joinAll(threads);
    truth::print("mutex_two_sites");
}
