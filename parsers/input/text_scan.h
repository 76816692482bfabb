// SPDX-License-Identifier: GPL-3.0-or-later
// Small helpers for taking lines apart. Nothing here allocates except the token list.
#pragma once

#include <string_view>
#include <vector>

namespace whichlock {

constexpr bool isBlank(char c)
{
    return c == ' ' || c == '\t';
}

constexpr bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

constexpr bool isHexDigit(char c)
{
    return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Without blanks and tabs at both ends.
inline std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && isBlank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && isBlank(text.back()))
        text.remove_suffix(1);
    return text;
}

/// Takes the next run of non-blanks off the front of `rest`; empty at the end.
inline std::string_view nextToken(std::string_view& rest)
{
    size_t begin = 0;
    while (begin < rest.size() && isBlank(rest[begin]))
        ++begin;
    size_t end = begin;
    while (end < rest.size() && !isBlank(rest[end]))
        ++end;
    const std::string_view token = rest.substr(begin, end - begin);
    rest.remove_prefix(end);
    return token;
}

/// All runs of non-blanks, at most `most` of them.
std::vector<std::string_view> tokensOf(std::string_view text, size_t most = SIZE_MAX);

/// Whether the text is a non-empty run of digits.
bool isAllDigits(std::string_view text);
/// Whether the text is digits, a point or comma, digits.
bool isDecimal(std::string_view text);
/// Whether the text is a non-empty run of hex digits.
bool isAllHex(std::string_view text);
/// The line is a mark for "cut here": `...`, `<snip>`, `[...]`, `(etc.)`.
bool isCutMark(std::string_view line);

} // namespace whichlock
