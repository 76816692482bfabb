// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/scripted_trace.h"

#include <gtest/gtest.h>

namespace whichlock::test {

TraceStackId ScriptedTrace::stack(std::initializer_list<const char*> functions)
{
    std::vector<std::string> names(functions.begin(), functions.end());
    const auto known = std::find(stacks_.begin(), stacks_.end(), names);
    if (known != stacks_.end())
        return {static_cast<uint32_t>(known - stacks_.begin()) + 1};
    stacks_.push_back(std::move(names));
    return {static_cast<uint32_t>(stacks_.size())};
}

TraceMoment ScriptedTrace::at(uint64_t timeNs, int32_t tid, TraceStackId stack) const
{
    return {.timeNs = timeNs, .pid = tid == 0 ? 0 : kPid, .tid = tid, .cpu = cpu, .stack = stack};
}

void ScriptedTrace::wait(uint64_t timeNs, int32_t tid, uint64_t word, TraceStackId stack)
{
    analyser.futexEnter(at(timeNs, tid, stack), {.action = FutexAction::Wait, .word = word, .value = 2});
}

void ScriptedTrace::waitEnds(uint64_t timeNs, int32_t tid, int64_t result)
{
    analyser.futexExit(at(timeNs, tid), result);
}

void ScriptedTrace::wake(uint64_t timeNs, int32_t tid, uint64_t word, TraceStackId stack)
{
    analyser.futexEnter(at(timeNs, tid, stack), {.action = FutexAction::Wake, .word = word, .value = 1});
    analyser.futexExit(at(timeNs, tid, stack), 1);
}

void ScriptedTrace::switchTask(uint64_t timeNs, int32_t from, int32_t to, uint64_t state, TraceStackId stack)
{
    const auto nameOf = [](int32_t tid) {
        return tid == 0 ? std::string("swapper") : "t" + std::to_string(tid);
    };
    const std::string previous = nameOf(from);
    const std::string next = nameOf(to);
    analyser.contextSwitch(at(timeNs, from, stack),
        {.previous = from, .previousState = state, .previousName = previous, .next = to, .nextName = next});
}

TraceAnalysis ScriptedTrace::finish(uint64_t endNs)
{
    TraceAnalysis analysis = analyser.finish(endNs);
    EXPECT_EQ(analysis.check(), "");
    return analysis;
}

TraceStackClass ScriptedTrace::classify(TraceStackId stack)
{
    std::vector<NamedFrame> frames;
    for (const std::string& name : stacks_[stack.v - 1]) {
        const bool kernel = name.starts_with("k:");
        frames.push_back({std::string_view(name).substr(kernel ? 2 : 0), kernel});
    }
    return classifier_.classify(frames);
}

Counting ScriptedTrace::countingOf(const TracedTask& task)
{
    const auto known = counting.find(task.tid);
    return known == counting.end() ? Counting::Yes : known->second;
}

WordPlace ScriptedTrace::placeOf(int32_t /*pid*/, uint64_t address)
{
    const auto known = places.find(address);
    return known == places.end() ? WordPlace() : known->second;
}

ParkedPlace ScriptedTrace::parkedPlaceOf(int32_t /*pid*/, TraceStackId stack)
{
    const auto known = parked.find(stack.v);
    return known == parked.end() ? ParkedPlace{false, stack.v} : known->second;
}

const TraceLock& lockAt(const TraceAnalysis& analysis, uint64_t address)
{
    static const TraceLock kNone;
    for (const TraceLock& lock : analysis.locks) {
        if (lock.key.address == address)
            return lock;
    }
    ADD_FAILURE() << "no lock at " << address;
    return kNone;
}

} // namespace whichlock::test
