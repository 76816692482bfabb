// SPDX-License-Identifier: GPL-3.0-or-later
// Words and rows of tables that put variants side by side. Pure functions on strings and figures.
#pragma once

#include "parsers/formats/benchmark_scan.h"

#include <optional>

namespace whichlock::before_after {

enum class CellKind : uint8_t { Missing, Integer, Decimal, Percent };

struct Cell {
    CellKind kind = CellKind::Missing;
    FixedPoint value;
    std::string text; ///< as printed
};

struct Row {
    std::string label;
    std::vector<Cell> cells;
    uint64_t line = 0;
};

/// A table as it stands in the text, with its own copy of it: the lines are passed while it is read.
struct Table {
    std::string rowName; ///< the header's word above the labels, or empty
    std::vector<std::string> columns;
    std::vector<Row> rows;
    std::vector<Cell> sums; ///< the unlabelled row below a ruler, or empty
};

/// `12`, `1.5`, `29.8%`, `+3%`, or a mark for a missing value (`---`, `n/a`).
std::optional<Cell> cellOf(std::string_view word);

/// Whether a column of that name is one variant of a comparison: `base`, `patched`, `2.5.20`.
bool isVariant(std::string_view word);
/// Whether a column of that name is computed from the others: `speedup`, `%change`.
bool isChange(std::string_view word);
/// Whether the header names variants: at least one does, and the word above the labels does not.
bool namesVariants(const Table& header);

/// A label and `columns` cells; `labelMayBeNumber` where the header has a word above the labels.
std::optional<Row> rowOf(std::span<const std::string_view> words, size_t columns, bool labelMayBeNumber);
/// Whether the words look like such a row with a cell that cannot be read.
bool isBrokenRow(std::span<const std::string_view> words, size_t columns);
/// `columns` figures and nothing else.
std::vector<Cell> sumsOf(std::span<const std::string_view> words, size_t columns);

/// Whether the rows are functions and the values counts: two profiles in one table.
bool isProfile(const Table& table);

/// `profile counts in f()` in a text: what the values of the table below it are; or empty.
std::string whatIsCounted(std::string_view text);

/// A printed change that does not follow from its row.
struct Misprint {
    std::string text; ///< `8-1-32-gc 51.49 printed 51.4`
    bool cut = false; ///< the digits are right, but cut instead of rounded
};
/// Compares the last column with the two before it; the sign is the one that fits more rows.
std::vector<Misprint> misprintedChanges(const std::vector<Row>& rows);

} // namespace whichlock::before_after
