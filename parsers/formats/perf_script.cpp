// SPDX-License-Identifier: GPL-3.0-or-later
// `perf script` text: one sample a paragraph, or one a line where no call chains were recorded. One section
// an event. Samples are handed over one by one; nothing is kept of them.
#include "parsers/format.h"
#include "parsers/formats/damage_counter.h"
#include "parsers/formats/perf_script_rows.h"
#include "parsers/formats/perf_script_sections.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <deque>
#include <string>
#include <vector>

namespace whichlock {
namespace {

using namespace perfscript;

constexpr std::string_view kName = "perf-script";

/// So many foreign lines in a row end the block; fewer are damage inside of it.
constexpr size_t kForeignLinesToEnd = 6;
/// Blank lines among them that are looked past.
constexpr size_t kMostBlankLines = 40;
/// The kernel cuts chains at 127 frames unless told otherwise.
constexpr size_t kMostFrames = 32 * 1024;

bool isIndented(std::string_view text)
{
    return !text.empty() && isBlank(text[0]);
}

/// Whether the line is a whole frame and no header; a right-aligned comm may look like an address (`cafe`).
bool isWholeFrame(std::string_view text)
{
    TextFrame frame;
    if (parseFrame(text, frame) != FrameShape::Whole)
        return false;
    return text[0] == '\t' || !parseHeader(text);
}

/// Whether the line is indented and begins with an address of eight digits at least.
bool isLongAddress(std::string_view text)
{
    constexpr size_t kFewestDigits = 8;
    TextFrame frame;
    return isIndented(text) && parseFrame(text, frame) != FrameShape::None
        && nextToken(text).size() >= kFewestDigits;
}

/// `3 x Disk (2TB)` has the form of a frame, but no address is that short.
bool hasAddressOfAFrame(std::string_view line)
{
    constexpr size_t kFewestDigits = 4;
    return nextToken(line).size() >= kFewestDigits;
}

/// The line `ahead` as a header. One without time and CPU must have a frame below it.
std::optional<Header> headerAt(TextCursor& cursor, size_t ahead)
{
    const TextLine* line = cursor.peek(ahead);
    if (line == nullptr)
        return std::nullopt;
    auto header = parseHeader(line->text);
    if (!header || header->strong)
        return header;
    const TextLine* next = cursor.peek(ahead + 1);
    return next != nullptr && isIndented(next->text) && isWholeFrame(next->text)
            && hasAddressOfAFrame(next->text)
        ? header
        : std::nullopt;
}

bool hasFrameInLine(const Header& header, TextFrame& frame)
{
    return !header.text.empty() && classOf(header) != EventClass::Tracepoint
        && parseFrame(header.text, frame) == FrameShape::Whole;
}

// --- claim ------------------------------------------------------------------------------------------------

/// What speaks for a sample that begins `ahead` lines further.
Claim claimAt(TextCursor& cursor, size_t ahead)
{
    constexpr size_t kLookAhead = 60;
    const auto header = headerAt(cursor, ahead);
    if (!header)
        return {};
    const TextLine* next = cursor.peek(ahead + 1);
    if (!header->isRecord && next != nullptr && isIndented(next->text) && isWholeFrame(next->text))
        return {header->strong ? Confidence::Certain : Confidence::Likely, "a sample with frames below it"};
    TextFrame frame;
    if (!header->isRecord && header->strong && next != nullptr && isLongAddress(next->text))
        return {Confidence::Likely, "a sample with addresses below it"};
    if (!header->isRecord && header->strong && hasFrameInLine(*header, frame))
        return {Confidence::Certain, "a sample with its address on the line"};
    size_t headers = 0;
    for (size_t i = 1; i < kLookAhead && headers < 2; ++i) {
        if (cursor.peek(ahead + i) == nullptr)
            break;
        headers += headerAt(cursor, ahead + i) ? 1 : 0;
    }
    if (headers >= 2)
        return {Confidence::Certain, "lines `comm pid [cpu] time: event:`"};
    return headers == 1 ? Claim{Confidence::Likely, "lines `comm pid [cpu] time: event:`"} : Claim{};
}

/// `# ========` opens the header of perf report, too: what follows it decides.
Claim claimHeaderBlock(TextCursor& cursor)
{
    constexpr size_t kMostLines = 400;
    for (size_t i = 1; i < kMostLines; ++i) {
        const TextLine* line = cursor.peek(i);
        if (line == nullptr)
            return {};
        if (!line->text.empty() && line->text[0] != '#')
            return claimAt(cursor, i);
    }
    return {};
}

Claim claim(TextCursor& cursor)
{
    const std::string_view text = cursor.peek()->text;
    if (isHeaderRule(text))
        return claimHeaderBlock(cursor);
    return claimAt(cursor, 0);
}

// --- reader -----------------------------------------------------------------------------------------------

class ScriptReader {
public:
    ScriptReader(TextCursor& cursor, BlockContext& context)
        : cursor_(cursor)
        , context_(context)
        , quoteDepth_(cursor.peek()->quoteDepth)
        , sections_(context)
    {
    }

    void run()
    {
        for (const TextLine* line = cursor_.peek(); line != nullptr; line = cursor_.peek()) {
            const std::string_view text = line->text;
            if (text.empty()) {
                cursor_.advance();
            } else if (line->quoteDepth == quoteDepth_ && text[0] == '#') {
                if (isHeaderRule(text) && anySample_)
                    break; // the next recording
                readComment(*line);
            } else if (const auto header = ownHeaderAt(0)) {
                if (header->isRecord)
                    skipRecord(*header, *line);
                else
                    readSample(*header, *line);
            } else if (!readDamage()) {
                break;
            }
        }
        finish();
    }

private:
    std::optional<Header> ownHeaderAt(size_t ahead)
    {
        const TextLine* line = cursor_.peek(ahead);
        if (line == nullptr || line->quoteDepth != quoteDepth_)
            return std::nullopt;
        auto header = headerAt(cursor_, ahead);
        if (header || !anyWeak_)
            return header;
        // Without time and CPU a known event does, too: not every sample has frames.
        header = parseHeader(line->text);
        return header && header->text.empty() && sections_.has(header->event) ? header : std::nullopt;
    }

    void readComment(const TextLine& line)
    {
        const HeaderField field = parseHeaderField(line.text);
        const std::optional<FactKind> kind = factOf(field);
        if (kind) {
            context_.sink.inputFact(*kind, field.value, cursor_.positionOf(line));
            if (*kind == FactKind::Command)
                sections_.setCommand(field.value);
        }
        cursor_.advance();
    }

    void skipRecord(const Header& header, const TextLine& line)
    {
        records_.add(context_, line, {});
        if (const uint64_t lost = lostEvents(header))
            lost_.add(context_, line, {}, lost);
        cursor_.advance();
    }

    void readSample(const Header& header, const TextLine& line)
    {
        anySample_ = true;
        anyWeak_ = anyWeak_ || !header.strong;
        frames_.clear();
        joined_.clear();
        TextFrame frame;
        if (hasFrameInLine(header, frame))
            addFrameInLine(frame);
        const size_t lines = readFrames();
        if (header.overflow) {
            overflows_.add(context_, line, "the period does not fit into 64 bits; the sample was skipped");
        } else if (const SectionHandle* section = sections_.of(header, line)) {
            context_.sink.sample(*section,
                {.comm = header.comm,
                    .pid = header.pid,
                    .tid = header.tid,
                    .cpu = header.cpu,
                    .timeNs = header.timeNs,
                    .weight = header.period.value_or(1),
                    .frames = frames_});
        }
        cursor_.advance(lines);
    }

    /// -F addr prints a data address in front of the instruction's.
    void addFrameInLine(TextFrame& frame)
    {
        constexpr size_t kFewestDigits = 8;
        std::string_view rest = frame.symbol;
        const std::string_view token = nextToken(rest);
        if (token.size() >= kFewestDigits && isAllHex(token) && !trimmed(rest).empty())
            frame.symbol = trimmed(rest);
        frames_.push_back(frame);
    }

    /// Collects the frames below a header; returns the number of lines of the sample.
    size_t readFrames()
    {
        size_t ahead = 1;
        size_t badFrom = 0; ///< the first of the unreadable lines just before `ahead`, 0 if none
        for (;; ++ahead) {
            const TextLine* next = cursor_.peek(ahead);
            if (next == nullptr || next->quoteDepth != quoteDepth_ || ahead > kMostFrames)
                break;
            const std::string_view text = next->text;
            if (text.empty()) {
                if (!framesGoOnBehind(ahead))
                    break;
                continue;
            }
            if (text[0] != '\t' && (text[0] == '#' || parseHeader(text)))
                break;
            TextFrame frame;
            const FrameShape shape = parseFrame(text, frame);
            if (shape == FrameShape::None) {
                if (!isIndented(text))
                    break;
                if (isSourceLine(text))
                    continue;
                badFrom = badFrom == 0 ? ahead : badFrom;
                if (ahead - badFrom + 1 >= kForeignLinesToEnd) {
                    return badFrom; // no frames any more
                }
                continue;
            }
            if (badFrom != 0)
                reportBadFrames(badFrom, ahead);
            badFrom = 0;
            if (shape == FrameShape::Open)
                ahead += joinWrapped(ahead, frame);
            frames_.push_back(frame);
        }
        if (badFrom != 0)
            reportBadFrames(badFrom, ahead);
        return ahead;
    }

    /// Pastes may have an empty line behind each line.
    bool framesGoOnBehind(size_t ahead)
    {
        const TextLine* after = cursor_.peek(ahead + 1);
        if (after == nullptr || !isIndented(after->text) || after->quoteDepth != quoteDepth_)
            return false;
        return isWholeFrame(after->text);
    }

    void reportBadFrames(size_t from, size_t end)
    {
        for (size_t i = from; i < end; ++i) {
            const TextLine* line = cursor_.peek(i);
            if (!line->text.empty() && !isSourceLine(line->text))
                badFrames_.add(context_, *line, "the frame cannot be read; the sample was kept without it");
        }
    }

    /// Mail programs wrap long frames: what follows has no address and ends in a parenthesis. Returns the
    /// number of lines that were joined to the one `ahead`.
    size_t joinWrapped(size_t ahead, TextFrame& frame)
    {
        constexpr size_t kMostLines = 4;
        std::string text;
        for (size_t i = 1; i <= kMostLines; ++i) {
            const TextLine* next = cursor_.peek(ahead + i);
            if (next == nullptr || next->quoteDepth != quoteDepth_ || next->text.empty())
                return 0;
            const std::string_view part = next->text;
            TextFrame other;
            if ((!isIndented(part) && part[0] != '(') || parseFrame(part, other) == FrameShape::Whole
                || (part[0] != '\t' && parseHeader(part)))
                return 0;
            if (text.empty())
                text = cursor_.peek(ahead)->text;
            text += ' ';
            text += trimmed(part);
            if (!part.ends_with(')'))
                continue;
            joined_.push_back(std::move(text));
            return parseFrame(joined_.back(), frame) == FrameShape::Whole ? i : 0;
        }
        return 0;
    }

    /// Lines that belong to no sample. False where the block ends before them.
    bool readDamage()
    {
        size_t lines = 0;
        size_t foreign = 0;
        for (size_t blanks = 0;; ++lines) {
            const TextLine* line = cursor_.peek(lines);
            if (line == nullptr || blanks > kMostBlankLines)
                return false;
            if (line->text.empty()) {
                ++blanks;
                continue;
            }
            if (line->quoteDepth == quoteDepth_ && (ownHeaderAt(lines) || isWholeFrame(line->text)))
                break;
            if (++foreign == kForeignLinesToEnd || introducesAnother(lines))
                return false;
        }
        if (foreign == 0) {
            orphans_.add(context_, *cursor_.peek(), {});
            cursor_.advance();
            return true;
        }
        const TextLine* last = cursor_.peek(lines - 1);
        const bool losesSample = !ownHeaderAt(lines) && !last->text.empty();
        for (size_t i = 0; i < lines; ++i) {
            const TextLine* line = cursor_.peek(i);
            if (losesSample && line == last)
                badHeaders_.add(
                    context_, *line, "the first line of a sample cannot be read; the sample was skipped");
            else if (!line->text.empty())
                remarks_.add(context_, *line, "a line between two samples was passed over");
        }
        cursor_.advance(lines);
        return true;
    }

    /// A caption, prompt or heading in front of a next script: that one is a block of its own.
    bool introducesAnother(size_t ahead)
    {
        const std::string_view text = cursor_.peek(ahead)->text;
        if (!promptedCommand(text).empty() || !decoratedHeading(text).empty())
            return true;
        const TextLine* next = cursor_.peek(ahead + 1);
        return text.ends_with(':') && !isIndented(text) && next != nullptr && !isWholeFrame(next->text);
    }

    void finish()
    {
        const std::string& chain = cursor_.inputName();
        badFrames_.finish(context_, chain, "more frames cannot be read; the samples were kept without them");
        badHeaders_.finish(context_, chain, "more samples were skipped: their first lines cannot be read");
        remarks_.finish(context_, chain, "more lines between samples were passed over");
        overflows_.finish(
            context_, chain, "more samples were skipped: their periods do not fit into 64 bits");
        orphans_.finish(context_, chain,
            fmt::format("{} frames without a readable sample above them were skipped", orphans_.count()));
        records_.finish(context_, chain,
            fmt::format("{} PERF_RECORD_* lines, which are no samples, were passed over", records_.count()));
        sections_.finish(chain);
        lost_.finish(context_, chain, fmt::format("{} events were lost while recording", lost_.count()));
        if (lost_.count() > 0)
            context_.sink.inputFact(
                FactKind::Lost, std::to_string(lost_.count()), cursor_.positionOf(lost_.first()));
    }

    static constexpr size_t kMostSingle = 20;

    TextCursor& cursor_;
    BlockContext& context_;
    unsigned quoteDepth_;
    bool anySample_ = false;
    bool anyWeak_ = false; ///< samples are printed without time and CPU
    EventSections sections_;
    std::vector<TextFrame> frames_;
    std::deque<std::string> joined_; ///< texts of wrapped frames of this sample
    DamageCounter badFrames_{DiagnosticCode::FrameUnreadable, kMostSingle};
    DamageCounter badHeaders_{DiagnosticCode::RowUnreadable, kMostSingle};
    DamageCounter orphans_{DiagnosticCode::RowUnreadable, 0};
    DamageCounter remarks_{DiagnosticCode::RemarkInTable, kMostSingle};
    DamageCounter overflows_{DiagnosticCode::NumberOverflow, kMostSingle};
    DamageCounter records_{DiagnosticCode::RecordsSkipped, 0};
    DamageCounter lost_{DiagnosticCode::EventsLost, 0};
};

void read(TextCursor& cursor, BlockContext& context)
{
    ScriptReader(cursor, context).run();
}

} // namespace

extern const TextFormat perf_scriptFormat;
const TextFormat perf_scriptFormat = {kName,
    "perf script text: samples with or without call chains, one section an event", claim, read,
    Yields::Profiles};

} // namespace whichlock
