// SPDX-License-Identifier: GPL-3.0-or-later
// One function of an address with its place in the source.
#pragma once

#include <cstdint>
#include <string>

namespace whichlock {

/// A place in the source.
struct SourceFrame {
    std::string function{}; ///< empty if the debug info does not name it
    std::string file{};     ///< empty if unknown
    uint32_t line = 0;      ///< 0 if unknown

    bool operator==(const SourceFrame&) const = default;
};

} // namespace whichlock
