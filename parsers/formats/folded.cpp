// SPDX-License-Identifier: GPL-3.0-or-later
// Folded stacks, as flame graphs are made of: `root;caller;leaf 31`, one stack a line, on or off the
// processor; and their differential form with two values a line.
#include "parsers/format.h"
#include "parsers/formats/damage_counter.h"
#include "parsers/formats/folded_rows.h"
#include "parsers/input/text_scan.h"

#include <algorithm>

namespace whichlock {
namespace {

using namespace folded;
using stackvalues::Told;

constexpr std::string_view kName = "folded";

/// So many lines ahead are looked at for what all of them have in common.
constexpr size_t kLookAhead = 256;
/// So many foreign lines in a row end the block; fewer are damage inside of it.
constexpr size_t kForeignLinesToEnd = 4;

/// What the lines of a block have in common.
struct Shape {
    bool fractional = false;   ///< some values have digits behind the point
    bool differential = true;  ///< all lines have two values
    bool threadsFirst = false; ///< stacks begin with the name of a thread, not with a function
};

Shape shapeAhead(TextCursor& cursor)
{
    Shape shape;
    std::vector<std::string_view> frames;
    for (size_t ahead = 0; ahead < kLookAhead; ++ahead) {
        const TextLine* line = cursor.peek(ahead);
        if (line == nullptr)
            break;
        const auto found = lineOf(line->text);
        if (!found)
            continue;
        shape.fractional = shape.fractional || found->value.find_first_of(".,") != std::string_view::npos;
        shape.differential = shape.differential && !found->first.empty();
        if (splitFrames(found->stack, frames) && frames.size() > 1)
            shape.threadsFirst = shape.threadsFirst || (isEntry(frames[1]) && !isEntry(frames[0]));
    }
    return shape;
}

class BlockReader {
public:
    BlockReader(TextCursor& cursor, BlockContext& context)
        : cursor_(cursor)
        , context_(context)
        , first_(*cursor.peek())
        , shape_(shapeAhead(cursor))
        , values_(stackvalues::valuesToldBy(context.around, cursor.inputName()))
    {
        for (unsigned column = 0; column < (shape_.differential ? 2U : 1U); ++column)
            sections_.push_back(begin(column));
        if (values_.unitAssumed)
            context.report(DiagnosticCode::UnitAssumed,
                "the text says that these are times off the processor, not in which unit; microseconds "
                "were taken, as offcputime prints",
                first_);
    }

    void run()
    {
        while (const TextLine* line = cursor_.peek()) {
            if (line->quoteDepth != first_.quoteDepth)
                break;
            if (const auto found = lineOf(line->text)) {
                read(*found, *line);
                cursor_.advance();
            } else if (const size_t lines = linesUntilNext(); lines != 0) {
                passForeign(lines);
            } else {
                break;
            }
        }
        const std::string& input = cursor_.inputName();
        unreadable_.finish(context_, input, "more lines are no stacks and were skipped");
        overflows_.finish(context_, input, "more values do not fit; their lines were skipped");
        rounded_.finish(context_, input, "more values have a fraction and were rounded");
    }

private:
    SectionHandle begin(unsigned column)
    {
        SectionRecord record = context_.sectionAt(first_, kName);
        setQuantity(values_, shape_.fractional, record);
        record.column = column;
        if (shape_.differential)
            record.event = column == 0 ? "first value" : "second value";
        return context_.sink.section(record);
    }

    /// Lines that are no stacks before the next one; 0 where the block ends.
    size_t linesUntilNext()
    {
        for (size_t ahead = 1; ahead <= kForeignLinesToEnd; ++ahead) {
            const TextLine* line = cursor_.peek(ahead);
            if (line == nullptr || line->quoteDepth != first_.quoteDepth
                || !promptedCommand(line->text).empty())
                return 0;
            if (lineOf(line->text))
                return ahead;
        }
        return 0;
    }

    void passForeign(size_t lines)
    {
        for (size_t i = 0; i < lines; ++i) {
            const TextLine& line = *cursor_.peek();
            if (!trimmed(line.text).empty())
                unreadable_.add(context_, line, "the line is no stack and was skipped, the others kept");
            cursor_.advance();
        }
    }

    void read(const FoldedLine& found, const TextLine& line)
    {
        const bool two = shape_.differential && !found.first.empty();
        if (!splitFrames(two ? found.stackOfTwo : found.stack, names_) || two != shape_.differential) {
            unreadable_.add(context_, line, "the line is no stack and was skipped, the others kept");
            return;
        }
        std::string_view comm;
        if (shape_.threadsFirst && names_.size() > 1) {
            comm = names_.front();
            names_.erase(names_.begin());
        }
        framesOf(names_, frames_);
        add(0, two ? found.first : found.value, comm, line);
        if (two)
            add(1, found.value, comm, line);
    }

    void add(size_t column, std::string_view text, std::string_view comm, const TextLine& line)
    {
        const auto value = stackvalues::valueOf(text, values_, shape_.fractional);
        if (!value) {
            overflows_.add(context_, line, "the value does not fit; the line was skipped");
            return;
        }
        if (value->rounded)
            rounded_.add(context_, line, "the value has a fraction and was rounded");
        context_.sink.row(sections_[column],
            {.symbol = frames_.front().symbol,
                .image = frames_.front().object,
                .comm = comm,
                .value = value->value,
                .callers = std::span(frames_).subspan(1),
                .line = line.number});
    }

    TextCursor& cursor_;
    BlockContext& context_;
    TextLine first_;
    Shape shape_;
    stackvalues::Values values_;
    std::vector<SectionHandle> sections_;
    std::vector<std::string_view> names_;
    std::vector<TextFrame> frames_;
    DamageCounter unreadable_{DiagnosticCode::RowUnreadable, 3};
    DamageCounter overflows_{DiagnosticCode::NumberOverflow, 1};
    DamageCounter rounded_{DiagnosticCode::ValuesRounded, 1};
};

/// A stack with some callers speaks for itself, a shorter one only with another below it.
Claim claim(TextCursor& cursor)
{
    constexpr size_t kFewestAlone = 3;
    const std::string_view text = cursor.peek()->text;
    if (text.find(';') == std::string_view::npos)
        return {};
    const auto first = lineOf(text);
    std::vector<std::string_view> frames;
    if (!first || !splitFrames(first->stack, frames) || frames.size() < 2 || frames[0].empty()
        || frames[1].empty())
        return {};
    for (size_t ahead = 1; ahead < kForeignLinesToEnd; ++ahead) {
        const TextLine* line = cursor.peek(ahead);
        if (line == nullptr)
            break;
        const auto next = lineOf(line->text);
        if (next && next->stack.find(';') != std::string_view::npos)
            return {Confidence::Certain, "lines `caller;function value`"};
    }
    return frames.size() >= kFewestAlone ? Claim{Confidence::Likely, "a line `caller;caller;function value`"}
                                         : Claim{};
}

void read(TextCursor& cursor, BlockContext& context)
{
    BlockReader(cursor, context).run();
}

} // namespace

extern const TextFormat foldedFormat;
const TextFormat foldedFormat = {
    kName, "folded stacks: `caller;function value`, one stack a line", claim, read, Yields::Profiles};

} // namespace whichlock
