// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/type_guess.h"

#include <algorithm>
#include <fmt/format.h>

namespace whichlock {
namespace {

/// A guess looks at that many variables and types at most.
constexpr size_t kMostTried = 20'000;

} // namespace

/// The one pointer that a value is relative to.
struct TypeGuess::Base {
    int64_t offset = 0;
    UnknownIndex index{};
    std::vector<PointedObject> objects{}; ///< what the pointer is known to point into
};

std::optional<TypeGuess::Base> TypeGuess::baseOf(const SliceEnd& end)
{
    Base base{.offset = end.value.constant};
    std::optional<TermId> pointer;
    bool known = false;
    for (const WeightedTerm& one : end.value.terms) {
        const TermKind kind = function_.terms().term(one.term).kind;
        if (kind == TermKind::PerCpuBase)
            continue;
        if (one.factor != 1) {
            base.index = {true, one.factor < 0 ? wrappedSum(0, -one.factor) : one.factor};
        } else if (kind == TermKind::Unknown) {
            if (!pointer)
                pointer = one.term;
        } else {
            if (known)
                return std::nullopt;
            pointer = one.term;
            known = true;
        }
    }
    if (!pointer)
        return std::nullopt;
    if (known)
        base.objects = namer_.objectsOf({0, {{*pointer, 1}}}, end.address);
    return base;
}

NameCandidate TypeGuess::guess(const std::vector<SliceEnd>& ends, uint64_t callSite)
{
    inScope_.clear();
    elsewhere_.clear();
    const std::vector<int32_t> active = function_.scopesAt(callSite);
    for (const SliceEnd& end : ends) {
        const auto base = baseOf(end);
        if (!base)
            continue;
        tryVariables(*base, active);
        if (inScope_.empty() && elsewhere_.empty())
            tryContainers(*base);
    }
    if (inScope_.size() == 1)
        return inScope_.begin()->second;
    if (NameCandidate name = pointerGuess(ends); name.score > kNoName)
        return name;
    if (inScope_.empty() && elsewhere_.size() == 1)
        return elsewhere_.begin()->second;
    return {};
}

void TypeGuess::tryVariables(const Base& base, const std::vector<int32_t>& active)
{
    size_t tried = 0;
    for (const FunctionVariable& variable : function_.variables()) {
        const auto type = typeOf(variable.die);
        const auto pointee = type ? types_.pointee(*type) : std::nullopt;
        const auto structure = pointee ? types_.bare(*pointee) : std::nullopt;
        if (!structure || !types_.isStruct(*structure) || ++tried > kMostTried)
            continue;
        const bool isActive = std::ranges::find(active, variable.scope) != active.end();
        tryAt(variable, *structure, base.offset, base.index, isActive);
        for (const PointedObject& object : base.objects)
            if (object.type)
                for (const int64_t place : types_.offsetsOf(*object.type, *structure))
                    tryAt(variable, *structure, wrappedSum(place, wrappedSum(object.offset, base.offset)),
                        base.index, isActive);
    }
}

void TypeGuess::tryAt(const FunctionVariable& variable, Dwarf_Die structure, int64_t offset,
    const UnknownIndex& index, bool active)
{
    if (offset <= 0 || (offset >= types_.bytesOf(structure) && !index.present))
        return;
    for (const MemberPath& lock : types_.locksAt(structure, offset, kind_, index)) {
        const bool inArray = std::ranges::any_of(
            lock.parts, [](const std::string& part) { return part.find('[') != std::string::npos; });
        if (lock.parts.empty() || (index.present && index.stride > 1 && !inArray))
            continue;
        NameCandidate name{.score = active ? kScopeGuess : kFunctionGuess};
        name.owner = types_.nameOf(structure);
        name.lockClass = name.owner + "::" + lock.joined();
        name.expression = std::string(variable.name) + lock.behind(true);
        name.lockType = types_.nameOf(lock.type);
        std::string key = name.lockClass;
        (active ? inScope_ : elsewhere_).emplace(std::move(key), std::move(name));
    }
}

/// The struct around a known one, as `container_of()` finds it.
void TypeGuess::tryContainers(const Base& base)
{
    const bool beyond =
        base.offset < 0 || std::ranges::any_of(base.objects, [&](const PointedObject& object) {
            return object.type && base.offset >= types_.bytesOf(*object.type);
        });
    if (!beyond)
        return;
    size_t tried = 0;
    for (const auto& [itsName, structure] : function_.unit().types()) {
        if (++tried > kMostTried)
            return;
        for (const PointedObject& object : base.objects) {
            if (!object.type)
                continue;
            for (const int64_t place : types_.offsetsOf(*object.type, structure)) {
                const int64_t offset = wrappedSum(place, wrappedSum(object.offset, base.offset));
                if (offset < 0 || offset >= types_.bytesOf(structure))
                    continue;
                for (const MemberPath& lock : types_.locksAt(structure, offset, kind_, {})) {
                    if (lock.parts.empty())
                        continue;
                    NameCandidate name{.score = kContainerGuess};
                    name.owner = types_.nameOf(structure);
                    name.lockClass = name.owner + "::" + lock.joined();
                    name.expression = fmt::format("container_of({}){}", object.path, lock.behind(true));
                    name.lockType = types_.nameOf(lock.type);
                    std::string key = name.lockClass;
                    elsewhere_.emplace(std::move(key), std::move(name));
                }
            }
        }
    }
}

NameCandidate TypeGuess::pointerGuess(const std::vector<SliceEnd>& ends)
{
    NameCandidate found;
    for (const SliceEnd& end : ends) {
        NameCandidate one = namer_.guessPointer(end.value, end.address);
        if (one.score == kNoName)
            continue;
        if (!found.lockClass.empty() && found.lockClass != one.lockClass)
            return {};
        found = std::move(one);
    }
    return found;
}

} // namespace whichlock
