// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/opreport_block.h"

#include "parsers/input/text_scan.h"

#include <array>

namespace whichlock::opreport {
namespace {

constexpr size_t kLongestHeadLine = 4096;

/// The text of the line `ahead`, if it is at the quote depth of the current line.
std::optional<std::string_view> lineAt(TextCursor& cursor, size_t ahead)
{
    const TextLine* line = cursor.peek(ahead);
    if (line == nullptr || line->quoteDepth != cursor.peek()->quoteDepth)
        return std::nullopt;
    return line->text;
}

bool endsWithCount(std::string_view text)
{
    constexpr std::string_view kWord = " count ";
    const size_t at = text.rfind(kWord);
    return at != std::string_view::npos && isAllDigits(trimmed(text.substr(at + kWord.size())));
}

/// The `Counted` line at `ahead`, which mailers like to wrap, and the number of its lines.
std::optional<std::pair<Event, size_t>> eventAt(TextCursor& cursor, size_t ahead)
{
    constexpr size_t kMostLines = 4;
    constexpr std::string_view kStart = "Counted ";
    std::string joined;
    for (size_t i = 0; i < kMostLines; ++i) {
        const auto line = lineAt(cursor, ahead + i);
        if (!line || trimmed(*line).empty() || line->size() > kLongestHeadLine)
            return std::nullopt;
        if (i == 0 && !trimmed(*line).starts_with(kStart))
            return std::nullopt;
        joined.append(i > 0 ? " " : "").append(trimmed(*line));
        const size_t nameEnd = joined.find(" events ");
        if (nameEnd == std::string::npos || nameEnd < kStart.size() || !endsWithCount(joined))
            continue;
        Event event;
        event.name = joined.substr(kStart.size(), nameEnd - kStart.size());
        constexpr std::string_view kMask = "unit mask of ";
        if (const size_t mask = joined.find(kMask); mask != std::string::npos) {
            std::string_view rest = std::string_view(joined).substr(mask + kMask.size());
            event.unitMask = nextToken(rest);
        }
        event.description = std::move(joined);
        return std::pair(std::move(event), i + 1);
    }
    return std::nullopt;
}

/// What a line says of separated profiles: `CPU 3` of `Samples on CPU 3`, else empty.
std::string_view classOf(std::string_view text)
{
    if (text.starts_with("Samples on CPU "))
        return text.substr(std::string_view("Samples on ").size());
    constexpr std::array<std::string_view, 2> kThreads = {
        "Processes with a thread ID of ", "Processes with a thread group ID of "};
    constexpr size_t kBeforeThread = std::string_view("Processes with a ").size();
    for (const std::string_view start : kThreads) {
        if (text.starts_with(start))
            return text.substr(kBeforeThread);
    }
    return {};
}

bool isTimerLine(std::string_view text)
{
    return text == "Profiling through timer interrupt" || text == "profiling through timer interrupt"
        || text == "Profiling through timer interrupt.";
}

bool isCpuLine(std::string_view text)
{
    return text.starts_with("CPU: ") && text.find("speed ") != std::string_view::npos;
}

/// Takes a line of the head; returns the number of lines it is printed on, 0 if it is none.
size_t takeHeadLine(TextCursor& cursor, size_t ahead, std::string_view text, Head& head)
{
    if (isCpuLine(text)) {
        if (!head.cpu.empty())
            return 0;
        head.cpu = text;
        return 1;
    }
    constexpr size_t kMostEvents = 24; // no processor counts more at a time
    if (auto event = eventAt(cursor, ahead); event && head.events.size() < kMostEvents) {
        head.events.push_back(std::move(event->first));
        return event->second;
    }
    if (isTimerLine(text)) {
        head.timer = text;
        return 1;
    }
    const std::string_view profileClass = classOf(text);
    if (!profileClass.empty()) {
        head.classes.emplace_back(profileClass);
        return 1;
    }
    return 0;
}

/// Whether the break between two lines is inside a path: `/lib/modules/2.6.12/ker` + `nel/fs/ext3.ko`.
bool breaksInsidePath(std::string_view line, std::string_view next)
{
    constexpr size_t kShortestWrapped = 60;
    const size_t blank = line.find_last_of(" \t");
    const std::string_view last = line.substr(blank == std::string_view::npos ? 0 : blank + 1);
    return line.size() >= kShortestWrapped && last.starts_with('/') && last.back() != '/'
        && !next.starts_with('/') && !isBlank(next.front());
}

/// A wrapped path at the end of an old-style row: the next line is its rest and nothing else.
bool isRestOfPath(TextCursor& cursor, size_t ahead, std::string_view row, const Layout& layout)
{
    const auto next = lineAt(cursor, ahead + 1);
    if (layout.afterSymbol.empty() || !next || next->empty() || !breaksInsidePath(row, *next))
        return false;
    if (next->find_first_of(" \t") != std::string_view::npos || next->ends_with(':') || isCutRow(*next))
        return false;
    const auto afterwards = lineAt(cursor, ahead + 2);
    const bool rowFollows = afterwards && parseRow(*afterwards, layout).fit != Fit::None;
    return rowFollows || next->find_first_of("/.") != std::string_view::npos;
}

bool mayContinueRow(std::string_view next, const Layout& layout)
{
    if (trimmed(next).empty() || next.size() > kLongestRow || isCutRow(next) || isCallGraphRule(next))
        return false;
    const Fit fit = parseRow(next, layout).fit;
    return fit != Fit::Complete && fit != Fit::Open && !parseHeader(next);
}

bool hasGap(std::string_view symbol)
{
    return symbol.find("  ") != std::string_view::npos || symbol.find('\t') != std::string_view::npos;
}

} // namespace

std::optional<std::pair<Layout, size_t>> headerAt(TextCursor& cursor, size_t ahead)
{
    const auto line = lineAt(cursor, ahead);
    if (!line || line->size() > kLongestHeadLine)
        return std::nullopt;
    if (auto layout = parseHeader(*line))
        return std::pair(std::move(*layout), size_t{1});
    const std::string_view text = trimmed(*line);
    if (!(text.starts_with("samples ") || text.starts_with("vma "))
        || text.find('%') == std::string_view::npos)
        return std::nullopt;
    const auto next = lineAt(cursor, ahead + 1);
    if (!next || next->size() > kLongestHeadLine)
        return std::nullopt;
    auto layout = parseHeader(std::string(text) + " " + std::string(*next));
    return layout ? std::optional(std::pair(std::move(*layout), size_t{2})) : std::nullopt;
}

std::optional<Head> headAt(TextCursor& cursor)
{
    constexpr size_t kLookAhead = 60;
    constexpr size_t kMostUnknown = 6;
    Head head;
    size_t unknown = 0;
    while (head.lines < kLookAhead) {
        const auto line = lineAt(cursor, head.lines);
        if (!line || line->size() > kLongestHeadLine)
            return std::nullopt;
        const std::string_view text = trimmed(*line);
        if (auto header = headerAt(cursor, head.lines)) {
            head.layout = std::move(header->first);
            head.headerLines = header->second;
            return head;
        }
        if (isSummaryBox(text))
            return head;
        const size_t taken = takeHeadLine(cursor, head.lines, text, head);
        if (taken == 0) {
            // Warnings of the tool may stand between; a second report or much else may not.
            const bool boxTitle = text.ends_with("|");
            if (head.lines == 0 || isCpuLine(text)
                || (!text.empty() && !boxTitle && ++unknown > kMostUnknown))
                return std::nullopt;
        }
        head.lines += std::max(taken, size_t{1});
    }
    return std::nullopt;
}

std::optional<RowLines> rowAt(TextCursor& cursor, size_t ahead, const Layout& layout)
{
    constexpr size_t kMostJoined = 3;
    const auto first = lineAt(cursor, ahead);
    if (!first)
        return std::nullopt;
    const Fit firstFit = parseRow(*first, layout).fit;
    if (firstFit == Fit::None)
        return std::nullopt;
    if (firstFit == Fit::Complete && isRestOfPath(cursor, ahead, *first, layout))
        return RowLines{
            .joined = std::string(*first) + std::string(*lineAt(cursor, ahead + 1)), .line = {}, .lines = 2};
    if (firstFit == Fit::Complete)
        return RowLines{.joined = {}, .line = *first, .lines = 1};
    // A cut name such as `f(int, ...` is taken as it is when nothing closes its bracket.
    std::optional<RowLines> open;
    if (firstFit == Fit::Open)
        open = RowLines{.joined = {}, .line = *first, .lines = 1};
    std::string joined(*first);
    for (size_t i = 1; i <= kMostJoined; ++i) {
        const auto next = lineAt(cursor, ahead + i);
        if (!next || !mayContinueRow(*next, layout))
            break;
        const bool maybeInPath = breaksInsidePath(joined, *next);
        std::string glued = maybeInPath ? joined + std::string(*next) : std::string();
        joined.append(" ").append(trimmed(*next));
        const Row spaced = parseRow(joined, layout);
        if (maybeInPath && parseRow(glued, layout).fit == Fit::Complete
            && (spaced.fit != Fit::Complete || hasGap(spaced.symbol)))
            return RowLines{.joined = std::move(glued), .line = {}, .lines = i + 1};
        if (spaced.fit == Fit::Complete)
            return RowLines{.joined = std::move(joined), .line = {}, .lines = i + 1};
        if (spaced.fit == Fit::None)
            break;
        if (spaced.fit == Fit::Open && !open)
            open = RowLines{.joined = joined, .line = {}, .lines = i + 1};
    }
    return open;
}

} // namespace whichlock::opreport
