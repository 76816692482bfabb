// SPDX-License-Identifier: GPL-3.0-or-later
// Values that are known only in part.
#include "analyzer/naming/symbolic_value.h"

#include <gtest/gtest.h>

namespace whichlock {
namespace {

TEST(SymbolicValue, isEqualHoweverItWasMade)
{
    TermPool terms;
    const SymbolicValue rbx = terms.ofRegister(x86::kRbx);
    const SymbolicValue rdi = terms.ofRegister(x86::kRdi);
    const SymbolicValue a = terms.sum(TermPool::plus(rbx, 8), terms.scaled(rdi, 4));
    const SymbolicValue b = TermPool::plus(terms.sum(terms.scaled(terms.sum(rdi, rdi), 2), rbx), 8);
    EXPECT_EQ(a, b);
    EXPECT_EQ(terms.load(a), terms.load(b));
    EXPECT_EQ(terms.text(TermPool::plus(terms.load(TermPool::plus(rbx, 16)), 88)), "*(rbx+0x10)+0x58");
}

TEST(SymbolicValue, forgetsTermsThatCancelOut)
{
    TermPool terms;
    const SymbolicValue rbx = terms.ofRegister(x86::kRbx);
    EXPECT_EQ(terms.sum(TermPool::plus(rbx, 5), rbx, -1), terms.constant(5));
    // Unknown values are never known to be equal.
    EXPECT_FALSE(terms.sum(terms.unknown(), terms.unknown(), -1).isConstant());
}

TEST(SymbolicValue, replacesRegistersInsideOfLoads)
{
    TermPool terms;
    const SymbolicValue value = terms.load(TermPool::plus(terms.ofRegister(x86::kRax), 8));
    const SymbolicValue replaced =
        terms.replaced(value, [&](const Term& term) -> std::optional<SymbolicValue> {
            if (term.kind != TermKind::Register)
                return std::nullopt;
            return TermPool::plus(terms.entryRegister(x86::kRdi), 16);
        });
    EXPECT_EQ(terms.text(replaced), "*(entry(rdi)+0x18)");
    EXPECT_EQ(terms.registersOf(value), 1U << x86::kRax);
    EXPECT_EQ(terms.registersOf(replaced), 0U);
}

TEST(SymbolicValue, wrapsAroundAsTheMachineDoes)
{
    TermPool terms;
    EXPECT_EQ(terms.sum(terms.constant(INT64_MAX), terms.constant(1)).constant, INT64_MIN);
    EXPECT_EQ(terms.scaled(terms.constant(INT64_MIN), -1).constant, INT64_MIN);
}

TEST(SymbolicValue, becomesUnknownBeforeItGrowsWithoutEnd)
{
    TermPool terms;
    SymbolicValue value = terms.ofRegister(x86::kRax);
    for (int i = 0; i < 10'000; ++i)
        value = terms.load(terms.sum(value, terms.ofRegister(static_cast<RegisterNumber>(i % 16))));
    EXPECT_LT(terms.text(value).size(), 2000U);
}

} // namespace
} // namespace whichlock
