// SPDX-License-Identifier: GPL-3.0-or-later
// The blocks of a document that one section of a report becomes.
#pragma once

#include "analyzer/report/document.h"

namespace whichlock {

/// The table of events that were counted and not timed.
inline constexpr const char* kEventCountsId = "events";

/// Where the section comes from, of what machine and event, and what such an input can see.
DocumentText headOf(const ReportSection& section);
/// The locks of a section, at most `most` of them.
DocumentTable lockTable(const ReportSection& section, size_t index, size_t most);
/// What --by asks for, at most `most` rows of it.
DocumentTable groupTable(const ReportSection& section, size_t index, size_t most);
/// Everything that is shown of a section.
void addSection(const Report& report, size_t index, Document& document);
/// The comparisons that belong to a section.
void addComparisons(const Report& report, size_t index, Document& document);

/// The parts of a section that add up to its total.
DocumentTable accountTable(const ReportSection& section, size_t index);

// What addSection() puts together, by kind.
void addCpuSection(const ReportSection& section, size_t index, Document& document);
void addCandidates(const ReportSection& section, Document& document);
void addCounterSection(const ReportSection& section, size_t index, Document& document);
void addMeasurementSection(const ReportSection& section, size_t index, Document& document);
void addTraceSection(const ReportSection& section, size_t index, Document& document);
/// The locks of a trace, at most `most` of them.
DocumentTable traceLockTable(const ReportSection& section, size_t index, size_t most);
void addLockTableSection(const ReportSection& section, size_t index, Document& document);
/// The locks of a table of lock statistics, at most `most` of them.
DocumentTable lockStatisticsTable(const ReportSection& section, size_t index, size_t most);
/// What --by asks for of a trace, at most `most` rows of it.
DocumentTable traceGroupTable(const ReportSection& section, size_t index, size_t most);
void addEventSection(const ReportSection& section, size_t index, Document& document);

} // namespace whichlock
