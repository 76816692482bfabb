// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/lock_entries.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace whichlock {
namespace {

using enum LockType;
using enum LockSide;

struct Row {
    std::string_view pattern; ///< `*` stands for any text
    LockEntry entry;
};

constexpr LockEntry take(LockType kind, LockSide side = Exclusive, uint8_t argument = 0)
{
    return {.kind = kind, .side = side, .argument = argument};
}

constexpr LockEntry attempt(LockType kind, LockSide side = Exclusive, uint8_t argument = 0)
{
    return {.kind = kind, .side = side, .argument = argument, .tries = true};
}

/// Slow paths and methods of the library: what they call takes the same lock again.
constexpr LockEntry wrapper(LockType kind, LockSide side = Exclusive, uint8_t argument = 0)
{
    return {.kind = kind, .side = side, .argument = argument, .wraps = true};
}

constexpr Row kKernelRows[] = {
    {"_raw_spin_lock", wrapper(Spin)},
    {"_raw_spin_lock_irq", wrapper(Spin)},
    {"_raw_spin_lock_irqsave", wrapper(Spin)},
    {"_raw_spin_lock_bh", wrapper(Spin)},
    {"_raw_spin_lock_nested", wrapper(Spin)},
    {"_raw_spin_lock_nest_lock", wrapper(Spin)},
    {"_raw_spin_lock_irqsave_nested", wrapper(Spin)},
    {"_raw_spin_trylock", attempt(Spin)},
    {"_raw_spin_trylock_bh", attempt(Spin)},
    {"_spin_lock", wrapper(Spin)},
    {"_spin_lock_irq", wrapper(Spin)},
    {"_spin_lock_irqsave", wrapper(Spin)},
    {"_spin_lock_bh", wrapper(Spin)},
    {"_spin_trylock", attempt(Spin)},
    {"queued_spin_lock_slowpath", wrapper(Spin)},
    {"native_queued_spin_lock_slowpath", wrapper(Spin)},
    {"__pv_queued_spin_lock_slowpath", wrapper(Spin)},
    {"_raw_read_lock", wrapper(ReaderWriter, Shared)},
    {"_raw_read_lock_irq", wrapper(ReaderWriter, Shared)},
    {"_raw_read_lock_irqsave", wrapper(ReaderWriter, Shared)},
    {"_raw_read_lock_bh", wrapper(ReaderWriter, Shared)},
    {"_raw_read_trylock", attempt(ReaderWriter, Shared)},
    {"_raw_write_lock", wrapper(ReaderWriter)},
    {"_raw_write_lock_irq", wrapper(ReaderWriter)},
    {"_raw_write_lock_irqsave", wrapper(ReaderWriter)},
    {"_raw_write_lock_bh", wrapper(ReaderWriter)},
    {"_raw_write_lock_nested", wrapper(ReaderWriter)},
    {"_raw_write_trylock", attempt(ReaderWriter)},
    {"_read_lock", wrapper(ReaderWriter, Shared)},
    {"_read_lock_irq", wrapper(ReaderWriter, Shared)},
    {"_read_lock_irqsave", wrapper(ReaderWriter, Shared)},
    {"_read_lock_bh", wrapper(ReaderWriter, Shared)},
    {"_write_lock", wrapper(ReaderWriter)},
    {"_write_lock_irq", wrapper(ReaderWriter)},
    {"_write_lock_irqsave", wrapper(ReaderWriter)},
    {"_write_lock_bh", wrapper(ReaderWriter)},
    {"queued_read_lock_slowpath", wrapper(ReaderWriter, Shared)},
    {"queued_write_lock_slowpath", wrapper(ReaderWriter)},
    {"mutex_lock", wrapper(Mutex)},
    {"mutex_lock_interruptible", wrapper(Mutex)},
    {"mutex_lock_killable", wrapper(Mutex)},
    {"mutex_lock_io", wrapper(Mutex)},
    {"mutex_lock_nested", wrapper(Mutex)},
    {"mutex_lock_interruptible_nested", wrapper(Mutex)},
    {"mutex_lock_killable_nested", wrapper(Mutex)},
    {"mutex_lock_io_nested", wrapper(Mutex)},
    {"_mutex_lock_nest_lock", wrapper(Mutex)},
    {"mutex_trylock", attempt(Mutex)},
    {"ww_mutex_lock", wrapper(Mutex)},
    {"ww_mutex_lock_interruptible", wrapper(Mutex)},
    {"__mutex_lock_slowpath", wrapper(Mutex)},
    {"__mutex_lock_interruptible_slowpath", wrapper(Mutex)},
    {"__mutex_lock_killable_slowpath", wrapper(Mutex)},
    {"__mutex_lock", wrapper(Mutex)},
    {"down_read", wrapper(RwSemaphore, Shared)},
    {"down_read_killable", wrapper(RwSemaphore, Shared)},
    {"down_read_interruptible", wrapper(RwSemaphore, Shared)},
    {"down_read_nested", wrapper(RwSemaphore, Shared)},
    {"down_read_non_owner", wrapper(RwSemaphore, Shared)},
    {"down_read_killable_nested", wrapper(RwSemaphore, Shared)},
    {"down_read_trylock", attempt(RwSemaphore, Shared)},
    {"down_write", wrapper(RwSemaphore)},
    {"down_write_killable", wrapper(RwSemaphore)},
    {"down_write_nested", wrapper(RwSemaphore)},
    {"down_write_killable_nested", wrapper(RwSemaphore)},
    {"_down_write_nest_lock", wrapper(RwSemaphore)},
    {"down_write_trylock", attempt(RwSemaphore)},
    {"rwsem_down_read_slowpath", wrapper(RwSemaphore, Shared)},
    {"rwsem_down_write_slowpath", wrapper(RwSemaphore)},
    {"down", wrapper(Semaphore)},
    {"down_interruptible", wrapper(Semaphore)},
    {"down_killable", wrapper(Semaphore)},
    {"down_timeout", wrapper(Semaphore)},
    {"down_trylock", attempt(Semaphore)},
    {"rt_mutex_lock", wrapper(RtMutex)},
    {"rt_mutex_lock_interruptible", wrapper(RtMutex)},
    {"rt_mutex_lock_killable", wrapper(RtMutex)},
    {"rt_mutex_lock_nested", wrapper(RtMutex)},
    {"_rt_mutex_lock_nest_lock", wrapper(RtMutex)},
    {"rt_mutex_trylock", attempt(RtMutex)},
    {"rt_spin_lock", wrapper(RtMutex)},
    {"percpu_down_write", wrapper(PerCpuRwSemaphore)},
    {"percpu_down_read", wrapper(PerCpuRwSemaphore, Shared)},
    {"__percpu_down_read", wrapper(PerCpuRwSemaphore, Shared)},
};

/// Of C++ both kinds of constructors, C1 and C2; where `this` is a guard the lock is the next argument.
constexpr Row kUserRows[] = {
    {"pthread_mutex_lock", take(UserMutex)},
    {"__pthread_mutex_lock", take(UserMutex)},
    {"___pthread_mutex_lock", take(UserMutex)},
    {"pthread_mutex_trylock", attempt(UserMutex)},
    {"pthread_mutex_timedlock", take(UserMutex)},
    {"pthread_mutex_clocklock", take(UserMutex)},
    {"pthread_rwlock_rdlock", take(UserReaderWriter, Shared)},
    {"pthread_rwlock_wrlock", take(UserReaderWriter)},
    {"pthread_rwlock_timedrdlock", take(UserReaderWriter, Shared)},
    {"pthread_rwlock_timedwrlock", take(UserReaderWriter)},
    {"pthread_rwlock_clockrdlock", take(UserReaderWriter, Shared)},
    {"pthread_rwlock_clockwrlock", take(UserReaderWriter)},
    {"pthread_rwlock_tryrdlock", attempt(UserReaderWriter, Shared)},
    {"pthread_rwlock_trywrlock", attempt(UserReaderWriter)},
    {"pthread_spin_lock", take(UserSpin)},
    {"pthread_spin_trylock", attempt(UserSpin)},
    {"mtx_lock", take(UserMutex)},
    {"mtx_timedlock", take(UserMutex)},
    {"mtx_trylock", attempt(UserMutex)},
    {"sem_wait", take(UserSemaphore)},
    {"sem_timedwait", take(UserSemaphore)},
    {"_ZNSt5mutex4lockEv", wrapper(UserMutex)},
    {"_ZNSt15recursive_mutex4lockEv", wrapper(UserMutex)},
    {"_ZNSt11timed_mutex4lockEv", wrapper(UserMutex)},
    {"_ZNSt21recursive_timed_mutex4lockEv", wrapper(UserMutex)},
    {"_ZNSt12shared_mutex4lockEv", wrapper(UserReaderWriter)},
    {"_ZNSt12shared_mutex11lock_sharedEv", wrapper(UserReaderWriter, Shared)},
    {"_ZNSt18shared_timed_mutex4lockEv", wrapper(UserReaderWriter)},
    {"_ZNSt18shared_timed_mutex11lock_sharedEv", wrapper(UserReaderWriter, Shared)},
    {"_ZNSt22__shared_mutex_pthread4lockEv", wrapper(UserReaderWriter)},
    {"_ZNSt22__shared_mutex_pthread11lock_sharedEv", wrapper(UserReaderWriter, Shared)},
    {"_ZNSt5mutex8try_lockEv", {.kind = UserMutex, .tries = true, .wraps = true}},
    {"_ZNSt10lock_guardI*EC?ERS*_", wrapper(AnyUser, Exclusive, 1)},
    {"_ZNSt11unique_lockI*EC?ERS*_", wrapper(AnyUser, Exclusive, 1)},
    {"_ZNSt11shared_lockI*EC?ERS*_", wrapper(AnyUser, Shared, 1)},
    {"_ZNSt11scoped_lockIJ*EEC?ERS*_", wrapper(AnyUser, Exclusive, 1)},
    {"_ZNSt3__15mutex4lockEv", wrapper(UserMutex)},
    {"_ZNSt3__112shared_mutex4lockEv", wrapper(UserReaderWriter)},
    {"_ZNSt3__112shared_mutex11lock_sharedEv", wrapper(UserReaderWriter, Shared)},
    {"_ZNSt3__115recursive_mutex4lockEv", wrapper(UserMutex)},
    {"_ZN4absl*5Mutex4LockEv", wrapper(AbseilMutex)},
    {"_ZN4absl*5Mutex10ReaderLockEv", wrapper(AbseilMutex, Shared)},
    {"_ZN4absl*5Mutex7TryLockEv", {.kind = AbseilMutex, .tries = true, .wraps = true}},
    {"_ZN4absl*5Mutex13ReaderTryLockEv", {.kind = AbseilMutex, .side = Shared, .tries = true, .wraps = true}},
    {"_ZN4absl*5Mutex8LockSlowE*", wrapper(AbseilMutex)},
    {"_ZN4absl*9MutexLockC?EPNS*5MutexE", wrapper(AbseilMutex, Exclusive, 1)},
    {"_ZN4absl*15ReaderMutexLockC?EPNS*5MutexE", wrapper(AbseilMutex, Shared, 1)},
    {"_ZN4absl*15WriterMutexLockC?EPNS*5MutexE", wrapper(AbseilMutex, Exclusive, 1)},
    {"__lll_lock_wait", take(Futex)},
    {"__lll_lock_wait_private", take(Futex)},
};

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

template <size_t count> std::optional<LockEntry> find(const Row (&rows)[count], std::string_view symbol)
{
    constexpr size_t kMostSymbolBytes = 512;
    if (symbol.size() > kMostSymbolBytes)
        return std::nullopt;
    for (const Row& row : rows)
        if (row.pattern.substr(0, row.pattern.find('*')).size() == row.pattern.size()
                ? row.pattern == symbol
                : matches(row.pattern, symbol))
            return row.entry;
    return std::nullopt;
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

std::optional<LockEntry> lockEntryOf(std::string_view symbol, bool kernel)
{
    // Clones take what the routine takes, but maybe in other registers.
    return kernel ? find(kKernelRows, symbol) : find(kUserRows, symbol);
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
        return isLockName(name);
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
