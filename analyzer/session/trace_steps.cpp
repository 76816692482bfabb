// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/trace_steps.h"

namespace whichlock {

TraceFollower::TraceFollower(const RecordingOptions& options)
    : filter_(options.filter)
    , gate_(options.filter)
    , analyser_(*this, {.byThread = options.byThread, .byProcessor = options.byCpu})
{
}

void TraceFollower::follow(const TraceBatch& batch)
{
    for (const auto& [stack, known] : batch.classes) {
        if (classes_.size() <= stack.v)
            classes_.resize(stack.v + size_t{1});
        classes_[stack.v] = known;
    }
    for (const auto& [word, place] : batch.places)
        places_.try_emplace(word, place);
    for (const auto& [stack, place] : batch.parked)
        parked_.try_emplace(stack, place);
    for (const TraceStep& step : batch.steps)
        follow(step, batch);
}

void TraceFollower::follow(const TraceStep& step, const TraceBatch& batch)
{
    const TraceMoment& at = step.event.at;
    epoch_ = step.epoch;
    switch (step.kind) {
    case TraceStep::Kind::Window:
        return analyser_.setWindow({at.timeNs, step.untilNs});
    case TraceStep::Kind::Recorder:
        recorder_ = batch.names[step.name];
        return;
    case TraceStep::Kind::SchedulerRecorded:
        return analyser_.schedulerRecorded();
    case TraceStep::Kind::Sampled:
        return analyser_.sampled();
    case TraceStep::Kind::Event:
        return replay(step.event, step.stack, analyser_);
    case TraceStep::Kind::Name:
        return analyser_.name(at.timeNs, at.pid, at.tid, batch.names[step.name]);
    case TraceStep::Kind::Fork:
        return analyser_.fork(at.timeNs, at.pid, at.tid, step.parentTid);
    case TraceStep::Kind::Exit:
        return analyser_.exit(at.timeNs, at.tid);
    case TraceStep::Kind::Lost:
        return analyser_.lost(step.lost);
    }
}

ParkedPlace TraceFollower::parkedPlaceOf(int32_t pid, TraceStackId stack)
{
    const auto known = parked_.find({pid, epoch_, stack});
    return known == parked_.end() ? ParkedPlace() : known->second;
}

Counting TraceFollower::countingOf(const TracedTask& task)
{
    if (!filter_.threads.empty() || !filter_.processes.empty()) {
        const Kept kept = gate_.judgeThread({.pid = task.pid,
            .tid = task.tid,
            .comm = task.name,
            .processComm = task.processName.empty() ? task.name : task.processName});
        return kept == Kept::Yes ? Counting::Yes : Counting::LeftOut;
    }
    // What it has in common with its child up to the exec has a name of its own.
    const bool recorder = !task.name.empty() && (task.name == recorder_ || task.name == "perf-exec");
    return recorder ? Counting::Recorder : Counting::Yes;
}

bool TraceFollower::countsProcessor(uint32_t cpu)
{
    return gate_.judgeCpu(static_cast<int32_t>(cpu & INT32_MAX)) == Kept::Yes;
}

TraceStackClass TraceFollower::classify(TraceStackId stack)
{
    return stack.v < classes_.size() ? classes_[stack.v] : TraceStackClass();
}

/// It is only ever asked for the process of the step at hand.
uint32_t TraceFollower::epochOf(int32_t /*pid*/)
{
    return epoch_;
}

WordPlace TraceFollower::placeOf(int32_t pid, uint64_t address)
{
    const auto known = places_.find({pid, epoch_, address});
    return known == places_.end() ? WordPlace() : known->second;
}

} // namespace whichlock
