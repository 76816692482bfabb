// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/input/text_cleaning.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

namespace whichlock {
namespace {

struct Entity {
    std::string_view name;
    std::string_view text;
};

constexpr Entity kEntities[] = {
    {"&lt;", "<"},
    {"&gt;", ">"},
    {"&amp;", "&"},
    {"&quot;", "\""},
    {"&nbsp;", " "},
    {"&#160;", " "},
    {"&#xa0;", " "},
    {"&#39;", "'"},
    {"&#60;", "<"},
    {"&#62;", ">"},
};

/// Characters beyond ASCII that tables are damaged by, in UTF-8.
constexpr Entity kOddCharacters[] = {
    {"\u00a0", " "},
    {"\u2007", " "},
    {"\u202f", " "},
    {"\u2212", "-"},
    {"\u200b", ""},
    {"\ufeff", ""},
};

template <size_t n> const Entity* findAt(const Entity (&list)[n], std::string_view text)
{
    for (const Entity& entity : list) {
        if (text.starts_with(entity.name))
            return &entity;
    }
    return nullptr;
}

const Entity* oddCharacterAt(std::string_view text)
{
    if (text[0] == '&')
        return findAt(kEntities, text);
    if (static_cast<unsigned char>(text[0]) >= 0x80)
        return findAt(kOddCharacters, text);
    return nullptr;
}

bool isAlphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::optional<unsigned> hexDigit(char c)
{
    if (c >= '0' && c <= '9')
        return static_cast<unsigned>(c - '0');
    if (c >= 'A' && c <= 'F')
        return static_cast<unsigned>(c - 'A' + 10);
    return std::nullopt;
}

} // namespace

Dequoted stripQuoteMarks(std::string_view line)
{
    constexpr size_t kMaxIndent = 4;
    constexpr size_t kMaxNameLength = 12;
    Dequoted result{line, 0};
    for (;;) {
        std::string_view text = result.text;
        // A mark cannot stand further in: nearly all lines are done with here.
        const size_t furthest = std::min(text.size(), kMaxIndent + kMaxNameLength + 1);
        if (furthest == 0 || std::memchr(text.data(), '>', furthest) == nullptr)
            return result;
        size_t at = 0;
        while (at < text.size() && at < kMaxIndent && (text[at] == ' ' || text[at] == '\t'))
            ++at;
        const size_t nameStart = at;
        while (at < text.size() && at - nameStart < kMaxNameLength && isAlphanumeric(text[at]))
            ++at;
        if (at >= text.size() || text[at] != '>')
            return result;
        // `a->b` and `x>y` are no quotes: after a name the mark is followed by a blank, a mark or nothing.
        const bool named = at > nameStart;
        const std::string_view rest = text.substr(at + 1);
        if (named && !rest.empty() && rest[0] != ' ' && rest[0] != '>')
            return result;
        result.text = !rest.empty() && rest[0] == ' ' ? rest.substr(1) : rest;
        ++result.depth;
    }
}

bool hasOddCharacters(std::string_view line)
{
    const bool ascii = isAscii(line);
    for (size_t at = 0; at < line.size(); ++at) {
        if (ascii) {
            at = line.find('&', at);
            if (at == std::string_view::npos)
                return false;
        }
        if (oddCharacterAt(line.substr(at)) != nullptr)
            return true;
    }
    return false;
}

std::string replaceOddCharacters(std::string_view line)
{
    std::string result;
    result.reserve(line.size());
    for (size_t at = 0; at < line.size();) {
        if (const Entity* odd = oddCharacterAt(line.substr(at))) {
            result += odd->text;
            at += odd->name.size();
        } else {
            result += line[at++];
        }
    }
    return result;
}

std::string decodeQuotedPrintable(std::string_view line)
{
    std::string result;
    result.reserve(line.size());
    for (size_t at = 0; at < line.size(); ++at) {
        if (line[at] == '=' && at + 2 < line.size()) {
            const auto high = hexDigit(line[at + 1]);
            const auto low = hexDigit(line[at + 2]);
            if (high && low) {
                result += static_cast<char>(*high * 16 + *low);
                at += 2;
                continue;
            }
        }
        result += line[at];
    }
    return result;
}

bool endsInSoftBreak(std::string_view line)
{
    constexpr size_t kShortest = 40; // breaks are made near column 76; `x =` in code is none
    constexpr size_t kLongest = 77;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
        line.remove_suffix(1);
    // An encoded `=` is `=3D`, so two of them are a ruler.
    return line.size() >= kShortest && line.size() <= kLongest && line.back() == '=' && !line.ends_with("==");
}

bool looksQuotedPrintable(std::string_view head)
{
    if (head.find("quoted-printable") != std::string_view::npos)
        return true;
    int softBreaks = 0;
    bool encodedBlank = false;
    while (!head.empty()) {
        const size_t end = head.find('\n');
        std::string_view line = head.substr(0, end);
        head = end == std::string_view::npos ? std::string_view() : head.substr(end + 1);
        if (endsInSoftBreak(line))
            ++softBreaks;
        while (!line.empty() && line.back() == '\r')
            line.remove_suffix(1);
        encodedBlank = encodedBlank || line.ends_with("=20") || line.find("=3D") != std::string_view::npos;
    }
    return softBreaks >= 2 || (encodedBlank && softBreaks >= 1);
}

bool isAscii(std::string_view text)
{
    constexpr uint64_t kHighBits = 0x8080808080808080;
    uint64_t word = 0;
    while (text.size() >= sizeof word) {
        std::memcpy(&word, text.data(), sizeof word);
        if ((word & kHighBits) != 0)
            return false;
        text.remove_prefix(sizeof word);
    }
    return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

size_t utf8Length(std::string_view text)
{
    const auto lead = static_cast<unsigned char>(text[0]);
    if (lead < 0x80)
        return 1;
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || length > text.size())
        return 0;
    // Overlong forms, surrogates, and what lies beyond U+10FFFF.
    const auto second = static_cast<unsigned char>(text[1]);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) || (lead == 0xf0 && second < 0x90)
        || (lead == 0xf4 && second > 0x8f))
        return 0;
    for (size_t i = 1; i < length; ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

bool isValidUtf8(std::string_view text)
{
    while (!text.empty()) {
        const size_t length = utf8Length(text);
        if (length == 0)
            return false;
        text.remove_prefix(length);
    }
    return true;
}

} // namespace whichlock
