// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/trace_steps.h"

namespace whichlock {

TraceFollower::TraceFollower()
    : analyser_(*this)
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
    for (const TraceStep& step : batch.steps)
        follow(step, batch);
}

void TraceFollower::follow(const TraceStep& step, const TraceBatch& batch)
{
    const TraceMoment& at = step.event.at;
    epoch_ = step.epoch;
    switch (step.kind) {
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
