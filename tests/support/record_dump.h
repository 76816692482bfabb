// SPDX-License-Identifier: GPL-3.0-or-later
// Records as lines of text, so that two readings can be compared and their difference read.
#pragma once

#include "tests/support/recording_sink.h"

namespace whichlock::test {

/// Everything that a reading gave: sections, records, facts, scores, diagnostics, format scores.
std::vector<std::string> dumpEverything(const RecordingSink& sink, const LoadedInput& loaded);

/// What a section measures, without its place in the text and the words around it.
std::string dumpHead(const KeptSection& section);

/// The total, rows, samples, counters and table rows of a section, a line each; no line numbers.
std::vector<std::string> dumpRows(const KeptSection& section);

/// Heads and rows of all sections and the scores: what must not change when only the wrapping does.
std::vector<std::string> dumpContent(const RecordingSink& sink);

} // namespace whichlock::test
