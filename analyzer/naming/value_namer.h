// SPDX-License-Identifier: GPL-3.0-or-later
// From a value that points to a lock to the name of that lock. A name is given only where a type has a lock
// of the right kind exactly at the place that the value points to.
#pragma once

#include "analyzer/naming/function_model.h"

#include <set>

namespace whichlock {

/// How good a name is; what is at least `kFullName` needs no better one.
enum NameScore : int {
    kNoName = 0,
    kBareName = 10,       ///< a local pointer to a lock: says nothing of which
    kPrimitiveName = 12,  ///< a member as the lock routine itself sees it
    kUntypedName = 30,    ///< a symbol without type
    kContainerGuess = 33, ///< the one struct of the unit that fits
    kFunctionGuess = 35,  ///< the one variable of the function that fits
    kPointerGuess = 38,   ///< the one type that a `void *` may have
    kScopeGuess = 45,     ///< the one variable around the call that fits
    kHeldByPointer = 40,  ///< a member that points to a lock
    kStackName = 50,      ///< a local variable
    kHeldByGlobal = 55,   ///< a global that points to a lock
    kFullName = 60,       ///< a member of a struct; more the nearer the variable
    kGlobalName = 100,
};

/// A name for a lock, with what it rests on.
struct NameCandidate {
    int score = kNoName;
    std::string
        lockClass{}; ///< `struct inode::i_lock`, `init_mm.page_table_lock`; the same for all its call sites
    std::string expression{}; ///< as the caller sees it: `inode->i_lock`
    std::string owner{};      ///< the type that has the member; empty for globals
    std::string lockType{};
    int64_t offset = 0; ///< of the lock in `owner`, or in the variable

    bool isFull() const { return score >= kFullName; }
    /// Whether it says more than the name of a local pointer.
    bool isNamed() const { return score >= kUntypedName; }
};

/// An object that a value points into.
struct PointedObject {
    std::optional<Dwarf_Die> type{};
    int64_t offset = 0;
    std::string path{};   ///< of the object, or of the pointer to it
    std::string holder{}; ///< of pointers that members hold: `struct sock::sk_wq`
    bool pointer = false;
    bool global = false;
    bool guess = false;
    bool primitive = false; ///< reached through a variable of an inlined lock routine
    UnknownIndex index{};
    int quality = 0; ///< 5 for globals, down to 1
};

/// Names values of one function for one kind of lock. MT: one thread.
class ValueNamer {
public:
    ValueNamer(FunctionModel& function, DwarfTypes& types, LockType kind)
        : function_(function)
        , types_(types)
        , kind_(kind)
    {
    }

    /// The best name of what the value points to, as it is at an address; score 0 if there is none.
    NameCandidate name(const SymbolicValue& value, uint64_t address);
    /// The objects that the value points into.
    std::vector<PointedObject> objectsOf(const SymbolicValue& value, uint64_t address, int depth = 0);
    /// A name where a pointer without type may point to only one struct that has such a lock.
    NameCandidate guessPointer(const SymbolicValue& value, uint64_t address);

private:
    struct Parts;
    Parts partsOf(const SymbolicValue& value) const;
    void addGlobals(const Parts& parts, std::vector<PointedObject>& objects);
    void addLocated(const Parts& parts, uint64_t address, std::vector<PointedObject>& objects);
    void addTerm(
        const Parts& parts, TermId term, uint64_t address, int depth, std::vector<PointedObject>& objects);
    void addRegister(
        const Parts& parts, const Term& term, uint64_t address, std::vector<PointedObject>& objects);
    void addFrame(const Parts& parts, TermId base, uint64_t address, std::vector<PointedObject>& objects);
    void addLoad(const Parts& parts, const Term& term, uint64_t address, int depth,
        std::vector<PointedObject>& objects);
    std::string holderOf(const PointedObject& object, const MemberPath& member) const;
    void addPointer(Dwarf_Die type, PointedObject object, std::vector<PointedObject>& objects);
    void addAnyPointee(PointedObject object, std::vector<PointedObject>& objects);
    void addVariablePointer(const VariableLocation& location, int64_t constant, const UnknownIndex& index,
        std::vector<PointedObject>& objects);
    NameCandidate nameOf(const PointedObject& object, const MemberPath& lock) const;
    std::vector<MemberPath> locksOf(const PointedObject& object);

    FunctionModel& function_;
    DwarfTypes& types_;
    LockType kind_;
    bool guessing_ = false;
};

} // namespace whichlock
