// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of buildReport(): one builder a kind of section, then what is said about them together.
#pragma once

#include "analyzer/report/report.h"

namespace whichlock {

/// Title, position, event and facts; what every section has.
ReportSection beginReportSection(const Profile& profile, const Section& section);

void buildCpuSection(const Profile& profile, const Section& section, const RoutineTable& routines,
    const Query& query, ReportSection& out);
void buildTraceSection(
    const Profile& profile, const Section& section, const Query& query, ReportSection& out);
/// Traces whose events were timed.
void buildTimedTraceSection(const Profile& profile, const Section& section, const RoutineTable& routines,
    const Query& query, ReportSection& out);
/// Whether a section counts events that a trace of the same input has timed.
bool isTimedElsewhere(const Profile& profile, const Section& section);
/// Whether a thread may have had a lock again in what counts as its hand-off, without an event of that.
bool isHandOffAtMost(const ReportTraceLock& lock);
/// Waiting for condition variables of which nobody can say whether it is for work or for a lock made of one.
uint64_t conditionsWithoutCallers(const ReportTrace& trace);
/// Whether the events tell which locks of user space are waited for.
bool tellsUserLocks(const LockTraceRecord& record);
/// What a trace did not show and what is left out of it, in sentences.
std::vector<std::string> traceLeftOut(const LockTraceRecord& record, const ReportSection& section);
/// The rows of `--by`; none where a trace does not tell them.
void addTraceGroups(const LockTraceRecord& record, GroupBy by, ReportTrace& trace);
/// Marks the locks that the question is about.
void selectLocks(const Query& query, Report& report);
/// Stacks of threads that were off their processors or waited, with the time of each.
void buildWaitSection(const Profile& profile, const Section& section, const RoutineTable& routines,
    const Query& query, ReportSection& out);
/// The locks of a table that was read, or added up from the section's stacks.
void buildLockTable(const Profile& profile, const Section& section, const LockTableRecord& table,
    const RoutineTable& routines, ReportSection& out);
/// Tables in which a tool has added up what it saw of locks.
void buildLockTableSection(
    const Profile& profile, const Section& section, const RoutineTable& routines, ReportSection& out);
void buildCounterSection(const Section& section, ReportSection& out);
void buildMeasurementSection(
    const Profile& profile, const Section& section, const RoutineTable& routines, ReportSection& out);

/// What the sections of a report were made of, one by one.
using SectionSources = std::vector<const Section*>;
/// Tables before and after, where an input holds two of a kind.
std::vector<ReportComparison> buildComparisons(
    const Profile& profile, const SectionSources& sources, const Report& report);
/// The locks that two tables of lock statistics both have.
ReportComparison compareLockTables(const Report& report, size_t a, size_t b);
/// Whether they can be compared.
bool sameLockTables(const ReportSection& a, const ReportSection& b);
/// Sentences about single sections and about sections beside each other.
void addNotes(Report& report);
/// The answer to "is it a lock, and which one?".
Verdict buildVerdict(const Report& report);
/// What to record to learn what this input could not tell.
std::vector<std::string> buildRecordNext(const Report& report);

/// The answer of one trace.
struct TraceVerdict {
    Guilty guilty = Guilty::Unknown;
    std::string text;
    std::optional<Share> share;
    std::string denominator;
};
TraceVerdict traceVerdict(const ReportSection& section);
TraceVerdict lockTableVerdict(const ReportSection& section);
std::vector<std::string> traceRecordNext(const Report& report, const ReportSection& section);

/// `ticks`, `samples`, `ns`: the unit as the JSON contract names it.
std::string_view unitName(Unit unit);
/// What the values of a section are, for sentences: `kernel-mode ticks`.
std::string valueNoun(const ReportSection& section);
/// From this share of contention on the verdict is yes, below the other one no, if the input would show it.
inline constexpr Share kGuiltyFrom{5 * Share::kPercent};
inline constexpr Share kInnocentBelow{3 * Share::kPercent};

/// Below this many samples in contention nothing is decided or ranked.
inline constexpr uint64_t kFewestSamples = 30;
/// The samples in contention; of flat lists their printed number.
uint64_t hitsOf(const ReportSection& section);
/// Whether these are too few to say anything. Of a table of percentages nobody knows.
bool isThin(const ReportSection& section);

/// The share of contention that decides: of the busy time where idle was seen, else of the total.
std::optional<Share> decidingShare(const ReportSection& section);
/// What decidingShare() is a share of: `busy kernel-mode ticks`.
std::string decidingDenominator(const ReportSection& section);

} // namespace whichlock
