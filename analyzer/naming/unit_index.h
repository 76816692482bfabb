// SPDX-License-Identifier: GPL-3.0-or-later
// What one compilation unit declares at its top: variables by address and name, types and functions by name.
#pragma once

#include "analyzer/naming/dwarf_types.h"
#include "analyzer/symbols/dwarf_units.h"

#include <map>

namespace whichlock {

/// A variable with a fixed address.
struct PlacedVariable {
    Dwarf_Die die{};
    std::string name; ///< with its function or namespace: `worker::lock`
};

class UnitIndex {
public:
    /// Reads the unit's DIEs outside of functions.
    UnitIndex(Dwarf_Die root, DwarfBudget& budget);

    Dwarf_Die root() const { return root_; }
    const DwarfTypes::Completion& types() const { return types_; }
    const DwarfTypes::Scopes& scopes() const { return scopes_; }
    const std::map<uint64_t, PlacedVariable>& placed() const { return placed_; }
    /// Functions hold statics of their own; who reads a function adds them.
    void addPlaced(uint64_t address, PlacedVariable variable)
    {
        placed_.emplace(address, std::move(variable));
    }
    /// A function by its name or linkage name; none if the unit does not declare it.
    std::optional<Dwarf_Die> function(std::string_view name) const;
    std::optional<Dwarf_Die> variable(std::string_view name) const;
    /// The scope that a DIE of a variable, type or function stands in: `ns::Class`; empty if it is none.
    std::string_view scopeOf(const Dwarf_Die& die) const;
    /// The name with its scope.
    std::string qualifiedName(Dwarf_Die die) const;

private:
    void read(Dwarf_Die parent, const std::string& scope, int depth, DwarfBudget& budget);
    void addVariable(Dwarf_Die die, const std::string& scope);

    Dwarf_Die root_;
    DwarfTypes::Completion types_;
    DwarfTypes::Scopes scopes_;
    std::map<uint64_t, PlacedVariable> placed_;
    std::unordered_map<std::string_view, Dwarf_Die> functions_;
    std::unordered_map<std::string_view, Dwarf_Die> variables_;
};

/// The fixed address of a variable; none if it lives elsewhere, or has no size: such ones share the address
/// of what follows them.
std::optional<uint64_t> fixedAddressOf(Dwarf_Die variable);

} // namespace whichlock
