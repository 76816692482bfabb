// SPDX-License-Identifier: GPL-3.0-or-later
// The blocks of a document that one section of a report becomes.
#pragma once

#include "analyzer/report/document.h"

namespace whichlock {

/// Where the section comes from, of what machine and event, and what such an input can see.
DocumentText headOf(const ReportSection& section);
/// The locks of a section, at most `most` of them.
DocumentTable lockTable(const ReportSection& section, size_t index, size_t most);
/// Everything that is shown of a section.
void addSection(const Report& report, size_t index, Document& document);
/// The comparisons that belong to a section.
void addComparisons(const Report& report, size_t index, Document& document);

/// A cell with a figure and the place of the same figure in the JSON.
DocumentCell countCell(uint64_t value, std::string pointer);
DocumentCell shareCell(const std::optional<Share>& share, std::string pointer, int decimals);
DocumentCell numberCell(const std::optional<FixedPoint>& value, std::string pointer);

} // namespace whichlock
