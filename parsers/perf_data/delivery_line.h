// SPDX-License-Identifier: GPL-3.0-or-later
// Delivers the records whose turn has come on a thread of its own, while the file is read on: both wait for
// memory most of the time.
#pragma once

#include "parsers/input/batch_pipe.h"
#include "parsers/perf_data/record_order.h"

namespace whichlock {

struct PerfDataState;

/// Delivers a record whose turn has come.
void deliverHeldRecord(PerfDataState& state, const HeldRecord& held);

/// While records are on their way, who adds them must not touch what their delivery reads or changes.
/// MT: one thread; the sink is called from another one, never from both at a time.
class DeliveryLine {
public:
    explicit DeliveryLine(PerfDataState& state);

    /// The bytes of the record stay where they are until it was delivered.
    void add(const HeldRecord& record)
    {
        if (here_)
            return deliverHeldRecord(state_, record);
        pipe_.filling().push_back(record);
        if (pipe_.filling().size() >= kMostRecords)
            pipe_.pass();
    }
    /// Returns when all that was added is delivered.
    void settle() { pipe_.settle(); }
    /// The same, for the last time.
    void finish() { pipe_.finish(); }
    /// From now on records are delivered when they are added: their bytes will not stay.
    void deliverAtOnce()
    {
        settle();
        here_ = true;
    }

private:
    static constexpr size_t kMostRecords = 2048; ///< in a batch
    static constexpr size_t kMostBatches = 16;

    PerfDataState& state_;
    BatchPipe<std::vector<HeldRecord>> pipe_;
    bool here_ = false;
};

} // namespace whichlock
