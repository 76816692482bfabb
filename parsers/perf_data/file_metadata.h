// SPDX-License-Identifier: GPL-3.0-or-later
// What a perf.data file has around its records: attrs, ids, names of events, feature sections.
#pragma once

#include "parsers/perf_data/file_header.h"

#include <string_view>

namespace whichlock {

struct PerfDataState;

/// Reads all of it before the records, wherever it lies in the file, and tells what is missing.
void readMetadata(PerfDataState& state, const PerfFileHeader& header, std::string_view bytes);

} // namespace whichlock
