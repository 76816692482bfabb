// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of perf report and perf top, printed or copied from the screen: `12.34% comm object [k] symbol` with
// or without the lines above, with the percentages of children beside a function's own, and with call graphs.
// Percentages of children are never added; comparisons (perf diff) and tables without symbols are refused.
#include "parsers/format.h"
#include "parsers/formats/perf_report_writer.h"
#include "parsers/formats/perf_script_rows.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {
namespace {

using namespace perfreport;

const TextLine* lineAtDepth(TextCursor& cursor, size_t ahead)
{
    const TextLine* line = cursor.peek(ahead);
    return line != nullptr && line->quoteDepth == cursor.peek()->quoteDepth ? line : nullptr;
}

// --- rows -------------------------------------------------------------------------------------------------

/// The lines of a row; a mailer may have wrapped it before its tag or its symbol.
struct RowLines {
    std::string_view first;
    std::string joined{};
    size_t lines = 1;

    std::string_view text() const { return lines == 1 ? first : std::string_view(joined); }
};

Row parseAnyRow(std::string_view text, const Layout& layout)
{
    Row row = parseRow(text, layout);
    return row.fit != Fit::Complete && (layout.oldTop || !layout.named) && row.percentCount == 0
        ? parseOldTopRow(text)
        : row;
}

std::optional<RowLines> rowAt(TextCursor& cursor, size_t ahead, const Layout& layout)
{
    const TextLine* line = lineAtDepth(cursor, ahead);
    if (line == nullptr)
        return std::nullopt;
    const Fit fit = parseAnyRow(line->text, layout).fit;
    if (fit == Fit::Complete)
        return RowLines{.first = line->text};
    const TextLine* next = fit == Fit::None ? nullptr : lineAtDepth(cursor, ahead + 1);
    if (next == nullptr)
        return std::nullopt;
    const std::string_view rest = trimmed(withoutGlyphs(next->text));
    const bool isSymbol = !rest.empty() && rest.find(' ') == std::string_view::npos;
    const bool isTagged = beginsWithTag(rest) || rest.starts_with('[');
    if (fit == Fit::NeedsSymbol ? !isSymbol : !isTagged)
        return std::nullopt;
    RowLines lines{.first = line->text,
        .joined = fmt::format("{}{}{}", withoutGlyphs(line->text), fit == Fit::NeedsTag ? "  " : " ", rest),
        .lines = 2};
    return parseRow(lines.joined, layout).fit == Fit::Complete ? std::optional(std::move(lines))
                                                               : std::nullopt;
}

// --- what stands above the rows
// -----------------------------------------------------------------------------

struct HeadLines {
    Head head;
    size_t lines = 0; ///< up to the first row, or to what cannot be read
};

bool opensHead(std::string_view text)
{
    return !text.empty()
        && (perfscript::isHeaderRule(text) || isPreamble(text) || parseCaption(text)
            || parseColumnNames(text));
}

void useCaption(const Caption& caption, Head& head)
{
    head.samples = caption.samples;
    head.filter = caption.filter;
    head.events.clear();
    std::string_view events = caption.events;
    const size_t open = events.find('{');
    if (open == std::string_view::npos) {
        if (!events.empty())
            head.events.emplace_back(events);
        return;
    }
    events = events.substr(open + 1, events.find('}', open) - open - 1);
    while (!events.empty() && head.events.size() < kMostPercents) {
        const size_t comma = std::min(events.find(','), events.size());
        head.events.emplace_back(trimmed(events.substr(0, comma)));
        events.remove_prefix(std::min(comma + 1, events.size()));
    }
}

/// Follows the lines above a table.
class HeadScan {
public:
    explicit HeadScan(TextCursor& cursor)
        : cursor_(cursor)
    {
    }

    std::optional<HeadLines> run()
    {
        constexpr size_t kMostLines = 400;
        if (!opensHead(cursor_.peek()->text))
            return std::nullopt;
        for (; found_.lines < kMostLines; ++found_.lines) {
            const TextLine* line = lineAtDepth(cursor_, found_.lines);
            if (line == nullptr)
                return std::nullopt;
            switch (take(trimmed(line->text))) {
            case Step::On:
                break;
            case Step::Found:
                return std::move(found_);
            case Step::Lost:
                return std::nullopt;
            }
        }
        return std::nullopt;
    }

private:
    enum class Step { On, Found, Lost };

    Step take(std::string_view text)
    {
        constexpr size_t kMostBlanks = 6;
        Layout& layout = found_.head.layout;
        blanks_ = text.empty() ? blanks_ + 1 : 0;
        if (text.empty())
            return blanks_ <= kMostBlanks ? Step::On : Step::Lost;
        if (perfscript::isHeaderRule(text)) {
            inBlock_ = !inBlock_;
            return Step::On;
        }
        if (inBlock_) // long lines of it may be wrapped
            return Step::On;
        if (const auto caption = parseCaption(text)) {
            if (layout.named)
                return Step::Lost; // the table above has no rows
            useCaption(*caption, found_.head);
            captioned_ = true;
            return Step::On;
        }
        if (auto names = parseColumnNames(text); names && !layout.named) {
            layout = std::move(*names);
            const TextLine* next = lineAtDepth(cursor_, found_.lines + 1);
            const bool wrapped = next != nullptr && trimmed(next->text).starts_with("Symbol");
            layout.hasSymbol = layout.hasSymbol || wrapped;
            found_.lines += wrapped ? 1 : 0;
            if (!layout.differs && layout.hasSymbol)
                return Step::On;
            ++found_.lines;
            return Step::Found;
        }
        if (text.starts_with('#') || isPreamble(text) || isRule(text))
            return Step::On;
        return (layout.named || captioned_) && rowAt(cursor_, found_.lines, layout) ? Step::Found
                                                                                    : Step::Lost;
    }

    TextCursor& cursor_;
    HeadLines found_;
    size_t blanks_ = 0;
    bool inBlock_ = false;
    bool captioned_ = false;
};

/// What the block `# ========` says about the recording.
void reportHeadFacts(TextCursor& cursor, BlockContext& context, HeadLines& found)
{
    for (size_t i = 0; i < found.lines; ++i) {
        const TextLine* line = cursor.peek(i);
        const perfscript::HeaderField field = perfscript::parseHeaderField(line->text);
        const auto kind = perfscript::factOf(field);
        if (!kind)
            continue;
        context.sink.inputFact(*kind, field.value, cursor.positionOf(*line));
        if (*kind == FactKind::Command)
            found.head.command = field.value;
    }
}

// --- claim ------------------------------------------------------------------------------------------------

/// Cheap, for it is asked of all prose.
bool mayBeginBlock(std::string_view text)
{
    const std::string_view rest = trimmed(text);
    constexpr std::string_view kFirst = "+-#SEPOCBs";
    return !rest.empty() && (isDigit(rest.front()) || kFirst.find(rest.front()) != std::string_view::npos);
}

Claim claim(TextCursor& cursor)
{
    const std::string_view text = cursor.peek()->text;
    if (!mayBeginBlock(text))
        return {};
    if (HeadScan(cursor).run())
        return {Confidence::Certain, "captions or column names of perf report"};
    const Layout unknown;
    if (parseOldTopRow(text).fit == Fit::Complete) {
        const TextLine* next = lineAtDepth(cursor, 1);
        return next != nullptr && parseOldTopRow(next->text).fit == Fit::Complete
            ? Claim{Confidence::Likely, "rows `samples percent% symbol object`"}
            : Claim{};
    }
    return rowAt(cursor, 0, unknown) ? Claim{Confidence::Likely, "rows `percent% object [k] symbol`"}
                                     : Claim{};
}

// --- reader -----------------------------------------------------------------------------------------------

class TableReader {
public:
    TableReader(TextCursor& cursor, BlockContext& context, Head head)
        : cursor_(cursor)
        , context_(context)
        , head_(std::move(head))
        , depth_(cursor.peek()->quoteDepth)
    {
    }

    void run()
    {
        for (const TextLine* line = cursor_.peek(); line != nullptr; line = cursor_.peek()) {
            if (line->quoteDepth == depth_) {
                if (const auto row = rowAt(cursor_, 0, head_.layout)) {
                    if (!readRow(*row, *line))
                        break;
                    continue;
                }
            }
            if (readGraphLine(*line))
                continue;
            if (line->quoteDepth != depth_ || !readInterruption(*line))
                break;
        }
        endGraph();
        if (left_)
            left_->finish();
        if (right_)
            right_->finish();
    }

private:
    /// False where another table begins.
    bool readRow(const RowLines& lines, const TextLine& line)
    {
        endGraph();
        const std::string_view text = lines.text();
        const Row row = parseAnyRow(text, head_.layout);
        const size_t column = text.find_first_not_of(" \t");
        constexpr size_t kSlack = 8;
        if (right_ && column + kSlack >= rightFrom_) {
            right_->add(row, line);
            cursor_.advance(lines.lines);
            return true;
        }
        if (left_ && left_->repeats(row))
            return false;
        if (!left_)
            left_.emplace(head_, row, line, 0, context_);
        left_->add(row, line);
        graphOpen_ = true;
        graphLine_ = {.text = {}, .number = line.number, .offset = line.offset};
        if (lines.lines > 1)
            reportRejoined(line);
        readBehind(row, text, line);
        cursor_.advance(lines.lines);
        return true;
    }

    /// Two tables may stand side by side.
    void readBehind(const Row& row, std::string_view text, const TextLine& line)
    {
        const std::string_view behind = trimmed(withoutGlyphs(row.behind));
        if (behind.empty())
            return;
        const Row other = parseRow(behind, head_.layout);
        if (other.fit != Fit::Complete) {
            const bool moreColumns = head_.layout.named || behind[0] == '-' || isDigit(behind[0]);
            if (!moreColumns && !remarked_)
                context_.report(
                    DiagnosticCode::RemarkInTable, "what stands behind a row was passed over", line);
            remarked_ = remarked_ || !moreColumns;
            return;
        }
        graphOpen_ = false;
        if (!right_) {
            rightFrom_ = static_cast<size_t>(behind.data() - text.data());
            Head head;
            head.layout = head_.layout;
            right_.emplace(head, other, line, rightFrom_, context_);
            left_->repaired("two tables stood side by side");
            right_->repaired("two tables stood side by side");
        }
        right_->add(other, line);
    }

    void reportRejoined(const TextLine& line)
    {
        if (!rejoined_)
            context_.report(DiagnosticCode::RowsRejoined, "rows that a mailer had wrapped were joined", line);
        rejoined_ = true;
        left_->repaired("wrapped rows were joined");
    }

    /// The author of a mail may mark lines of a graph with `>>>>`, which look like quotes.
    bool readGraphLine(const TextLine& line)
    {
        if (!graphOpen_ || line.quoteDepth < depth_)
            return false;
        const size_t marks = line.quoteDepth - depth_;
        if (marks > 0 && graph_.empty())
            return false;
        if (!graph_.add(line.text, marks > 0 ? marks + 1 : 0))
            return false;
        cursor_.advance();
        return true;
    }

    void endGraph()
    {
        if (left_ && !graph_.empty())
            left_->addGraph(std::move(graph_), graphLine_);
        graph_ = CallGraph();
        graphOpen_ = false;
    }

    /// False where the table ends.
    bool readInterruption(const TextLine& line)
    {
        const std::string_view text = trimmed(line.text);
        if (text.empty())
            return passBlanks();
        if (isCutMark(text)) {
            if (left_)
                left_->cutHere(text);
        } else if (text.starts_with('#')) {
            if (opensHead(text))
                return false;
        } else if (const Row row = parseRow(text, head_.layout); row.fit != Fit::None) {
            if (cursor_.peek(1) != nullptr && !rowAt(cursor_, 1, head_.layout))
                return false;
            context_.report(DiagnosticCode::RowUnreadable,
                "the row cannot be read and was skipped, the others kept", line);
        } else {
            if (!rowAt(cursor_, 1, head_.layout) || text.ends_with(':') || opensHead(text))
                return false;
            context_.report(DiagnosticCode::RemarkInTable, "a remark between two rows was passed over", line);
        }
        cursor_.advance();
        return true;
    }

    bool passBlanks()
    {
        constexpr size_t kMost = 3;
        size_t lines = 1;
        while (lines <= kMost && lineAtDepth(cursor_, lines) != nullptr
            && trimmed(cursor_.peek(lines)->text).empty())
            ++lines;
        endGraph();
        const auto next = rowAt(cursor_, lines, head_.layout);
        if (!next || !left_ || !left_->goesOnWith(parseAnyRow(next->text(), head_.layout)))
            return false;
        cursor_.advance(lines);
        return true;
    }

    TextCursor& cursor_;
    BlockContext& context_;
    Head head_;
    unsigned depth_;
    std::optional<TableWriter> left_;
    std::optional<TableWriter> right_;
    size_t rightFrom_ = 0;
    CallGraph graph_;
    TextLine graphLine_; ///< the row above it
    bool graphOpen_ = false;
    bool rejoined_ = false;
    bool remarked_ = false;
};

/// Passes over a table that is not read; says so.
void refuse(TextCursor& cursor, BlockContext& context, const HeadLines& found)
{
    const TextLine first = *cursor.peek();
    const std::string_view shape =
        found.head.layout.differs ? "a comparison of two recordings (perf diff)" : "a table without symbols";
    cursor.advance(found.lines);
    size_t passed = 0;
    while (cursor.peek() != nullptr && cursor.peek()->quoteDepth == first.quoteDepth) {
        const std::string_view text = trimmed(cursor.peek()->text);
        std::string_view rest = text;
        const bool isRow = takePercent(rest).has_value();
        if (!isRow && !text.starts_with('#') && !isRule(text))
            break;
        passed += isRow ? 1 : 0;
        cursor.advance();
    }
    context.report(DiagnosticCode::ShapeUnread,
        fmt::format("{} is not read yet; its {} rows were skipped, give the output of `perf report --stdio "
                    "--no-children`",
            shape, passed),
        first);
}

void read(TextCursor& cursor, BlockContext& context)
{
    Head head;
    if (auto found = HeadScan(cursor).run()) {
        reportHeadFacts(cursor, context, *found);
        if (found->head.layout.differs || !found->head.layout.hasSymbol) {
            refuse(cursor, context, *found);
            return;
        }
        head = std::move(found->head);
        cursor.advance(found->lines);
    }
    TableReader(cursor, context, std::move(head)).run();
}

} // namespace

extern const TextFormat perf_reportFormat;
const TextFormat perf_reportFormat = {kFormatName,
    "tables of perf report and perf top, printed or copied from the screen, with call graphs", claim, read,
    Yields::Profiles};

} // namespace whichlock
