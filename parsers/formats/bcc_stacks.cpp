// SPDX-License-Identifier: GPL-3.0-or-later
// offcputime, offwaketime and their kin of bcc: a frame a line from the innermost one on, the name of the
// thread, and below it the value alone on a line.
#include "parsers/format.h"
#include "parsers/formats/damage_counter.h"
#include "parsers/formats/stack_lines.h"
#include "parsers/formats/stack_values.h"
#include "parsers/input/text_scan.h"

#include <utility>
#include <vector>

namespace whichlock {
namespace {

using namespace stacklines;
using stackvalues::Told;

constexpr std::string_view kName = "bcc-stacks";
/// The kernel cuts stacks at 127 frames; two of them, and what stands between.
constexpr size_t kMostLines = 272;

/// The lines of one stack.
struct Block {
    size_t lines = 0; ///< with that of the value
    std::string_view value{};
};

bool isDelimiter(std::string_view text)
{
    if (!text.starts_with('-'))
        return false;
    std::string_view rest = text;
    const std::string_view first = nextToken(rest);
    return (first == "-" || first == "--") && (trimmed(rest).empty() || trimmed(rest) == first);
}

/// `waker:  swapper/0 0`, `target:  dd 4711`, `-  dd (4711)`, and `-` between two parts.
bool isNameLine(std::string_view text)
{
    return text.starts_with("waker:") || text.starts_with("target:") || text.starts_with("- ")
        || isDelimiter(text);
}

/// Whether the line stands above one with a value alone, indented deeper: it may be any name.
bool isAboveValue(TextCursor& cursor, size_t ahead)
{
    const TextLine* line = cursor.peek(ahead);
    const TextLine* next = cursor.peek(ahead + 1);
    return line != nullptr && next != nullptr && isAllDigits(trimmed(next->text))
        && indentOf(next->text) > indentOf(line->text);
}

/// The stack that begins `ahead` lines further: frames, then a value that is indented deeper.
std::optional<Block> blockAt(TextCursor& cursor, size_t ahead)
{
    constexpr size_t kFewestLines = 2;
    size_t indent = 0;
    for (size_t lines = 0; lines < kMostLines; ++lines) {
        const TextLine* line = cursor.peek(ahead + lines);
        if (line == nullptr || line->text.empty() || !isBlank(line->text.front()))
            return std::nullopt;
        const std::string_view text = trimmed(line->text);
        if (lines >= kFewestLines && isAllDigits(text) && indentOf(line->text) > indent)
            return Block{lines + 1, text};
        if (!isNameLine(text) && !frameOf(line->text) && !isAboveValue(cursor, ahead + lines))
            return std::nullopt;
        indent = indentOf(line->text);
    }
    return std::nullopt;
}

class StacksReader {
public:
    StacksReader(TextCursor& cursor, BlockContext& context)
        : cursor_(cursor)
        , context_(context)
        , first_(*cursor.peek())
        , values_(stackvalues::valuesToldBy(context.around, cursor.inputName()))
        , section_(begin())
    {
    }

    void run()
    {
        while (cursor_.peek() != nullptr) {
            if (cursor_.peek()->quoteDepth != first_.quoteDepth)
                break;
            const auto block = next_ ? std::exchange(next_, std::nullopt) : blockAt(cursor_, 0);
            if (block) {
                read(*block);
                cursor_.advance(block->lines);
            } else if (!passBetween()) {
                break;
            }
        }
        overflows_.finish(context_, cursor_.inputName(), "more values do not fit; their stacks were skipped");
    }

private:
    SectionHandle begin()
    {
        SectionRecord record = context_.sectionAt(first_, kName);
        stackvalues::setQuantity(values_, false, record);
        return context_.sink.section(record);
    }

    /// Blank lines and marks of a cut between two stacks; false where the last stack was read.
    bool passBetween()
    {
        constexpr size_t kMostBetween = 6;
        size_t ahead = 0;
        const TextLine* cut = nullptr;
        for (; ahead < kMostBetween; ++ahead) {
            const TextLine* line = cursor_.peek(ahead);
            if (line == nullptr)
                return false;
            const std::string_view text = trimmed(line->text);
            if (isCutMark(text))
                cut = line;
            else if (!text.empty())
                break;
        }
        next_ = ahead == 0 ? std::nullopt : blockAt(cursor_, ahead);
        if (!next_) {
            reportOpenStack(ahead);
            return false;
        }
        if (cut != nullptr)
            context_.sink.fact(section_, FactKind::CutMark, trimmed(cut->text));
        cursor_.advance(ahead);
        return true;
    }

    /// A stack at the end whose value was cut off.
    void reportOpenStack(size_t ahead)
    {
        constexpr size_t kFewestFrames = 2;
        size_t frames = 0;
        const TextLine* first = cursor_.peek(ahead);
        const TextLine* line = first;
        for (; line != nullptr && frames < kMostLines && frameOf(line->text); ++frames)
            line = cursor_.peek(ahead + frames + 1);
        if (line == nullptr && frames >= kFewestFrames)
            context_.report(
                DiagnosticCode::TableTruncated, "the last stack has no value; it was skipped", *first);
    }

    void read(const Block& block)
    {
        frames_.clear();
        comm_ = {};
        const size_t names = block.lines - 1;
        for (size_t i = 0; i < names; ++i)
            readLine(*cursor_.peek(i), i + 1 == names);
        if (frames_.empty())
            frames_.push_back({.symbol = "[unknown]", .object = {}});
        const TextLine& line = *cursor_.peek();
        const auto value = stackvalues::valueOf(block.value, values_, false);
        if (!value) {
            overflows_.add(context_, line, "the value does not fit; the stack was skipped");
            return;
        }
        context_.sink.row(section_,
            {.symbol = frames_.front().symbol,
                .image = frames_.front().object,
                .comm = comm_,
                .value = value->value,
                .callers = std::span(frames_).subspan(1),
                .line = line.number});
    }

    void readLine(const TextLine& line, bool isLast)
    {
        const std::string_view text = trimmed(line.text);
        std::string_view rest = text;
        const std::string_view first = nextToken(rest);
        if (isDelimiter(text)) {
            if (!trimmed(rest).empty())
                frames_.clear(); // `--  --`: what stood before belongs to the thread that woke this one
            else
                markKernel();
        } else if (first == "waker:") {
            return;
        } else if (isNameLine(text)) {
            comm_ = withoutPid(trimmed(rest));
        } else if (isLast && values_.told == Told::OffCpu) {
            comm_ = text;
        } else if (auto frame = frameOf(line.text)) {
            frames_.push_back(*frame);
        }
    }

    /// What stands above a single `-` or `--` is of the kernel.
    void markKernel()
    {
        for (TextFrame& frame : frames_)
            frame.object = stackvalues::kKernelObject;
    }

    /// `dd (4711)`, `dd 4711`.
    static std::string_view withoutPid(std::string_view name)
    {
        const size_t blank = name.rfind(' ');
        if (blank == std::string_view::npos)
            return name;
        std::string_view last = name.substr(blank + 1);
        if (last.starts_with('(') && last.ends_with(')'))
            last = last.substr(1, last.size() - 2);
        return isAllDigits(last) ? trimmed(name.substr(0, blank)) : name;
    }

    TextCursor& cursor_;
    BlockContext& context_;
    TextLine first_;
    stackvalues::Values values_;
    SectionHandle section_;
    std::optional<Block> next_; ///< at the cursor, found from the stack before
    std::vector<TextFrame> frames_;
    std::string_view comm_;
    DamageCounter overflows_{DiagnosticCode::NumberOverflow, 1};
};

/// Whether the stack begins where threads leave their processor.
bool isScheduler(TextCursor& cursor)
{
    const auto frame = frameOf(cursor.peek()->text);
    return frame
        && (frame->symbol == "schedule" || frame->symbol == "__schedule"
            || frame->symbol.starts_with("finish_task_switch"));
}

Claim claim(TextCursor& cursor)
{
    const std::string_view text = cursor.peek()->text;
    if (!isBlank(text.front()) || (!isNameLine(trimmed(text)) && !frameOf(text)))
        return {};
    const auto block = blockAt(cursor, 0);
    if (!block)
        return {};
    const TextLine* behind = cursor.peek(block->lines);
    const bool again = behind != nullptr && behind->text.empty() && blockAt(cursor, block->lines + 1);
    return {again || isScheduler(cursor) ? Confidence::Certain : Confidence::Likely,
        "a frame a line, and a value below that is indented deeper"};
}

void read(TextCursor& cursor, BlockContext& context)
{
    StacksReader(cursor, context).run();
}

} // namespace

extern const TextFormat bcc_stacksFormat;
const TextFormat bcc_stacksFormat = {kName,
    "offcputime, offwaketime and other tools of bcc: stacks with a value below each", claim, read,
    Yields::Profiles};

} // namespace whichlock
