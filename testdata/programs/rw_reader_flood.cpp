// SPDX-License-Identifier: GPL-3.0-or-later
// Readers that overlap all the time and one writer on a pthread_rwlock_t. With the default, which prefers
// readers, the writer starves; with `writer` as the second argument waiting writers go first, and the readers
// wait for each of them.
#include "truth.h"

#include <cstring>

pthread_rwlock_t g_table = PTHREAD_RWLOCK_INITIALIZER;
const truth::Lock kTable{"g_table", "pthread_rwlock_t", &g_table};

struct Reading {
    void lock() { pthread_rwlock_rdlock(&g_table); }
    void unlock() { pthread_rwlock_unlock(&g_table); }
} g_reading;

struct Writing {
    void lock() { pthread_rwlock_wrlock(&g_table); }
    void unlock() { pthread_rwlock_unlock(&g_table); }
} g_writing;

[[gnu::noinline]] void readTable()
{
    const truth::Held held(g_reading, kTable, __func__, true);
    usleep(1000);
}

[[gnu::noinline]] void writeTable()
{
    const truth::Held held(g_writing, kTable, __func__);
    usleep(2000);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 60);
    const bool writersFirst = argc > 2 && std::strcmp(argv[2], "writer") == 0;
    if (writersFirst) {
        pthread_rwlockattr_t attributes;
        pthread_rwlockattr_init(&attributes);
        pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlock_init(&g_table, &attributes);
    }
    truth::start();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.push_back(truth::thread("reader", [rounds, i] {
            usleep(static_cast<unsigned>(250 * i)); // so that there is always one
            for (int round = 0; round < rounds; ++round)
                readTable();
        }));
    threads.push_back(truth::thread("writer", [rounds] {
        for (int round = 0; round < rounds / 10; ++round) {
            usleep(3000);
            writeTable();
        }
    }));
    truth::joinAll(threads);
    truth::print("rw_reader_flood", writersFirst ? " \"prefers\": \"writers\"" : " \"prefers\": \"readers\"");
}
