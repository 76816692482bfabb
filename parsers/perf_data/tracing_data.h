// SPDX-License-Identifier: GPL-3.0-or-later
// The tracing data of perf.data: the kernel's descriptions of the tracepoints that were recorded.
#pragma once

#include "parsers/perf_data/tracepoint_format.h"

#include <map>

namespace whichlock {

struct TracingData {
    std::map<uint64_t, std::shared_ptr<const TracepointFormat>> formats{}; ///< by the number of the event
    uint8_t longBytes = 0;                                                 ///< of the kernel
    std::string damage{}; ///< what could not be read; empty when all was
};

/// Reads as much as is there.
TracingData parseTracingData(std::string_view bytes);

} // namespace whichlock
