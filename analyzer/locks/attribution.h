// SPDX-License-Identifier: GPL-3.0-or-later
// Splits the weight of a CPU profile by what it was spent on, and the waiting by lock.
// total = sum of categories + what was not listed, by construction and checked.
#pragma once

#include "analyzer/locks/candidates.h"
#include "analyzer/locks/classify.h"
#include "analyzer/locks/lock_take.h"

#include <array>
#include <span>

namespace whichlock {

/// How a lock got its name, strongest first; see ARCHITECTURE.md.
enum class Rung : uint8_t { NamedInData, Symbol, UserSymbol, Type, Table, SourceLine, CallSite, Unnamed };

std::string_view rungName(Rung rung);

/// Whether a lock of this rung has a name, and not only a place where it is taken.
constexpr bool isNamed(Rung rung)
{
    return rung < Rung::SourceLine;
}

/// Where a lock is waited for.
struct LockSite {
    std::string name;
    Weight weight;
    bool recovered = false;  ///< the chain lacked it: the call before the next return address names it
    bool calledFrom = false; ///< the place is in a function that this one called, and which is not known
};

/// One lock, or waiting whose lock cannot be named.
struct LockShare {
    std::string name; ///< of the lock; for unnamed ones the routine that waits or the call site
    Rung rung = Rung::Unnamed;
    std::string kind;               ///< primitive: spinlock, mutex, rwsem
    std::string basis;              ///< what the name rests on, in words: `table, 2.4 to 2.6.8`
    std::string expression{};       ///< of names by code: as the first call site sees the lock
    std::optional<bool> verified{}; ///< of names by code: that build ids prove which code that is
    Weight weight;
    std::vector<LockSite> sites; ///< heaviest first
};

/// A symbol of a category, over all objects.
struct SymbolShare {
    std::string symbol;
    std::string role; ///< main role, empty for ordinary functions
    Category category = Category::Busy;
    Weight weight;
};

struct Attribution {
    RecordingContext context;
    std::array<Weight, kCategories> byCategory{};
    std::vector<SymbolShare> lockSymbols; ///< lock functions: waiting, undecided, overhead; heaviest first
    std::vector<SymbolShare> idleSymbols;
    std::vector<SymbolShare> idleProbableSymbols;
    std::vector<SymbolShare> bounceSymbols;
    std::vector<SymbolShare> artefactSymbols;
    std::vector<SymbolShare> pauseLoops; ///< functions outside the tables whose samples wait in a loop
    std::vector<LockShare> locks;        ///< heaviest first; add up to the contention
    std::vector<Candidate> candidates;   ///< locks that unnamed waiting may be about, never an answer
    bool hasCallChains = false;

    const Weight& of(Category category) const { return byCategory[static_cast<size_t>(category)]; }
};

/// The lock that a table names for a call site.
struct SiteLock {
    std::string name;
    std::string basis; ///< `table, 2.6.8 (by header)`
};
/// The lock that a function takes, if a table knows it for the whole era that is known. The function may
/// have an offset (`dput+0x40`).
std::optional<SiteLock> lockOfSite(
    std::string_view function, const RoutineTable& routines, const RecordingContext& context);

/// How much of a name of the table of known kernels may be claimed for a place.
enum class NamesOf : uint8_t { All, MembersOnly /**< variables have been ruled out */ };
/// The lock that a kernel function takes by one of these kinds of calls, as the kernels that are known have
/// it.
std::optional<SiteLock> lockOfSite(std::string_view function, std::span<const LockTake> takes, NamesOf names,
    const RecordingContext& context);

/// Attributes one section of kind CpuProfile.
Attribution attribute(const Profile& profile, const Section& section, const RoutineTable& routines);

} // namespace whichlock
