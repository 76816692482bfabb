// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of the comparison tables that the kernel test robot mails: a base, and a change and a value for each
// further commit, each value with its deviation, then the metric. Pure functions.
#pragma once

#include "parsers/fixed_point.h"

#include <optional>
#include <string_view>
#include <vector>

namespace whichlock::lkp {

inline constexpr size_t kMostCommits = 8;

/// One value and its standard deviation in percent of it, which is not printed where it is small.
struct Cell {
    std::optional<FixedPoint> value{}; ///< empty: too large to be kept
    std::optional<FixedPoint> spread{};
};

/// A row of the table.
struct Row {
    std::vector<Cell> cells; ///< one a commit, the base first
    bool points = false;     ///< changes are differences, not ratios: the values are percentages
    std::string_view metric; ///< empty: it was wrapped to the next line
};

/// The row on a line, of as many commits as it has; at least two.
std::optional<Row> rowOf(std::string_view line);
/// Whether a line begins as a row does, whatever stands behind the figures.
bool hasFigures(std::string_view line);
/// A row of failures in so many runs: `:6  33%  2:6  dmesg.WARNING`.
bool isFailureRow(std::string_view line);
/// Whether the text is a name of the kind `perf-profile.self.cycles-pp.osq_lock`: one word with a point.
bool isMetric(std::string_view text);
/// Line of column names: `%stddev  %change  %stddev`, `fail:runs  %reproduction  fail:runs`.
bool isColumnLine(std::string_view line);
/// Line of strokes below it: blanks, bars and backslashes.
bool isStrokeLine(std::string_view line);

/// What a metric of a profile says; `kind` is empty for any other metric.
struct ProfileMetric {
    std::string_view kind;  ///< `calltrace`, `children`, `self`
    std::string_view event; ///< `cycles-pp`
    std::string_view path;  ///< functions with points between them, the innermost first
};
ProfileMetric profileMetricOf(std::string_view metric);

/// The functions of a path. A point before `isra`, `part` and the like belongs to the name.
std::vector<std::string_view> functionsOf(std::string_view path);

} // namespace whichlock::lkp
