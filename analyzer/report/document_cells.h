// SPDX-License-Identifier: GPL-3.0-or-later
// Cells of document tables: a formatted figure and the place of the same figure in the JSON.
#pragma once

#include "analyzer/report/document.h"

namespace whichlock {

/// A cell without a figure.
DocumentCell labelCell(std::string text);
DocumentCell countCell(uint64_t value, std::string pointer);
/// Nanoseconds, shown in milliseconds.
DocumentCell timeCell(uint64_t ns, std::string pointer);
/// Nanoseconds, shown in microseconds.
DocumentCell smallTimeCell(uint64_t ns, std::string pointer);
DocumentCell shareCell(const std::optional<Share>& share, std::string pointer, int decimals);
DocumentCell numberCell(const std::optional<FixedPoint>& value, std::string pointer);

// Value, share of all, share of busy: the columns that parts of a section have.
void addPartColumns(const ReportSection& section, std::vector<DocumentColumn>& columns);
void addPartCells(const Part& part, const ReportSection& section, const std::string& pointer,
    std::vector<DocumentCell>& row);

/// `/sections/3`
std::string sectionPointer(size_t index);

/// Gives the figures of each column the same number of digits behind the point.
void alignDecimals(DocumentTable& table);

} // namespace whichlock
