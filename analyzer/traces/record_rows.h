// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of the record of a trace: rows in a fixed order, and what threads and processors waited.
#pragma once

#include "analyzer/traces/trace_analysis.h"
#include "parsers/lock_trace_record.h"

#include <algorithm>

namespace whichlock {

ActivityTimes timesOf(const ActivitySums& sums);

/// Heaviest first, then by all of the content.
template <class Row, class Weight> void sortByWeight(std::vector<Row>& rows, Weight weight)
{
    std::sort(rows.begin(), rows.end(),
        [&](const Row& a, const Row& b) { return weight(a) != weight(b) ? weight(a) > weight(b) : a < b; });
}

/// The threads and processors with their time and their waiting for locks, and what is left out of it.
void addWaiters(const TraceAnalysis& analysis, LockTraceRecord& record);

} // namespace whichlock
