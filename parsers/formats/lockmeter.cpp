// SPDX-License-Identifier: GPL-3.0-or-later
// Reports of lockmeter (`lockstat -w`), kernels before 2.6.3x with its patch: locks by name, the places where
// they are taken below them, and how much of all processors' time was spent waiting.
#include "parsers/format.h"
#include "parsers/formats/damage_counter.h"
#include "parsers/formats/lock_columns.h"
#include "parsers/formats/lockmeter_rows.h"
#include "parsers/input/text_scan.h"

namespace whichlock {
namespace {

using namespace lockmeter;

constexpr std::string_view kName = "lockmeter";
/// Lines of the head and of its warnings above the first table.
constexpr size_t kMostHeadLines = 60;

bool isColumns(std::string_view line)
{
    const std::string_view text = trimmed(line);
    return text.starts_with("UTIL ") || text.starts_with("TOT/SEC") || text.starts_with("RJECT")
        || text.starts_with("NOWAIT") || text == "NAME";
}

/// The title of a table, at the line or below blank lines and rules.
std::optional<size_t> titleAhead(TextCursor& cursor)
{
    constexpr size_t kMostBetween = 5;
    for (size_t ahead = 0; ahead < kMostBetween; ++ahead) {
        const TextLine* line = cursor.peek(ahead);
        if (line == nullptr)
            return std::nullopt;
        if (titleAt(line->text))
            return ahead;
        if (!trimmed(line->text).empty() && !isRule(line->text))
            return std::nullopt;
    }
    return std::nullopt;
}

/// What the head of the report says; it holds for all of its tables.
struct Head {
    std::optional<uint64_t> durationNs{};
    std::vector<std::string> warnings{};
};

/// `System: Linux HOST VERSION #4 SMP ... ia64`, which may be wrapped.
void readSystem(const TextLine& line, std::string_view next, TextCursor& cursor, BlockContext& context)
{
    constexpr size_t kMostWords = 24;
    const std::vector<std::string_view> words = tokensOf(line.text, kMostWords);
    constexpr size_t kHost = 2;
    constexpr size_t kVersion = 3;
    if (words.size() <= kVersion)
        return;
    context.sink.inputFact(FactKind::Host, words[kHost], cursor.positionOf(line));
    context.sink.inputFact(FactKind::Kernel, words[kVersion], cursor.positionOf(line));
    const std::vector<std::string_view> rest = tokensOf(next, kMostWords);
    for (const std::vector<std::string_view>* one : {&words, &rest}) {
        if (!one->empty()
            && (one->back() == "ia64" || one->back() == "alpha" || one->back() == "mips64"
                || (one->back().starts_with('i') && one->back().ends_with("86"))))
            context.sink.inputFact(FactKind::Arch, one->back(), cursor.positionOf(line));
    }
}

void readHeadLine(const TextLine& line, TextCursor& cursor, BlockContext& context, Head& head)
{
    const std::string_view text = trimmed(line.text);
    if (text.starts_with("System: Linux ")) {
        const TextLine* next = cursor.peek(1);
        readSystem(line, next == nullptr ? std::string_view() : next->text, cursor, context);
    } else if (text.starts_with("All (") && text.ends_with("CPUs")) {
        std::string_view count = text.substr(5);
        count = count.substr(0, count.find(')'));
        if (isAllDigits(count))
            context.sink.inputFact(FactKind::Cpus, count, cursor.positionOf(line));
    } else if (text.starts_with("Delta Time:") && text.ends_with("sec.")) {
        constexpr size_t kKey = 11;
        const std::string_view seconds = trimmed(text.substr(kKey, text.size() - kKey - 4));
        if (const auto value = parseFixedPoint(seconds); value && value->millionths >= 0) {
            constexpr uint64_t kNsPerMicrosecond = 1000;
            head.durationNs = static_cast<uint64_t>(value->millionths) * kNsPerMicrosecond;
        }
    } else if (text.find("table overflowed") != std::string_view::npos
        || text.find("overflow.") != std::string_view::npos) {
        head.warnings.emplace_back(text);
    }
}

/// The report's head; false where no table follows it.
bool headAt(TextCursor& cursor)
{
    if (!trimmed(cursor.peek()->text).starts_with("System: Linux "))
        return false;
    for (size_t ahead = 1; ahead < kMostHeadLines; ++ahead) {
        const TextLine* line = cursor.peek(ahead);
        if (line == nullptr)
            return false;
        if (titleAt(line->text))
            return true;
    }
    return false;
}

class TableReader {
public:
    TableReader(TextCursor& cursor, BlockContext& context, const Head& head)
        : cursor_(cursor)
        , context_(context)
        , kind_(*titleAt(cursor.peek()->text))
        , section_(context.sink.section(locktable::lockTableSection(*cursor.peek(), kName, context)))
    {
        table_.durationNs = head.durationNs;
        table_.warnings = head.warnings;
        table_.waitsDerived = true;
        cursor_.advance();
    }

    void run()
    {
        while (cursor_.peek() != nullptr && readLine()) { }
        rejoined_.finish(context_, cursor_.inputName(), "more rows that were wrapped were joined");
        context_.sink.lockTable(section_, table_);
    }

private:
    bool readLine()
    {
        const TextLine& line = *cursor_.peek();
        const std::string_view text = trimmed(line.text);
        if (titleAhead(cursor_))
            return false;
        if (auto found = rowAt(cursor_, kind_)) {
            if (found->lines > 1)
                rejoined_.add(context_, line, "a row that was wrapped was joined");
            const size_t lines = found->lines;
            add(std::move(*found));
            cursor_.advance(lines);
            return true;
        }
        if (text.empty()) {
            open_ = false;
            if (!goesOn())
                return false;
        } else if (isCutMark(text)) {
            context_.sink.fact(section_, FactKind::CutMark, text);
            open_ = false;
        } else if (!isColumns(text)) {
            if (!looksLikeRow(text))
                return false;
            context_.report(DiagnosticCode::RowUnreadable,
                "the row cannot be read and was skipped, the others kept", line);
        }
        cursor_.advance();
        return true;
    }

    static bool looksLikeRow(std::string_view text)
    {
        return isDigit(text.front()) && text.find('%') != std::string_view::npos;
    }

    bool goesOn()
    {
        constexpr size_t kMostBlank = 3;
        for (size_t ahead = 1; ahead <= kMostBlank; ++ahead) {
            const TextLine* line = cursor_.peek(ahead);
            if (line == nullptr)
                return false;
            const std::string_view text = trimmed(line->text);
            if (!text.empty())
                return looksLikeRow(text) || isCutMark(text) || isColumns(text);
        }
        return false;
    }

    void add(FoundRow found)
    {
        if (found.isTotal) {
            table_.total = std::move(found.row);
            return;
        }
        ++table_.rowsPrinted;
        if (!found.isMember || !open_) {
            open_ = found.row.site.empty();
            table_.rows.push_back(std::move(found.row));
            return;
        }
        table_.rows.back().sites.push_back(
            {.function = found.row.site.empty() ? std::move(found.row.name) : std::move(found.row.site),
                .contentions = found.row.contentions,
                .wait = found.row.wait,
                .cpuShare = found.row.cpuShare});
    }

    TextCursor& cursor_;
    BlockContext& context_;
    Table kind_;
    SectionHandle section_;
    LockTableRecord table_;
    bool open_ = false; ///< the last row has a name or address, and no blank line has ended its places
    DamageCounter rejoined_{DiagnosticCode::RowsRejoined, 1};
};

Claim claim(TextCursor& cursor)
{
    if (titleAt(cursor.peek()->text))
        return {Confidence::Certain, "`SPINLOCKS HOLD WAIT` or its like"};
    return headAt(cursor) ? Claim{Confidence::Certain, "`System: Linux` and tables of lockmeter"} : Claim{};
}

void read(TextCursor& cursor, BlockContext& context)
{
    Head head;
    for (size_t lines = 0;
         lines < kMostHeadLines && cursor.peek() != nullptr && !titleAt(cursor.peek()->text); ++lines) {
        readHeadLine(*cursor.peek(), cursor, context, head);
        cursor.advance();
    }
    while (const auto ahead = titleAhead(cursor)) {
        cursor.advance(*ahead);
        TableReader(cursor, context, head).run();
    }
}

} // namespace

extern const TextFormat lockmeterFormat;
const TextFormat lockmeterFormat = {kName,
    "lockmeter (`lockstat -w`): locks by name with waiting, holding and call sites", claim, read,
    Yields::Profiles};

} // namespace whichlock
