// SPDX-License-Identifier: GPL-3.0-or-later
// What a trace did not show, what is in none of its figures, and what recording it cost, in sentences.
#include "analyzer/report/section_builders.h"
#include "analyzer/report/value_format.h"

#include <algorithm>
#include <fmt/format.h>

namespace whichlock {
namespace {

class LeftOutSentences {
public:
    LeftOutSentences(const LockTraceRecord& record, const ReportSection& section)
        : record_(record)
        , section_(section)
        , trace_(*section.trace)
    {
    }

    std::vector<std::string> sentences()
    {
        uint64_t open = 0;
        for (const ReportTraceLock& lock : trace_.locks)
            open += lock.figures.open;
        if (open != 0)
            say(fmt::format("{} not seen from begin to end in the {}: in the sums as lower bounds.",
                open == 1 ? std::string("1 wait was") : fmt::format("{} waits were", open),
                record_.durationNs == record_.wholeNs ? "trace" : "time that is asked for"));
        if (record_.leftOut.waits + record_.leftOut.ns != 0)
            say(fmt::format("By the question, {} waits for locks are left out, {:.3f} ms of waiting. Holders "
                            "are found from all events.",
                record_.leftOut.waits, static_cast<double>(record_.leftOut.ns) / 1e6));
        if (trace_.nestedNs != 0)
            say(fmt::format("{} ms of waiting for locks lies inside of waits for others, as that of a "
                            "semaphore's inner spinlock: each lock has it, shares and sums have it once.",
                formatMilliseconds(trace_.nestedNs)));
        addRecorder();
        if (record_.sampled)
            say("The tracepoints were sampled, not all recorded: sums are lower bounds of unknown scale, and "
                "no share of time is given. Record them with -c 1.");
        if (record_.lostEvents != 0)
            say(fmt::format("{} records were lost: sums are lower bounds. A larger buffer (-m) helps.",
                record_.lostEvents));
        addUnpaired();
        if (record_.unseenSwitches != 0)
            say(fmt::format("{} times nobody saw when a thread came back to a CPU{}: time off the CPU is an "
                            "upper bound there.",
                record_.unseenSwitches,
                section_.facts.scope == "machine" ? "" : ", as the recording is not of the whole machine"));
        if (record_.hasContention)
            say("lock:contention_* does not show trylocks, bit locks, optimistic spinning of writers, and "
                "waiters at the pending bit.");
        if (record_.hasFutexes)
            say("Spinning before the system call, and holds that nobody waited for, are not seen.");
        if (const uint64_t ns = conditionsWithoutCallers(trace_); ns != 0)
            say(fmt::format("{} ms of waiting for condition variables is by functions that the stacks do not "
                            "tell: locks made of a condition variable, as interpreters have them, may be "
                            "among them. --call-graph dwarf tells.",
                formatMilliseconds(ns)));
        const bool handOff = std::any_of(trace_.locks.begin(), trace_.locks.end(),
            [](const ReportTraceLock& lock) { return isHandOffAtMost(lock) && lock.figures.handOffNs != 0; });
        if (handOff)
            say("Hand-off is an upper bound: a thread that takes the lock again before the woken one runs "
                "leaves no event, and its hold counts as hand-off.");
        addProbeEffect();
        return std::move(sentences_);
    }

private:
    void say(std::string sentence) { sentences_.push_back(std::move(sentence)); }

    void addUnpaired()
    {
        std::string text;
        const auto add = [&](uint64_t count, const char* one, const char* several, const char* what) {
            if (count != 0)
                text += fmt::format(
                    "{}{} {} {}", text.empty() ? "" : ", ", count, count == 1 ? one : several, what);
        };
        add(record_.endsWithoutBegin, "end", "ends", "without a begin");
        add(record_.beginsWithoutEnd, "begin", "begins", "without an end");
        add(record_.unlikelyPairs, "end", "ends", "of other calls");
        if (!text.empty())
            say("Events of waits that do not fit together were left out: " + text + ".");
    }

    /// Its own work is no problem of who asks.
    void addRecorder()
    {
        if (record_.recorderThreads == 0 && record_.ofRecorder.waits == 0)
            return;
        const bool one = record_.recorderThreads == 1;
        std::string text = fmt::format("{} of the recorder itself {} left out",
            one ? std::string("A thread") : fmt::format("{} threads", record_.recorderThreads),
            one ? "is" : "are");
        if (trace_.activeKnown)
            text +=
                fmt::format(", with {:.3f} ms on a CPU", static_cast<double>(record_.recorder.ranNs) / 1e6);
        if (record_.ofRecorder.waits != 0)
            text += fmt::format(", with {} waits for locks of {:.3f} ms", record_.ofRecorder.waits,
                static_cast<double>(record_.ofRecorder.ns) / 1e6);
        say(text + ".");
    }

    /// What recording did to what was recorded.
    void addProbeEffect()
    {
        if (!trace_.eventsPerCpuSecond)
            return;
        const double perSecond = static_cast<double>(*trace_.eventsPerCpuSecond);
        constexpr double kLeastNs = 1000; // of an event with its stack, as measured
        constexpr double kMostNs = 2000;
        const std::string least = fmt::format("{:.1f}", perSecond * kLeastNs / 1e7);
        const std::string most = fmt::format("{:.1f}", perSecond * kMostNs / 1e7);
        const std::string part = most == "0.0" ? "less than 0.1"
            : least == most || least == "0.0"  ? "about " + most
                                               : "about " + least + " to " + most;
        std::string text = fmt::format("Recording took {} % of the CPUs (an estimate: {} events per CPU and "
                                       "second, 1 to 2 us each).",
            part, *trace_.eventsPerCpuSecond);
        const bool spins = std::any_of(trace_.locks.begin(), trace_.locks.end(),
            [](const ReportTraceLock& lock) { return lock.figures.kind == "spinlock"; });
        if (record_.hasContention && spins)
            text += " It makes each wait for a spinlock longer by about 1 to 2 us, and waits more frequent.";
        say(std::move(text));
    }

    const LockTraceRecord& record_;
    const ReportSection& section_;
    const ReportTrace& trace_;
    std::vector<std::string> sentences_;
};

} // namespace

std::vector<std::string> traceLeftOut(const LockTraceRecord& record, const ReportSection& section)
{
    return LeftOutSentences(record, section).sentences();
}

} // namespace whichlock
