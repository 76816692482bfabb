// SPDX-License-Identifier: GPL-3.0-or-later
// Programs and kernels as the input of a command.
#pragma once

#include "analyzer/locks/routine_table.h"
#include "analyzer/naming/lock_index.h"
#include "analyzer/symbols/module_finder.h"

#include <cstdio>

namespace whichlock::cli {

/// The file itself and, where it has no debug info, the file that has.
Result<ModuleFiles> moduleFiles(const std::string& path, const SymbolizerOptions& symbols);
/// Where indexes are kept; empty if the environment names no folder.
std::string cacheFolder();
/// The index of one file: from the cache, or built and put there. Progress goes to `err` if it is a terminal.
Result<LockIndex> lockIndexOf(
    const std::string& path, const SymbolizerOptions& symbols, const RoutineTable& routines, std::FILE* err);

} // namespace whichlock::cli
