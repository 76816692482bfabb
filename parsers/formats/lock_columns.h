// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of lock tools that print one name and a few figures a row: their column names and rows.
#pragma once

#include "parsers/formats/lock_figures.h"
#include "parsers/lock_table_record.h"

#include <optional>
#include <string_view>
#include <vector>

namespace whichlock::locktable {

enum class Column : uint8_t {
    Acquired,
    Contended,
    TotalWait,
    MeanWait,
    MaxWait,
    MinWait,
    TotalHold,
    MeanHold,
    MaxHold,
};

/// The figures of a table and what its names are.
struct Header {
    std::vector<Column> columns{};
    bool namesFirst = false; ///< else they stand behind the figures
    std::string_view keys{}; ///< column names of what stands beside the figures: `type   caller`, `Name`
};

/// The header that the line is, with at least `fewest` columns of figures.
std::optional<Header> headerOf(std::string_view line, size_t fewest);

/// Puts the figures of a row where they belong. False where a count has a unit, or a figure is none.
bool setFigures(const std::vector<Column>& columns, const std::vector<Cell>& cells, LockTableRow& row);

/// From here on no clock of a machine shows a time: a difference below zero was printed.
inline constexpr uint64_t kBrokenNs = UINT64_MAX / 64;
/// Whether a time of the row is such.
bool timesBroken(const LockTableRow& row);

} // namespace whichlock::locktable
