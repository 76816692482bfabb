// SPDX-License-Identifier: GPL-3.0-or-later
// Headers and rows of kernbench tables. Pure functions on strings.
#pragma once

#include "parsers/formats/benchmark_scan.h"

#include <array>
#include <optional>

namespace whichlock::kernbench {

/// `time user system %cpu [ctx [sleeps]]`, in the spellings of the tool's versions.
constexpr size_t kFewestColumns = 4;
constexpr size_t kMostColumns = 6;

/// Where the header begins among the words, and how many words it has.
struct Header {
    size_t at = 0;
    size_t columns = 0;
};

/// Whether the line holds the first four words of a header; cheap, for it is asked of all prose.
bool mayHoldHeader(std::string_view line);
/// The first header among the words.
std::optional<Header> headerIn(std::span<const std::string_view> words);

/// A figure, with or without a percent sign.
std::optional<FixedPoint> figure(std::string_view word);

/// A row: words of its label, and the words of its figures behind it.
struct Row {
    size_t labelWords = 0;
    size_t words = 0; ///< of label and figures
};

/// A line that is nothing but a label (or none) and `columns` figures.
std::optional<Row> rowOf(std::span<const std::string_view> words, size_t columns);
/// The row that begins at the first word of a text without line ends.
std::optional<Row> flatRowAt(std::span<const std::string_view> words, size_t columns);

/// Whether %cpu is 100 * (user + system) / time within 0.5 %: each of them is a mean of several runs.
bool percentFits(std::span<const std::optional<FixedPoint>> figures);

/// The figures of a block `Average Half load -j 4 Run (std deviation):`, in the order they are printed.
constexpr std::array<std::string_view, kMostColumns> kLoadFigures = {
    "Elapsed Time", "User Time", "System Time", "Percent CPU", "Context Switches", "Sleeps"};

/// The number of jobs (or the name of the load, where none is printed); empty when the line heads no block.
std::string loadLabel(std::string_view line);
/// A line such as `Elapsed Time 226.15 (1.06)`.
struct LoadFigure {
    size_t index = 0; ///< in kLoadFigures
    std::optional<FixedPoint> value;
};
std::optional<LoadFigure> loadFigure(std::string_view line);

} // namespace whichlock::kernbench
