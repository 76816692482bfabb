// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/function_model.h"

#include "analyzer/naming/location_value.h"

#include <algorithm>
#include <dwarf.h>

namespace whichlock {
namespace {

constexpr int kMostDepth = 256;
constexpr size_t kMostRanges = 4096;
constexpr size_t kMostLocations = 2'000'000;
/// The largest function of a kernel has some hundred kilobytes.
constexpr uint64_t kMostCodeBytes = 16 << 20;

std::vector<AddressRange> rangesOf(Dwarf_Die die, DwarfBudget& budget)
{
    std::vector<AddressRange> ranges;
    Dwarf_Addr base = 0;
    Dwarf_Addr low = 0;
    Dwarf_Addr high = 0;
    for (ptrdiff_t at = 0;
         budget > 0 && ranges.size() < kMostRanges && (at = dwarf_ranges(&die, at, &base, &low, &high)) > 0;
         --budget)
        if (low < high)
            ranges.push_back({low, high});
    return ranges;
}

} // namespace

bool FunctionScope::contains(uint64_t address) const
{
    return std::ranges::any_of(ranges, [&](const AddressRange& range) { return range.contains(address); });
}

FunctionModel::FunctionModel(
    const ModuleImage& image, UnitIndex& unit, Dwarf_Die die, Disassembler& disassembler, DwarfBudget& budget)
    : image_(image)
    , unit_(unit)
{
    readScope(die, -1, 0, budget);
    Dwarf_Addr entry = 0;
    if (dwarf_entrypc(&die, &entry) == 0)
        entry_ = entry;
    else if (!scopes_.front().ranges.empty())
        entry_ = scopes_.front().ranges.front().low;
    const ImageSymbol* symbol = image_.functionAt(entry_);
    clone_ =
        symbol != nullptr && symbol->address == entry_ && symbol->name.find('.') != std::string_view::npos;
    readCode(disassembler);
    readLocations(budget);
}

void FunctionModel::readScope(Dwarf_Die die, int32_t parent, int depth, DwarfBudget& budget)
{
    const auto index = static_cast<int32_t>(scopes_.size());
    FunctionScope scope{.die = die, .parent = parent, .ranges = rangesOf(die, budget)};
    const int tag = dwarf_tag(&die);
    scope.block = tag == DW_TAG_lexical_block;
    scope.inlined = tag == DW_TAG_inlined_subroutine;
    if (!scope.block)
        scope.name = dieName(die);
    if (parent >= 0 && scope.block)
        scope.primitive = scopes_[static_cast<size_t>(parent)].primitive;
    else
        scope.primitive = isLockPrimitive(scope.name, image_.isKernel());
    scopes_.push_back(std::move(scope));
    Dwarf_Die child;
    int32_t order = 0;
    if (depth >= kMostDepth)
        return;
    for (int more = dwarf_child(&die, &child); more == 0 && budget > 0;
         more = dwarf_siblingof(&child, &child)) {
        --budget;
        switch (dwarf_tag(&child)) {
        case DW_TAG_formal_parameter:
            readVariable(child, index, true, order++);
            break;
        case DW_TAG_variable:
            readVariable(child, index, false, 0);
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_inlined_subroutine:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
            readScope(child, index, depth + 1, budget);
            break;
        case DW_TAG_call_site:
        case DW_TAG_GNU_call_site:
            readCallSite(child);
            break;
        default:
            break;
        }
    }
}

void FunctionModel::readVariable(Dwarf_Die die, int32_t scope, bool parameter, int32_t order)
{
    const std::string_view name = dieName(die);
    if (!parameter)
        if (const auto address = fixedAddressOf(die)) {
            const std::string function = unit_.qualifiedName(scopes_.front().die);
            unit_.addPlaced(*address, {die, function + "::" + std::string(name)});
        }
    variables_.push_back({die, scope, parameter, order, name});
}

void FunctionModel::readCallSite(Dwarf_Die die)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr address = 0;
    for (const unsigned name : {DW_AT_call_return_pc, DW_AT_low_pc})
        if (dwarf_attr(&die, name, &attribute) != nullptr && dwarf_formaddr(&attribute, &address) == 0) {
            callSites_.emplace(address, die);
            return;
        }
}

void FunctionModel::readLocations(DwarfBudget& budget)
{
    const auto frameBase = frameBaseOf(terms_, scopes_.front().die);
    for (uint32_t number = 0; number < variables_.size(); ++number) {
        Dwarf_Attribute attribute;
        if (dwarf_attr(&variables_[number].die, DW_AT_location, &attribute) == nullptr)
            continue;
        Dwarf_Addr base = 0;
        Dwarf_Addr low = 0;
        Dwarf_Addr high = 0;
        Dwarf_Op* operations = nullptr;
        size_t count = 0;
        ptrdiff_t at = 0;
        while (budget > 0 && locations_.size() < kMostLocations
            && (at = dwarf_getlocations(&attribute, at, &base, &low, &high, &operations, &count)) > 0) {
            --budget;
            const auto value = evaluateLocation(terms_, attribute, {operations, count}, frameBase);
            if (!value)
                continue;
            VariableLocation location{.range = {low, high}, .variable = number, .memory = value->memory};
            location.everywhere = high == UINT64_MAX;
            location.value = inFrame(value->value, UINT64_MAX);
            addLocation(std::move(location));
        }
    }
}

void FunctionModel::addLocation(VariableLocation location)
{
    const auto index = static_cast<uint32_t>(locations_.size());
    if (location.value.terms.size() == 1 && location.value.terms[0].factor == 1) {
        const Term& term = terms_.term(location.value.terms[0].term);
        if (term.kind == TermKind::Register && term.number < x86::kRegisters)
            byRegister_[term.number].push_back(index);
    }
    locations_.push_back(std::move(location));
}

void FunctionModel::readCode(Disassembler& disassembler)
{
    std::vector<AddressRange> ranges = scopes_.front().ranges;
    std::ranges::sort(ranges, {}, &AddressRange::low);
    std::vector<Instruction> instructions;
    uint64_t left = kMostCodeBytes;
    uint64_t done = 0;
    for (AddressRange range : ranges) {
        range.low = std::max(range.low, done);
        if (range.low >= range.high || range.high - range.low > left)
            continue;
        left -= range.high - range.low;
        done = range.high;
        disassembler.decode(image_.bytesAt(range.low, range.high - range.low), range.low, instructions);
    }
    code_.emplace(std::move(instructions), image_.isKernel(), image_.hiddenJumps());
    findFramePointer();
}

/// `push rbp; mov rbp, rsp` at the entry, and nothing else changes rbp until it is restored.
void FunctionModel::findFramePointer()
{
    const auto first = code_->find(entry_);
    if (!first)
        return;
    uint64_t since = UINT64_MAX;
    uint32_t setter = UINT32_MAX;
    constexpr uint32_t kMostBefore = 4; // endbr64, call __fentry__
    for (uint32_t i = *first; i + 1 < code_->size() && i < *first + kMostBefore && since == UINT64_MAX; ++i) {
        const Instruction& push = code_->at(i);
        const Instruction& move = code_->at(i + 1);
        if (push.operation == Operation::Push && push.to.base == x86::kRbp
            && move.operation == Operation::Move && move.to.kind == OperandKind::Register
            && move.to.base == x86::kRbp && move.from.kind == OperandKind::Register
            && move.from.base == x86::kRsp) {
            since = move.end();
            setter = i + 1;
        }
    }
    if (since == UINT64_MAX)
        return;
    for (uint32_t i = 0; i < code_->size(); ++i) {
        const Instruction& one = code_->at(i);
        const bool restores = one.operation == Operation::Pop || one.operation == Operation::Leave
            || one.operation == Operation::Push || one.operation == Operation::Call;
        const bool writes = (one.to.kind == OperandKind::Register && one.to.base == x86::kRbp
                                && one.operation != Operation::Other)
            || (one.written >> x86::kRbp & 1U) != 0;
        if (i != setter && !restores && writes)
            return;
    }
    framePointerSince_ = since;
}

SymbolicValue FunctionModel::inFrame(const SymbolicValue& value, uint64_t address)
{
    constexpr int64_t kSavedBytes = 16; // the return address and the caller's rbp
    if (framePointerSince_ == UINT64_MAX || (address >= entry_ && address < framePointerSince_)
        || (terms_.registersOf(value) >> x86::kRbp & 1U) == 0)
        return value;
    return terms_.replaced(value, [&](const Term& term) -> std::optional<SymbolicValue> {
        if (term.kind != TermKind::Register || term.number != x86::kRbp)
            return std::nullopt;
        return TermPool::plus(terms_.frameAddress(), -kSavedBytes);
    });
}

std::vector<int32_t> FunctionModel::scopesAt(uint64_t address) const
{
    // Scopes stand behind those that contain them.
    int32_t innermost = 0;
    for (size_t i = 1; i < scopes_.size(); ++i)
        if (scopes_[i].contains(address))
            innermost = static_cast<int32_t>(i);
    std::vector<int32_t> around;
    for (int32_t scope = innermost; scope >= 0; scope = scopes_[static_cast<size_t>(scope)].parent)
        around.push_back(scope);
    return around;
}

bool FunctionModel::holds(const VariableLocation& location, uint64_t address) const
{
    if (!location.everywhere)
        return location.range.contains(address);
    return scopes_[static_cast<size_t>(variables_[location.variable].scope)].contains(address);
}

bool FunctionModel::isPrimitives(const FunctionVariable& variable) const
{
    return scopes_[static_cast<size_t>(variable.scope)].primitive;
}

const FunctionVariable* FunctionModel::parameterIn(RegisterNumber number) const
{
    for (const uint32_t index : byRegister_[number]) {
        const VariableLocation& location = locations_[index];
        const FunctionVariable& variable = variables_[location.variable];
        if (variable.parameter && variable.scope == 0 && !location.memory && location.value.constant == 0
            && location.range.contains(entry_))
            return &variable;
    }
    if (clone_)
        return nullptr;
    const auto argument = std::find(std::begin(x86::kArguments), std::end(x86::kArguments), number);
    const auto order = argument - std::begin(x86::kArguments);
    for (const FunctionVariable& variable : variables_)
        if (variable.parameter && variable.scope == 0 && variable.order == order)
            return &variable;
    return nullptr;
}

SymbolicValue FunctionModel::callResult(const Instruction& call)
{
    std::optional<Dwarf_Die> function;
    if (const auto site = callSites_.find(call.end()); site != callSites_.end())
        for (const unsigned attribute : {DW_AT_call_origin, DW_AT_abstract_origin})
            if (!function)
                function = referredDie(site->second, attribute);
    if (!function && call.target != 0)
        function = unit_.function(image_.targetName(call.target));
    if (!function && call.target == 0 && call.to.kind == OperandKind::Memory)
        function = unit_.function(image_.slotName(static_cast<uint64_t>(call.to.constant)));
    if (!function || !typeOf(*function))
        return terms_.unknown();
    const auto [entry, isNew] = calleeNumbers_.try_emplace(
        reinterpret_cast<uintptr_t>(function->addr), static_cast<uint32_t>(callees_.size()));
    if (isNew)
        callees_.push_back(*function);
    return terms_.callResult(entry->second);
}

} // namespace whichlock
