// SPDX-License-Identifier: GPL-3.0-or-later
// One function with all that is known of it: scopes, variables, where each variable is kept at each address,
// and its code.
#pragma once

#include "analyzer/naming/control_flow.h"
#include "analyzer/naming/module_image.h"
#include "analyzer/naming/unit_index.h"

#include <array>

namespace whichlock {

/// A function, an inlined function or a block.
struct FunctionScope {
    Dwarf_Die die{};
    int32_t parent = -1;
    bool block = false; ///< only braces
    bool inlined = false;
    bool primitive = false; ///< it or a function around it that was inlined here takes locks for others
    std::string_view name{};
    std::vector<AddressRange> ranges{};

    bool contains(uint64_t address) const;
};

struct FunctionVariable {
    Dwarf_Die die{};
    int32_t scope = 0;
    bool parameter = false;
    int32_t order = 0; ///< of parameters
    std::string_view name{};
};

/// Where a variable is in a range of addresses.
struct VariableLocation {
    AddressRange range{};
    uint32_t variable = 0;
    bool memory = false; ///< the value is the variable's address
    bool everywhere = false;
    SymbolicValue value{};
};

/// MT: one thread. Lives as long as the handle of its module.
class FunctionModel {
public:
    FunctionModel(const ModuleImage& image, UnitIndex& unit, Dwarf_Die die, Disassembler& disassembler,
        DwarfBudget& budget);

    UnitIndex& unit() const { return unit_; }
    const ModuleImage& image() const { return image_; }
    TermPool& terms() { return terms_; }
    const ControlFlow& code() const { return *code_; }
    const std::vector<FunctionScope>& scopes() const { return scopes_; }
    const std::vector<FunctionVariable>& variables() const { return variables_; }
    const std::vector<VariableLocation>& locations() const { return locations_; }
    /// Locations in exactly this register, and those in memory relative to it.
    const std::vector<uint32_t>& locationsIn(RegisterNumber number) const { return byRegister_[number]; }
    uint64_t entry() const { return entry_; }
    Dwarf_Die die() const { return scopes_.front().die; }
    std::string_view name() const { return scopes_.front().name; }

    /// The scopes around an address, innermost first.
    std::vector<int32_t> scopesAt(uint64_t address) const;
    /// Whether the location says where its variable is at the address.
    bool holds(const VariableLocation& location, uint64_t address) const;
    /// Whether the variable's name is one of the lock routine, not of its caller.
    bool isPrimitives(const FunctionVariable& variable) const;
    /// The parameter that comes in a register; null if that is not known.
    const FunctionVariable* parameterIn(RegisterNumber number) const;
    /// The value with the frame pointer expressed by the frame address, where the function keeps one.
    SymbolicValue inFrame(const SymbolicValue& value, uint64_t address);
    /// A value for what a call returns; unknown if its type is.
    SymbolicValue callResult(const Instruction& call);
    /// The function that a call result came from.
    Dwarf_Die callee(uint32_t number) const { return callees_[number]; }

private:
    void readScope(Dwarf_Die die, int32_t parent, int depth, DwarfBudget& budget);
    void readVariable(Dwarf_Die die, int32_t scope, bool parameter, int32_t order);
    void readCallSite(Dwarf_Die die);
    void readLocations(DwarfBudget& budget);
    void readCode(Disassembler& disassembler);
    void findFramePointer();
    void addLocation(VariableLocation location);

    const ModuleImage& image_;
    UnitIndex& unit_;
    TermPool terms_;
    std::vector<FunctionScope> scopes_;
    std::vector<FunctionVariable> variables_;
    std::vector<VariableLocation> locations_;
    std::array<std::vector<uint32_t>, x86::kRegisters> byRegister_;
    std::unordered_map<uint64_t, Dwarf_Die> callSites_; ///< by the address behind the call
    std::vector<Dwarf_Die> callees_;
    std::unordered_map<uint64_t, uint32_t> calleeNumbers_; ///< by the address of the DIE in memory
    std::optional<ControlFlow> code_;
    uint64_t entry_ = 0;
    uint64_t framePointerSince_ = UINT64_MAX; ///< the first instruction at which rbp is the frame pointer
    bool clone_ = false; ///< changed by the compiler: registers do not follow the parameters
};

} // namespace whichlock
