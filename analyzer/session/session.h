// SPDX-License-Identifier: GPL-3.0-or-later
// Several inputs as one session: all are read, tables that stand in them twice are counted once.
#pragma once

#include "analyzer/model/profile.h"
#include "analyzer/model/sample_filter.h"
#include "analyzer/symbols/symbolizer_options.h"

#include <memory>

namespace whichlock {

/// Reads all sources in turn. Inputs that fail stand in the profile with the diagnostic that says why.
/// `unopened` are failures to open that belong to the session, too. Addresses of recordings are named from
/// where `symbols` says; of the samples, those that `selection` keeps go into the profile.
Profile loadSession(std::vector<std::unique_ptr<Source>> sources, std::vector<Error> unopened = {},
    const SymbolizerOptions& symbols = {}, const RecordingOptions& selection = {});

class Symbolizer;

/// Reads one input of any kind, text or recording.
LoadedInput loadInput(
    Source& source, Symbolizer& symbolizer, RecordSink& sink, const RecordingOptions& selection = {});

/// Opens files; `-` is standard input. What cannot be opened is returned beside the rest.
struct OpenedInputs {
    std::vector<std::unique_ptr<Source>> sources;
    std::vector<Error> errors;
};
OpenedInputs openInputs(const std::vector<std::string>& paths);

/// Leaves out sections whose rows stand in an earlier section, as when a reply quotes a table, and the scores
/// of inputs that are copies.
void dropRepeatedTables(Profile& profile);

} // namespace whichlock
