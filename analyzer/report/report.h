// SPDX-License-Identifier: GPL-3.0-or-later
// The report: every figure that any view shows, as scaled integers. Nothing outside of report/ computes one.
// The fields are those of the JSON contract (docs in ARCHITECTURE.md); what an input cannot fill is absent.
#pragma once

#include "analyzer/locks/attribution.h"
#include "analyzer/model/profile.h"
#include "analyzer/report/query.h"
#include "analyzer/report/report_lock_table.h"
#include "analyzer/report/report_trace.h"

#include <optional>
#include <string>
#include <vector>

namespace whichlock {

enum class Sees : uint8_t { No, Partly, Yes };

/// Which kinds of waiting an input can show at all: decides between "no" and "unknown".
struct Coverage {
    Sees kernelSpin = Sees::No;
    Sees kernelSleep = Sees::No;
    Sees userSleep = Sees::No;
    Sees userSpin = Sees::No;
    Sees holders = Sees::No;
    Sees callers = Sees::No;
};

/// A 95 % interval of a sampled share.
struct ShareInterval {
    Share low;
    Share high;
};

/// A part of a section: its value in the section's unit and its shares of the denominators that exist.
struct Part {
    uint64_t value = 0;
    uint64_t samples = 0;
    std::optional<Share> ofTotal;
    std::optional<Share> ofBusy;
};

struct ReportSymbol {
    std::string symbol;
    std::string role;
    std::string category;
    Part part;
};

struct ReportSite {
    std::string name;
    Part part;
    std::optional<Share> ofThisLock;
    bool recovered = false;  ///< see LockSite
    bool calledFrom = false; ///< see LockSite
};

struct ReportLock {
    uint32_t id = 0; ///< place in the section, from one
    std::string name;
    bool selected = false; ///< the question is about it
    Rung rung = Rung::Unnamed;
    std::string kind;
    std::string basis;
    std::string expression{};       ///< of names by code: as a call site sees the lock
    std::optional<bool> verified{}; ///< of names by code
    Part part;
    std::optional<Share> ofLock;           ///< of all waiting for locks in the section
    std::optional<ShareInterval> interval; ///< of ofBusy where it exists, else of ofTotal
    std::vector<ReportSite> sites;
};

/// A row of what --by asks for: a thread, a process, a processor, a function or a call site.
struct ReportGroup {
    std::string name{};   ///< of the thread, process, function or call site
    int32_t pid = -1;     ///< -1 = it is not about one
    int32_t tid = -1;     ///< the same
    int32_t cpu = -1;     ///< the same
    bool recorded = true; ///< false: the samples that do not tell where they belong
    Part part{};          ///< idle time included; ofBusy is the share of the busy time without it
    Part contention{};    ///< the part of it that waited for locks
    std::optional<Share> contentionOfRow{};  ///< of its busy time where idle was seen, else of all of it
    std::optional<ShareInterval> interval{}; ///< of ofBusy where it exists, else of ofTotal
};

/// A line of the account: the parts of a section that add up to its total.
struct AccountLine {
    std::string what;
    std::string key; ///< stable name: `idle`, `contention` ...
    unsigned indent = 0;
    bool partOfSum = true; ///< false for lines that repeat parts (total, busy)
    Part part;
};

struct Reason {
    std::string reason;
    Part part;
};

struct ReportCounters {
    std::vector<std::string> columns; ///< as printed; names may repeat
    uint64_t rows = 0;
    std::vector<std::optional<FixedPoint>> means; ///< nothing where no cell of a column could be read
    /// Empty where the first row is no mean since boot, or is alone.
    std::vector<std::optional<FixedPoint>> meansWithoutFirst;
    std::optional<FixedPoint> systemPercent; ///< mean of the CPU column sy over all rows
    std::optional<FixedPoint> systemPercentWithoutFirst;
};

struct SeriesPoint {
    FixedPoint x;
    FixedPoint y;
};

/// A series over numbers of CPUs or tasks, with what it says about scaling.
struct ReportSeries {
    std::string label;
    std::string xName;
    std::string unit;
    std::vector<SeriesPoint> points;
};

/// A benchmark table as it was read.
struct ReportTable {
    std::string rowName;
    std::string unit;
    std::vector<std::string> columns;
    std::vector<TableRow> rows;
};

/// Throughput of a scaling series at its first and last point.
struct ReportScaling {
    std::string unit; ///< `hits/s`, `Jobs/Min`
    FixedPoint firstX;
    FixedPoint lastX;
    FixedPoint throughputFirst;
    FixedPoint throughputLast;
    FixedPoint speedupLast;                          ///< throughputLast / throughputFirst
    std::optional<FixedPoint> efficiencyLastPercent; ///< speedup / (lastX / firstX)
    std::optional<FixedPoint> costFactor;            ///< cost of one unit of work, last to first
};

struct ReportScore {
    std::string name;
    FixedPoint value;
    std::string unit;
};

/// Recording facts in words.
struct ReportFacts {
    std::string host;
    std::string kernel;
    std::string kernelSource;
    std::string arch;
    std::string archSource;
    std::optional<uint64_t> cpus;
    std::string command;
    std::string scope;         ///< `machine`, `process` or empty
    std::string workload;      ///< the program that the recorder ran, or empty
    bool copiesStacks = false; ///< callers were recorded as copies of the stack
    std::string era;
};

struct ReportSection {
    std::string title;
    std::string input;
    Position position;
    std::string format;
    SectionKind kind = SectionKind::CpuProfile;
    std::string event;
    Unit unit = Unit::Samples;
    QuantityKind quantity = QuantityKind::Cpu;
    bool partialView = false; ///< shares are of a filtered view: what part of everything it is, nobody knows
    bool measuresTime = true;
    ReportFacts facts;
    Coverage sees;

    std::optional<uint64_t> total; ///< the whole that shares refer to, where it is known as a value
    std::string totalBasis;        ///< `printed`, `sum of the listed rows`, `printed percentages`
    uint64_t listed = 0;           ///< sum of the rows
    uint64_t rows = 0;
    uint64_t samples = 0;
    uint64_t comms = 0;
    uint64_t lost = 0; ///< events that the recorder says it lost, of the whole input
    Part idle;
    Part idleProbable;
    Part busy;
    Part contention;
    Part undecided;
    Part overhead;
    Part bounce;
    Part artefact;
    Part lockFunctions; ///< contention + undecided + overhead
    bool contentionDecided =
        true;               ///< false: lock functions whose waiting this input cannot tell from the calls
    bool busyKnown = false; ///< idle rows were seen
    std::optional<Share> contentionOfBusyIfProbableIdle; ///< second reading
    std::optional<ShareInterval> contentionInterval;
    std::vector<AccountLine> account;
    std::vector<Reason> unattributed;
    std::vector<ReportSymbol> idleSymbols;
    std::vector<ReportSymbol> lockSymbols;
    std::vector<ReportSymbol> bounceSymbols;
    std::vector<ReportSymbol> artefactSymbols;
    std::vector<ReportSymbol> pauseLoops; ///< no lock functions by any table, but they wait in a loop
    std::vector<ReportSymbol> topSymbols; ///< heaviest busy symbols that are no lock functions
    std::vector<ReportLock> locks;
    GroupBy groupedBy = GroupBy::Lock;
    std::vector<ReportGroup> groups; ///< heaviest first; empty by lock, and where the input cannot tell
    std::string askedLock;           ///< the lock that the question is about; empty = all
    bool holds = false;              ///< hold times are asked for
    std::string filter;              ///< what the figures are of, in words; empty = everything
    uint64_t leftOutSamples = 0;     ///< by the filter; in none of the other figures
    uint64_t leftOutValue = 0;       ///< the same in the section's unit
    std::vector<Candidate> candidates;
    std::vector<std::pair<std::string, uint64_t>> events; ///< counted tracepoints
    std::optional<ReportTrace> trace;                     ///< where events were timed
    std::optional<ReportLockTable> lockTable;             ///< where a tool has added them up
    std::optional<ReportCounters> counters;
    std::vector<ReportTable> tables;
    std::vector<ReportSeries> series;
    std::optional<ReportScaling> scaling;
    std::vector<ReportScore> scores;
    std::string tableAbout; ///< what the values of a measurements table are
    std::vector<std::string> repairs;
    std::string gain; ///< upper bound of what the heaviest lock costs, with its assumption; may be empty
    std::vector<std::string> notes; ///< what the figures say, in sentences
    bool listCut = false;
    bool imageMissing = false;
};

/// One figure before and after.
struct ComparisonRow {
    std::string what;
    std::optional<FixedPoint> before;
    std::optional<FixedPoint> after;
    std::optional<FixedPoint> changePercent;  ///< 100 * (after / before - 1)
    std::optional<FixedPoint> changePoints;   ///< after - before, where both are percentages
    std::optional<FixedPoint> beforeSpread{}; ///< printed standard deviation in percent of the value
    std::optional<FixedPoint> afterSpread{};
    std::optional<bool> significant{}; ///< they differ by more than both deviations; where one is printed
};

struct ReportComparison {
    std::string before;
    std::string after;
    std::string about;  ///< what is compared
    size_t section = 0; ///< section that it belongs to (the later one where two are compared)
    std::vector<ComparisonRow> rows;
    std::string note{}; ///< the ratio that matters, in a sentence; may be empty
};

enum class Guilty : uint8_t { Yes, No, Unknown };

struct Verdict {
    Guilty guilty = Guilty::Unknown;
    std::string text;
    std::optional<Share> share;
    std::string denominator;       ///< `of busy kernel-mode ticks`
    std::optional<size_t> section; ///< the section that decided
};

struct ReportInput {
    std::string name;
    std::string format;
    std::string confidence;
    uint64_t bytes = 0;
};

struct Report {
    std::vector<ReportInput> inputs;
    std::vector<std::string> arguments; ///< options of the command line that ask the same question
    Verdict verdict;
    std::vector<ReportSection> sections;
    std::vector<ReportComparison> comparisons;
    std::vector<std::string> recordNext;
    std::vector<Diagnostic> diagnostics;
    /// Empty, or what does not add up: an internal error with its own exit code.
    std::string internalError;
};

/// The report of a profile: the only place where figures are computed.
Report buildReport(const Profile& profile, const Query& query, const RoutineTable& routines);

} // namespace whichlock
