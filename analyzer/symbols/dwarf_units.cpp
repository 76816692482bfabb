// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/dwarf_units.h"

#include <algorithm>
#include <dwarf.h>
#include <string>
#include <sys/stat.h>

namespace whichlock {
namespace {

constexpr size_t kMostUnits = 1'000'000;
constexpr size_t kMostFunctions = 4'000'000; // of one unit
constexpr int kMostDepth = 48;
constexpr int kMostLooksBack = 256;

/// Calls `take(low, high)` for each range of a DIE until that returns false; linkers leave ranges at 0 for
/// what they removed.
template <class Take> void forRanges(Dwarf_Die& die, DwarfBudget& budget, Take take)
{
    Dwarf_Addr base = 0;
    Dwarf_Addr low = 0;
    Dwarf_Addr high = 0;
    ptrdiff_t at = 0;
    for (; budget > 0 && (at = dwarf_ranges(&die, at, &base, &low, &high)) > 0; --budget)
        if (low < high && low != 0 && !take(low, high))
            break;
}

/// Whether libdw would find only a regular file, or none, where the DWARF says that the split half is: it
/// opens whatever has that name.
bool isSplitFileSafe(Dwarf_Die& unitDie)
{
    Dwarf_Attribute attribute;
    const char* name = dwarf_formstring(dwarf_attr(&unitDie, DW_AT_dwo_name, &attribute));
    if (name == nullptr)
        name = dwarf_formstring(dwarf_attr(&unitDie, DW_AT_GNU_dwo_name, &attribute));
    if (name == nullptr)
        return false;
    const char* folder = dwarf_formstring(dwarf_attr(&unitDie, DW_AT_comp_dir, &attribute));
    std::string path = name;
    if (path.front() != '/' && folder != nullptr)
        path = std::string(folder) + "/" + path;
    struct stat info { };
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

bool holdsFunctions(int tag, bool nested)
{
    if (nested && (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block))
        return true;
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type
        || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

} // namespace

void DwarfRanges::add(Dwarf_Addr low, Dwarf_Addr high, Dwarf_Off die)
{
    ranges_.push_back({low, high, die});
}

void DwarfRanges::finish()
{
    std::sort(ranges_.begin(), ranges_.end(), [](const DwarfRange& a, const DwarfRange& b) {
        if (a.low != b.low)
            return a.low < b.low;
        return a.high != b.high ? a.high > b.high : a.die < b.die;
    });
    highestBefore_.reserve(ranges_.size());
    Dwarf_Addr highest = 0;
    for (const DwarfRange& range : ranges_) {
        highest = std::max(highest, range.high);
        highestBefore_.push_back(highest);
    }
}

const DwarfRange* DwarfRanges::find(Dwarf_Addr address) const
{
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
        [](Dwarf_Addr value, const DwarfRange& range) { return value < range.low; });
    auto at = static_cast<size_t>(after - ranges_.begin());
    const DwarfRange* best = nullptr;
    for (int looks = 0; at > 0 && looks < kMostLooksBack; ++looks) {
        --at;
        if (highestBefore_[at] <= address)
            break;
        const DwarfRange& range = ranges_[at];
        if (range.contains(address) && (best == nullptr || range.high - range.low < best->high - best->low))
            best = &range;
    }
    return best;
}

void DwarfUnits::build(Dwarf* dwarf, DwarfBudget budget)
{
    Dwarf_CU* unit = nullptr;
    Dwarf_Half version = 0;
    uint8_t type = 0;
    Dwarf_Die die;
    while (units_.size() < kMostUnits
        && dwarf_get_units(dwarf, unit, &unit, &version, &type, &die, nullptr) == 0) {
        if (type != DW_UT_compile && type != DW_UT_skeleton)
            continue;
        const auto number = static_cast<Dwarf_Off>(units_.size());
        units_.push_back({.die = dwarf_dieoffset(&die), .skeleton = type == DW_UT_skeleton});
        forRanges(die, budget, [&](Dwarf_Addr low, Dwarf_Addr high) {
            ranges_.add(low, high, number);
            return true;
        });
    }
    ranges_.finish();
}

DwarfUnits::Unit* DwarfUnits::find(Dwarf* dwarf, Dwarf_Addr address)
{
    if (const DwarfRange* range = ranges_.find(address))
        return &units_[range->die];
    // Units that tell no range of their own, as some assemblers and old compilers leave them.
    Dwarf_Die die;
    if (dwarf_addrdie(dwarf, address, &die) == nullptr)
        return nullptr;
    const Dwarf_Off offset = dwarf_dieoffset(&die);
    const auto at = std::lower_bound(units_.begin(), units_.end(), offset,
        [](const Unit& unit, Dwarf_Off value) { return unit.die < value; });
    return at != units_.end() && at->die == offset ? &*at : nullptr;
}

const DwarfRange* DwarfUnits::findFunction(
    Unit& unit, Dwarf_Die& root, Dwarf_Addr address, DwarfBudget& budget)
{
    if (!unit.functionsRead) {
        unit.functionsRead = true;
        readFunctions(unit, root, false, budget);
    }
    const DwarfRange* found = unit.functions.find(address);
    // Few languages nest functions, and looking for them takes the whole unit.
    if (found == nullptr && !unit.nestedRead) {
        unit.nestedRead = true;
        unit.functions = {};
        readFunctions(unit, root, true, budget);
        found = unit.functions.find(address);
    }
    return found;
}

void DwarfUnits::readFunctions(Unit& unit, Dwarf_Die& root, bool nested, DwarfBudget& budget)
{
    // Depth first with a path of our own: functions lie in namespaces and classes.
    std::vector<Dwarf_Die> path(1);
    if (dwarf_child(&root, &path[0]) != 0)
        return;
    while (!path.empty() && unit.functions.size() < kMostFunctions && budget > 0) {
        --budget;
        Dwarf_Die& die = path.back();
        const int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram) {
            const Dwarf_Off offset = dwarf_dieoffset(&die);
            forRanges(die, budget, [&](Dwarf_Addr low, Dwarf_Addr high) {
                unit.functions.add(low, high, offset);
                return true;
            });
        }
        Dwarf_Die child;
        if (holdsFunctions(tag, nested) && path.size() < kMostDepth && dwarf_child(&die, &child) == 0) {
            path.push_back(child);
            continue;
        }
        while (!path.empty()) {
            Dwarf_Die next;
            if (dwarf_siblingof(&path.back(), &next) == 0) {
                path.back() = next;
                break;
            }
            path.pop_back();
        }
    }
    unit.functions.finish();
}

bool dwarfContains(Dwarf_Die& die, Dwarf_Addr address, DwarfBudget& budget)
{
    bool found = false;
    forRanges(die, budget, [&](Dwarf_Addr low, Dwarf_Addr high) {
        found = address >= low && address < high;
        return !found;
    });
    return found;
}

bool dwarfRoot(Dwarf* dwarf, const DwarfUnits::Unit& unit, Dwarf_Die& unitDie, Dwarf_Die& root)
{
    if (dwarf_offdie(dwarf, unit.die, &unitDie) == nullptr)
        return false;
    root = unitDie;
    if (!unit.skeleton || !isSplitFileSafe(unitDie))
        return true;
    Dwarf_Die split;
    if (dwarf_cu_info(unitDie.cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr) == 0
        && dwarf_tag(&split) != DW_TAG_invalid)
        root = split;
    return true;
}

} // namespace whichlock
