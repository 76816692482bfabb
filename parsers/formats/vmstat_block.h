// SPDX-License-Identifier: GPL-3.0-or-later
// Headers and rows of vmstat as they stand in a text: wrapped by mailers, with lines above the header.
// Looks ahead from a cursor, never moves it.
#pragma once

#include "parsers/formats/vmstat_rows.h"
#include "parsers/input/text_cursor.h"

namespace whichlock::vmstat {

/// The line `ahead`, if it is quoted as deep as the current line and not absurdly long.
std::optional<std::string_view> lineAt(TextCursor& cursor, size_t ahead);

/// A header and the number of lines that it is printed on.
struct HeaderLines {
    Columns columns;
    size_t lines = 0;
};

/// The header line at `ahead`, put together from the lines that a mailer made of it.
std::optional<HeaderLines> headerAt(TextCursor& cursor, size_t ahead);

/// How many lines from `ahead` on are group lines (`procs memory ... cpu`).
size_t groupLinesAt(TextCursor& cursor, size_t ahead);

enum class RowKind : uint8_t {
    None,
    Whole,
    Rejoined, ///< from several lines
    CpuOnly,  ///< values ran together; the CPU columns can be read
    Short,    ///< values ran together or are missing; nothing can be read
    TooLong,
};

struct RowLines {
    RowKind kind = RowKind::None;
    size_t lines = 1;
    std::vector<std::string_view> values;
    bool remark = false;
};

/// The row that begins at `ahead`.
RowLines rowAt(TextCursor& cursor, size_t ahead, const Columns& columns);
/// Whether there is something in the row that can be kept.
bool isReadable(RowKind kind);

/// A header with the lines around it, up to its first row.
struct Head {
    Columns columns;
    size_t lines = 0; ///< to the first row
};

/// The group lines, if any, and the header that begin at the current line, if a row follows.
std::optional<Head> headAt(TextCursor& cursor);

using Rows = std::vector<std::vector<std::string_view>>;

/// The rows that begin at the current line, if they look like vmstat without its header: many whole numbers,
/// of which the last ones add up to 100 in every row.
Rows bareRows(TextCursor& cursor);

/// The system whose vmstat begins at the current line, if it is one that is not read; else empty.
std::string_view foreignAt(TextCursor& cursor);

} // namespace whichlock::vmstat
