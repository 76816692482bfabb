// SPDX-License-Identifier: GPL-3.0-or-later
// Which compilation unit, and which function of it, an address belongs to. Indexes of our own, built once:
// libdw finds units by .debug_aranges alone, which clang does not write, and looks scopes up from scratch
// each time. Holds offsets, no handles, so that it outlives the libdw handle that it was built with.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <vector>

namespace whichlock {

/// How much a look-up may still read. Entries may share lists of ranges: what a file makes us read is not
/// bounded by its size.
using DwarfBudget = uint64_t;

/// A half-open range of addresses of a unit or function.
struct DwarfRange {
    Dwarf_Addr low = 0;
    Dwarf_Addr high = 0;
    Dwarf_Off die = 0; ///< of the function; in UnitRange the number of the unit

    bool contains(Dwarf_Addr address) const { return address >= low && address < high; }
};

/// Sorted ranges that may overlap; look-ups look at a bounded number of them.
class DwarfRanges {
public:
    void add(Dwarf_Addr low, Dwarf_Addr high, Dwarf_Off die);
    void finish();
    /// The narrowest range around the address; null if there is none.
    const DwarfRange* find(Dwarf_Addr address) const;
    size_t size() const { return ranges_.size(); }

private:
    std::vector<DwarfRange> ranges_;
    std::vector<Dwarf_Addr> highestBefore_; ///< of all ranges up to this one: where looking back may end
};

/// Units by address and, once asked for, functions by address. MT: one thread.
class DwarfUnits {
public:
    struct Unit {
        Dwarf_Off die = 0;
        bool skeleton = false; ///< its functions are in a .dwo file
        bool functionsRead = false;
        bool nestedRead = false; ///< functions inside functions, too
        DwarfRanges functions{};
    };

    /// Reads the headers of all units.
    void build(Dwarf* dwarf, DwarfBudget budget);
    Unit* find(Dwarf* dwarf, Dwarf_Addr address);
    const std::vector<Unit>& all() const { return units_; }
    /// The function of the unit around an address; reads the unit's functions when first asked.
    static const DwarfRange* findFunction(
        Unit& unit, Dwarf_Die& root, Dwarf_Addr address, DwarfBudget& budget);

private:
    static void readFunctions(Unit& unit, Dwarf_Die& root, bool nested, DwarfBudget& budget);

    std::vector<Unit> units_;
    DwarfRanges ranges_;
};

/// Whether one of the DIE's ranges contains the address.
bool dwarfContains(Dwarf_Die& die, Dwarf_Addr address, DwarfBudget& budget);

/// The unit's own DIE, or that of its split half when it has one here.
bool dwarfRoot(Dwarf* dwarf, const DwarfUnits::Unit& unit, Dwarf_Die& unitDie, Dwarf_Die& root);

} // namespace whichlock
