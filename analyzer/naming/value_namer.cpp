// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/value_namer.h"

#include <algorithm>
#include <dwarf.h>
#include <fmt/format.h>

namespace whichlock {
namespace {

constexpr int kMostDepth = 6;
constexpr size_t kMostObjects = 60;

constexpr int kGlobalQuality = 5;
constexpr int kVariableQuality = 4;
constexpr int kFrameQuality = 3;
constexpr int kResultQuality = 2;
constexpr int kPrimitiveQuality = 1;

int64_t positiveRemainder(int64_t value, int64_t divisor)
{
    return (value % divisor + divisor) % divisor;
}

/// What a pointer points to: `*p`, or `p[*]` where it is an array.
std::string pointedPath(const PointedObject& pointer)
{
    return pointer.index.present ? pointer.path + "[*]" : "(*" + pointer.path + ")";
}

} // namespace

/// A value taken apart: a constant, pointers, and indexes into arrays.
struct ValueNamer::Parts {
    int64_t constant = 0;
    bool perCpu = false;
    UnknownIndex index{};
    std::vector<TermId> pointers{};
};

ValueNamer::Parts ValueNamer::partsOf(const SymbolicValue& value) const
{
    Parts parts{.constant = value.constant};
    for (const WeightedTerm& one : value.terms) {
        const TermKind kind = function_.terms().term(one.term).kind;
        if (kind == TermKind::PerCpuBase) {
            parts.perCpu = true;
        } else if (kind == TermKind::Unknown || one.factor != 1) {
            // Two indexes have no common stride.
            const int64_t stride = one.factor < 0 ? wrappedSum(0, -one.factor) : one.factor;
            parts.index = {true, parts.index.present ? 1 : stride};
        } else {
            parts.pointers.push_back(one.term);
        }
    }
    return parts;
}

std::vector<PointedObject> ValueNamer::objectsOf(const SymbolicValue& value, uint64_t address, int depth)
{
    std::vector<PointedObject> objects;
    if (depth > kMostDepth)
        return objects;
    const Parts parts = partsOf(value);
    const bool kernel = function_.image().isKernel();
    addGlobals(parts, objects);
    if (parts.pointers.empty() || (kernel && !objects.empty()))
        return objects;
    addLocated(parts, address, objects);
    for (const TermId term : parts.pointers)
        if (objects.size() < kMostObjects)
            addTerm(parts, term, address, depth, objects);
    return objects;
}

/// The constant as the address of a variable.
void ValueNamer::addGlobals(const Parts& parts, std::vector<PointedObject>& objects)
{
    const ModuleImage& image = function_.image();
    const auto address = static_cast<uint64_t>(parts.constant);
    // Offsets of members are as small as the addresses of per-CPU variables, which need the CPU's base.
    if (image.isPerCpu(address) && !(parts.perCpu && parts.pointers.empty()))
        return;
    PointedObject object{.global = true, .quality = kGlobalQuality};
    object.index = parts.index;
    object.index.present = parts.index.present || !parts.pointers.empty();
    const auto& placed = function_.unit().placed();
    if (auto at = placed.upper_bound(address); at != placed.begin()) {
        --at;
        if (const auto type = typeOf(at->second.die)) {
            const auto size = static_cast<uint64_t>(std::max<int64_t>(types_.bytesOf(*type), 0));
            if (address - at->first < std::max<uint64_t>(size, 1)) {
                object.type = type;
                object.offset = static_cast<int64_t>(address - at->first);
                object.path = at->second.name;
                objects.push_back(object);
                return;
            }
        }
    }
    std::string_view name;
    if (const ImageSymbol* symbol = image.objectAt(address)) {
        name = symbol->name;
        object.offset = static_cast<int64_t>(address - symbol->address);
    } else if (!image.isData(address)) {
        name = image.importName(address);
    }
    if (name.empty())
        return;
    object.path = name;
    if (const auto variable = function_.unit().variable(name))
        object.type = typeOf(*variable);
    objects.push_back(object);
}

/// Variables whose location is the very term, as values at the function's entry and loads are.
void ValueNamer::addLocated(const Parts& parts, uint64_t address, std::vector<PointedObject>& objects)
{
    if (parts.pointers.size() != 1 || parts.perCpu)
        return;
    const TermId wanted = parts.pointers.front();
    const TermKind kind = function_.terms().term(wanted).kind;
    if (kind != TermKind::EntryRegister && kind != TermKind::Load)
        return;
    for (const VariableLocation& location : function_.locations()) {
        if (location.memory || location.value.terms.size() != 1
            || location.value.terms[0] != WeightedTerm{wanted, 1})
            continue;
        if (kind == TermKind::EntryRegister || function_.holds(location, address))
            addVariablePointer(location, parts.constant, parts.index, objects);
    }
}

void ValueNamer::addTerm(
    const Parts& parts, TermId id, uint64_t address, int depth, std::vector<PointedObject>& objects)
{
    const Term term = function_.terms().term(id);
    PointedObject object{.offset = parts.constant, .quality = kVariableQuality};
    object.index = parts.index;
    object.index.present = parts.index.present || parts.pointers.size() > 1;
    switch (term.kind) {
    case TermKind::Register:
        addRegister(parts, term, address, objects);
        addFrame(parts, id, address, objects);
        break;
    case TermKind::EntryRegister:
        if (const FunctionVariable* parameter =
                function_.parameterIn(static_cast<RegisterNumber>(term.number)))
            if (const auto type = typeOf(parameter->die)) {
                object.path = parameter->name;
                addPointer(*type, object, objects);
            }
        break;
    case TermKind::FrameAddress:
        addFrame(parts, id, address, objects);
        break;
    case TermKind::CallResult:
        if (const auto type = typeOf(function_.callee(term.number))) {
            object.path = std::string(dieName(function_.callee(term.number))) + "()";
            object.quality = kResultQuality;
            addPointer(*type, object, objects);
        }
        break;
    case TermKind::Load:
        addLoad(parts, term, address, depth, objects);
        break;
    case TermKind::PerCpuBase:
    case TermKind::TlsBase:
    case TermKind::Unknown:
        break;
    }
}

void ValueNamer::addVariablePointer(const VariableLocation& location, int64_t constant,
    const UnknownIndex& index, std::vector<PointedObject>& objects)
{
    const FunctionVariable& variable = function_.variables()[location.variable];
    const auto type = typeOf(variable.die);
    if (!type)
        return;
    PointedObject object{
        .offset = wrappedSum(constant, -location.value.constant), .path = std::string(variable.name)};
    object.index = index;
    object.primitive = function_.isPrimitives(variable);
    object.quality = object.primitive ? kPrimitiveQuality : kVariableQuality;
    addPointer(*type, object, objects);
}

void ValueNamer::addRegister(
    const Parts& parts, const Term& term, uint64_t address, std::vector<PointedObject>& objects)
{
    UnknownIndex index = parts.index;
    index.present = index.present || parts.pointers.size() > 1;
    for (const uint32_t number : function_.locationsIn(static_cast<RegisterNumber>(term.number))) {
        const VariableLocation& location = function_.locations()[number];
        if (!location.memory && function_.holds(location, address))
            addVariablePointer(location, parts.constant, index, objects);
    }
}

/// Variables in memory that lie at a distance from a register or the frame address.
void ValueNamer::addFrame(
    const Parts& parts, TermId base, uint64_t address, std::vector<PointedObject>& objects)
{
    for (const VariableLocation& location : function_.locations()) {
        if (!location.memory || location.value.terms.size() != 1
            || location.value.terms[0] != WeightedTerm{base, 1} || !function_.holds(location, address))
            continue;
        const FunctionVariable& variable = function_.variables()[location.variable];
        const auto type = typeOf(variable.die);
        const int64_t offset = wrappedSum(parts.constant, -location.value.constant);
        if (!type || offset < 0 || offset >= types_.bytesOf(*type))
            continue;
        PointedObject object{.type = type, .offset = offset, .path = std::string(variable.name)};
        object.index = parts.index;
        object.index.present = parts.index.present || parts.pointers.size() > 1;
        object.primitive = function_.isPrimitives(variable);
        object.quality = object.primitive ? kPrimitiveQuality : kFrameQuality;
        objects.push_back(std::move(object));
    }
}

/// What keeps the pointer that was loaded: a member, or a global; nothing for local variables.
std::string ValueNamer::holderOf(const PointedObject& object, const MemberPath& member) const
{
    if (object.global && !object.pointer)
        return object.path + member.behind(false);
    if (!member.parts.empty())
        return types_.nameOf(*object.type) + "::" + member.joined();
    return object.pointer && object.index.present && !object.holder.empty() ? object.holder + "[*]"
                                                                            : std::string();
}

void ValueNamer::addLoad(
    const Parts& parts, const Term& term, uint64_t address, int depth, std::vector<PointedObject>& objects)
{
    PointedObject object{.offset = parts.constant};
    object.index = parts.index;
    object.index.present = parts.index.present || parts.pointers.size() > 1;
    // The kernel's array of all pages begins where a variable says.
    const auto pages = function_.image().addressOf("vmemmap_base");
    if (pages && term.inner == SymbolicValue{static_cast<int64_t>(*pages), {}}) {
        const auto page = function_.unit().types().find("page");
        const int64_t size = page != function_.unit().types().end() ? types_.bytesOf(page->second) : 0;
        if (size > 0) {
            object.type = page->second;
            object.offset = positiveRemainder(parts.constant, size);
            object.path = "page";
            object.pointer = true;
            object.index = {true, size};
            object.quality = kFrameQuality;
            objects.push_back(object);
        }
        return;
    }
    for (const PointedObject& holder : objectsOf(term.inner, address, depth + 1)) {
        if (!holder.type)
            continue;
        for (const MemberPath& member : types_.pointersAt(*holder.type, holder.offset, holder.index)) {
            if (objects.size() >= kMostObjects)
                return;
            object.path = member.parts.empty() && holder.pointer
                ? pointedPath(holder)
                : holder.path + member.behind(holder.pointer);
            object.holder = holderOf(holder, member);
            object.global = holder.global && !holder.pointer;
            object.guess = holder.guess;
            object.primitive = holder.primitive;
            object.quality = std::max(1, holder.quality - 1);
            addPointer(member.type, object, objects);
        }
    }
}

void ValueNamer::addPointer(Dwarf_Die type, PointedObject object, std::vector<PointedObject>& objects)
{
    object.pointer = true;
    const auto pointee = types_.pointee(type);
    if (!pointee) {
        if (guessing_ && types_.isPointer(type))
            addAnyPointee(std::move(object), objects);
        return;
    }
    object.type = pointee;
    const int64_t size = object.index.present ? types_.bytesOf(*pointee) : 0;
    const bool whole = object.index.stride <= 1 || object.index.stride == size;
    if (size > 0 && whole && (object.offset < 0 || object.offset >= size)) {
        // Either the object is an element of an array, or the array is in it.
        if (object.offset >= 0)
            objects.push_back(object);
        object.offset = positiveRemainder(object.offset, size);
        object.quality = std::max(1, object.quality - 1);
    }
    objects.push_back(std::move(object));
}

/// A `void *` as a pointer to each type that the function has pointers to.
void ValueNamer::addAnyPointee(PointedObject object, std::vector<PointedObject>& objects)
{
    object.guess = true;
    std::set<const void*> seen;
    const auto add = [&](Dwarf_Die die) {
        const auto type = typeOf(die);
        const auto pointee = type ? types_.pointee(*type) : std::nullopt;
        const auto bare = pointee ? types_.bare(*pointee) : std::nullopt;
        if (!bare || !types_.isStruct(*bare) || objects.size() >= kMostObjects
            || !seen.insert(bare->addr).second)
            return;
        PointedObject one = object;
        one.type = *pointee;
        one.path = fmt::format("(({} *){})", types_.nameOf(*pointee), object.path);
        if (const int64_t size = one.index.present ? types_.bytesOf(*bare) : 0; size > 0)
            one.offset = positiveRemainder(one.offset, size);
        objects.push_back(std::move(one));
    };
    for (const FunctionVariable& variable : function_.variables())
        add(variable.die);
    for (const FunctionScope& scope : function_.scopes())
        if (scope.inlined)
            add(scope.die);
}

std::vector<MemberPath> ValueNamer::locksOf(const PointedObject& object)
{
    std::vector<MemberPath> locks = types_.locksAt(*object.type, object.offset, kind_, object.index);
    if (!object.index.present || object.index.stride <= 1)
        return locks;
    // The stride has to be that of an array on the path, or of the object itself.
    if (object.pointer && types_.bytesOf(*object.type) == object.index.stride)
        return locks;
    std::erase_if(locks, [](const MemberPath& lock) {
        return std::ranges::none_of(
            lock.parts, [](const std::string& part) { return part.find("[*]") != std::string::npos; });
    });
    return locks;
}

NameCandidate ValueNamer::nameOf(const PointedObject& object, const MemberPath& lock) const
{
    NameCandidate name;
    name.expression = object.path + lock.behind(object.pointer);
    name.lockType = types_.nameOf(lock.type);
    name.offset = object.offset;
    if (object.global && !object.pointer) {
        name.lockClass = name.expression;
        name.score = kGlobalName;
    } else if (lock.hasMember()) {
        name.owner = types_.nameOf(*object.type);
        name.lockClass = name.owner + "::" + lock.joined();
        name.score = object.primitive && object.pointer ? static_cast<int>(kPrimitiveName)
                                                        : kFullName + object.quality * 5;
    } else if (object.global) {
        name.lockClass = object.index.present ? object.path + "[*]" : "*" + object.path;
        name.score = kHeldByGlobal;
    } else if (!object.pointer) {
        name.lockClass = function_.unit().qualifiedName(function_.die()) + "::" + name.expression;
        name.score = kStackName;
    } else if (!object.holder.empty()) {
        name.lockClass = object.index.present ? object.holder + "[*]" : "*(" + object.holder + ")";
        name.score = kHeldByPointer + object.quality;
    } else {
        name.score = kBareName + std::min(object.quality, 1);
    }
    if (object.pointer && object.index.present && lock.parts.empty())
        name.expression += "[*]";
    return name;
}

NameCandidate ValueNamer::name(const SymbolicValue& value, uint64_t address)
{
    NameCandidate best;
    for (const PointedObject& object : objectsOf(function_.inFrame(value, address), address)) {
        if (!object.type) {
            if (best.score < kUntypedName) {
                best = {.score = kUntypedName, .expression = object.path};
                if (object.offset != 0)
                    best.expression += fmt::format("+{:#x}", object.offset);
                best.lockClass = best.expression;
            }
            continue;
        }
        for (const MemberPath& lock : locksOf(object)) {
            NameCandidate one = nameOf(object, lock);
            if (one.score > best.score
                || (one.score == best.score && one.expression.size() < best.expression.size()))
                best = std::move(one);
        }
    }
    return best;
}

NameCandidate ValueNamer::guessPointer(const SymbolicValue& value, uint64_t address)
{
    guessing_ = true;
    const std::vector<PointedObject> objects = objectsOf(function_.inFrame(value, address), address);
    guessing_ = false;
    NameCandidate found;
    for (const PointedObject& object : objects) {
        if (!object.guess || !object.type)
            continue;
        for (const MemberPath& lock : locksOf(object)) {
            NameCandidate one = nameOf(object, lock);
            if (one.score < kStackName)
                continue;
            if (!found.lockClass.empty() && found.lockClass != one.lockClass)
                return {};
            found = std::move(one);
            found.score = kPointerGuess;
        }
    }
    return found;
}

} // namespace whichlock
