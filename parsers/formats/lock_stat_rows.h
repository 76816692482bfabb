// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of /proc/lock_stat, however a mailer has wrapped them: they are told by the number of their figures.
#pragma once

#include "parsers/input/text_cursor.h"
#include "parsers/lock_table_record.h"

#include <optional>

namespace whichlock::lockstat {

/// A row or a place and the lines that it takes.
struct FoundRow {
    LockTableRow row;
    size_t lines = 1;
};
struct FoundSite {
    LockTableSite site;
    std::string name; ///< of the class that it stands under
    size_t lines = 1;
};

/// The row of a class that begins at the line `ahead`.
std::optional<FoundRow> rowAt(TextCursor& cursor, size_t ahead);
/// The place where a class is taken that begins there: `name COUNT [<ADDRESS>] symbol`.
std::optional<FoundSite> siteAt(TextCursor& cursor, size_t ahead);
/// `name: value`, one field a line, as people type it over. Adds to the row; false for other lines.
bool addField(std::string_view line, LockTableRow& row);
/// Whether the line is part of the table's head: the version, column names, rules of dashes and dots.
bool isHead(std::string_view line);
bool isVersion(std::string_view line);
/// The line without the line number of a manual in front of it.
std::string_view withoutLineNumber(std::string_view line);

} // namespace whichlock::lockstat
