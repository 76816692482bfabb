// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/delivery_line.h"

#include <algorithm>

namespace whichlock {
namespace {

void deliver(PerfDataState& state, const std::vector<HeldRecord>& records)
{
    constexpr size_t kAhead = 3;
    for (size_t i = 0; i < records.size(); ++i) {
        records[std::min(i + kAhead, records.size() - 1)].prefetch();
        deliverHeldRecord(state, records[i]);
    }
}

} // namespace

DeliveryLine::DeliveryLine(PerfDataState& state)
    : state_(state)
    , pipe_([&state](const std::vector<HeldRecord>& records) { deliver(state, records); }, kMostBatches)
{
}

} // namespace whichlock
