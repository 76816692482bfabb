// SPDX-License-Identifier: GPL-3.0-or-later
// What somebody who follows a recording through time is told, in that order: for analyses of traces.
#pragma once

#include "analyzer/session/named_stacks.h"
#include "analyzer/session/thread_names.h"
#include "parsers/perf_data/perf_data_sink.h"

namespace whichlock {

/// A sample with what is known at its moment. All of it is valid during the call; ids until the end.
struct ReplayedSample {
    const PerfEvent& event; ///< its `format` reads `sample.raw` of tracepoints
    const PerfRecord& record;
    const PerfSample& sample;
    StringId comm{};
    AddressStackId stack{};
    const AddressSpace& space; ///< who has what mapped now
    bool wanted = true;        ///< whether it passed the filter: waits are clipped by it, not dropped
};

/// Hears of the records of a recording in the order of time. MT: one thread.
class ReplayListener {
public:
    virtual ~ReplayListener() = default;

    /// Before all records. Both outlive the replay.
    virtual void begin(const RecordedStacks&, const AddressSpace&) { }
    virtual void event(const PerfEvent&) { }
    virtual void hostFacts(const PerfHostFacts&) { }
    /// Whether it hands over what the samples of an event tell: they are more than counted.
    virtual bool accountsFor(const PerfEvent&) const { return false; }
    virtual void sample(const ReplayedSample&) { }
    virtual void mapping(const PerfRecord&, const PerfMapping&) { }
    virtual void comm(const PerfRecord&, const PerfComm&) { }
    virtual void fork(const PerfRecord&, const PerfTask&) { }
    virtual void exit(const PerfRecord&, const PerfTask&) { }
    virtual void contextSwitch(const PerfRecord&, const PerfSwitch&) { }
    virtual void lost(const PerfRecord&, const PerfLost&) { }
    /// The recording is over and its addresses have names: the time to hand over what was found.
    virtual void deliver(NamedStacks&, const ThreadNames&, RecordSink&) { }
};

} // namespace whichlock
