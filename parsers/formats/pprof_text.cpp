// SPDX-License-Identifier: GPL-3.0-or-later
// What `go tool pprof -top` and `-traces` print of CPU, mutex and block profiles: functions with the value
// of their own and with that of all they called, or stacks with a value each.
#include "parsers/format.h"
#include "parsers/formats/damage_counter.h"
#include "parsers/formats/pprof_rows.h"
#include "parsers/input/text_scan.h"

#include <algorithm>
#include <vector>

namespace whichlock {
namespace {

using namespace pprof;

constexpr std::string_view kName = "pprof-text";
constexpr size_t kMostRows = 4096;
constexpr size_t kMostFrames = 2048;
/// Lines of the head between the first one and the column names.
constexpr size_t kMostHeadLines = 12;

/// What a profile is of, by the functions that its values were spent in.
enum class Subject : uint8_t { Cpu, Unlocks, Blocking };

Subject subjectOf(const std::vector<std::string_view>& leaves)
{
    const auto all = [&](auto is) {
        return !leaves.empty() && std::all_of(leaves.begin(), leaves.end(), is);
    };
    return all(isUnlock) ? Subject::Unlocks : all(isBlocking) ? Subject::Blocking : Subject::Cpu;
}

// --- -top -------------------------------------------------------------------------------------------------

/// How far the line of column names is ahead; empty where no table begins here.
std::optional<size_t> columnsAhead(TextCursor& cursor)
{
    for (size_t ahead = 0; ahead <= kMostHeadLines; ++ahead) {
        const TextLine* line = cursor.peek(ahead);
        if (line == nullptr)
            return std::nullopt;
        if (isTopColumns(line->text))
            return ahead;
        if (!isHeadLine(line->text))
            return std::nullopt;
    }
    return std::nullopt;
}

class TopReader {
public:
    TopReader(TextCursor& cursor, BlockContext& context, size_t headLines)
        : cursor_(cursor)
        , context_(context)
        , first_(*cursor.peek())
    {
        for (size_t i = 0; i < headLines; ++i) {
            if (const auto total = totalOf(cursor_.peek()->text))
                total_ = total->isTime ? total : total_;
            cpu_ = cpu_ || isOfCpu(cursor_.peek()->text);
            cut_ = cut_ || trimmed(cursor_.peek()->text).starts_with("Dropped")
                || trimmed(cursor_.peek()->text).starts_with("Showing top");
            cursor_.advance();
        }
        cursor_.advance(); // the column names
    }

    void run()
    {
        constexpr size_t kEnough = 3;
        const size_t lines = readRows();
        std::vector<std::string_view> leaves;
        bool times = true;
        for (const TopRow& row : rows_) {
            times = times && (row.flat.isTime || row.flat.value == 0);
            if (row.flat.value != 0)
                leaves.push_back(row.name);
        }
        // The last name of an input may be cut.
        if (leaves.size() > 1 && cursor_.peek(lines) == nullptr)
            leaves.pop_back();
        const Subject subject = subjectOf(leaves);
        if (subject == Subject::Cpu && !cpu_ && leaves.size() < kEnough)
            context_.report(DiagnosticCode::ShapeUnread,
                "the text does not say whether this is time of processors or of waiting; give its line "
                "`Type:`, too",
                first_);
        else if (subject == Subject::Cpu)
            deliverCpu(times);
        else if (times)
            deliverWaits(subject);
        else
            context_.report(DiagnosticCode::ShapeUnread,
                "this view has numbers of waits, not their time; print it with -sample_index=delay", first_);
        cursor_.advance(lines);
    }

private:
    /// Keeps the rows ahead; returns their number. Their names are views of lines that were not passed yet.
    size_t readRows()
    {
        for (size_t lines = 0; lines < kMostRows; ++lines) {
            const TextLine* line = cursor_.peek(lines);
            auto row = line == nullptr ? std::nullopt : topRowOf(line->text);
            if (!row)
                break;
            row->line = line->number;
            rows_.push_back(*row);
        }
        return rows_.size();
    }

    void deliverCpu(bool times)
    {
        const SectionHandle section =
            begin(SectionKind::CpuProfile, QuantityKind::Cpu, times ? Unit::Nanoseconds : Unit::Count);
        if (total_ && times)
            context_.sink.total(section, total_->value);
        for (const TopRow& row : rows_)
            context_.sink.row(section, {.symbol = row.name, .value = row.flat.value, .line = row.line});
    }

    void deliverWaits(Subject subject)
    {
        LockTableRecord table{.key = LockTableKey::Site, .givenBack = subject == Subject::Unlocks};
        if (total_) {
            table.total.emplace();
            table.total->wait.totalNs = total_->value;
        }
        for (const TopRow& row : rows_) {
            if (row.flat.value == 0 || (!isUnlock(row.name) && !isLock(row.name)))
                continue;
            LockTableRow lock{.kind = "mutex", .line = row.line};
            lock.wait.totalNs = row.flat.value;
            table.rows.push_back(std::move(lock));
        }
        // The value of a caller has all that it called: it is known of what only below a single function.
        if (table.rows.size() == 1) {
            for (const TopRow& row : rows_) {
                if (row.flat.value == 0)
                    table.rows[0].sites.push_back({.function = std::string(row.name),
                        .holder = table.givenBack,
                        .wait = {.totalNs = row.cum.value}});
            }
        }
        table.rowsPrinted = rows_.size();
        context_.sink.lockTable(begin(SectionKind::LockTable, QuantityKind::Wait, Unit::Nanoseconds), table);
    }

    SectionHandle begin(SectionKind kind, QuantityKind quantity, Unit unit)
    {
        SectionRecord record = context_.sectionAt(first_, kName);
        record.kind = kind;
        record.quantity = quantity;
        record.unit = unit;
        const SectionHandle section = context_.sink.section(record);
        if (cut_)
            context_.sink.fact(section, FactKind::CutMark, "nodes dropped by pprof");
        return section;
    }

    TextCursor& cursor_;
    BlockContext& context_;
    TextLine first_;
    std::optional<Amount> total_;
    bool cpu_ = false; ///< the head says that it is of processors
    bool cut_ = false; ///< pprof shows a part of the functions
    std::vector<TopRow> rows_;
};

// --- -traces ----------------------------------------------------------------------------------------------

/// One stack between two rules.
struct Trace {
    Amount value{};
    size_t lines = 0; ///< with the rule above
};

std::optional<Trace> traceAt(TextCursor& cursor, size_t ahead)
{
    const TextLine* rule = cursor.peek(ahead);
    if (rule == nullptr || !isTraceRule(rule->text))
        return std::nullopt;
    Trace trace;
    bool any = false;
    size_t lines = 1;
    for (; lines < kMostFrames; ++lines) {
        const TextLine* line = cursor.peek(ahead + lines);
        if (line == nullptr || isTraceRule(line->text) || trimmed(line->text).empty())
            break;
        const auto first = any ? std::nullopt : traceValueOf(line->text);
        if (first) {
            trace.value = first->value;
            any = true;
        } else if (!isBlank(line->text.front())) {
            break;
        }
    }
    trace.lines = lines;
    return any ? std::optional(trace) : std::nullopt;
}

class TracesReader {
public:
    TracesReader(TextCursor& cursor, BlockContext& context)
        : cursor_(cursor)
        , context_(context)
        , section_(context.sink.section(sectionRecord()))
    {
    }

    void run()
    {
        while (const auto trace = traceAt(cursor_, 0)) {
            read(*trace);
            cursor_.advance(trace->lines);
        }
        if (const TextLine* line = cursor_.peek(); line != nullptr && isTraceRule(line->text))
            cursor_.advance();
    }

private:
    SectionRecord sectionRecord()
    {
        constexpr size_t kLookedAt = 16;
        SectionRecord record = context_.sectionAt(*cursor_.peek(), kName);
        std::vector<std::string_view> leaves;
        size_t ahead = 0;
        for (size_t i = 0; i < kLookedAt; ++i) {
            const auto trace = traceAt(cursor_, ahead);
            if (!trace)
                break;
            for (size_t line = 1; line < trace->lines; ++line) {
                if (const auto first = traceValueOf(cursor_.peek(ahead + line)->text)) {
                    leaves.push_back(first->name);
                    times_ = times_ && first->value.isTime;
                    break;
                }
            }
            ahead += trace->lines;
        }
        const Subject subject = subjectOf(leaves);
        const bool waits = subject != Subject::Cpu && times_;
        record.kind = waits ? SectionKind::WaitProfile : SectionKind::CpuProfile;
        record.quantity = waits ? QuantityKind::Wait : times_ ? QuantityKind::Cpu : QuantityKind::Count;
        record.unit = times_ ? Unit::Nanoseconds : Unit::Count;
        record.waits = subject == Subject::Unlocks ? WaitStacks::Holders : WaitStacks::OffCpu;
        return record;
    }

    void read(const Trace& trace)
    {
        frames_.clear();
        for (size_t i = 1; i < trace.lines; ++i) {
            const std::string_view text = cursor_.peek(i)->text;
            if (frames_.empty()) {
                if (const auto first = traceValueOf(text))
                    frames_.push_back({.symbol = first->name, .object = {}});
                continue; // labels stand in front of the value
            }
            TextFrame frame{.symbol = trimmed(text), .object = {}};
            constexpr std::string_view kInline = " (inline)";
            if (frame.symbol.ends_with(kInline)) {
                frame.symbol.remove_suffix(kInline.size());
                frame.inlined = true;
            }
            frames_.push_back(frame);
        }
        if (trace.value.isTime != times_) // a value of 0 has no unit
            return;
        context_.sink.row(section_,
            {.symbol = frames_.front().symbol,
                .value = trace.value.value,
                .callers = std::span(frames_).subspan(1),
                .line = cursor_.peek()->number});
    }

    TextCursor& cursor_;
    BlockContext& context_;
    bool times_ = true;
    SectionHandle section_;
    std::vector<TextFrame> frames_;
};

Claim claim(TextCursor& cursor)
{
    const std::string_view text = cursor.peek()->text;
    if (isTraceRule(text))
        return traceAt(cursor, 0) ? Claim{Confidence::Certain, "`-----------+---` and stacks"} : Claim{};
    if (!isHeadLine(text) && !isTopColumns(text))
        return {};
    const auto ahead = columnsAhead(cursor);
    const TextLine* row = ahead ? cursor.peek(*ahead + 1) : nullptr;
    return row != nullptr && topRowOf(row->text) ? Claim{Confidence::Certain, "`flat flat% sum% cum cum%`"}
                                                 : Claim{};
}

void read(TextCursor& cursor, BlockContext& context)
{
    if (isTraceRule(cursor.peek()->text))
        TracesReader(cursor, context).run();
    else
        TopReader(cursor, context, columnsAhead(cursor).value_or(0)).run();
}

} // namespace

extern const TextFormat pprof_textFormat;
const TextFormat pprof_textFormat = {kName,
    "`go tool pprof -top` and `-traces` of CPU, mutex and block profiles", claim, read, Yields::Profiles};

} // namespace whichlock
