// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands that build a report have in common.
#pragma once

#include "analyzer/locks/routine_table.h"
#include "analyzer/report/report.h"
#include "analyzer/session/session.h"

#include <cstdio>

namespace whichlock::cli {

/// The built-in table, with the user's rows in front if there are any.
Result<RoutineTable> lockTable(const std::string& path);
/// The table beside what functions of the kernel take that the user gave (`--vmlinux`), where a profile
/// without addresses was read: its functions are what candidates come from. Says on `err` what does not work.
RoutineTable withKernel(
    const RoutineTable& routines, const Profile& profile, const SymbolizerOptions& symbols, std::FILE* err);
/// Errors and losses go to the error stream as well: a report in a file must not hide them.
void printProblems(const std::vector<Diagnostic>& diagnostics, std::FILE* err);

} // namespace whichlock::cli
