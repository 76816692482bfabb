// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/unwinder.h"

namespace whichlock {
namespace {

/// What a rule says of one register.
struct CallerValue {
    uint64_t value = 0;
    bool known = false;
};

} // namespace

Unwinder::Unwinder(const UnwindArch& arch, CfiOf cfiOf)
    : arch_(arch)
    , cfiOf_(std::move(cfiOf))
{
}

UnwindResult Unwinder::unwind(const AddressSpace& space, int32_t pid, const UnwindStart& start,
    const StackCopy& stack, std::vector<UnwoundFrame>& frames)
{
    const MappingTree mappings = space.snapshot(AddressMode::User, pid);
    State state{.registers = start.registers, .pc = start.pc};
    if (arch_.pushedReturn != UnwindArch::kNoColumn)
        state.registers.set(arch_.pushedReturn, state.pc);
    UnwindResult result;
    for (size_t count = 0; count < kMostFrames; ++count) {
        const uint64_t adjustment = state.exact ? 0 : 1;
        const Mapping* mapping = mappings.find(state.pc - adjustment);
        result.module = mapping != nullptr ? mapping->module : ModuleId{};
        result.guessed |= state.guessed;
        auto kind = state.exact ? AddressKind::InstructionPointer : AddressKind::ReturnAddress;
        if (mapping == nullptr) {
            frames.push_back({state.pc, {}, state.pc, kind, state.guessed});
            result.end = UnwindEnd::NoMapping;
            return result;
        }
        const uint64_t offset = mapping->offset + (state.pc - adjustment - mapping->start);
        const UnwindRowId id = rowOf(space, mapping->module, offset);
        // A signal trampoline was not called: its address is that of the instruction itself.
        if (id && rows_[id].signalFrame)
            kind = AddressKind::InstructionPointer;
        frames.push_back({state.pc, mapping->module, offset + adjustment, kind, state.guessed});
        if (id) {
            if (const std::optional<UnwindEnd> end = step(rows_[id], stack, state)) {
                result.end = *end;
                return result;
            }
        } else if (!stepByFramePointer(mappings, stack, state)) {
            result.end = endWithoutRow(mapping->module);
            return result;
        }
    }
    result.end = UnwindEnd::FrameLimit;
    return result;
}

UnwindRowId Unwinder::rowOf(const AddressSpace& space, ModuleId module, uint64_t offset)
{
    if (const UnwindRowId* known = cache_.find(module, offset))
        return *known;
    const UnwindRowId row = evaluate(space, module, offset);
    cache_.insert(module, offset, row);
    return row;
}

UnwindRowId Unwinder::evaluate(const AddressSpace& space, ModuleId module, uint64_t offset)
{
    const MappedModule& mapped = space.module(module);
    if (mapped.kind != ModuleKind::File && mapped.kind != ModuleKind::Vdso)
        return {};
    if (module.v > modules_.size())
        modules_.resize(module.v);
    std::unique_ptr<CfiModule>& cfi = modules_[module.v - 1];
    if (!cfi)
        cfi = cfiOf_(mapped);
    const std::optional<uint64_t> address = cfi->addressOfOffset(offset, mapped.executableOffset);
    const std::optional<CfiModule::Found> found = address ? cfi->find(*address) : std::nullopt;
    return found ? rows_.add(found->row, found->range.common) : UnwindRowId{};
}

UnwindEnd Unwinder::endWithoutRow(ModuleId module) const
{
    const bool opened = module.v <= modules_.size() && modules_[module.v - 1] != nullptr;
    return opened && modules_[module.v - 1]->hasRules() ? UnwindEnd::NoRules : UnwindEnd::NoFile;
}

std::optional<uint64_t> Unwinder::cfaOf(
    const UnwindRow& row, const RegisterFile& registers, const StackCopy& stack) const
{
    if (row.cfaByExpression)
        return evaluateExpression(rows_.expression(row.cfaOffset), std::nullopt, registers, stack);
    if (!registers.has(row.cfaRegister))
        return std::nullopt;
    return registers.values[row.cfaRegister] + static_cast<uint64_t>(static_cast<int64_t>(row.cfaOffset));
}

/// From a frame to its caller; an end if there is none, or none can be found.
std::optional<UnwindEnd> Unwinder::step(const UnwindRow& row, const StackCopy& stack, State& state) const
{
    RegisterFile& registers = state.registers;
    const std::optional<uint64_t> cfa = cfaOf(row, registers, stack);
    if (!cfa)
        return UnwindEnd::Broken;
    const uint64_t oldStack = registers.values[arch_.stackPointer];
    std::array<CallerValue, kCfiRegisters> values; // all rules read what was before
    const std::span<const UnwindRule> rules = rows_.rulesOf(row);
    RegisterRuleKind returnRule = RegisterRuleKind::Same;
    for (size_t i = 0; i < rules.size(); ++i) {
        const UnwindRule& rule = rules[i];
        if (rule.column == row.returnColumn)
            returnRule = rule.kind;
        const uint64_t place = *cfa + static_cast<uint64_t>(static_cast<int64_t>(rule.value));
        std::optional<uint64_t> value;
        switch (rule.kind) {
        case RegisterRuleKind::AtCfa:
            // On the way out of a function rules stay as they were, though the register was popped already.
            if (place < oldStack && rule.column != row.returnColumn)
                value =
                    registers.has(rule.column) ? std::optional(registers.values[rule.column]) : std::nullopt;
            else
                value = stack.word(place);
            break;
        case RegisterRuleKind::CfaPlus:
            value = place;
            break;
        case RegisterRuleKind::OtherRegister:
            if (rule.value >= 0 && registers.has(static_cast<uint64_t>(rule.value)))
                value = registers.values[static_cast<size_t>(rule.value)];
            break;
        case RegisterRuleKind::AtExpression:
        case RegisterRuleKind::Expression:
            value = evaluateExpression(rows_.expression(rule.value), cfa, registers, stack);
            if (value && rule.kind == RegisterRuleKind::AtExpression)
                value = stack.word(*value);
            break;
        case RegisterRuleKind::Same:
        case RegisterRuleKind::Undefined:
            break;
        }
        values[i] = {value.value_or(0), value.has_value()};
    }
    if (returnRule == RegisterRuleKind::Undefined
        || (returnRule == RegisterRuleKind::Same && row.returnColumn == arch_.pushedReturn))
        return UnwindEnd::Outermost;
    registers.set(arch_.stackPointer, *cfa);
    for (size_t i = 0; i < rules.size(); ++i) {
        if (values[i].known)
            registers.set(rules[i].column, values[i].value);
        else
            registers.forget(rules[i].column);
    }
    if (!registers.has(row.returnColumn))
        return UnwindEnd::StackCut;
    const uint64_t oldPc = state.pc;
    state.pc = registers.values[row.returnColumn] & ~arch_.signBits;
    state.exact = row.signalFrame;
    state.guessed = false;
    if (state.pc == 0)
        return UnwindEnd::Outermost;
    // Only a signal moves to another stack; all others go up, or a leaf leaves it as it is.
    const uint64_t newStack = registers.values[arch_.stackPointer];
    if (!row.signalFrame && (newStack < oldStack || (newStack == oldStack && state.pc == oldPc)))
        return UnwindEnd::Broken;
    return std::nullopt;
}

/// For code that nothing describes. Only a frame pointer that leads to an address of code is believed.
bool Unwinder::stepByFramePointer(const MappingTree& mappings, const StackCopy& stack, State& state) const
{
    constexpr uint64_t kWordBytes = 8;
    RegisterFile& registers = state.registers;
    if (!registers.has(arch_.framePointer))
        return false;
    const uint64_t frame = registers.values[arch_.framePointer];
    if (frame < registers.values[arch_.stackPointer] || frame % kWordBytes != 0)
        return false;
    const std::optional<uint64_t> caller = stack.word(frame);
    const std::optional<uint64_t> pushed = stack.word(frame + kWordBytes);
    if (!caller || !pushed)
        return false;
    const uint64_t address = *pushed & ~arch_.signBits;
    const Mapping* mapping = mappings.find(address - 1);
    if (mapping == nullptr || !mapping->executable)
        return false;
    registers.known = 0; // what else the frame saved is not known
    registers.set(arch_.stackPointer, frame + 2 * kWordBytes);
    registers.set(arch_.framePointer, *caller);
    if (arch_.pushedReturn != UnwindArch::kNoColumn)
        registers.set(arch_.pushedReturn, address);
    state.pc = address;
    state.exact = false;
    state.guessed = true;
    return true;
}

} // namespace whichlock
