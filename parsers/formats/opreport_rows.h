// SPDX-License-Identifier: GPL-3.0-or-later
// The header line and single rows of opreport's symbol lists. Pure functions on strings.
#pragma once

#include "parsers/fixed_point.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace whichlock::opreport {

enum class Column : uint8_t {
    Vma,
    Samples,
    Percent,
    CumSamples,
    CumPercent,
    DiffPercent,
    LineInfo,
    Image,
    App,
    Symbol,
};

/// The columns of a list from left to right: first the figures, then the texts.
struct Layout {
    std::vector<Column> figures;
    std::vector<Column> beforeSymbol; ///< texts to the left of the symbol
    std::vector<Column> afterSymbol;  ///< texts to its right (early versions)
    size_t events = 0;                ///< pairs of samples and percent
    bool differential = false;        ///< has a column `diff %`

    bool hasVma() const { return !figures.empty() && figures.front() == Column::Vma; }
};

/// The samples of one event in a row. A percentage is missing where its column is.
struct Figure {
    std::optional<uint64_t> samples;
    std::optional<Share> share;
    std::string_view percentText;
};

/// How far a line is a row of a layout.
enum class Fit : uint8_t {
    None,       ///< it is something else
    Incomplete, ///< fits as far as it goes; the last columns are missing
    Open,       ///< complete, but a bracket of the symbol is still open
    Complete,
};

struct Row {
    Fit fit = Fit::None;
    std::vector<Figure> figures; ///< one an event
    std::string_view symbol;
    std::string_view image; ///< the application where no image is printed
    bool overflow = false;  ///< a count does not fit into 64 bits
};

/// Rows longer than this are none.
constexpr size_t kLongestRow = 16 * 1024;

/// The columns that a header line names, in its order. Empty when the line is no such header.
std::optional<Layout> parseHeader(std::string_view line);

Row parseRow(std::string_view line, const Layout& layout);

/// The layout of rows that come without a header, judged by them; empty when they are no symbol list.
std::optional<Layout> guessLayout(const std::vector<std::string_view>& rows);

/// Lines `  c0105340 12 3.4500` below a row (-d): the addresses in the symbol, their sum is the row.
bool isDetail(std::string_view line, const Layout& layout);

/// A row of `...`, also one with a mark for each column.
bool isCutRow(std::string_view line);
/// The rule between the blocks of a call graph: 79 dashes, or what a mailer left of them.
bool isCallGraphRule(std::string_view line);
/// The header box `samples|      %|` of a summary by image.
bool isSummaryBox(std::string_view line);

/// Blanks in front of a line.
size_t indentOf(std::string_view line);

/// Whether printed percentages are all of the same whole: samples / percent must agree in all rows.
class ImpliedTotal {
public:
    void add(const Figure& figure);
    /// No two rows contradict each other.
    bool consistent() const { return low_ <= high_; }

private:
    uint64_t low_ = 0;
    uint64_t high_ = UINT64_MAX;
};

} // namespace whichlock::opreport
