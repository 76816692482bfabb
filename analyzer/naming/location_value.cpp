// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/location_value.h"

#include <dwarf.h>
#include <utility>
#include <vector>

namespace whichlock {
namespace {

class Evaluator {
public:
    Evaluator(TermPool& terms, Dwarf_Attribute& attribute, const std::optional<SymbolicValue>& frameBase)
        : terms_(terms)
        , attribute_(attribute)
        , frameBase_(frameBase)
    {
    }

    std::optional<LocationValue> run(std::span<const Dwarf_Op> operations)
    {
        constexpr size_t kMostOperations = 256;
        if (operations.size() > kMostOperations)
            return std::nullopt;
        for (const Dwarf_Op& operation : operations)
            if (!step(operation) || stack_.size() > kMostOperations)
                return std::nullopt;
        if (stack_.empty())
            return std::nullopt;
        return LocationValue{stack_.back(), memory_};
    }

private:
    bool push(SymbolicValue value)
    {
        stack_.push_back(std::move(value));
        return true;
    }

    /// The topmost value; an unknown one where the stack is empty, as the expression is broken then.
    SymbolicValue pop()
    {
        if (stack_.empty())
            return terms_.unknown();
        SymbolicValue value = std::move(stack_.back());
        stack_.pop_back();
        return value;
    }

    bool inRegister(uint64_t number)
    {
        memory_ = false;
        return number < x86::kRegisters && push(terms_.ofRegister(static_cast<RegisterNumber>(number)));
    }

    bool step(const Dwarf_Op& operation)
    {
        const unsigned atom = operation.atom;
        const auto number = static_cast<int64_t>(operation.number);
        if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
            return inRegister(atom - DW_OP_reg0);
        if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
            return relativeTo(atom - DW_OP_breg0, number);
        if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
            return push(terms_.constant(static_cast<int64_t>(atom - DW_OP_lit0)));
        switch (atom) {
        case DW_OP_addr:
        case DW_OP_const1u:
        case DW_OP_const1s:
        case DW_OP_const2u:
        case DW_OP_const2s:
        case DW_OP_const4u:
        case DW_OP_const4s:
        case DW_OP_const8u:
        case DW_OP_const8s:
        case DW_OP_constu:
        case DW_OP_consts:
            return push(terms_.constant(number));
        case DW_OP_addrx:
        case DW_OP_GNU_addr_index:
        case DW_OP_constx:
        case DW_OP_GNU_const_index:
            return indirect(operation);
        case DW_OP_regx:
            return inRegister(operation.number);
        case DW_OP_bregx:
            return relativeTo(operation.number, static_cast<int64_t>(operation.number2));
        case DW_OP_fbreg:
            return frameBase_ && push(TermPool::plus(*frameBase_, number));
        case DW_OP_call_frame_cfa:
            return push(terms_.frameAddress());
        case DW_OP_entry_value:
        case DW_OP_GNU_entry_value:
            return entryValue(operation);
        case DW_OP_form_tls_address:
        case DW_OP_GNU_push_tls_address:
            return push(terms_.sum(pop(), terms_.tlsBase()));
        case DW_OP_stack_value:
            memory_ = false;
            return true;
        case DW_OP_nop:
        case DW_OP_convert:
        case DW_OP_GNU_convert:
        case DW_OP_reinterpret:
        case DW_OP_GNU_reinterpret:
            return true;
        default:
            return stackStep(atom) || arithmeticStep(operation);
        }
    }

    bool relativeTo(uint64_t number, int64_t offset)
    {
        return number < x86::kRegisters
            && push(TermPool::plus(terms_.ofRegister(static_cast<RegisterNumber>(number)), offset));
    }

    bool indirect(const Dwarf_Op& operation)
    {
        Dwarf_Attribute attribute;
        Dwarf_Addr address = 0;
        Dwarf_Word word = 0;
        if (dwarf_getlocation_attr(&attribute_, &operation, &attribute) != 0)
            return false;
        if (dwarf_formaddr(&attribute, &address) == 0)
            return push(terms_.constant(static_cast<int64_t>(address)));
        return dwarf_formudata(&attribute, &word) == 0 && push(terms_.constant(static_cast<int64_t>(word)));
    }

    bool entryValue(const Dwarf_Op& operation)
    {
        Dwarf_Attribute attribute;
        Dwarf_Op* inner = nullptr;
        size_t count = 0;
        if (dwarf_getlocation_attr(&attribute_, &operation, &attribute) != 0
            || dwarf_getlocation(&attribute, &inner, &count) != 0 || count != 1 || inner[0].atom < DW_OP_reg0
            || inner[0].atom >= DW_OP_reg0 + x86::kRegisters)
            return false;
        return push(terms_.entryRegister(static_cast<RegisterNumber>(inner[0].atom - DW_OP_reg0)));
    }

    bool stackStep(unsigned atom)
    {
        const size_t size = stack_.size();
        switch (atom) {
        case DW_OP_dup:
            return size >= 1 && push(SymbolicValue(stack_.back()));
        case DW_OP_over:
            return size >= 2 && push(SymbolicValue(stack_[size - 2]));
        case DW_OP_drop:
            return size >= 1 && (stack_.pop_back(), true);
        case DW_OP_swap:
            if (size < 2)
                return false;
            std::swap(stack_[size - 1], stack_[size - 2]);
            return true;
        default:
            return false;
        }
    }

    bool arithmeticStep(const Dwarf_Op& operation)
    {
        switch (operation.atom) {
        case DW_OP_plus_uconst:
            return push(TermPool::plus(pop(), static_cast<int64_t>(operation.number)));
        case DW_OP_plus: {
            const SymbolicValue right = pop();
            return push(terms_.sum(pop(), right));
        }
        case DW_OP_minus: {
            const SymbolicValue right = pop();
            return push(terms_.sum(pop(), right, -1));
        }
        case DW_OP_mul: {
            const SymbolicValue right = pop();
            const SymbolicValue left = pop();
            if (right.isConstant())
                return push(terms_.scaled(left, right.constant));
            return push(left.isConstant() ? terms_.scaled(right, left.constant) : terms_.unknown());
        }
        case DW_OP_shl: {
            constexpr int64_t kMostShift = 40;
            const SymbolicValue right = pop();
            const SymbolicValue left = pop();
            const bool simple = right.isConstant() && right.constant >= 0 && right.constant < kMostShift;
            return push(simple ? terms_.scaled(left, int64_t{1} << right.constant) : terms_.unknown());
        }
        case DW_OP_neg:
            return push(terms_.scaled(pop(), -1));
        case DW_OP_deref:
            return push(terms_.load(pop()));
        case DW_OP_deref_size: {
            const SymbolicValue address = pop();
            return push(operation.number == 8 ? terms_.load(address) : terms_.unknown());
        }
        case DW_OP_deref_type:
        case DW_OP_GNU_deref_type:
        case DW_OP_not:
        case DW_OP_abs:
            pop();
            return push(terms_.unknown());
        case DW_OP_and:
        case DW_OP_or:
        case DW_OP_xor:
        case DW_OP_shr:
        case DW_OP_shra:
        case DW_OP_div:
        case DW_OP_mod:
        case DW_OP_eq:
        case DW_OP_ne:
        case DW_OP_lt:
        case DW_OP_gt:
        case DW_OP_le:
        case DW_OP_ge:
            pop();
            pop();
            return push(terms_.unknown());
        default:
            return false; // pieces, implicit pointers, branches
        }
    }

    TermPool& terms_;
    Dwarf_Attribute& attribute_;
    const std::optional<SymbolicValue>& frameBase_;
    std::vector<SymbolicValue> stack_;
    bool memory_ = true;
};

} // namespace

std::optional<LocationValue> evaluateLocation(TermPool& terms, Dwarf_Attribute& attribute,
    std::span<const Dwarf_Op> operations, const std::optional<SymbolicValue>& frameBase)
{
    return Evaluator(terms, attribute, frameBase).run(operations);
}

std::optional<SymbolicValue> frameBaseOf(TermPool& terms, Dwarf_Die function)
{
    Dwarf_Attribute attribute;
    Dwarf_Op* operations = nullptr;
    size_t count = 0;
    if (dwarf_attr_integrate(&function, DW_AT_frame_base, &attribute) == nullptr
        || dwarf_getlocation(&attribute, &operations, &count) != 0)
        return std::nullopt;
    const auto value = evaluateLocation(terms, attribute, {operations, count}, std::nullopt);
    return value ? std::optional(value->value) : std::nullopt;
}

} // namespace whichlock
