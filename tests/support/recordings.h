// SPDX-License-Identifier: GPL-3.0-or-later
// The recordings beside the source tree, where there are any, with the programs and symbols that belong to
// them.
#pragma once

#include "analyzer/session/session.h"
#include "tests/support/gzip.h"

#include <filesystem>
#include <string>

namespace whichlock::test {

/// The folder of the recordings; may not exist.
std::filesystem::path recordingsFolder();
inline bool hasRecordings()
{
    return std::filesystem::exists(recordingsFolder());
}
/// Programs, libraries and the kernel's symbols of the recordings.
SymbolizerOptions recordedSymbols(bool inlines);
/// The profile of NAME.data.
Profile recordedProfile(const std::string& name, bool inlines = true);

} // namespace whichlock::test
