// SPDX-License-Identifier: GPL-3.0-or-later
// The name under which the tables know a symbol: without offset, tags, version and compiler's endings.
#pragma once

#include <string>
#include <string_view>

namespace whichlock {

/// The part of a demangled symbol under which the tables know it. It is always a part of the symbol itself,
/// so nothing is allocated; it lives as long as the text that was passed.
std::string_view normalisedView(std::string_view symbol);

/// A copy of normalisedView().
inline std::string normaliseSymbol(std::string_view symbol)
{
    return std::string(normalisedView(symbol));
}

} // namespace whichlock
