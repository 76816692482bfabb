// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/surroundings.h"

#include "parsers/input/text_scan.h"

namespace whichlock {
namespace {

constexpr size_t kMaxTitleLength = 78;

/// `On Mon, 06 Jan 2003, N wrote:` says who is quoted below, not what the table is.
bool isAttribution(std::string_view text)
{
    return text.ends_with(" wrote:") || text.ends_with(" writes:");
}

/// Whether a line may be the caption of a table, judged by itself.
bool mayBeTitle(std::string_view text)
{
    return !text.empty() && text.size() <= kMaxTitleLength && !isRule(text) && !isCutMark(text)
        && promptedCommand(text).empty() && decoratedHeading(text).empty() && !isAttribution(text)
        && text.find_first_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        != std::string_view::npos;
}

std::string_view withoutDecoration(std::string_view text)
{
    while (!text.empty() && (text.front() == '#' || text.front() == '*' || text.front() == ' '))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ':' || text.back() == '*' || text.back() == ' '))
        text.remove_suffix(1);
    return text;
}

} // namespace

std::string_view decoratedHeading(std::string_view line)
{
    constexpr std::string_view kMarks = "=#*-~+";
    constexpr size_t kShortestRule = 3;
    line = trimmed(line);
    if (line.empty() || kMarks.find(line.front()) == std::string_view::npos || line.back() != line.front())
        return {};
    const size_t begin = line.find_first_not_of(line.front());
    const size_t end = line.find_last_not_of(line.back());
    if (begin == std::string_view::npos || begin < kShortestRule || line.size() - 1 - end < kShortestRule)
        return {};
    return trimmed(line.substr(begin, end - begin + 1));
}

std::string_view promptedCommand(std::string_view line)
{
    line = trimmed(line);
    if (line.starts_with('[')) {
        const size_t close = line.find("]# ");
        const size_t closeUser = line.find("]$ ");
        const size_t at = std::min(close, closeUser);
        return at == std::string_view::npos ? std::string_view() : trimmed(line.substr(at + 3));
    }
    if (line.starts_with("$ ") || line.starts_with("~ ")
        || (line.starts_with("# ")
            && (line.find("readprofile") == 2 || line.find("opreport") == 2 || line.find("perf ") == 2
                || line.find("vmstat") == 2)))
        return trimmed(line.substr(2));
    return {};
}

bool isRule(std::string_view line)
{
    line = trimmed(line);
    return !line.empty() && line.find_first_not_of("-=_*~+ .|") == std::string_view::npos;
}

void Surroundings::prose(const TextLine& line)
{
    const std::string_view heading = decoratedHeading(line.text);
    if (!heading.empty()) {
        heading_ = heading;
        recent_.clear();
        command_.clear();
    }
    const std::string_view command = promptedCommand(line.text);
    if (!command.empty())
        command_ = command;
    recent_.emplace_back(trimmed(line.text.substr(0, 2 * kMaxTitleLength)));
    if (recent_.size() > kLinesKept)
        recent_.pop_front();
}

void Surroundings::tableEnded()
{
    recent_.clear();
    command_.clear();
}

std::string Surroundings::paragraphAbove() const
{
    size_t end = recent_.size();
    while (end > 0 && recent_[end - 1].empty())
        --end;
    size_t begin = end;
    while (begin > 0 && !recent_[begin - 1].empty())
        --begin;
    std::string text;
    for (size_t i = begin; i < end; ++i) {
        if (!text.empty())
            text += ' ';
        text += recent_[i];
    }
    return text;
}

std::string Surroundings::title() const
{
    const auto isBlank = [&](size_t index) { return index >= recent_.size() || recent_[index].empty(); };
    // From the table upwards; a caption with a colon is preferred to a line that only stands alone.
    std::string_view alone;
    for (size_t i = recent_.size(); i-- > 0;) {
        const std::string_view text = recent_[i];
        if (!mayBeTitle(text))
            continue;
        const bool firstOfParagraph = i == 0 || isBlank(i - 1) || isRule(recent_[i - 1]);
        const bool lastOfParagraph = i + 1 == recent_.size() || isBlank(i + 1) || isRule(recent_[i + 1]);
        // The one word that a wrapped sentence left on its last line (`this:`) says nothing.
        const bool leftOver = !firstOfParagraph && text.find(' ') == std::string_view::npos;
        if (text.ends_with(':') && lastOfParagraph && !leftOver)
            return std::string(withoutDecoration(text));
        if (alone.empty() && firstOfParagraph && lastOfParagraph && !text.ends_with('.')
            && !text.ends_with('?'))
            alone = text;
    }
    return std::string(withoutDecoration(alone));
}

} // namespace whichlock
