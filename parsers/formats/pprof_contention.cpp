// SPDX-License-Identifier: GPL-3.0-or-later
// Contention profiles as text: `--- contentionz 1 ---` of C++ servers, and `--- mutex:` and `--- contention:`
// of Go with debug=1. A row is the cycles waited, how often, and the addresses of a stack.
#include "parsers/format.h"
#include "parsers/formats/damage_counter.h"
#include "parsers/input/text_scan.h"

#include <string>
#include <vector>

namespace whichlock {
namespace {

constexpr std::string_view kName = "pprof-contention";
constexpr size_t kMostFrames = 2048;
constexpr uint64_t kNsPerSecond = 1'000'000'000;

/// What the first line says the stacks are.
std::optional<WaitStacks> stacksOf(std::string_view line)
{
    if (line.starts_with("--- contentionz ") && line.ends_with("---"))
        return WaitStacks::Waiters;
    if (line == "--- mutex:")
        return WaitStacks::Holders; // Go charges waiting to whoever unlocks
    if (line == "--- contention:" || line == "--- contention")
        return WaitStacks::OffCpu; // of Go: channels and conditions as well
    return std::nullopt;
}

/// `cycles/second = 3201000000`, also without blanks.
std::optional<uint64_t> numberOf(std::string_view line, std::string_view key)
{
    if (!line.starts_with(key))
        return std::nullopt;
    std::string_view rest = trimmed(line.substr(key.size()));
    if (!rest.starts_with('='))
        return std::nullopt;
    return parseUnsigned(trimmed(rest.substr(1)));
}

bool isHeadLine(std::string_view line)
{
    constexpr std::string_view kKeys[] = {
        "cycles/second", "sampling period", "ms since reset", "discarded samples", "format", "resolution"};
    for (const std::string_view key : kKeys) {
        if (line.starts_with(key) && line.find('=') != std::string_view::npos)
            return true;
    }
    return false;
}

struct Row {
    uint64_t cycles = 0;
    uint64_t count = 0;
    std::string_view addresses{};
};

/// `19490304 27 @ 0xbccc97 0xc61202`.
std::optional<Row> rowOf(std::string_view line)
{
    const auto cycles = parseUnsigned(nextToken(line));
    const auto count = parseUnsigned(nextToken(line));
    if (!cycles || !count || nextToken(line) != "@")
        return std::nullopt;
    return Row{*cycles, *count, trimmed(line)};
}

/// `#	0x4a9b0f	sync.(*Mutex).Unlock+0x4f	/src/sync/mutex.go:217` below a row of Go.
std::optional<TextFrame> symbolOf(std::string_view line)
{
    if (!line.starts_with("#\t") && !line.starts_with("# "))
        return std::nullopt;
    std::string_view rest = line.substr(1);
    const std::string_view address = nextToken(rest);
    if (!address.starts_with("0x") || !isAllHex(address.substr(2)))
        return std::nullopt;
    rest = trimmed(rest);
    const size_t end = std::min(rest.find('\t'), rest.size());
    TextFrame frame{.symbol = rest.substr(0, end), .object = {}};
    frame.symbol = frame.symbol.substr(0, frame.symbol.rfind("+0x"));
    std::string_view place = trimmed(rest.substr(end));
    if (const size_t colon = place.rfind(':'); colon != std::string_view::npos) {
        const auto number = parseUnsigned(place.substr(colon + 1));
        frame.file = place.substr(0, colon);
        frame.line = number && *number <= UINT32_MAX ? static_cast<uint32_t>(*number) : 0;
    }
    return frame.symbol.empty() ? std::nullopt : std::optional(frame);
}

class ContentionReader {
public:
    ContentionReader(TextCursor& cursor, BlockContext& context, WaitStacks stacks)
        : cursor_(cursor)
        , context_(context)
        , section_(context.sink.section(sectionRecord(stacks)))
    {
        cursor_.advance();
    }

    void run()
    {
        readHead();
        while (const TextLine* line = cursor_.peek()) {
            const std::string_view text = trimmed(line->text);
            if (const auto row = rowOf(text)) {
                const size_t lines = readStack(*row);
                deliver(*row, *line);
                cursor_.advance(lines);
            } else if (text.starts_with("--- Memory map") || text.starts_with("MAPPED_LIBRARIES")) {
                passMap();
                break;
            } else if (text.empty() || text.starts_with('#')) {
                cursor_.advance();
            } else if (goesOn()) {
                damage_.add(context_, *line, "the row cannot be read and was skipped, the others kept");
                cursor_.advance();
            } else {
                break;
            }
        }
        const std::string& input = cursor_.inputName();
        damage_.finish(context_, input, "more rows cannot be read and were skipped");
        overflows_.finish(context_, input, "more figures do not fit; their rows were skipped");
    }

private:
    SectionRecord sectionRecord(WaitStacks stacks) const
    {
        SectionRecord record = context_.sectionAt(*cursor_.peek(), kName);
        record.kind = SectionKind::WaitProfile;
        record.quantity = QuantityKind::Wait;
        record.unit = Unit::Nanoseconds;
        record.waits = stacks;
        return record;
    }

    void readHead()
    {
        while (const TextLine* line = cursor_.peek()) {
            const std::string_view text = trimmed(line->text);
            if (!isHeadLine(text))
                break;
            if (const auto hertz = numberOf(text, "cycles/second"))
                hertz_ = *hertz;
            if (const auto period = numberOf(text, "sampling period"))
                period_ = *period;
            if (const auto lost = numberOf(text, "discarded samples"); lost && *lost != 0)
                context_.sink.inputFact(FactKind::Lost, std::to_string(*lost), cursor_.positionOf(*line));
            cursor_.advance();
        }
        if (hertz_ == 0) {
            hertz_ = kNsPerSecond;
            if (const TextLine* line = cursor_.peek())
                context_.report(DiagnosticCode::UnitAssumed,
                    "the profile does not say how many cycles a second has; they were taken for ns", *line);
        }
    }

    /// Fills the frames of the row at the cursor; returns its lines.
    size_t readStack(const Row& row)
    {
        frames_.clear();
        size_t lines = 1;
        for (; lines < kMostFrames; ++lines) {
            const TextLine* line = cursor_.peek(lines);
            const auto frame = line == nullptr ? std::nullopt : symbolOf(line->text);
            if (!frame)
                break;
            frames_.push_back(*frame);
        }
        if (!frames_.empty())
            return lines;
        std::string_view rest = row.addresses;
        for (std::string_view word = nextToken(rest); !word.empty() && frames_.size() < kMostFrames;
             word = nextToken(rest))
            frames_.push_back({.symbol = word, .object = {}});
        return 1;
    }

    void deliver(const Row& row, const TextLine& line)
    {
        __extension__ using Wide = unsigned __int128;
        uint64_t cycles = 0;
        uint64_t count = 0;
        const bool fits = !__builtin_mul_overflow(row.cycles, period_, &cycles)
            && !__builtin_mul_overflow(row.count, period_, &count);
        const Wide ns = Wide{cycles} * kNsPerSecond / hertz_;
        if (!fits || ns > UINT64_MAX) {
            overflows_.add(context_, line, "the figures of the row do not fit; it was skipped");
            return;
        }
        context_.sink.sample(
            section_, {.count = count, .weight = static_cast<uint64_t>(ns), .frames = frames_});
    }

    bool goesOn()
    {
        const TextLine* next = cursor_.peek(1);
        return next != nullptr && rowOf(trimmed(next->text));
    }

    /// Where files were mapped: addresses are not named by them.
    void passMap()
    {
        cursor_.advance();
        while (const TextLine* line = cursor_.peek()) {
            std::string_view rest = line->text;
            const std::string_view range = nextToken(rest);
            const size_t dash = range.find('-');
            if (dash == std::string_view::npos || !isAllHex(range.substr(0, dash)))
                break;
            cursor_.advance();
        }
    }

    TextCursor& cursor_;
    BlockContext& context_;
    SectionHandle section_;
    uint64_t hertz_ = 0;
    uint64_t period_ = 1;
    std::vector<TextFrame> frames_;
    DamageCounter damage_{DiagnosticCode::RowUnreadable, 3};
    DamageCounter overflows_{DiagnosticCode::NumberOverflow, 1};
};

Claim claim(TextCursor& cursor)
{
    constexpr size_t kMostHeadLines = 8;
    if (!stacksOf(trimmed(cursor.peek()->text)))
        return {};
    for (size_t ahead = 1; ahead <= kMostHeadLines; ++ahead) {
        const TextLine* line = cursor.peek(ahead);
        if (line == nullptr)
            break;
        const std::string_view text = trimmed(line->text);
        if (isHeadLine(text) || rowOf(text))
            return {Confidence::Certain, "`--- contention` or `--- mutex`, and what belongs to it"};
    }
    return {};
}

void read(TextCursor& cursor, BlockContext& context)
{
    const auto stacks = stacksOf(trimmed(cursor.peek()->text));
    if (!stacks) { // it was claimed by the same look, so it is there
        cursor.advance();
        return;
    }
    ContentionReader(cursor, context, *stacks).run();
}

} // namespace

extern const TextFormat pprof_contentionFormat;
const TextFormat pprof_contentionFormat = {kName,
    "contention and mutex profiles as text: cycles, count and addresses a row", claim, read,
    Yields::Profiles};

} // namespace whichlock
