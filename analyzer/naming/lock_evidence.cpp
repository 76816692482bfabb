// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/lock_evidence.h"

#include <fmt/format.h>

namespace whichlock {
namespace {

constexpr uint64_t kMostInstructionBytes = 16;
constexpr size_t kMostVariables = 8;

/// Whether two values have a term in common: one may explain the other.
bool shareTerm(const SymbolicValue& a, const SymbolicValue& b)
{
    for (const WeightedTerm& one : a.terms)
        for (const WeightedTerm& other : b.terms)
            if (one.term == other.term)
                return true;
    return false;
}

/// Whether the value is reached through the place: it is in the place's register, or loaded from its memory.
bool restsOn(const TermPool& terms, const SymbolicValue& value, const VariableLocation& location)
{
    if (shareTerm(value, location.value))
        return true;
    return terms.anyTerm(value, [&](const Term& term) {
        return term.kind == TermKind::Load
            && (shareTerm(term.inner, location.value) || term.inner == location.value);
    });
}

std::string describe(FunctionModel& function, const VariableLocation& location)
{
    const FunctionVariable& variable = function.variables()[location.variable];
    std::string text = fmt::format("{} {} {} {}", variable.parameter ? "parameter" : "variable",
        variable.name, location.memory ? "in memory at" : "is", function.terms().text(location.value));
    if (!location.everywhere)
        text += fmt::format(" in [{:#x}, {:#x})", location.range.low, location.range.high);
    const FunctionScope& scope = function.scopes()[static_cast<size_t>(variable.scope)];
    if (scope.inlined)
        text += fmt::format(", of the inlined {}", scope.name);
    return text;
}

std::vector<std::string> variablesAt(FunctionModel& function, const SymbolicValue& value, uint64_t address)
{
    std::vector<std::string> texts;
    const SymbolicValue framed = function.inFrame(value, address);
    for (const VariableLocation& location : function.locations())
        if (texts.size() < kMostVariables && function.holds(location, address)
            && (restsOn(function.terms(), value, location) || restsOn(function.terms(), framed, location)))
            texts.push_back(describe(function, location));
    return texts;
}

std::string typePathOf(const NameCandidate& name)
{
    if (name.lockType.empty())
        return {};
    const std::string owner = name.owner.empty() ? std::string("variable") : name.owner;
    const size_t member = name.owner.empty() ? std::string::npos : name.owner.size() + 2;
    const std::string path = member < name.lockClass.size() ? name.lockClass.substr(member) : name.lockClass;
    return fmt::format("{} {}{:#x}: {}, {}", owner, name.offset < 0 ? "-" : "+",
        name.offset < 0 ? 0 - static_cast<uint64_t>(name.offset) : static_cast<uint64_t>(name.offset), path,
        name.lockType);
}

} // namespace

EvidenceFrame evidenceOf(FunctionModel& function, Disassembler& disassembler, uint64_t callSite,
    const SymbolicValue& value, const SlicedName& named)
{
    const ModuleImage& image = function.image();
    EvidenceFrame frame{.callSite = callSite,
        .module = image.path(),
        .function = function.unit().qualifiedName(function.die()),
        .value = function.terms().text(value),
        .expression = named.name.expression};
    const auto instruction = [&](uint64_t address) {
        return disassembler.text(image.bytesAt(address, kMostInstructionBytes), address);
    };
    frame.steps.push_back({callSite, instruction(callSite), frame.value});
    for (const SliceStep& step : named.slice.steps)
        frame.steps.push_back({step.address, instruction(step.address), function.terms().text(step.value)});
    if (named.slice.named.address != 0) {
        frame.namedAt = named.slice.named.address;
        frame.namedValue = function.terms().text(named.slice.named.value);
        frame.variables = variablesAt(function, named.slice.named.value, frame.namedAt);
    }
    frame.typePath = typePathOf(named.name);
    return frame;
}

} // namespace whichlock
