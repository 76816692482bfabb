// SPDX-License-Identifier: GPL-3.0-or-later
// The recordings beside the source tree, where there are any, with the programs and symbols that belong to
// them.
#pragma once

#include "analyzer/session/session.h"

#include <filesystem>
#include <string>

namespace whichlock::test {

/// The folder of the recordings; may not exist.
std::filesystem::path recordingsFolder();
inline bool hasRecordings()
{
    return std::filesystem::exists(recordingsFolder());
}
/// The content of a gzip file; empty if it cannot be read.
std::string unpacked(const std::filesystem::path& path);
/// Programs, libraries and the kernel's symbols of the recordings.
SymbolizerOptions recordedSymbols(bool inlines);
/// The profile of NAME.data.
Profile recordedProfile(const std::string& name, bool inlines = true);

} // namespace whichlock::test
