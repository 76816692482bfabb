// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/stack_lines.h"

#include "parsers/fixed_point.h"
#include "parsers/input/text_scan.h"

#include <algorithm>
#include <charconv>

namespace whichlock::stacklines {
namespace {

constexpr size_t kLongest = 8 * 1024;

bool isAddress(std::string_view word)
{
    constexpr size_t kFewestDigits = 8;
    if (word.starts_with("0x"))
        return isAllHex(word.substr(2));
    return word.size() >= kFewestDigits && isAllHex(word);
}

/// Takes `+92` or `+0x5c` off the end of the symbol.
void splitOffset(TextFrame& frame)
{
    const size_t plus = frame.symbol.rfind('+');
    if (plus == std::string_view::npos || plus == 0 || plus + 1 == frame.symbol.size())
        return;
    std::string_view digits = frame.symbol.substr(plus + 1);
    const bool hex = digits.starts_with("0x");
    if (hex)
        digits.remove_prefix(2);
    uint64_t offset = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), offset, hex ? 16 : 10);
    if (error != std::errc() || end != digits.data() + digits.size())
        return;
    frame.symbol = frame.symbol.substr(0, plus);
    frame.symbolOffset = offset;
}

/// `(libc.so.6)` or `[libc.so.6]` behind the symbol.
void takeObject(TextFrame& frame)
{
    const char close = frame.symbol.back();
    if (close != ')' && close != ']')
        return;
    const size_t open = frame.symbol.rfind(close == ')' ? " (" : " [");
    if (open == std::string_view::npos)
        return;
    frame.object = frame.symbol.substr(open + 2, frame.symbol.size() - open - 3);
    frame.symbol = trimmed(frame.symbol.substr(0, open));
}

/// Names of C++ and of some other languages have blanks inside brackets.
bool mayHaveBlanks(std::string_view name)
{
    return (name.find("::") != std::string_view::npos || name.find('(') != std::string_view::npos
               || name.find('<') != std::string_view::npos)
        && name.find(';') == std::string_view::npos && name.find('{') == std::string_view::npos;
}

} // namespace

size_t indentOf(std::string_view line)
{
    size_t at = 0;
    while (at < line.size() && isBlank(line[at]))
        ++at;
    return at;
}

std::optional<TextFrame> frameOf(std::string_view line)
{
    const std::string_view text = trimmed(line);
    if (text.empty() || text.size() > kLongest || !isBlank(line.front()))
        return std::nullopt;
    TextFrame frame{.symbol = text, .object = {}};
    std::string_view rest = text;
    const std::string_view first = nextToken(rest);
    if (isAddress(first)) {
        frame.symbol = trimmed(rest).empty() ? first : trimmed(rest);
    } else if (isAllDigits(text)
        || std::any_of(text.begin(), text.end(), [](char c) { return c == '"' || c == '|' || c == '@'; })) {
        return std::nullopt;
    }
    if (frame.symbol.starts_with("b'") && frame.symbol.ends_with('\'') && frame.symbol.size() > 3)
        frame.symbol = frame.symbol.substr(2, frame.symbol.size() - 3);
    takeObject(frame);
    if (frame.symbol.empty())
        frame.symbol = "[unknown]";
    if (std::any_of(frame.symbol.begin(), frame.symbol.end(), isBlank) && !mayHaveBlanks(frame.symbol)
        && frame.symbol.front() != '[')
        return std::nullopt;
    splitOffset(frame);
    return frame;
}

} // namespace whichlock::stacklines
