// SPDX-License-Identifier: GPL-3.0-or-later
// Types as DWARF describes them: what lies where in them, and how they are called.
#pragma once

#include "analyzer/naming/lock_entries.h"

#include <elfutils/libdw.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace whichlock {

/// The name of a DIE, also where it is a copy of another one; empty if it has none.
std::string_view dieName(Dwarf_Die die);
/// The DIE that an attribute refers to, as DW_AT_type.
std::optional<Dwarf_Die> referredDie(Dwarf_Die die, unsigned attribute);
/// The type of a variable, member, function's result or pointer.
std::optional<Dwarf_Die> typeOf(Dwarf_Die die);

/// A member with its place.
struct TypeMember {
    std::string_view name; ///< empty for bases and anonymous members
    int64_t offset = 0;
    int64_t bytes = -1; ///< -1 = unknown
    Dwarf_Die type{};
};

/// What was found at an offset of a type.
struct MemberPath {
    std::vector<std::string> parts; ///< `a`, `b[3]`; an array itself gives `[3]`
    Dwarf_Die type{};

    /// The parts as they follow a variable: `.a.b[3]`, or `->a.b[3]` behind a pointer.
    std::string behind(bool pointer) const;
    /// The parts as they follow a type: `a.b[3]`.
    std::string joined() const;
    bool hasMember() const;
};

/// The lock around a byte of an object.
struct LockAround {
    MemberPath path{};
    int64_t offset = 0; ///< of the byte from the start of the lock
};

/// An index into arrays on the way to a member that is not known.
struct UnknownIndex {
    bool present = false;
    int64_t stride = 0; ///< bytes from one element to the next; 0 = not known either
};

/// Reads types through one libdw handle, and remembers members and sizes by DIE. MT: one thread.
class DwarfTypes {
public:
    explicit DwarfTypes(bool kernel)
        : kernel_(kernel)
    {
    }

    /// Where the definition of a declared type is found: types of the unit by name.
    using Completion = std::unordered_map<std::string_view, Dwarf_Die>;
    /// The enclosing namespaces and classes of a type by the address of its DIE.
    using Scopes = std::unordered_map<const void*, std::string>;
    void setUnit(const Completion* completion, const Scopes* scopes)
    {
        completion_ = completion;
        scopes_ = scopes;
    }
    /// Forgets what was read.
    void clear();

    /// The type without typedefs and qualifiers, and with its definition; nothing for void.
    std::optional<Dwarf_Die> bare(Dwarf_Die type) const;
    /// What a pointer or reference points to.
    std::optional<Dwarf_Die> pointee(Dwarf_Die type) const;
    bool isPointer(Dwarf_Die type) const;
    bool isStruct(Dwarf_Die type) const;
    /// -1 if unknown.
    int64_t bytesOf(Dwarf_Die type);
    const std::vector<TypeMember>& membersOf(Dwarf_Die type);
    /// As people write it: `struct inode` in kernels, `ns::Shard` elsewhere.
    std::string nameOf(Dwarf_Die type) const;

    /// The locks of a kind that begin exactly at an offset of a type.
    std::vector<MemberPath> locksAt(Dwarf_Die type, int64_t offset, LockType kind, UnknownIndex index);
    /// The lock, of any kind, that a byte of a type belongs to.
    std::optional<LockAround> lockAround(Dwarf_Die type, int64_t offset);
    /// The pointers that are stored exactly at an offset of a type.
    std::vector<MemberPath> pointersAt(Dwarf_Die type, int64_t offset, UnknownIndex index);
    /// The offsets at which a type holds another one by value.
    std::vector<int64_t> offsetsOf(Dwarf_Die inner, Dwarf_Die outer);
    bool isLock(Dwarf_Die type, LockType kind) const;

private:
    struct Search;
    void search(Search& search, Dwarf_Die type, int64_t offset, int depth);
    void searchMembers(Search& search, Dwarf_Die structure, int64_t offset, int depth);
    bool isAnyLock(Dwarf_Die type) const;
    bool isOwnLock(Dwarf_Die type);
    bool isWrappedLock(Dwarf_Die structure, LockType kind);
    void searchArray(Search& search, Dwarf_Die array, int64_t offset, int depth);
    void addOffsets(
        const void* inner, Dwarf_Die outer, int64_t base, int depth, std::vector<int64_t>& offsets);

    bool kernel_ = false;
    const Completion* completion_ = nullptr;
    const Scopes* scopes_ = nullptr;
    std::unordered_map<const void*, std::vector<TypeMember>> members_;
    std::unordered_map<const void*, int64_t> sizes_;
};

} // namespace whichlock
