// SPDX-License-Identifier: GPL-3.0-or-later
// Profiles of pprof as programs write them: protocol buffers, packed by gzip or not; of processors, mutexes
// and blocking.
#pragma once

#include "parsers/load.h"

namespace whichlock {

/// Whether an input begins as such a profile does; looks into gzip.
bool looksLikePprof(std::string_view head);

/// Reads one to its end. Never throws for bad input: what is wrong stands in the result.
LoadedInput loadPprof(Source& source, RecordSink& sink);

} // namespace whichlock
