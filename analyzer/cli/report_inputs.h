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
/// Errors and losses go to the error stream as well: a report in a file must not hide them.
void printProblems(const std::vector<Diagnostic>& diagnostics, std::FILE* err);

} // namespace whichlock::cli
