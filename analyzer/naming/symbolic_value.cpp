// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/symbolic_value.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace whichlock {
namespace {

/// More is never needed to reach a lock, and damaged input must not grow values without end.
constexpr uint32_t kMostWeight = 48;

int64_t wrappedProduct(int64_t a, int64_t b)
{
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

size_t mix(size_t seed, uint64_t value)
{
    return (seed ^ value) * 0x9e3779b97f4a7c15ULL + (seed >> 17);
}

} // namespace

const char* registerName(uint32_t number)
{
    static constexpr std::array<const char*, x86::kRegisters> kNames = {"rax", "rdx", "rcx", "rbx", "rsi",
        "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};
    return number < kNames.size() ? kNames[number] : "?";
}

size_t TermPool::KeyHash::operator()(const Term& term) const
{
    size_t hash = mix(static_cast<size_t>(term.kind), term.number);
    hash = mix(hash, static_cast<uint64_t>(term.inner.constant));
    for (const WeightedTerm& inner : term.inner.terms)
        hash = mix(mix(hash, inner.term), static_cast<uint64_t>(inner.factor));
    return hash;
}

TermId TermPool::intern(Term term)
{
    const auto found = ids_.find(term);
    if (found != ids_.end())
        return found->second;
    const auto id = static_cast<TermId>(terms_.size());
    terms_.push_back(term);
    ids_.emplace(std::move(term), id);
    return id;
}

SymbolicValue TermPool::unknown()
{
    return single(TermKind::Unknown, unknowns_++);
}

uint32_t TermPool::weightOf(const SymbolicValue& value) const
{
    uint32_t weight = 1;
    for (const WeightedTerm& one : value.terms)
        weight += terms_[one.term].weight;
    return weight;
}

SymbolicValue TermPool::load(const SymbolicValue& address)
{
    const uint32_t weight = weightOf(address);
    if (weight > kMostWeight)
        return unknown();
    return {0, {{intern({TermKind::Load, 0, weight, address}), 1}}};
}

SymbolicValue TermPool::sum(const SymbolicValue& a, const SymbolicValue& b, int64_t factor)
{
    SymbolicValue result{wrappedSum(a.constant, wrappedProduct(b.constant, factor)), a.terms};
    for (const WeightedTerm& one : b.terms) {
        const int64_t more = wrappedProduct(one.factor, factor);
        const auto at = std::lower_bound(result.terms.begin(), result.terms.end(), one.term,
            [](const WeightedTerm& term, TermId id) { return term.term < id; });
        if (at == result.terms.end() || at->term != one.term)
            result.terms.insert(at, {one.term, more});
        else
            at->factor = wrappedSum(at->factor, more);
    }
    std::erase_if(result.terms, [](const WeightedTerm& term) { return term.factor == 0; });
    return weightOf(result) > kMostWeight ? unknown() : result;
}

SymbolicValue TermPool::scaled(const SymbolicValue& value, int64_t factor)
{
    return sum({}, value, factor);
}

SymbolicValue TermPool::plus(SymbolicValue value, int64_t constant)
{
    value.constant = wrappedSum(value.constant, constant);
    return value;
}

SymbolicValue TermPool::replaced(const SymbolicValue& value, const Replacement& replacement)
{
    SymbolicValue result{value.constant, {}};
    for (const WeightedTerm& one : value.terms) {
        const Term term = terms_[one.term]; // a copy: the pool may grow below
        if (const auto other = replacement(term)) {
            result = sum(result, *other, one.factor);
        } else if (term.kind == TermKind::Load) {
            const SymbolicValue inner = replaced(term.inner, replacement);
            result = sum(
                result, inner == term.inner ? SymbolicValue{0, {{one.term, 1}}} : load(inner), one.factor);
        } else {
            result = sum(result, {0, {{one.term, 1}}}, one.factor);
        }
    }
    return result;
}

bool TermPool::anyTerm(const SymbolicValue& value, const std::function<bool(const Term&)>& condition) const
{
    return std::ranges::any_of(value.terms, [&](const WeightedTerm& one) {
        const Term& term = terms_[one.term];
        return condition(term) || (term.kind == TermKind::Load && anyTerm(term.inner, condition));
    });
}

uint32_t TermPool::registersOf(const SymbolicValue& value) const
{
    uint32_t registers = 0;
    for (const WeightedTerm& one : value.terms) {
        const Term& term = terms_[one.term];
        if (term.kind == TermKind::Register && term.number < x86::kRegisters)
            registers |= 1U << term.number;
        else if (term.kind == TermKind::Load)
            registers |= registersOf(term.inner);
    }
    return registers;
}

std::string TermPool::text(const SymbolicValue& value) const
{
    std::string text;
    for (const WeightedTerm& one : value.terms) {
        const Term& term = terms_[one.term];
        if (!text.empty())
            text += '+';
        if (one.factor != 1)
            text += fmt::format("{}*", one.factor);
        switch (term.kind) {
        case TermKind::Register:
            text += registerName(term.number);
            break;
        case TermKind::EntryRegister:
            text += fmt::format("entry({})", registerName(term.number));
            break;
        case TermKind::FrameAddress:
            text += "cfa";
            break;
        case TermKind::Load:
            text += fmt::format("*({})", this->text(term.inner));
            break;
        case TermKind::CallResult:
            text += "result";
            break;
        case TermKind::PerCpuBase:
            text += "percpu";
            break;
        case TermKind::TlsBase:
            text += "tls";
            break;
        case TermKind::Unknown:
            text += '?';
            break;
        }
    }
    const auto size = static_cast<uint64_t>(value.constant);
    if (text.empty())
        return fmt::format("{:#x}", size);
    if (value.constant > 0)
        text += fmt::format("+{:#x}", size);
    else if (value.constant < 0)
        text += fmt::format("-{:#x}", uint64_t{0} - size);
    return text;
}

} // namespace whichlock
