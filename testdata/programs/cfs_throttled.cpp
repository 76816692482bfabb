// SPDX-License-Identifier: GPL-3.0-or-later
// The holder of a mutex runs in a control group that may use a tenth of a processor: it is throttled while it
// holds. Ends with status 77 where no control group can be made.
#include "truth.h"

#include <fstream>
#include <mutex>
#include <sys/stat.h>
#include <sys/syscall.h>

std::mutex g_quota;
const truth::Lock kQuota{"g_quota", "std::mutex", &g_quota};
std::atomic<bool> g_stop = false;
std::atomic<int64_t> g_holdCpuNs = 0;

bool put(const std::string& file, const std::string& text)
{
    std::ofstream out(file);
    out << text << std::flush;
    return static_cast<bool>(out);
}

/// Makes a control group with a tenth of a processor and puts this thread in it; its folder, or nothing.
std::string limitThisThread()
{
    const std::string thread = std::to_string(syscall(SYS_gettid));
    const std::string first = "/sys/fs/cgroup/cpu/throttled"; // version 1
    mkdir(first.c_str(), 0755);
    if (put(first + "/cpu.cfs_period_us", "50000") && put(first + "/cpu.cfs_quota_us", "5000")
        && put(first + "/tasks", thread))
        return first;
    rmdir(first.c_str());
    const std::string second = "/sys/fs/cgroup/throttled"; // version 2
    mkdir(second.c_str(), 0755);
    put("/sys/fs/cgroup/cgroup.subtree_control", "+cpu");
    if (put(second + "/cgroup.type", "threaded") && put(second + "/cpu.max", "5000 50000")
        && put(second + "/cgroup.threads", thread))
        return second;
    rmdir(second.c_str());
    return {};
}

[[gnu::noinline]] void spendQuota()
{
    const truth::Held held(g_quota, kQuota, __func__);
    const int64_t before = truth::nowNs(CLOCK_THREAD_CPUTIME_ID);
    truth::burn(4000);
    g_holdCpuNs += truth::nowNs(CLOCK_THREAD_CPUTIME_ID) - before;
}

[[gnu::noinline]] void askQuota()
{
    const truth::Held held(g_quota, kQuota, __func__);
    truth::burn(10);
}

int main(int argc, char** argv)
{
    const int rounds = truth::countFrom(argc, argv, 10);
    std::string group;
    truth::start();
    std::vector<std::thread> threads;
    threads.push_back(truth::thread("limited", [rounds, &group] {
        group = limitThisThread();
        for (int round = 0; !group.empty() && round < rounds; ++round) {
            spendQuota();
            usleep(100);
        }
        g_stop = true;
    }));
    threads.push_back(truth::thread("waiter", [] {
        while (!g_stop) {
            askQuota();
            usleep(200);
        }
    }));
    truth::joinAll(threads);
    if (group.empty())
        return 77;
    truth::print("cfs_throttled", " \"spendQuota_hold_cpu_ns\": " + std::to_string(g_holdCpuNs));
    rmdir(group.c_str());
}
