// SPDX-License-Identifier: GPL-3.0-or-later
// Single lines of perf report and perf top: rows, column names, captions. Pure functions on strings.
#pragma once

#include "parsers/fixed_point.h"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace whichlock::perfreport {

/// Longer lines are no rows.
inline constexpr size_t kLongestRow = 16 * 1024;
inline constexpr size_t kMostPercents = 8;

enum class Column : uint8_t { Percent, Comm, Object, Number, Other };

/// The columns of a table; those of the percentages stand first.
struct Layout {
    bool named = false;    ///< a line of column names was seen; else the rows tell
    bool children = false; ///< the first percentage has the callees in it, the second has not
    bool differs = false;  ///< a comparison of two recordings
    bool hasSymbol = true;
    bool oldTop = false;          ///< `samples pcnt function DSO`
    size_t percents = 0;          ///< 0 = not known
    std::vector<Column> before{}; ///< texts and numbers between the percentages and the symbol
};

enum class Fit : uint8_t {
    None,
    NeedsTag,    ///< the line ends before `[k]`
    NeedsSymbol, ///< the line ends behind it
    Complete,
};

struct Row {
    Fit fit = Fit::None;
    std::array<Share, kMostPercents> percents{};
    size_t percentCount = 0;
    std::string_view comm{};
    std::string_view image{};
    std::string_view symbol{};
    std::string_view behind{}; ///< what stands behind the symbol, after a gap: more columns, or another table
};

/// Reads `[+-] 12.34% [1.23%] [columns] [k] symbol`.
Row parseRow(std::string_view line, const Layout& layout);
/// Reads the rows of the first perf top: `1234.00 12.3% symbol object`, `1234.00 - 12.3% - c01234 : symbol`.
Row parseOldTopRow(std::string_view line);
/// The line of column names, with or without `#`.
std::optional<Layout> parseColumnNames(std::string_view line);
/// Whether the line begins with a tag: `[k] symbol`, the part of a row that was wrapped.
bool beginsWithTag(std::string_view line);
/// Takes `12.34%` off the front of `rest`, with blanks before it.
std::optional<Share> takePercent(std::string_view& rest);

/// `# Samples: 8K of event 'cycles:pp'`, `Samples: 1K of event 'cycles', Event count (approx.): 13`.
struct Caption {
    std::string_view samples{}; ///< as printed, often rounded: `214K`
    std::string_view events{};  ///< between the quotation marks
    std::string_view filter{};  ///< `Thread: mysqld(12)`, `DSO: libc.so`: the view shows a part
};

std::optional<Caption> parseCaption(std::string_view line);
/// A line that perf prints between its captions and rows, and no other tool.
bool isPreamble(std::string_view line);

/// Without what a screen drew: scroll bars and frames at the end.
std::string_view withoutGlyphs(std::string_view text);

} // namespace whichlock::perfreport
