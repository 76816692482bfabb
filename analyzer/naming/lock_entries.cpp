// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/lock_entries.h"

#include "analyzer/locks/routine_table.h"
#include "analyzer/symbols/demangle.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace whichlock {
namespace {

using enum LockType;
using enum LockSide;

struct KindWord {
    std::string_view word;
    LockType kind;
};

constexpr KindWord kKindWords[] = {{"spin", Spin}, {"rw", ReaderWriter}, {"mutex", Mutex},
    {"rwsem", RwSemaphore}, {"sem", Semaphore}, {"rtmutex", RtMutex}, {"percpu-rwsem", PerCpuRwSemaphore},
    {"user-mutex", UserMutex}, {"user-rw", UserReaderWriter}, {"user-spin", UserSpin},
    {"user-sem", UserSemaphore}, {"absl", AbseilMutex}, {"guard", AnyUser}, {"futex", Futex}};

/// The argument that is the lock; nothing if it is in no argument.
std::optional<uint8_t> argumentOf(std::string_view text)
{
    constexpr char kMostArguments = '5';
    if (text == "this")
        return uint8_t{0};
    if (text.size() != 1 || text[0] < '0' || text[0] > kMostArguments)
        return std::nullopt;
    return static_cast<uint8_t>(text[0] - '0');
}

bool waitsInside(const Routine& row)
{
    return row.roles.has(Role::AcquireWrapper) || row.roles.has(Role::SlowpathBlock)
        || row.roles.has(Role::SlowpathSpin);
}

/// `rwsem:read:try`.
std::optional<LockEntry> entryOf(const Routine& row)
{
    const auto argument = argumentOf(row.lockArg);
    if (!argument || !waitsInside(row))
        return std::nullopt;
    LockEntry entry{.argument = *argument};
    const std::string_view word = row.takes.substr(0, row.takes.find(':'));
    if (row.takes.empty() && row.fromUser) {
        entry.kind = OwnLock;
        entry.wraps = true;
        return entry;
    }
    const auto* kind = std::ranges::find(kKindWords, word, &KindWord::word);
    if (kind == std::end(kKindWords))
        return std::nullopt;
    entry.kind = kind->kind;
    entry.side = row.takes.find(":read") != std::string_view::npos ? Shared : Exclusive;
    entry.tries = row.takes.find(":try") != std::string_view::npos;
    // Slow paths, and methods of libraries: what they call takes the same lock again.
    entry.wraps = !isUserKind(entry.kind) ? !entry.tries : row.symbol.starts_with("_Z");
    return entry;
}

/// Patterns are short and have few stars: plain backtracking does.
bool matches(std::string_view pattern, std::string_view text)
{
    while (!pattern.empty()) {
        if (pattern.front() == '*') {
            pattern.remove_prefix(1);
            for (size_t skip = 0; skip <= text.size(); ++skip)
                if (matches(pattern, text.substr(skip)))
                    return true;
            return false;
        }
        if (text.empty() || (pattern.front() != '?' && pattern.front() != text.front()))
            return false;
        pattern.remove_prefix(1);
        text.remove_prefix(1);
    }
    return text.empty();
}

bool isOneOf(std::string_view name, std::initializer_list<std::string_view> names)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view without(std::string_view text, std::string_view prefix)
{
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

bool isKernelPrimitive(std::string_view name)
{
    while (name.starts_with('_'))
        name.remove_prefix(1);
    for (const std::string_view prefix : {"do_", "native_", "pv_", "virt_", "arch_", "queued_", "raw_"})
        name = without(name, prefix);
    while (name.starts_with('_'))
        name.remove_prefix(1);
    constexpr std::array<std::string_view, 7> kStems = {"spin_lock", "spin_trylock", "read_lock",
        "read_trylock", "write_lock", "write_trylock", "mutex_lock"};
    for (const std::string_view stem : kStems)
        if (name.starts_with(stem)
            && isOneOf(name.substr(stem.size()),
                {"", "_irqsave", "_irq", "_bh", "_nested", "_nest_lock", "_irqsave_nested", "_interruptible",
                    "_killable", "_io", "_flags", "_slowpath"}))
            return true;
    // What releases is inlined behind the call, and its parameter may live at the call already.
    constexpr std::array<std::string_view, 8> kReleases = {"spin_unlock", "read_unlock", "write_unlock",
        "mutex_unlock", "write_sequnlock", "read_sequnlock_excl", "up_read", "up_write"};
    if (std::ranges::any_of(kReleases, [&](std::string_view release) { return name.starts_with(release); }))
        return true;
    return name.starts_with("write_seqlock") || name.starts_with("read_seqlock_excl")
        || name.starts_with("down_read") || name.starts_with("down_write")
        || name.starts_with("mutex_trylock") || name == "spinlock_check" || name == "down"
        || name.starts_with("percpu_down_");
}

/// Whether a name speaks of locks: `SpinLock`, `my_lock`, `Mutex`, but not `Block`.
bool hasLockWord(std::string_view name)
{
    for (const std::string_view word : {"lock", "mutex", "Lock", "Mutex"}) {
        const size_t at = name.rfind(word);
        if (at != std::string_view::npos
            && (word.front() < 'a' || at == 0 || name[at - 1] == '_' || name[at - 1] == ':'))
            return true;
    }
    return false;
}

bool isUserPrimitive(std::string_view name)
{
    return isOneOf(name.substr(0, name.find('<')),
               {"lock", "lock_shared", "unlock", "unlock_shared", "Unlock", "ReaderUnlock", "try_lock",
                   "try_lock_shared", "lock_guard", "unique_lock", "scoped_lock", "shared_lock", "Lock",
                   "ReaderLock", "WriterLock", "MutexLock", "ReaderMutexLock", "WriterMutexLock", "call_once",
                   "forward", "move", "__lock_first", "addressof", "__addressof"})
        || name.starts_with("__gthread") || name.starts_with("__glibcxx_") || name.starts_with("__try_lock")
        || name.starts_with("_Lock") || name.starts_with("_S_") || name.starts_with('~')
        || name.starts_with("operator") || name.starts_with("_M_");
}

} // namespace

LockEntries::LockEntries(const RoutineTable& routines)
{
    for (const Routine& row : routines.rows())
        if (const auto entry = entryOf(row))
            add(row, *entry);
}

void LockEntries::add(const Routine& row, const LockEntry& entry)
{
    const bool anyKernel = row.isKernel() && !isUserKind(entry.kind);
    if (row.glob)
        patterns_.push_back({row.symbol, entry});
    else if (row.fromUser && row.symbol.find("::") != std::string_view::npos)
        readable_.emplace(row.symbol, entry);
    else
        exact_[anyKernel ? 1 : 0].emplace(row.symbol, entry); // rows of the user come first
    if (row.fromUser && !row.glob)
        exact_[1].emplace(row.symbol, entry); // nothing says which it is
}

const LockEntries& LockEntries::builtIn()
{
    static const LockEntries entries(RoutineTable::builtIn());
    return entries;
}

std::optional<LockEntry> LockEntries::find(std::string_view symbol, bool kernel) const
{
    // Clones take what the routine takes, but maybe in other registers: they are not looked up.
    const auto& known = exact_[kernel ? 1 : 0];
    if (const auto row = known.find(symbol); row != known.end())
        return row->second;
    constexpr size_t kMostSymbolBytes = 512;
    if (kernel || !symbol.starts_with("_Z") || symbol.size() > kMostSymbolBytes)
        return std::nullopt;
    for (const auto& [name, entry] : readable_) {
        const std::string_view method = name.substr(name.rfind("::") + 2);
        if (symbol.find(method) != std::string_view::npos && demangle(symbol) == name)
            return entry;
    }
    for (const Pattern& pattern : patterns_)
        if (matches(pattern.text, symbol))
            return pattern.entry;
    return std::nullopt;
}

std::optional<LockEntry> lockEntryOf(std::string_view symbol, bool kernel)
{
    return LockEntries::builtIn().find(symbol, kernel);
}

bool isLockType(LockType kind, std::string_view name)
{
    switch (kind) {
    case Spin:
        return isOneOf(name,
            {"spinlock_t", "spinlock", "raw_spinlock", "raw_spinlock_t", "arch_spinlock_t", "qspinlock"});
    case ReaderWriter:
        return isOneOf(name, {"rwlock_t", "qrwlock", "arch_rwlock_t"});
    case Mutex:
        return name == "mutex";
    case RwSemaphore:
        return name == "rw_semaphore";
    case Semaphore:
        return name == "semaphore";
    case RtMutex:
        return isOneOf(name, {"rt_mutex", "rt_mutex_base"});
    case PerCpuRwSemaphore:
        return name == "percpu_rw_semaphore";
    case UserMutex:
        return isOneOf(name,
            {"pthread_mutex_t", "mutex", "recursive_mutex", "timed_mutex", "recursive_timed_mutex", "mtx_t"});
    case UserReaderWriter:
        return isOneOf(name, {"pthread_rwlock_t", "shared_mutex", "shared_timed_mutex"});
    case UserSpin:
        return name == "pthread_spinlock_t";
    case UserSemaphore:
        return name == "sem_t";
    case AbseilMutex:
        return name == "Mutex";
    case OwnLock:
        return isLockName(name) || isLockType(AnyUser, name);
    case AnyUser:
        return isLockType(UserMutex, name) || isLockType(UserReaderWriter, name) || isLockType(UserSpin, name)
            || isLockType(AbseilMutex, name);
    case Futex:
        return isOneOf(name,
            {"__libc_lock_t", "_IO_lock_t", "int", "__rtld_lock_recursive_t", "__libc_lock_recursive_t",
                "pthread_mutex_t", "pthread_rwlock_t"});
    }
    return false;
}

bool isLockPrimitive(std::string_view function, bool kernel)
{
    return kernel ? isKernelPrimitive(function) : isUserPrimitive(function);
}

bool isLockName(std::string_view typeName)
{
    typeName = typeName.substr(0, typeName.find('<'));
    if (typeName.ends_with("_t"))
        typeName.remove_suffix(2);
    return (typeName.ends_with("ock") || typeName.ends_with("utex")) && hasLockWord(typeName);
}

bool isGenericOwner(std::string_view typeName, bool kernel)
{
    if (kernel)
        return isOneOf(without(typeName, "struct "),
            {"wait_queue_head", "swait_queue_head", "sk_buff_head", "xarray", "klist", "request_sock_queue",
                "completion", "percpu_counter", "blocking_notifier_head", "atomic_notifier_head",
                "list_lru_node", "lockref", "ida", "idr", "ptr_ring", "semaphore", "mutex", "rw_semaphore",
                "percpu_rw_semaphore", "seqlock_t", "radix_tree_root", "kfifo", "ratelimit_state"});
    return typeName.starts_with("std::") || hasLockWord(typeName);
}

std::string_view lockKindName(LockType kind)
{
    switch (kind) {
    case Spin:
        return "spinlock";
    case ReaderWriter:
        return "rwlock";
    case Mutex:
        return "mutex";
    case RwSemaphore:
        return "rwsem";
    case Semaphore:
        return "semaphore";
    case RtMutex:
        return "rtmutex";
    case PerCpuRwSemaphore:
        return "percpu-rwsem";
    case UserMutex:
    case AbseilMutex:
    case AnyUser:
        return "mutex";
    case UserReaderWriter:
        return "rwlock";
    case UserSpin:
        return "spinlock";
    case UserSemaphore:
        return "semaphore";
    case Futex:
        return "futex";
    case OwnLock:
        return "lock";
    }
    return "lock";
}

} // namespace whichlock
