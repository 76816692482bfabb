// SPDX-License-Identifier: GPL-3.0-or-later
// Patterns of symbol names: * for any run of characters, ? for any one.
#pragma once

#include <string_view>

namespace whichlock {

/// Whether the whole name fits the pattern.
inline bool matchesGlob(std::string_view pattern, std::string_view name)
{
    size_t p = 0;
    size_t n = 0;
    size_t star = std::string_view::npos; ///< the last * seen
    size_t retry = 0;                     ///< where the text behind it is tried next
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            retry = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++retry;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

} // namespace whichlock
