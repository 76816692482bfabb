// SPDX-License-Identifier: GPL-3.0-or-later
// What a function is called in a table: by its symbol, with the object where the symbol alone is not enough.
#pragma once

#include "analyzer/model/profile.h"

#include <string>
#include <unordered_map>

namespace whichlock {

/// Names for the innermost functions of a section. The same symbol in two objects is two functions.
class SymbolNames {
public:
    SymbolNames(const Profile& profile, const Section& section);

    /// `getc [libc-2.3.2.so]`, `java (no symbols)`, `schedule`.
    std::string of(StackId stack) const;

private:
    const Profile& profile_;
    std::unordered_map<uint32_t, StringId> objectOf_; ///< by symbol; none if there are several
};

} // namespace whichlock
