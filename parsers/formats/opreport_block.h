// SPDX-License-Identifier: GPL-3.0-or-later
// What stands around and between the rows of an opreport list: the lines above its header, and rows that a
// mailer wrapped. Looks ahead from a cursor, never moves it.
#pragma once

#include "parsers/formats/opreport_rows.h"
#include "parsers/input/text_cursor.h"

#include <string>

namespace whichlock::opreport {

/// A line `Counted NAME events (...) with a unit mask of 0x01 (...) count N`.
struct Event {
    std::string name;
    std::string unitMask;    ///< `0x3f`, or empty
    std::string description; ///< the whole line, wrapped parts joined
};

/// The lines from the first one that belongs to a report to the line of column names.
struct Head {
    size_t lines = 0;       ///< lines before the header line
    size_t headerLines = 1; ///< 2 where the header line is wrapped
    std::string cpu;        ///< the line `CPU: ...`
    std::string timer;      ///< the line that says that there was no counter
    std::vector<Event> events;
    std::vector<std::string> classes; ///< `CPU 0`, `thread ID of 17`: separated profiles
    std::optional<Layout> layout;     ///< empty when it is a summary by image
};

/// The head that begins at the current line, if one does and column names follow it.
std::optional<Head> headAt(TextCursor& cursor);

/// The header line at `ahead`, alone or with the line below it.
std::optional<std::pair<Layout, size_t>> headerAt(TextCursor& cursor, size_t ahead);

/// The text of a row and the number of lines that it is printed on.
struct RowLines {
    std::string joined;      ///< where it is wrapped
    std::string_view line{}; ///< where it is not
    size_t lines = 1;

    std::string_view text() const { return joined.empty() ? line : std::string_view(joined); }
};

/// The row that begins at the line `ahead`, joined with the lines that a mailer broke off. Empty if there is
/// no complete row.
std::optional<RowLines> rowAt(TextCursor& cursor, size_t ahead, const Layout& layout);

} // namespace whichlock::opreport
