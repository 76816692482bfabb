// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/object_namer.h"

#include "analyzer/naming/unit_index.h"

#include <algorithm>
#include <dwarf.h>
#include <fmt/format.h>

namespace whichlock {
namespace {

constexpr int kMostDepth = 64;
constexpr DwarfBudget kEntriesPerByte = 4;
constexpr DwarfBudget kEntriesAlways = 50'000'000;

std::string inScope(const std::string& scope, std::string_view name)
{
    return scope.empty() ? std::string(name) : scope + "::" + std::string(name);
}

} // namespace

struct ObjectNamer::Variable {
    uint64_t address = 0;
    Dwarf_Die type{};
    std::string name{};
};

ObjectNamer::ObjectNamer(const ModuleImage& image)
    : image_(image)
    , types_(image.isKernel())
    , budget_(image.sizeBytes() * kEntriesPerByte + kEntriesAlways)
{
}

ObjectNamer::~ObjectNamer() = default;

void ObjectNamer::readAll()
{
    read_ = true;
    DwarfUnits units;
    units.build(image_.dwarf(), budget_);
    for (const DwarfUnits::Unit& unit : units.all()) {
        Dwarf_Die unitDie;
        Dwarf_Die root;
        if (dwarfRoot(image_.dwarf(), unit, unitDie, root))
            readChildren(root, {}, 0, false);
    }
    std::ranges::stable_sort(variables_, {}, &Variable::address);
}

/// Functions hold variables of fixed addresses, too, in any block.
void ObjectNamer::readChildren(Dwarf_Die parent, const std::string& scope, int depth, bool inFunction)
{
    Dwarf_Die die;
    if (depth > kMostDepth || dwarf_child(&parent, &die) != 0)
        return;
    do {
        if (budget_ == 0)
            return;
        --budget_;
        switch (dwarf_tag(&die)) {
        case DW_TAG_variable:
            addVariable(die, scope);
            break;
        case DW_TAG_subprogram:
            readChildren(die, inScope(scope, dieName(die)), depth + 1, true);
            break;
        case DW_TAG_lexical_block:
            if (inFunction)
                readChildren(die, scope, depth + 1, true);
            break;
        case DW_TAG_namespace:
            readChildren(die,
                inScope(
                    scope, dieName(die).empty() ? std::string_view("(anonymous namespace)") : dieName(die)),
                depth + 1, false);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

void ObjectNamer::addVariable(Dwarf_Die die, const std::string& scope)
{
    const auto address = fixedAddressOf(die);
    const auto type = address ? typeOf(die) : std::nullopt;
    if (type)
        variables_.push_back({*address, *type, inScope(scope, dieName(die))});
}

size_t ObjectNamer::variableCount()
{
    if (!read_)
        readAll();
    return variables_.size();
}

std::optional<ObjectName> ObjectNamer::nameOf(uint64_t address)
{
    if (!read_)
        readAll();
    const ImageSymbol* symbol = image_.objectAt(address);
    ObjectName object{.lockAddress = address, .perCpu = image_.isPerCpu(address)};
    auto at = std::ranges::upper_bound(variables_, address, {}, &Variable::address);
    constexpr int kMostLooks = 16;
    for (int looks = 0; at != variables_.begin() && looks < kMostLooks; ++looks) {
        --at;
        const auto offset = static_cast<int64_t>(address - at->address);
        const int64_t bytes = std::max<int64_t>(types_.bytesOf(at->type),
            symbol != nullptr && symbol->address == at->address ? static_cast<int64_t>(symbol->size) : 0);
        if (offset < 0 || offset >= bytes)
            continue;
        object.name = at->name;
        if (const auto lock = types_.lockAround(at->type, offset)) {
            object.name += lock->path.behind(false);
            object.lockType = types_.nameOf(lock->path.type);
            if (types_.isStruct(at->type) && lock->path.hasMember())
                object.lockClass = types_.nameOf(at->type) + "::" + lock->path.joined();
            object.lockAddress = address - static_cast<uint64_t>(lock->offset);
        } else if (offset != 0) {
            object.name += fmt::format("+{:#x}", offset);
        }
        return object;
    }
    if (symbol == nullptr)
        return std::nullopt;
    object.name = symbol->name;
    if (address != symbol->address)
        object.name += fmt::format("+{:#x}", address - symbol->address);
    return object;
}

} // namespace whichlock
