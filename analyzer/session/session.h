// SPDX-License-Identifier: GPL-3.0-or-later
// Several inputs as one session: all are read, tables that stand in them twice are counted once.
#pragma once

#include "analyzer/model/profile.h"

#include <memory>

namespace whichlock {

/// Reads all sources in turn. Inputs that fail stand in the profile with the diagnostic that says why.
/// `unopened` are failures to open that belong to the session, too.
Profile loadSession(std::vector<std::unique_ptr<Source>> sources, std::vector<Error> unopened = {});

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
