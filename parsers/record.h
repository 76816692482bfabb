// SPDX-License-Identifier: GPL-3.0-or-later
// What readers hand over: neutral records that know no analysis, and the one sink they go to.
// All text is borrowed for the duration of the call; the sink copies what it keeps.
#pragma once

#include "parsers/diagnostic.h"
#include "parsers/fixed_point.h"
#include "parsers/lock_table_record.h"
#include "parsers/lock_trace_record.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// What kind of thing a section is; the names in the JSON contract.
enum class SectionKind : uint8_t {
    CpuProfile,
    WaitProfile,
    LockTrace,
    LockTable,
    ThreadDump,
    Counters,
    Measurements,
};

/// What a figure measures. Figures of different kinds are never added together.
enum class QuantityKind : uint8_t { Cpu, Wait, Count, Percent };

/// The unit of a section's values.
enum class Unit : uint8_t {
    Samples,
    Ticks,
    Nanoseconds,
    Count,
    Percent,
    Events,
    Millionths, ///< of a count: values were printed with digits behind the point
};

/// What the stacks of a wait profile are.
enum class WaitStacks : uint8_t {
    OffCpu,  ///< of threads that were off their processors, for whatever reason
    Waiters, ///< of threads that waited for a lock
    Holders, ///< of threads that gave a lock back while others waited: the time is that of the others
};

/// A section as it begins: one per sampled event or table found.
struct SectionRecord {
    SectionKind kind = SectionKind::CpuProfile;
    QuantityKind quantity = QuantityKind::Cpu;
    Unit unit = Unit::Samples;
    WaitStacks waits = WaitStacks::OffCpu; ///< of wait profiles
    std::string format;                    ///< name of the reader
    std::string title;                     ///< caption next to the table, empty if there is none
    std::string heading; ///< heading that holds for several tables (`=== Testing of X ===`), or empty
    std::string command; ///< the command line printed above the table, or empty
    std::string event;   ///< name of the sampled event, or empty
    Position position;
    unsigned column = 0;     ///< tells the events of one table apart and orders them: they share its position
    unsigned quoteDepth = 0; ///< 0 = not quoted
};

/// Refers to a section that this sink was given; valid until the sink is done.
struct SectionHandle {
    uint32_t index = 0;
};

/// How the lock that a call takes was told from the program itself.
enum class LockSource : uint8_t {
    None,
    Type,   ///< by the type and member of what was passed
    Symbol, ///< by a variable at a fixed address
    Btf,    ///< as Type, with the types of BTF
    Line,   ///< not told; the name is the file and line of the source where it is taken
};

/// The lock that a call takes, where code and debug info tell it.
struct CalledLock {
    LockSource source = LockSource::None;
    bool verified = false;         ///< build ids prove that code and debug info are those of the recording
    std::string_view name{};       ///< the same for all call sites of the lock; `A or B` if it may be either
    std::string_view expression{}; ///< as the caller sees it
    std::string_view kind{};       ///< of the routine: `mutex`, `rwsem`; not kept in profiles
};

/// One frame of a call chain as a text brings it.
struct TextFrame {
    static constexpr uint64_t kNoOffset = UINT64_MAX;

    std::string_view symbol; ///< without offset; `[unknown]` where the tool had none
    std::string_view object;
    uint64_t symbolOffset = kNoOffset; ///< bytes from the start of the symbol
    std::string_view file{};           ///< of the source; empty where that is not known
    uint32_t line = 0;                 ///< in it, of the call or of the instruction; 0 = not known
    bool inlined = false;
    bool recovered = false; ///< not in the recorded chain: the call before the next frame's address names it
    bool calleeMissing = false; ///< it may have called a function that the chain lacks, not the frame before
    bool waitLoop = false;      ///< its address lies in a loop that only waits
    CalledLock lock{};          ///< that the call of this frame takes
};

/// One row of a flat profile. At least one of value and share is present.
struct ProfileRow {
    std::string_view symbol;
    std::string_view image{};             ///< object or application, empty if not printed
    std::string_view comm{};              ///< name of the thread, empty if not printed
    std::optional<uint64_t> value{};      ///< in the section's unit
    std::optional<Share> share{};         ///< the printed percentage, of the whole profile
    std::span<const TextFrame> callers{}; ///< of the symbol, the nearest first; empty if not printed
    bool furtherPart = false; ///< of the row before it, which was split by its callers: counts as no row
    uint64_t line = 0;
};

/// One sample with its call chain, the innermost frame first; or several that are alike.
struct SampleRecord {
    std::string_view comm{};
    int32_t pid = -1; ///< -1 = not printed
    int32_t tid = -1;
    int32_t cpu = -1;
    std::optional<uint64_t> timeNs{};
    uint64_t count = 1;  ///< samples that this record stands for
    uint64_t weight = 1; ///< of all of them: the periods where they are known, else their number
    std::span<const TextFrame> frames{};
};

/// Samples that a filter keeps out of a section: counted, in no figure.
struct LeftOut {
    uint64_t samples = 0;
    uint64_t weight = 0;
    uint64_t untold = 0; ///< of the samples: they lack what the filter asks for

    /// A sum of weights that does not fit stays at the largest number.
    LeftOut& operator+=(const LeftOut& other)
    {
        samples += other.samples;
        untold += other.untold;
        if (__builtin_add_overflow(weight, other.weight, &weight))
            weight = UINT64_MAX;
        return *this;
    }
    bool operator==(const LeftOut&) const = default;
};

/// How the rows and columns of a benchmark table are to be compared.
enum class TableShape : uint8_t {
    RowsAreVariants,    ///< one row a variant, one column a figure (kernbench)
    ColumnsAreVariants, ///< one column a variant, one row a test or key (lat_ctx, counts)
    Scaling,            ///< rows are numbers of CPUs or tasks, columns are figures
};

struct TableRow {
    std::string label;
    std::vector<std::optional<FixedPoint>> values; ///< as many as columns
    uint64_t line = 0;
    /// Standard deviation of each value in percent of it, where the table has such; else empty.
    std::vector<std::optional<FixedPoint>> spreads{};
    bool percent = false; ///< the values are percentages: they differ by points
};

/// A benchmark table, small by nature, handed over whole.
struct TableRecord {
    TableShape shape = TableShape::ColumnsAreVariants;
    std::string rowName; ///< what a row label is: `test`, `processes`, `CPUs`
    std::string unit;    ///< unit of all values, empty if the columns have their own or none is printed
    std::string about;   ///< what the values are, where the text says so (`counts in f()`), or empty
    std::vector<std::string> columns;
    std::vector<TableRow> rows;
};

/// A single benchmark result (`specjbb score: 2218`).
struct ScoreRecord {
    std::string name;
    FixedPoint value;
    std::string unit;
    std::string heading; ///< the heading that it stands under
    Position position;
};

/// Facts about the recording; of the whole input unless a section is named.
enum class FactKind : uint8_t {
    Host,
    Kernel,
    Arch,
    Cpus,
    Command,
    CpuType,
    EventDescription,
    Mention, ///< a lock name in the surrounding text
    CutMark, ///< the author cut the list here (`<snip>`, `...`)
    Image,   ///< name of the kernel image in the table
    Repair,  ///< what had to be repaired to read the section
    Lost,    ///< number of events that the recorder lost
    View,    ///< the table shows a part of what was recorded: what kept the rest out
    Scope,   ///< `process` where an event says that it follows one program
};

/// A cell of a counter row that could not be read; it takes part in no mean.
inline constexpr int64_t kNoCounter = INT64_MIN;

/// Where records go. One thread; calls for one section come in input order.
class RecordSink {
public:
    virtual ~RecordSink() = default;

    virtual SectionHandle section(const SectionRecord& record) = 0;
    /// The printed total of a section, in its unit.
    virtual void total(SectionHandle section, uint64_t value) = 0;
    virtual void row(SectionHandle section, const ProfileRow& row) = 0;
    virtual void sample(SectionHandle section, const SampleRecord& sample) = 0;
    virtual void leftOut(SectionHandle section, const LeftOut& samples) = 0;
    virtual void counterColumns(SectionHandle section, std::span<const std::string_view> columns) = 0;
    virtual void counterRow(SectionHandle section, std::span<const int64_t> values) = 0;
    virtual void table(SectionHandle section, const TableRecord& table) = 0;
    /// All of a trace, where events of locks were timed.
    virtual void lockTrace(SectionHandle, const LockTraceRecord&) { }
    /// All of a table of lock statistics.
    virtual void lockTable(SectionHandle section, const LockTableRecord& table) = 0;
    virtual void score(const ScoreRecord& score) = 0;
    /// A fact of one section.
    virtual void fact(SectionHandle section, FactKind kind, std::string_view value) = 0;
    /// A fact of the whole input.
    virtual void inputFact(FactKind kind, std::string_view value, const Position& position) = 0;
    virtual void diagnostic(Diagnostic diagnostic) = 0;
};

} // namespace whichlock
