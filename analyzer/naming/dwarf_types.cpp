// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/dwarf_types.h"

#include <algorithm>
#include <dwarf.h>
#include <fmt/format.h>

namespace whichlock {
namespace {

constexpr int kMostTypedefs = 32;
constexpr int kMostDepth = 24;
constexpr size_t kMostFound = 8;
constexpr size_t kMostMembers = 100'000;
/// A search ends after so many looks: unions of unions must not multiply.
constexpr int kMostLooks = 20'000;

bool isAliasTag(int tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type
        || tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

bool isStructTag(int tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

bool isPointerTag(int tag)
{
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

/// The byte offset of a member; nothing for bit fields and what is computed.
std::optional<int64_t> offsetOf(Dwarf_Die member)
{
    Dwarf_Attribute attribute;
    if (dwarf_attr(&member, DW_AT_data_bit_offset, &attribute) != nullptr)
        return std::nullopt;
    if (dwarf_attr(&member, DW_AT_data_member_location, &attribute) == nullptr)
        return 0;
    Dwarf_Word offset = 0;
    if (dwarf_formudata(&attribute, &offset) == 0)
        return static_cast<int64_t>(offset);
    Dwarf_Op* operations = nullptr;
    size_t count = 0;
    if (dwarf_getlocation(&attribute, &operations, &count) == 0 && count == 1
        && operations[0].atom == DW_OP_plus_uconst)
        return static_cast<int64_t>(operations[0].number);
    return std::nullopt;
}

/// The elements of an array as its subranges tell; nothing for flexible arrays, and what is computed.
std::optional<int64_t> elementsOf(Dwarf_Die array)
{
    constexpr uint64_t kMostElements = uint64_t{1} << 40;
    uint64_t elements = 1;
    bool any = false;
    Dwarf_Die child;
    for (int more = dwarf_child(&array, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
        if (dwarf_tag(&child) != DW_TAG_subrange_type)
            continue;
        Dwarf_Attribute attribute;
        Dwarf_Word number = 0;
        const bool isCount = dwarf_formudata(dwarf_attr(&child, DW_AT_count, &attribute), &number) == 0;
        if (!isCount && dwarf_formudata(dwarf_attr(&child, DW_AT_upper_bound, &attribute), &number) != 0)
            return std::nullopt;
        number += isCount ? 0 : 1;
        if (number > kMostElements || __builtin_mul_overflow(elements, number, &elements)
            || elements > kMostElements)
            return std::nullopt;
        any = true;
    }
    return any ? std::optional(static_cast<int64_t>(elements)) : std::nullopt;
}

/// Only the last member may be an array without a size: others end at the next one.
void boundByNext(std::vector<TypeMember>& members)
{
    std::vector<int64_t> offsets;
    for (const TypeMember& member : members)
        offsets.push_back(member.offset);
    std::ranges::sort(offsets);
    for (TypeMember& member : members) {
        const auto next = std::ranges::upper_bound(offsets, member.offset);
        if (member.bytes <= 0 && next != offsets.end())
            member.bytes = *next - member.offset;
    }
}

std::string keywordOf(int tag)
{
    return tag == DW_TAG_union_type ? "union " : "struct ";
}

} // namespace

std::string_view dieName(Dwarf_Die die)
{
    Dwarf_Attribute attribute;
    const char* name = dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_name, &attribute));
    return name != nullptr ? name : "";
}

std::optional<Dwarf_Die> referredDie(Dwarf_Die die, unsigned attributeName)
{
    Dwarf_Attribute attribute;
    Dwarf_Die result;
    if (dwarf_attr_integrate(&die, attributeName, &attribute) == nullptr
        || dwarf_formref_die(&attribute, &result) == nullptr)
        return std::nullopt;
    return result;
}

std::optional<Dwarf_Die> typeOf(Dwarf_Die die)
{
    return referredDie(die, DW_AT_type);
}

std::string MemberPath::behind(bool pointer) const
{
    std::string text;
    for (const std::string& part : parts) {
        if (part.front() != '[')
            text += pointer ? "->" : ".";
        text += part;
        pointer = false;
    }
    return text;
}

std::string MemberPath::joined() const
{
    std::string text;
    for (const std::string& part : parts) {
        if (part.front() != '[' && !text.empty())
            text += '.';
        text += part;
    }
    return text;
}

bool MemberPath::hasMember() const
{
    for (const std::string& part : parts)
        if (part.front() != '[')
            return true;
    return false;
}

void DwarfTypes::clear()
{
    members_.clear();
    sizes_.clear();
}

std::optional<Dwarf_Die> DwarfTypes::bare(Dwarf_Die type) const
{
    for (int i = 0; i < kMostTypedefs; ++i) {
        const int tag = dwarf_tag(&type);
        if (!isAliasTag(tag)) {
            Dwarf_Attribute attribute;
            if (completion_ != nullptr && isStructTag(tag)
                && dwarf_attr(&type, DW_AT_declaration, &attribute) != nullptr)
                if (const auto found = completion_->find(dieName(type)); found != completion_->end())
                    return found->second;
            return type;
        }
        const auto next = typeOf(type);
        if (!next)
            return std::nullopt;
        type = *next;
    }
    return std::nullopt;
}

std::optional<Dwarf_Die> DwarfTypes::pointee(Dwarf_Die type) const
{
    auto pointer = bare(type);
    return pointer && isPointerTag(dwarf_tag(&*pointer)) ? typeOf(*pointer) : std::nullopt;
}

bool DwarfTypes::isPointer(Dwarf_Die type) const
{
    auto pointer = bare(type);
    return pointer && isPointerTag(dwarf_tag(&*pointer));
}

bool DwarfTypes::isStruct(Dwarf_Die type) const
{
    auto bareType = bare(type);
    return bareType && isStructTag(dwarf_tag(&*bareType));
}

int64_t DwarfTypes::bytesOf(Dwarf_Die type)
{
    const auto bareType = bare(type);
    if (!bareType)
        return -1;
    const auto [entry, isNew] = sizes_.try_emplace(bareType->addr, -1);
    if (!isNew)
        return entry->second;
    Dwarf_Word size = 0;
    Dwarf_Die die = *bareType;
    if (dwarf_aggregate_size(&die, &size) == 0 && size <= INT64_MAX)
        return entry->second = static_cast<int64_t>(size);
    // In what dwz took out the language is missing, without which libdw knows no lower bound.
    const auto element = dwarf_tag(&die) == DW_TAG_array_type ? typeOf(die) : std::nullopt;
    const auto elements = element ? elementsOf(die) : std::nullopt;
    int64_t bytes = -1;
    if (elements && (!__builtin_mul_overflow(bytesOf(*element), *elements, &bytes)) && bytes >= 0)
        sizes_[die.addr] = bytes; // the reference may have moved
    return sizes_[die.addr];
}

const std::vector<TypeMember>& DwarfTypes::membersOf(Dwarf_Die type)
{
    const auto [entry, isNew] = members_.try_emplace(type.addr);
    if (!isNew)
        return entry->second;
    std::vector<TypeMember> members;
    Dwarf_Die child;
    for (int more = dwarf_child(&type, &child); more == 0 && members.size() < kMostMembers;
         more = dwarf_siblingof(&child, &child)) {
        const int tag = dwarf_tag(&child);
        Dwarf_Attribute attribute;
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance)
            || dwarf_attr(&child, DW_AT_external, &attribute) != nullptr
            || dwarf_attr(&child, DW_AT_declaration, &attribute) != nullptr)
            continue;
        const auto offset = offsetOf(child);
        const auto itsType = typeOf(child);
        if (!offset || !itsType)
            continue;
        members.push_back({tag == DW_TAG_member ? dieName(child) : std::string_view(), *offset,
            bytesOf(*itsType), *itsType});
    }
    boundByNext(members);
    return members_[type.addr] = std::move(members);
}

std::string DwarfTypes::nameOf(Dwarf_Die type) const
{
    for (int i = 0; i < kMostTypedefs; ++i) {
        const int tag = dwarf_tag(&type);
        // A typedef of a named struct prints as the struct, or the same lock would have two names.
        if (tag == DW_TAG_typedef)
            if (auto inner = bare(type); inner && isStructTag(dwarf_tag(&*inner)) && !dieName(*inner).empty())
                type = *inner;
        const int itsTag = dwarf_tag(&type);
        if (isPointerTag(itsTag)) {
            const auto to = typeOf(type);
            return (to ? nameOf(*to) : "void") + (itsTag == DW_TAG_pointer_type ? " *" : " &");
        }
        const std::string_view name = dieName(type);
        if (!name.empty()) {
            const bool keyword = isStructTag(itsTag) && (kernel_ || itsTag == DW_TAG_union_type);
            const auto scope = scopes_ != nullptr ? scopes_->find(type.addr) : Scopes::const_iterator{};
            const bool scoped = scopes_ != nullptr && scope != scopes_->end();
            return (keyword ? keywordOf(itsTag) : "") + (scoped ? scope->second + "::" : "")
                + std::string(name);
        }
        const auto next = typeOf(type);
        if (itsTag == DW_TAG_array_type && next)
            return nameOf(*next) + "[]";
        if (!isAliasTag(itsTag) || !next)
            return isStructTag(itsTag) ? keywordOf(itsTag) + "<anonymous>" : "void";
        type = *next;
    }
    return "?";
}

bool DwarfTypes::isLock(Dwarf_Die type, LockType kind) const
{
    for (int i = 0; i < kMostTypedefs; ++i) {
        if (isLockType(kind, dieName(type)))
            return true;
        const auto next = isAliasTag(dwarf_tag(&type)) ? typeOf(type) : std::nullopt;
        if (!next)
            return false;
        type = *next;
    }
    return false;
}

struct DwarfTypes::Search {
    bool pointers = false; ///< instead of locks
    bool around = false;   ///< locks of any kind that cover the offset
    int64_t remainder = 0; ///< of the last one found: the offset from its start
    LockType kind = LockType::Spin;
    UnknownIndex index{};
    int looks = 0;
    std::vector<std::string> parts{};
    std::vector<MemberPath> found{};
};

std::vector<MemberPath> DwarfTypes::locksAt(Dwarf_Die type, int64_t offset, LockType kind, UnknownIndex index)
{
    Search one{.kind = kind, .index = index};
    search(one, type, offset, 0);
    return std::move(one.found);
}

std::vector<MemberPath> DwarfTypes::pointersAt(Dwarf_Die type, int64_t offset, UnknownIndex index)
{
    Search one{.pointers = true, .index = index};
    search(one, type, offset, 0);
    return std::move(one.found);
}

std::optional<LockAround> DwarfTypes::lockAround(Dwarf_Die type, int64_t offset)
{
    Search one{.around = true};
    search(one, type, offset, 0);
    if (one.found.empty())
        return std::nullopt;
    return LockAround{std::move(one.found.back()), one.remainder};
}

bool DwarfTypes::isAnyLock(Dwarf_Die type) const
{
    if (!kernel_)
        return isLock(type, LockType::AnyUser) || isLock(type, LockType::UserSemaphore);
    for (const LockType kind : {LockType::Spin, LockType::ReaderWriter, LockType::Mutex,
             LockType::RwSemaphore, LockType::Semaphore, LockType::RtMutex, LockType::PerCpuRwSemaphore})
        if (isLock(type, kind))
            return true;
    return false;
}

/// A lock class of the program's own is the lock, not the member that it sleeps on.
bool DwarfTypes::isOwnLock(Dwarf_Die type)
{
    const auto structure = kernel_ ? std::nullopt : bare(type);
    return structure && isStruct(*structure) && isWrappedLock(*structure, LockType::AnyUser);
}

void DwarfTypes::search(Search& search, Dwarf_Die type, int64_t offset, int depth)
{
    if (depth > kMostDepth || search.found.size() >= kMostFound || ++search.looks > kMostLooks)
        return;
    if (search.around && offset >= 0 && offset < bytesOf(type) && (isAnyLock(type) || isOwnLock(type))) {
        search.remainder = offset;
        search.found.push_back({search.parts, type});
        return;
    }
    if (!search.pointers && !search.around && offset == 0 && isLock(type, search.kind)) {
        search.found.push_back({search.parts, type});
        return;
    }
    auto bareType = bare(type);
    if (!bareType)
        return;
    const int tag = dwarf_tag(&*bareType);
    if (tag == DW_TAG_array_type)
        return searchArray(search, *bareType, offset, depth);
    if (search.pointers && offset == 0 && isPointerTag(tag)) {
        search.found.push_back({search.parts, *bareType});
        return;
    }
    if (!isStructTag(tag))
        return;
    const size_t before = search.found.size();
    searchMembers(search, *bareType, offset, depth);
    // A lock of the program's own is the lock, not what it is made of.
    if (!search.pointers && !search.around && search.found.size() == before + 1
        && isWrappedLock(*bareType, search.kind))
        search.found.back() = {search.parts, type};
}

bool DwarfTypes::isWrappedLock(Dwarf_Die structure, LockType kind)
{
    if (!isUserKind(kind) || !isLockName(dieName(structure)))
        return false;
    return std::ranges::count_if(membersOf(structure), [&](const TypeMember& member) {
        return isLock(member.type, kind) || isStruct(member.type);
    }) <= 1;
}

void DwarfTypes::searchMembers(Search& search, Dwarf_Die structure, int64_t offset, int depth)
{
    for (const TypeMember& member : membersOf(structure)) {
        // Flexible arrays have no size and reach to wherever the object ends.
        bool flexible = false;
        if (member.bytes <= 0) {
            auto inner = bare(member.type);
            flexible = inner && dwarf_tag(&*inner) == DW_TAG_array_type;
        }
        if (offset < member.offset || (!flexible && offset - member.offset >= member.bytes))
            continue;
        if (!member.name.empty())
            search.parts.emplace_back(member.name);
        this->search(search, member.type, offset - member.offset, depth + 1);
        if (!member.name.empty())
            search.parts.pop_back();
    }
}

void DwarfTypes::searchArray(Search& search, Dwarf_Die array, int64_t offset, int depth)
{
    const auto element = typeOf(array);
    const int64_t bytes = element ? bytesOf(*element) : -1;
    if (bytes <= 0 || offset < 0)
        return;
    // A known stride has to be that of the array, or the index is one into something else.
    const UnknownIndex& index = search.index;
    if (index.present && index.stride > 1 && !search.pointers && index.stride != bytes)
        return;
    const std::string text = index.present ? "[*]" : fmt::format("[{}]", offset / bytes);
    const bool alone = search.parts.empty();
    std::string before;
    if (alone) {
        search.parts.push_back(text);
    } else {
        before = search.parts.back();
        search.parts.back() += text;
    }
    this->search(search, *element, offset % bytes, depth + 1);
    if (alone)
        search.parts.pop_back();
    else
        search.parts.back() = before;
}

void DwarfTypes::addOffsets(
    const void* inner, Dwarf_Die outer, int64_t base, int depth, std::vector<int64_t>& offsets)
{
    constexpr int kMostNesting = 5;
    constexpr size_t kMostOffsets = 64;
    if (depth > kMostNesting || offsets.size() >= kMostOffsets || !isStruct(outer))
        return;
    const auto bareOuter = bare(outer);
    for (const TypeMember& member : membersOf(*bareOuter)) {
        const auto type = bare(member.type);
        if (!type)
            continue;
        if (type->addr == inner)
            offsets.push_back(base + member.offset);
        else
            addOffsets(inner, *type, base + member.offset, depth + 1, offsets);
    }
}

std::vector<int64_t> DwarfTypes::offsetsOf(Dwarf_Die inner, Dwarf_Die outer)
{
    std::vector<int64_t> offsets;
    if (const auto bareInner = bare(inner); bareInner && isStruct(*bareInner))
        addOffsets(bareInner->addr, outer, 0, 0, offsets);
    return offsets;
}

} // namespace whichlock
