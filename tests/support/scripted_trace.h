// SPDX-License-Identifier: GPL-3.0-or-later
// A trace that a test writes event by event, with stacks by the names of their functions.
#pragma once

#include "analyzer/traces/stack_classifier.h"
#include "analyzer/traces/trace_analyser.h"

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace whichlock::test {

class ScriptedTrace : private TraceEnvironment {
public:
    static constexpr int32_t kPid = 100;
    static constexpr uint64_t kMutex = 0x5000;

    explicit ScriptedTrace(const TraceOptions& options = {})
        : analyser(*this, options)
    {
    }

    /// Functions innermost first; those of the kernel begin with `k:`.
    TraceStackId stack(std::initializer_list<const char*> functions);
    TraceMoment at(uint64_t timeNs, int32_t tid, TraceStackId stack = {}) const;

    /// A futex wait of a C library's mutex, and the call at its end.
    void wait(uint64_t timeNs, int32_t tid, uint64_t word = kMutex, TraceStackId stack = {});
    void waitEnds(uint64_t timeNs, int32_t tid, int64_t result = 0);
    /// The call that wakes one waiter, and its return.
    void wake(uint64_t timeNs, int32_t tid, uint64_t word = kMutex, TraceStackId stack = {});
    /// `state` 0: still runnable.
    void switchTask(uint64_t timeNs, int32_t from, int32_t to, uint64_t state = 1, TraceStackId stack = {});

    /// The result, whose sums are checked.
    TraceAnalysis finish(uint64_t endNs = 0);

    TraceAnalyser analyser;
    uint32_t cpu = 0;
    std::map<uint64_t, WordPlace> places;
    std::map<int32_t, Counting> counting; ///< of threads; the others count
    std::set<uint32_t> leftOutCpus;
    std::map<uint32_t, ParkedPlace> parked; ///< by stack

private:
    TraceStackClass classify(TraceStackId stack) override;
    Counting countingOf(const TracedTask& task) override;
    bool countsProcessor(uint32_t cpuNumber) override { return !leftOutCpus.contains(cpuNumber); }
    WordPlace placeOf(int32_t pid, uint64_t address) override;
    ParkedPlace parkedPlaceOf(int32_t pid, TraceStackId stack) override;

    StackClassifier classifier_{RoutineTable::builtIn(), Context{}};
    std::vector<std::vector<std::string>> stacks_;
};

/// The lock at an address; fails the test if there is none.
const TraceLock& lockAt(const TraceAnalysis& analysis, uint64_t address);

} // namespace whichlock::test
