// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of a 64-bit value without running the program: a constant plus multiples of terms. Operands
// of instructions and DWARF expressions both become this, so that they can be compared.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace whichlock {

/// Registers have the numbers of DWARF for x86-64.
using RegisterNumber = uint8_t;

namespace x86 {
inline constexpr RegisterNumber kRax = 0, kRdx = 1, kRcx = 2, kRbx = 3, kRsi = 4, kRdi = 5, kRbp = 6,
                                kRsp = 7;
inline constexpr RegisterNumber kRegisters = 16;
/// The registers of the first six arguments, in their order.
inline constexpr RegisterNumber kArguments[] = {kRdi, kRsi, kRdx, kRcx, 8, 9};
} // namespace x86

enum class TermKind : uint8_t {
    Register,      ///< as it is at the instruction in question
    EntryRegister, ///< as it was when the function was entered
    FrameAddress,  ///< the canonical frame address
    Load,          ///< eight bytes of memory at the inner value
    CallResult,    ///< what a function returned; `number` is the place of its DIE in the caller's list
    PerCpuBase,    ///< of the CPU in question
    TlsBase,       ///< of the thread in question
    Unknown,       ///< none of these; each one is different from all others
};

using TermId = uint32_t;

/// A multiple of a term.
struct WeightedTerm {
    TermId term = 0;
    int64_t factor = 1;

    bool operator==(const WeightedTerm&) const = default;
};

/// constant + the sum of the terms, which are sorted by id. All arithmetic wraps around.
struct SymbolicValue {
    int64_t constant = 0;
    std::vector<WeightedTerm> terms{};

    bool isConstant() const { return terms.empty(); }
    bool operator==(const SymbolicValue&) const = default;
};

struct Term {
    TermKind kind = TermKind::Unknown;
    uint32_t number = 0;   ///< of a register, call result or unknown
    uint32_t weight = 1;   ///< how many terms it is made of
    SymbolicValue inner{}; ///< of a load: the address
};

/// Addition that wraps around, as that of the machine does.
constexpr int64_t wrappedSum(int64_t a, int64_t b)
{
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

/// Makes values. Equal terms have equal ids, so that values are compared without looking into them.
/// MT: one thread.
class TermPool {
public:
    SymbolicValue constant(int64_t value) const { return {value, {}}; }
    SymbolicValue ofRegister(RegisterNumber number) { return single(TermKind::Register, number); }
    SymbolicValue entryRegister(RegisterNumber number) { return single(TermKind::EntryRegister, number); }
    SymbolicValue frameAddress() { return single(TermKind::FrameAddress, 0); }
    SymbolicValue perCpuBase() { return single(TermKind::PerCpuBase, 0); }
    SymbolicValue tlsBase() { return single(TermKind::TlsBase, 0); }
    SymbolicValue callResult(uint32_t number) { return single(TermKind::CallResult, number); }
    SymbolicValue unknown();
    /// Eight bytes of memory; unknown if the address is made of too many terms.
    SymbolicValue load(const SymbolicValue& address);

    /// a + factor * b; unknown if it has too many terms.
    SymbolicValue sum(const SymbolicValue& a, const SymbolicValue& b, int64_t factor = 1);
    SymbolicValue scaled(const SymbolicValue& value, int64_t factor);
    static SymbolicValue plus(SymbolicValue value, int64_t constant);

    const Term& term(TermId id) const { return terms_[id]; }
    size_t size() const { return terms_.size(); }

    /// What stands for a term; nothing = it stays.
    using Replacement = std::function<std::optional<SymbolicValue>(const Term&)>;
    /// The value with some of its terms replaced, inside of loads as well.
    SymbolicValue replaced(const SymbolicValue& value, const Replacement& replacement);
    /// Whether any term, inside of loads as well, satisfies the condition.
    bool anyTerm(const SymbolicValue& value, const std::function<bool(const Term&)>& condition) const;
    /// The registers that the value still depends on, one bit each.
    uint32_t registersOf(const SymbolicValue& value) const;
    /// The value as a person reads it: `*(rbx+0x10)+0x58`.
    std::string text(const SymbolicValue& value) const;

private:
    struct KeyHash {
        size_t operator()(const Term& term) const;
    };
    struct KeyEqual {
        bool operator()(const Term& a, const Term& b) const
        {
            return a.kind == b.kind && a.number == b.number && a.inner == b.inner;
        }
    };

    TermId intern(Term term);
    SymbolicValue single(TermKind kind, uint32_t number) { return {0, {{intern({kind, number, 1, {}}), 1}}}; }
    uint32_t weightOf(const SymbolicValue& value) const;

    std::vector<Term> terms_;
    std::unordered_map<Term, TermId, KeyHash, KeyEqual> ids_;
    uint32_t unknowns_ = 0;
};

/// The conventional name of a register, as `rdi`.
const char* registerName(uint32_t number);

} // namespace whichlock
