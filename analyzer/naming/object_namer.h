// SPDX-License-Identifier: GPL-3.0-or-later
// From the address of a lock to the variable that it is in: `g_table[3].mu`.
#pragma once

#include "analyzer/naming/dwarf_types.h"
#include "analyzer/naming/module_image.h"
#include "analyzer/symbols/dwarf_units.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace whichlock {

/// A variable with the member at an address.
struct ObjectName {
    std::string name{};      ///< `g_table[3].mu`; `symbol+0x18` where the type tells no lock there
    std::string lockType{};  ///< empty if no lock is known to be there
    std::string lockClass{}; ///< as call sites without the variable see it: `struct rq::lock`; may be empty
    uint64_t lockAddress = 0;
    bool perCpu = false; ///< the address is one in the image of each CPU's variables
};

/// Reads all variables of a module once, when first asked. MT: one thread.
class ObjectNamer {
public:
    /// The image has to outlive it.
    explicit ObjectNamer(const ModuleImage& image);
    ~ObjectNamer();

    /// The variable around an address of the module's own; nothing outside of variables.
    std::optional<ObjectName> nameOf(uint64_t address);
    size_t variableCount();

private:
    struct Variable;
    void readAll();
    void readChildren(Dwarf_Die parent, const std::string& scope, int depth, bool inFunction);
    void addVariable(Dwarf_Die die, const std::string& scope);

    const ModuleImage& image_;
    DwarfTypes types_;
    DwarfBudget budget_ = 0;
    bool read_ = false;
    std::vector<Variable> variables_; ///< by address
};

} // namespace whichlock
