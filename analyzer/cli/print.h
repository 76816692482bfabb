// SPDX-License-Identifier: GPL-3.0-or-later
// Printing to streams that may be closed or on a full disk: fmt::print() throws there.
#pragma once

#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace whichlock::cli {

/// Prints; what goes wrong stays in the stream, for arrived() to find.
template <class... Args> void print(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args)
{
    const std::string text = fmt::format(format, std::forward<Args>(args)...);
    std::fwrite(text.data(), 1, text.size(), stream);
}

/// Whether all that was printed has arrived.
inline bool arrived(std::FILE* stream)
{
    return std::fflush(stream) == 0 && std::ferror(stream) == 0;
}

} // namespace whichlock::cli
