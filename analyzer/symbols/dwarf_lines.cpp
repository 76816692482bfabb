// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/dwarf_lines.h"

#include <algorithm>
#include <dwarf.h>

namespace whichlock {
namespace {

constexpr int kMostInlineDepth = 128;
constexpr int kMostScopeDepth = 512;
/// Entries that a look-up may read on average; in a kernel it takes some hundreds.
constexpr DwarfBudget kEntriesPerLookUp = 20'000;
/// An entry takes two bytes and more, but compression may have made a tenth of that.
constexpr DwarfBudget kEntriesPerByte = 4;
/// What .dwo files hold comes on top.
constexpr DwarfBudget kEntriesAlways = 50'000'000;
/// libdw frees no line table before its handle ends, at some 50 bytes a row.
constexpr size_t kMostLinesHeld = 1'000'000;

std::string textOf(Dwarf_Die& die, unsigned attributeName)
{
    Dwarf_Attribute attribute;
    const char* text = dwarf_formstring(dwarf_attr_integrate(&die, attributeName, &attribute));
    return text != nullptr ? text : "";
}

std::string nameOf(Dwarf_Die& die)
{
    for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name})
        if (std::string name = textOf(die, attribute); !name.empty())
            return name;
    return {};
}

uint32_t numberOf(Dwarf_Die& die, unsigned attributeName)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_formudata(dwarf_attr(&die, attributeName, &attribute), &value) != 0 || value > UINT32_MAX)
        return 0;
    return static_cast<uint32_t>(value);
}

/// Where an inlined function was called.
SourceFrame callSiteOf(Dwarf_Die& inlined, Dwarf_Die& unitDie)
{
    SourceFrame frame{.line = numberOf(inlined, DW_AT_call_line)};
    Dwarf_Files* files = nullptr;
    size_t count = 0;
    const uint32_t number = numberOf(inlined, DW_AT_call_file);
    if (dwarf_getsrcfiles(&unitDie, &files, &count) == 0 && number < count)
        if (const char* name = dwarf_filesrc(files, number, nullptr, nullptr))
            frame.file = name;
    return frame;
}

bool isScope(int tag)
{
    return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block
        || tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
}

} // namespace

std::unique_ptr<DwarfLines> DwarfLines::open(const ElfFile& file)
{
    // Addresses in relocatable files are yet to be made.
    if (file.isRelocatable() || file.hasCompressionBomb() || !isAlternateSafe(file))
        return nullptr;
    std::unique_ptr<DwarfLines> lines(new DwarfLines);
    lines->file_ = &file;
    if (!lines->begin())
        return nullptr;
    lines->budget_ = file.sizeBytes() * kEntriesPerByte + kEntriesAlways;
    lines->units_.build(lines->dwarf_, lines->budget_);
    return lines;
}

DwarfLines::~DwarfLines()
{
    if (dwarf_ != nullptr)
        dwarf_end(dwarf_);
}

bool DwarfLines::begin()
{
    dwarf_ = dwarf_begin_elf(file_->elf(), DWARF_C_READ, nullptr);
    return dwarf_ != nullptr;
}

/// Reads the lines of a unit, which libdw then holds.
void DwarfLines::readLines(Dwarf_Die& unitDie)
{
    Dwarf_Lines* lines = nullptr;
    size_t count = 0;
    if (dwarf_getsrclines(&unitDie, &lines, &count) == 0)
        linesHeld_ += count;
}

std::vector<SourceFrame> DwarfLines::lookUp(uint64_t address)
{
    if (dwarf_ == nullptr)
        return {};
    budget_ += kEntriesPerLookUp;
    DwarfUnits::Unit* unit = units_.find(dwarf_, address);
    if (unit == nullptr)
        return {};
    if (unit->die != lastUnit_ && linesHeld_ > kMostLinesHeld) {
        // A new handle instead of one that holds too much; all that is kept besides are offsets.
        dwarf_end(dwarf_);
        linesHeld_ = 0;
        if (!begin())
            return {};
    }
    Dwarf_Die unitDie;
    Dwarf_Die root;
    if (!dwarfRoot(dwarf_, *unit, unitDie, root))
        return {};
    if (unit->die != lastUnit_)
        readLines(unitDie);
    lastUnit_ = unit->die;
    std::vector<SourceFrame> chain;
    SourceFrame place = lineOf(unitDie, address);
    Dwarf_Die function;
    const DwarfRange* range = DwarfUnits::findFunction(*unit, root, address, budget_);
    if (range == nullptr || dwarf_offdie(dwarf_cu_getdwarf(root.cu), range->die, &function) == nullptr) {
        if (!place.file.empty())
            chain.push_back(std::move(place));
        return chain;
    }
    for (Dwarf_Die& inlined : scopesOf(function, address)) {
        place.function = nameOf(inlined);
        chain.push_back(std::move(place));
        place = callSiteOf(inlined, unitDie);
    }
    place.function = nameOf(function);
    chain.push_back(std::move(place));
    return chain;
}

SourceFrame DwarfLines::lineOf(Dwarf_Die& unitDie, uint64_t address)
{
    SourceFrame frame;
    Dwarf_Line* line = dwarf_getsrc_die(&unitDie, address);
    int number = 0;
    if (line == nullptr)
        return frame;
    if (dwarf_lineno(line, &number) == 0 && number > 0)
        frame.line = static_cast<uint32_t>(number);
    if (const char* name = dwarf_linesrc(line, nullptr, nullptr))
        frame.file = name;
    return frame;
}

/// The inlined functions around an address in a function, innermost first.
std::vector<Dwarf_Die> DwarfLines::scopesOf(Dwarf_Die scope, uint64_t address)
{
    std::vector<Dwarf_Die> inlined;
    for (int depth = 0; depth < kMostScopeDepth; ++depth) {
        Dwarf_Die child;
        bool found = false;
        for (int more = dwarf_child(&scope, &child); more == 0 && !found && budget_ > 0;) {
            --budget_;
            if (isScope(dwarf_tag(&child)) && dwarfContains(child, address, budget_))
                found = true;
            else
                more = dwarf_siblingof(&child, &child);
        }
        if (!found)
            break;
        scope = child;
        if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine && inlined.size() < kMostInlineDepth)
            inlined.push_back(scope);
    }
    std::ranges::reverse(inlined);
    return inlined;
}

} // namespace whichlock
