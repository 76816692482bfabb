// SPDX-License-Identifier: GPL-3.0-or-later
// The routines through which locks are taken: which argument is the lock, and what types such a lock has.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whichlock {

/// What a routine takes. The type of an object has to fit, so that no other object gets a lock's name.
enum class LockType : uint8_t {
    Spin,
    ReaderWriter,
    Mutex,
    RwSemaphore,
    Semaphore,
    RtMutex,
    PerCpuRwSemaphore,
    UserMutex, ///< of pthreads, C and C++
    UserReaderWriter,
    UserSpin,
    UserSemaphore,
    AbseilMutex,
    AnyUser, ///< what guards of C++ take: any of those above
    Futex,   ///< the word below a lock of the C library
    OwnLock, ///< a class of the program's own that calls itself a lock
};

enum class LockSide : uint8_t { Exclusive, Shared };

/// A routine that takes a lock.
struct LockEntry {
    LockType kind = LockType::Spin;
    LockSide side = LockSide::Exclusive;
    uint8_t argument = 0; ///< which one points to the lock, counted from 0
    bool tries = false;   ///< does not wait
    bool wraps = false;   ///< a wrapper of the C++ library or a slow path: calls in it tell nothing
};

class RoutineTable;
struct Routine;

/// The routines of a table that take locks, by the names that linkers have. MT: safe once built.
class LockEntries {
public:
    /// The table has to outlive it.
    explicit LockEntries(const RoutineTable& routines);
    /// Those of the built-in table.
    static const LockEntries& builtIn();

    /// The routine of that symbol; nothing if it takes no lock.
    std::optional<LockEntry> find(std::string_view symbol, bool kernel) const;

private:
    struct Pattern {
        std::string_view text; ///< `*` stands for any text, `?` for any character
        LockEntry entry{};
    };
    void add(const Routine& row, const LockEntry& entry);

    std::unordered_map<std::string_view, LockEntry> exact_[2]; ///< of programs, of kernels
    std::vector<Pattern> patterns_;                            ///< of programs
    std::unordered_map<std::string_view, LockEntry> readable_; ///< of the user: `ns::Class::method`
};

/// The routine of that symbol by the built-in table.
std::optional<LockEntry> lockEntryOf(std::string_view symbol, bool kernel);

/// Whether a type of this name is a lock that routines of the kind take.
bool isLockType(LockType kind, std::string_view typeName);
/// Whether a type of a program calls itself a lock: `SpinLock`, `my_mutex_t`, `Mutex<int>`.
bool isLockName(std::string_view typeName);
/// Whether an inlined function is part of taking a lock, so that its own parameter's name tells nothing.
bool isLockPrimitive(std::string_view function, bool kernel);
/// Whether a struct holds a lock for whoever contains it, so that the container's name is the useful one.
bool isGenericOwner(std::string_view typeName, bool kernel);

/// Whether it is a lock of programs, not of kernels.
constexpr bool isUserKind(LockType kind)
{
    return kind >= LockType::UserMutex;
}

std::string_view lockKindName(LockType kind);

} // namespace whichlock
