// SPDX-License-Identifier: GPL-3.0-or-later
// Processes that create and remove files in one folder, below the working folder: the kernel serialises them
// by the lock of the folder's inode. A program cannot measure that; it counts its calls and the time in them.
#include "truth.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

constexpr const char* kFolder = "kernel_dir.tmp";

struct Shared {
    std::atomic<int64_t> calls;
    std::atomic<int64_t> ns;
};

[[gnu::noinline]] void createAndRemove(const std::string& name, Shared& shared)
{
    const int64_t before = truth::nowNs();
    const int file = open(name.c_str(), O_CREAT | O_RDWR, 0600);
    close(file);
    unlink(name.c_str());
    shared.ns += truth::nowNs() - before;
    ++shared.calls;
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 400);
    mkdir(kFolder, 0700);
    auto* shared = static_cast<Shared*>(
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    truth::start();
    for (int i = 0; i < 4; ++i) {
        if (fork() != 0)
            continue;
        truth::stayOn(i);
        const std::string name = std::string(kFolder) + "/" + std::to_string(i);
        for (int round = 0; round < rounds; ++round)
            createAndRemove(name, *shared);
        _exit(0);
    }
    while (wait(nullptr) > 0) { }
    rmdir(kFolder);
    truth::print("kernel_dir",
        " \"operations\": " + std::to_string(shared->calls)
            + ", \"operations_ns\": " + std::to_string(shared->ns));
}
