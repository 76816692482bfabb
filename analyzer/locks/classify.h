// SPDX-License-Identifier: GPL-3.0-or-later
// Says for each stack of a CPU profile what its time was: waiting for a lock, the price of the calls, idle
// ... The rules stand in the comment head of data/lock_routines.tsv and in ARCHITECTURE.md.
#pragma once

#include "analyzer/locks/recording_context.h"
#include "analyzer/locks/weight.h"

#include <unordered_map>

namespace whichlock {

/// What CPU time was spent on. Every weight belongs to exactly one.
enum class Category : uint8_t {
    Idle,
    IdleProbable, ///< helpers that run nearly only when idle; busy in the main figure
    Contention,   ///< waiting for a lock on the CPU
    Undecided,    ///< a lock function whose loop may be inside: waiting or price of the call
    Overhead,     ///< lock calls and releases without waiting
    Bounce,       ///< atomics and trylocks: a shared cache line, no waiting
    Artefact,     ///< interrupts were enabled here; whose time it is cannot be told
    OtherWait,    ///< waiting for something else than a lock
    Busy,
};
constexpr size_t kCategories = 9;

std::string_view categoryName(Category category);

/// What the tables say about one symbol in this context.
struct SymbolFacts {
    const Routine* routine = nullptr; ///< the row that decided; null for an ordinary function
    Roles roles;                      ///< of all rows that are no site hints
    bool interruptEntry = false;
};

/// What one stack is.
struct StackClass {
    Category category = Category::Busy;
    const Routine* routine = nullptr; ///< the lock or idle routine that decided
    StackId leaf{};                   ///< the innermost frame, or the lock routine that it was inlined into
    StackId site{}; ///< the first frame outwards that is no lock routine; none if the stack ends before
    /// The site is where the chain goes on: the function that took the lock may be missing below it.
    bool siteBelowMissing = false;
    /// The innermost frame waits in a loop, though no table says that its function takes locks.
    bool unknownWaitLoop = false;
};

/// MT: one thread.
class Classifier {
public:
    Classifier(const Profile& profile, const Section& section, const RoutineTable& routines,
        const RecordingContext& context);

    StackClass classify(StackId stack);
    const SymbolFacts& factsOf(StringId symbol);

private:
    /// What stands beside a wrapper in this profile and decides whether its loop ran.
    struct Family {
        uint64_t wrappers = 0;
        uint64_t releases = 0;
        /// The loop was seen: out of line, or by the addresses of samples. The rest of the wrapper is no
        /// wait.
        bool slowPath = false;
        bool lockYield = false; ///< the hypervisor was called from within the wrapper's loop
    };

    void collectFamilies(const Section& section);
    Category categoryOfWrapper(const Routine& routine) const;
    Category categoryOfLeaf(const SymbolFacts& facts, bool waitLoop) const;
    StackId speakingFrame(StackId stack);
    bool isPartOfLockRoutine(StackId inlined);
    StackClass lockClass(Category category, const Routine* routine, StackId leaf, StackId from);
    StackId waitingAncestor(StackId leaf);
    bool underIdle(StackId leaf);

    const Profile& profile_;
    const RoutineTable& routines_;
    const RecordingContext& context_;
    std::unordered_map<uint32_t, SymbolFacts> facts_;
    std::unordered_map<std::string, Family> families_; ///< see familyOf(): queued locks with their plain ones
    bool printedOnly_ = false;                         ///< rows are known by their percentages
    bool outOfLineEra_ = false;                        ///< kernels whose spin locks wait out of line
};

} // namespace whichlock
