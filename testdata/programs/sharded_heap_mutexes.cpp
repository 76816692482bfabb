// SPDX-License-Identifier: GPL-3.0-or-later
// Sixteen mutexes in shards on the heap. Shard 3 gets half of the work: by their addresses one is hot, by
// their type they are all alike.
#include "truth.h"

#include <memory>
#include <mutex>

struct Shard {
    std::mutex mutex;
    int64_t entries[14] = {};
};

constexpr int kShards = 16;
constexpr int kHotShard = 3;
Shard* g_shards = nullptr;
std::vector<truth::Lock> g_locks;

[[gnu::noinline]] void insertInto(int shard)
{
    const truth::Held held(g_shards[shard].mutex, g_locks[static_cast<size_t>(shard)], __func__);
    ++g_shards[shard].entries[0];
    truth::burn(60);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 400);
    const auto shards = std::make_unique<Shard[]>(kShards);
    std::vector<std::string> names;
    g_shards = shards.get();
    for (int i = 0; i < kShards; ++i)
        names.push_back("shards[" + std::to_string(i) + "].mutex");
    for (int i = 0; i < kShards; ++i)
        g_locks.push_back({names[static_cast<size_t>(i)].c_str(), "std::mutex", &g_shards[i].mutex});
    truth::start();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.push_back(truth::thread("inserter", [rounds, i] {
            for (int round = 0; round < rounds; ++round) {
                insertInto((round + i) % 2 == 0 ? kHotShard : (round * 5 + i * 3) % kShards);
                truth::burn(20);
            }
        }));
    truth::joinAll(threads);
    truth::print("sharded_heap_mutexes");
}
