// SPDX-License-Identifier: GPL-3.0-or-later
// DWARF expressions as symbolic values.
#pragma once

#include "analyzer/naming/symbolic_value.h"

#include <elfutils/libdw.h>

#include <optional>
#include <span>

namespace whichlock {

/// What a location says.
struct LocationValue {
    SymbolicValue value{};
    bool memory = true; ///< the value is the address of the variable, not the variable
};

/// Evaluates an expression of an attribute; nothing if it needs what is not known before the program runs.
/// `frameBase` is what offsets of local variables count from.
std::optional<LocationValue> evaluateLocation(TermPool& terms, Dwarf_Attribute& attribute,
    std::span<const Dwarf_Op> operations, const std::optional<SymbolicValue>& frameBase);

/// The frame base of a function.
std::optional<SymbolicValue> frameBaseOf(TermPool& terms, Dwarf_Die function);

} // namespace whichlock
