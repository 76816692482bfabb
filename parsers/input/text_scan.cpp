// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/input/text_scan.h"

#include <algorithm>

namespace whichlock {

std::vector<std::string_view> tokensOf(std::string_view text, size_t most)
{
    std::vector<std::string_view> tokens;
    while (tokens.size() < most) {
        const std::string_view token = nextToken(text);
        if (token.empty())
            break;
        tokens.push_back(token);
    }
    return tokens;
}

bool isAllDigits(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), isDigit);
}

bool isDecimal(std::string_view text)
{
    const size_t point = text.find_first_of(".,");
    return point != std::string_view::npos && isAllDigits(text.substr(0, point))
        && isAllDigits(text.substr(point + 1));
}

bool isAllHex(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), isHexDigit);
}

bool isCutMark(std::string_view line)
{
    line = trimmed(line);
    if (line == "<snip>" || line == "[snip]" || line == "(etc.)" || line == "[...]" || line == "snip")
        return true;
    return line.size() >= 3 && line.find_first_not_of('.') == std::string_view::npos;
}

} // namespace whichlock
