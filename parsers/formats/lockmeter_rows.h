// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a lockmeter report (`lockstat -w`). Cells may be blank, so that they are told by their form: times
// with the maximum in brackets, percentages, counts.
#pragma once

#include "parsers/input/text_cursor.h"
#include "parsers/lock_table_record.h"

#include <optional>

namespace whichlock::lockmeter {

enum class Table : uint8_t { Spin, Read, Write, Semaphore };

/// The table whose title the line is.
std::optional<Table> titleAt(std::string_view line);

struct FoundRow {
    LockTableRow row;
    bool isTotal = false;
    bool isMember = false; ///< its name stands further in: a place where the lock above is taken
    size_t lines = 1;
};

/// The row that begins at the cursor, wrapped or not.
std::optional<FoundRow> rowAt(TextCursor& cursor, Table table);

} // namespace whichlock::lockmeter
