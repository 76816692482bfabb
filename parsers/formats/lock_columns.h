// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of lock tools that print one name and a few figures a row: their column names, rows and
// sections.
#pragma once

#include "parsers/format.h"
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

/// The section of a table of lock statistics that begins at the line; its times are in ns.
SectionRecord lockTableSection(const TextLine& line, std::string_view format, const BlockContext& context);
/// Adds the row that the line is, and marks the table where its times are broken.
void addRow(LockTableRow row, const TextLine& line, LockTableRecord& table);
/// Hands over a table whose rows with figures are those of its list.
void handOver(LockTableRecord& table, SectionHandle section, const BlockContext& context);

} // namespace whichlock::locktable
