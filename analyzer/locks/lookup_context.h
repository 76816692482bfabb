// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of a profile's machine when a symbol of it is looked up in the tables.
#pragma once

#include "analyzer/locks/kernel_version.h"

#include <optional>
#include <string_view>

namespace whichlock {

struct Context {
    std::optional<Era> era;  ///< kernel versions that come into question; nothing = any
    std::string_view arch;   ///< `x86_64`, `ia64` ...; empty = not known
    bool debugBuild = false; ///< the profile says that it is of a debugging build
};

} // namespace whichlock
