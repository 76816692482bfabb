// SPDX-License-Identifier: GPL-3.0-or-later
// Maps of bpftrace whose keys are stacks: `@[`, a frame a line, `, comm]: 42`.
#include "parsers/format.h"
#include "parsers/formats/damage_counter.h"
#include "parsers/formats/stack_lines.h"
#include "parsers/formats/stack_values.h"
#include "parsers/input/text_scan.h"

#include <string>
#include <utility>
#include <vector>

namespace whichlock {
namespace {

using namespace stacklines;

constexpr std::string_view kName = "bpftrace";
constexpr size_t kMostMaps = 64;

/// `@name[rest` at the begin of a line whose bracket stays open.
struct Opening {
    std::string_view map{};
    std::string_view keys{}; ///< that stand in front of the stack
};

std::optional<Opening> openingOf(std::string_view line)
{
    if (!line.starts_with('@'))
        return std::nullopt;
    const size_t bracket = line.find('[');
    if (bracket == std::string_view::npos || line.find("]:") != std::string_view::npos)
        return std::nullopt;
    const std::string_view map = line.substr(1, bracket - 1);
    for (const char c : map) {
        if (!isDigit(c) && c != '_' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z'))
            return std::nullopt;
    }
    const std::string_view keys = trimmed(line.substr(bracket + 1));
    return keys.empty() || keys.ends_with(',') ? std::optional(Opening{map, keys}) : std::nullopt;
}

/// `, comm, 42]: 123`, `]: 123`; the keys are what stands before the bracket.
struct Closing {
    std::string_view keys{};
    std::string_view value{};
};

std::optional<Closing> closingOf(std::string_view line)
{
    const size_t bracket = line.rfind("]: ");
    if (bracket == std::string_view::npos)
        return std::nullopt;
    const std::string_view keys = trimmed(line.substr(0, bracket));
    const std::string_view value = trimmed(line.substr(bracket + 3));
    return keys.empty() || keys.starts_with(',') ? std::optional(Closing{keys, value}) : std::nullopt;
}

/// The lines of one entry of a map; 0 where none begins `ahead` lines further.
size_t entryAt(TextCursor& cursor, size_t ahead)
{
    const TextLine* line = cursor.peek(ahead);
    if (line == nullptr || !openingOf(line->text))
        return 0;
    for (size_t lines = 1; lines < kMostFrames; ++lines) {
        line = cursor.peek(ahead + lines);
        if (line == nullptr)
            return 0;
        if (closingOf(line->text))
            return lines > 1 ? lines + 1 : 0;
        if (!frameOf(line->text) && !line->text.starts_with(','))
            return 0;
    }
    return 0;
}

class MapsReader {
public:
    MapsReader(TextCursor& cursor, BlockContext& context)
        : cursor_(cursor)
        , context_(context)
        , values_(stackvalues::valuesToldBy(context.around, cursor.inputName()))
        , quoteDepth_(cursor.peek()->quoteDepth)
    {
    }

    void run()
    {
        while (const TextLine* line = cursor_.peek()) {
            if (line->quoteDepth != quoteDepth_)
                break;
            if (const size_t lines = entryAt(cursor_, 0)) {
                read(*line, lines);
                cursor_.advance(lines);
            } else if (!passBetween()) {
                break;
            }
        }
        const std::string& input = cursor_.inputName();
        damage_.finish(context_, input, "more entries have no number as their value and were skipped");
        tooMany_.finish(context_, input, "there are too many maps; the last ones were skipped");
    }

private:
    /// Blank lines, maps without stacks and the like before the next entry.
    bool passBetween()
    {
        constexpr size_t kMostBetween = 4;
        for (size_t ahead = 1; ahead <= kMostBetween; ++ahead) {
            if (cursor_.peek(ahead) == nullptr || cursor_.peek(ahead)->quoteDepth != quoteDepth_)
                break;
            if (entryAt(cursor_, ahead) == 0)
                continue;
            for (size_t i = 0; i < ahead; ++i)
                passLine(*cursor_.peek(i));
            cursor_.advance(ahead);
            return true;
        }
        const TextLine& line = *cursor_.peek();
        if (openingOf(line.text))
            context_.report(
                DiagnosticCode::TableTruncated, "the last stack has no value; it was skipped", line);
        if (openingOf(line.text))
            cursor_.advance();
        return false;
    }

    void passLine(const TextLine& line)
    {
        if (!trimmed(line.text).empty())
            damage_.add(context_, line, "the line is no entry with a stack and was skipped, the others kept");
    }

    /// The section of a map, begun at its first entry.
    const SectionHandle* sectionOf(std::string_view map, const TextLine& line)
    {
        for (const auto& [name, handle] : sections_) {
            if (name == map)
                return &handle;
        }
        if (sections_.size() == kMostMaps) {
            tooMany_.add(context_, line, {});
            return nullptr;
        }
        SectionRecord record = context_.sectionAt(line, kName);
        stackvalues::setQuantity(values_, false, record);
        record.event = map.empty() ? std::string() : "@" + std::string(map);
        sections_.emplace_back(map, context_.sink.section(record));
        return &sections_.back().second;
    }

    void read(const TextLine& line, size_t lines)
    {
        const auto opening = openingOf(line.text);
        const auto closing = closingOf(cursor_.peek(lines - 1)->text);
        if (!opening || !closing) // entryAt() has seen both
            return;
        const auto value = stackvalues::valueOf(closing->value, values_, false);
        if (!value) {
            damage_.add(
                context_, line, "the value of the stack is no number, or does not fit; it was skipped");
            return;
        }
        const SectionHandle* section = sectionOf(opening->map, line);
        if (section == nullptr)
            return;
        frames_.clear();
        comm_ = {};
        takeKeys(opening->keys);
        for (size_t i = 1; i + 1 < lines; ++i) {
            const std::string_view text = cursor_.peek(i)->text;
            if (text.starts_with(','))
                takeKeys(text);
            else if (auto frame = frameOf(text))
                frames_.push_back(*frame);
        }
        takeKeys(closing->keys);
        context_.sink.row(*section,
            {.symbol = frames_.front().symbol,
                .image = frames_.front().object,
                .comm = comm_,
                .value = value->value,
                .callers = std::span(frames_).subspan(1),
                .line = line.number});
    }

    /// The name of a thread among the keys: the first that is no number.
    void takeKeys(std::string_view keys)
    {
        while (!keys.empty()) {
            const size_t comma = keys.find(',');
            const std::string_view key = trimmed(keys.substr(0, comma));
            keys = comma == std::string_view::npos ? std::string_view() : keys.substr(comma + 1);
            if (comm_.empty() && !key.empty() && !isAllDigits(key))
                comm_ = key;
        }
    }

    TextCursor& cursor_;
    BlockContext& context_;
    stackvalues::Values values_;
    unsigned quoteDepth_;
    std::vector<std::pair<std::string, SectionHandle>> sections_;
    std::vector<TextFrame> frames_;
    std::string_view comm_;
    DamageCounter damage_{DiagnosticCode::RowUnreadable, 3};
    DamageCounter tooMany_{DiagnosticCode::LimitReached, 0};
};

Claim claim(TextCursor& cursor)
{
    if (!cursor.peek()->text.starts_with('@') || entryAt(cursor, 0) == 0)
        return {};
    return {Confidence::Certain, "`@[`, frames and `]: value`"};
}

void read(TextCursor& cursor, BlockContext& context)
{
    MapsReader(cursor, context).run();
}

} // namespace

extern const TextFormat bpftraceFormat;
const TextFormat bpftraceFormat = {
    kName, "maps of bpftrace whose keys are stacks: `@[...]: value`", claim, read, Yields::Profiles};

} // namespace whichlock
