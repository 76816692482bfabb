// SPDX-License-Identifier: GPL-3.0-or-later
// What a value after an instruction was before it.
#pragma once

#include "analyzer/naming/function_model.h"

namespace whichlock {

/// MT: one thread.
class StepBack {
public:
    explicit StepBack(FunctionModel& function)
        : function_(function)
        , terms_(function.terms())
    {
    }

    /// The value in terms of what holds before the instruction. Of a conditional move: as if it did not move.
    SymbolicValue before(const Instruction& instruction, const SymbolicValue& after);
    /// The value if a conditional move moves.
    SymbolicValue moved(const Instruction& instruction, const SymbolicValue& after);

private:
    SymbolicValue beforeCall(const Instruction& call, const SymbolicValue& after);
    SymbolicValue beforePop(const Instruction& pop, const SymbolicValue& after);
    SymbolicValue beforeLeave(const SymbolicValue& after);
    SymbolicValue beforeStore(
        const SymbolicValue& address, const SymbolicValue& stored, const SymbolicValue& after);
    SymbolicValue beforeWrites(const Instruction& instruction, const SymbolicValue& after);
    SymbolicValue withRegister(
        RegisterNumber number, const SymbolicValue& instead, const SymbolicValue& after);
    std::optional<SymbolicValue> result(const Instruction& instruction);
    SymbolicValue addressOf(const Operand& operand);
    SymbolicValue valueOf(const Operand& operand);
    SymbolicValue load(const SymbolicValue& address);
    bool keepsRegisters(const Instruction& call) const;

    FunctionModel& function_;
    TermPool& terms_;
};

} // namespace whichlock
