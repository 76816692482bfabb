// SPDX-License-Identifier: GPL-3.0-or-later
// What is said about the code of a kernel that was given for profiles which are only texts.
#pragma once

#include "analyzer/locks/routine_table.h"
#include "analyzer/report/report.h"

namespace whichlock {

/// Says of each kernel of the report's profiles whether the code that was given is of another one, or that
/// nothing proves it to be the same.
void addKernelCodeDiagnostics(const RoutineTable& routines, Report& report);

} // namespace whichlock
