// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/traces/trace_threads.h"

namespace whichlock {

uint32_t TraceThreads::processRow(int32_t pid, uint32_t epoch)
{
    const TraceProcess process{pid, epoch};
    const auto [at, isNew] = processRows_.try_emplace(process, static_cast<uint32_t>(processes_.size()));
    if (isNew)
        processes_.push_back(process);
    return at->second;
}

LiveThread& TraceThreads::thread(int32_t key, int32_t pid, uint32_t epoch, uint64_t timeNs)
{
    Recent& recent = recentOf(key);
    if (recent.thread != nullptr && recent.key == key)
        return *recent.thread;
    const auto [at, isNew] = threads_.try_emplace(key);
    LiveThread& thread = at->second;
    recent = {key, &thread};
    if (isNew) {
        thread.key = key;
        thread.firstNs = timeNs;
        thread.process = processRow(pid, epoch);
        regroup(thread);
    }
    return thread;
}

LiveThread* TraceThreads::find(int32_t key)
{
    return const_cast<LiveThread*>(std::as_const(*this).find(key));
}

const LiveThread* TraceThreads::find(int32_t key) const
{
    const Recent& recent = recent_[static_cast<uint32_t>(key) % kRecent];
    if (recent.thread != nullptr && recent.key == key)
        return recent.thread;
    const auto at = threads_.find(key);
    return at == threads_.end() ? nullptr : &at->second;
}

void TraceThreads::forget(int32_t key)
{
    Recent& recent = recentOf(key);
    if (recent.key == key)
        recent = {};
    threads_.erase(key);
}

void TraceThreads::regroup(LiveThread& thread)
{
    const int32_t pid = processes_[thread.process].pid;
    const LiveThread* const first = find(pid);
    const auto nameOf = [&](const LiveThread* one) {
        return one != nullptr && one->name ? std::string_view(names_[one->name]) : std::string_view();
    };
    thread.counting = environment_.countingOf(
        {.pid = pid, .tid = thread.key, .name = nameOf(&thread), .processName = nameOf(first)});
    const GroupKey key{thread.name, thread.process, apart_ ? thread.key : -1, thread.counting};
    thread.group = groupKeys_.intern(key);
    if (thread.group.v > groups_.size())
        groups_.push_back({.name = std::string(nameOf(&thread)),
            .process = thread.process,
            .tid = key.tid,
            .counting = key.counting});
    ++groups_[thread.group.v - 1].threads;
}

void TraceThreads::flush(LiveThread& thread, uint64_t timeNs)
{
    const ActivitySums sums = thread.timeline.sumsAt(timeNs);
    ActivitySums& account = groups_[thread.group.v - 1].account;
    thread.contributed = thread.contributed || (open_ && sums != thread.flushed);
    for (size_t i = 0; i < kActivities && open_; ++i)
        account[i] += sums[i] - thread.flushed[i];
    thread.flushed = sums;
    thread.timeline.split(timeNs); // what has been counted keeps its name
}

void TraceThreads::end(LiveThread& thread, uint64_t timeNs)
{
    flush(thread, timeNs);
    if (!thread.contributed)
        --groups_[thread.group.v - 1].threads;
}

void TraceThreads::setOpen(bool open, uint64_t timeNs)
{
    for (auto& [key, thread] : threads_)
        flush(thread, timeNs);
    open_ = open;
}

void TraceThreads::setName(LiveThread& thread, std::string_view name, uint64_t timeNs)
{
    const TraceNameId id = names_.intern(name);
    if (id == thread.name)
        return;
    if (thread.name) // else it had this name all the time
        flush(thread, timeNs);
    --groups_[thread.group.v - 1].threads;
    thread.name = id;
    regroup(thread);
}

void TraceThreads::setProcess(LiveThread& thread, int32_t pid, uint32_t epoch, uint64_t timeNs)
{
    const TraceProcess& known = processes_[thread.process];
    if (known.pid == pid && known.epoch == epoch)
        return;
    const uint32_t row = processRow(pid, epoch);
    if (processes_[thread.process].pid != -1) // else it was of this one all the time
        flush(thread, timeNs);
    --groups_[thread.group.v - 1].threads;
    thread.process = row;
    regroup(thread);
}

} // namespace whichlock
