// SPDX-License-Identifier: GPL-3.0-or-later
// Where the variable that a lock was reached through left no trace: the one type that fits. Given only if
// exactly one does.
#pragma once

#include "analyzer/naming/backward_slice.h"

#include <map>

namespace whichlock {

/// MT: one thread.
class TypeGuess {
public:
    TypeGuess(FunctionModel& function, DwarfTypes& types, LockType kind)
        : function_(function)
        , types_(types)
        , kind_(kind)
        , namer_(function, types, kind)
    {
    }

    /// A name for where the paths of a slice ended, at a call site; score 0 if none or several fit.
    NameCandidate guess(const std::vector<SliceEnd>& ends, uint64_t callSite);

private:
    struct Base;
    std::optional<Base> baseOf(const SliceEnd& end);
    void tryVariables(const Base& base, const std::vector<int32_t>& active);
    void tryContainers(const Base& base);
    void tryAt(const FunctionVariable& variable, Dwarf_Die structure, int64_t offset,
        const UnknownIndex& index, bool active);
    NameCandidate pointerGuess(const std::vector<SliceEnd>& ends);

    FunctionModel& function_;
    DwarfTypes& types_;
    LockType kind_;
    ValueNamer namer_;
    std::map<std::string, NameCandidate> inScope_; ///< by class
    std::map<std::string, NameCandidate> elsewhere_;
};

} // namespace whichlock
