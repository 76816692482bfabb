// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/unit_index.h"

#include <dwarf.h>

namespace whichlock {
namespace {

constexpr int kMostDepth = 32;

std::string_view linkageName(Dwarf_Die die)
{
    Dwarf_Attribute attribute;
    const char* name = dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_linkage_name, &attribute));
    return name != nullptr ? name : "";
}

bool isDeclaration(Dwarf_Die& die)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(&die, DW_AT_declaration, &attribute) != nullptr;
}

std::string inScope(std::string_view scope, std::string_view name)
{
    return scope.empty() ? std::string(name) : std::string(scope) + "::" + std::string(name);
}

} // namespace

std::optional<uint64_t> fixedAddressOf(Dwarf_Die variable)
{
    Dwarf_Attribute attribute;
    Dwarf_Op* operations = nullptr;
    size_t count = 0;
    if (dwarf_attr(&variable, DW_AT_location, &attribute) == nullptr
        || dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1)
        return std::nullopt;
    uint64_t address = 0;
    if (operations[0].atom == DW_OP_addr) {
        address = operations[0].number;
    } else if (operations[0].atom == DW_OP_addrx || operations[0].atom == DW_OP_GNU_addr_index) {
        Dwarf_Attribute indirect;
        Dwarf_Addr value = 0;
        if (dwarf_getlocation_attr(&attribute, &operations[0], &indirect) != 0
            || dwarf_formaddr(&indirect, &value) != 0)
            return std::nullopt;
        address = value;
    } else {
        return std::nullopt;
    }
    auto type = typeOf(variable);
    Dwarf_Word size = 0;
    if (type && dwarf_aggregate_size(&*type, &size) == 0 && size == 0)
        return std::nullopt;
    return address;
}

UnitIndex::UnitIndex(Dwarf_Die root, DwarfBudget& budget)
    : root_(root)
{
    read(root, {}, 0, budget);
    // The definition of a member stands outside of its class, which tells its scope.
    for (auto& [address, variable] : placed_) {
        Dwarf_Attribute attribute;
        if (dwarf_attr(&variable.die, DW_AT_specification, &attribute) != nullptr)
            variable.name = qualifiedName(variable.die);
    }
}

void UnitIndex::read(Dwarf_Die parent, const std::string& scope, int depth, DwarfBudget& budget)
{
    Dwarf_Die die;
    if (depth > kMostDepth || dwarf_child(&parent, &die) != 0)
        return;
    do {
        if (budget == 0)
            return;
        --budget;
        const int tag = dwarf_tag(&die);
        switch (tag) {
        case DW_TAG_subprogram:
            if (const std::string_view name = dieName(die); !name.empty())
                functions_.emplace(name, die);
            if (const std::string_view name = linkageName(die); !name.empty())
                functions_.emplace(name, die);
            if (!scope.empty())
                scopes_.emplace(die.addr, scope);
            break;
        case DW_TAG_variable:
            addVariable(die, scope);
            break;
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_class_type:
            if (!scope.empty())
                scopes_.emplace(die.addr, scope);
            if (const std::string_view name = dieName(die); !name.empty() && !isDeclaration(die)) {
                types_.emplace(name, die);
                read(die, inScope(scope, name), depth + 1, budget);
            }
            break;
        case DW_TAG_member: // static members, as they were until DWARF 5
            if (isDeclaration(die))
                addVariable(die, scope);
            break;
        case DW_TAG_typedef:
        case DW_TAG_enumeration_type:
            if (!scope.empty())
                scopes_.emplace(die.addr, scope);
            break;
        case DW_TAG_namespace: {
            const std::string_view name = dieName(die);
            read(die, inScope(scope, name.empty() ? "(anonymous namespace)" : name), depth + 1, budget);
            break;
        }
        case DW_TAG_module:
            read(die, scope, depth + 1, budget);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

void UnitIndex::addVariable(Dwarf_Die die, const std::string& scope)
{
    if (!scope.empty())
        scopes_.emplace(die.addr, scope);
    const std::string_view name = dieName(die);
    const auto address = fixedAddressOf(die);
    if (address) {
        placed_.insert_or_assign(*address, PlacedVariable{die, inScope(scope, name)});
        variables_.insert_or_assign(name, die);
    } else if (!name.empty()) {
        variables_.emplace(name, die);
    }
}

std::optional<Dwarf_Die> UnitIndex::function(std::string_view name) const
{
    const auto found = functions_.find(name);
    return found != functions_.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<Dwarf_Die> UnitIndex::variable(std::string_view name) const
{
    const auto found = variables_.find(name);
    return found != variables_.end() ? std::optional(found->second) : std::nullopt;
}

std::string_view UnitIndex::scopeOf(const Dwarf_Die& die) const
{
    const auto found = scopes_.find(die.addr);
    return found != scopes_.end() ? std::string_view(found->second) : std::string_view();
}

std::string UnitIndex::qualifiedName(Dwarf_Die die) const
{
    std::string_view scope;
    Dwarf_Attribute attribute;
    Dwarf_Die declaration;
    for (const unsigned name : {DW_AT_specification, DW_AT_abstract_origin})
        if (scope.empty() && dwarf_attr(&die, name, &attribute) != nullptr
            && dwarf_formref_die(&attribute, &declaration) != nullptr)
            scope = scopeOf(declaration);
    if (scope.empty())
        scope = scopeOf(die);
    return inScope(scope, dieName(die));
}

} // namespace whichlock
