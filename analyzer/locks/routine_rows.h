// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the rows of lock_routines.tsv, or of a file of the same shape.
#pragma once

#include "analyzer/locks/routine_table.h"

namespace whichlock {

/// The rows of a table in its order; their views point into the text.
Result<std::vector<Routine>> readRoutineRows(std::string_view fileName, std::string_view text);

} // namespace whichlock
