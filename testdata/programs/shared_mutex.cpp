// SPDX-License-Identifier: GPL-3.0-or-later
// Two processes contend for one mutex in memory that they share; each has it mapped at another address. The
// child hands its measurements to the parent.
#include "truth.h"

#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>

struct Table {
    long rows = 0;
    pthread_mutex_t mutex;
};

Table* g_table = nullptr;
truth::Lock g_lock{"table->mutex", "pthread_mutex_t", nullptr};

struct Shared {
    void lock() { pthread_mutex_lock(&g_table->mutex); }
    void unlock() { pthread_mutex_unlock(&g_table->mutex); }
} g_shared;

/// What of an acquisition can be handed to another process.
struct Times {
    int64_t asked;
    int64_t got;
    int64_t released;
};

Table* mapped(int file)
{
    void* place = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return place == MAP_FAILED ? nullptr : static_cast<Table*>(place);
}

[[gnu::noinline]] void insertRow()
{
    const truth::Held held(g_shared, g_lock, __func__);
    ++g_table->rows;
    truth::burn(300);
}

[[gnu::noinline]] void scanRows()
{
    const truth::Held held(g_shared, g_lock, __func__);
    truth::burn(900);
}

/// The child: maps the file anew, behind a page that moves its address, and writes its times to the pipe.
void scan(int file, int pipe, int rounds)
{
    mmap(nullptr, 1U << 20U, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_table = mapped(file);
    pthread_setname_np(pthread_self(), "scanner");
    for (int round = 0; round < rounds; ++round) {
        scanRows();
        truth::burn(100);
    }
    for (const truth::Acquisition& one : truth::log().acquisitions) {
        const Times times{one.asked, one.got, one.released};
        if (write(pipe, &times, sizeof times) != sizeof times)
            _exit(1);
    }
    _exit(0);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 30);
    truth::start();
    const int file = memfd_create("table", 0);
    int ends[2];
    if (file < 0 || ftruncate(file, sizeof(Table)) != 0 || pipe(ends) != 0)
        return 1;
    g_table = mapped(file);
    g_lock.address = &g_table->mutex;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&g_table->mutex, &attributes);
    const pid_t child = fork();
    if (child == 0)
        scan(file, ends[1], rounds);
    close(ends[1]);
    pthread_setname_np(pthread_self(), "inserter");
    truth::log().thread = "inserter";
    for (int round = 0; round < rounds * 2; ++round) {
        insertRow();
        truth::burn(100);
    }
    Times times;
    while (read(ends[0], &times, sizeof times) == sizeof times)
        truth::log().acquisitions.push_back(
            {&g_lock, "scanRows", false, times.asked, times.got, times.released, 0});
    waitpid(child, nullptr, 0);
    truth::print("shared_mutex");
}
