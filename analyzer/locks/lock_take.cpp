// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/lock_take.h"

#include <algorithm>
#include <array>

namespace whichlock {
namespace {

struct Stem {
    std::string_view name;
    char kind;
};

// Longer stems before those that they begin with.
constexpr Stem kStems[] = {
    {"native_queued_spin_lock", 's'},
    {"pv_queued_spin_lock", 's'},
    {"queued_spin_lock", 's'},
    {"ticket_spin_lock", 's'},
    {"preempt_spin_lock", 's'},
    {"do_raw_spin_lock", 's'},
    {"raw_spin_lock", 's'},
    {"arch_spin_lock", 's'},
    {"spin_lock", 's'},
    {"queued_read_lock", 'r'},
    {"raw_read_lock", 'r'},
    {"read_lock", 'r'},
    {"queued_write_lock", 'w'},
    {"preempt_write_lock", 'w'},
    {"raw_write_lock", 'w'},
    {"write_lock", 'w'},
    {"mutex_lock", 'm'},
    {"mutex_spin_on_owner", 'm'},
    {"mutex_optimistic_spin", 'm'},
    {"call_rwsem_down_read", 'R'},
    {"rwsem_down_read", 'R'},
    {"down_read", 'R'},
    {"call_rwsem_down_write", 'W'},
    {"rwsem_down_write", 'W'},
    {"down_write", 'W'},
    {"percpu_down_read", 'p'},
    {"percpu_down_write", 'P'},
    {"rt_mutex_lock", 't'},
    {"rt_mutex_slowlock", 't'},
    {"down", 'S'},
    {"lock_kernel", 'k'},
    {"atomic_dec_and_lock", 'd'},
    {"refcount_dec_and_lock", 'd'},
};

// What may follow a stem without changing what is taken.
constexpr std::array<std::string_view, 16> kWords = {"irq", "irqsave", "bh", "nested", "nest", "lock",
    "interruptible", "killable", "io", "timeout", "slowpath", "failed", "common", "wait", "queue", "flags"};

bool onlyKnownWords(std::string_view rest)
{
    while (!rest.empty()) {
        if (rest.front() != '_')
            return false;
        rest.remove_prefix(1);
        const size_t end = std::min(rest.find('_'), rest.size());
        if (std::find(kWords.begin(), kWords.end(), rest.substr(0, end)) == kWords.end())
            return false;
        rest.remove_prefix(end);
    }
    return true;
}

char variantOf(std::string_view rest)
{
    const auto has = [&](std::string_view word) { return rest.find(word) != std::string_view::npos; };
    if (has("slowpath") || has("failed"))
        return LockTake::kAnyVariant; // of whichever routine
    return has("_irqsave") ? 'v' : has("_irq") ? 'i' : has("_bh") ? 'b' : 0;
}

} // namespace

std::optional<LockTake> lockTakeOf(std::string_view routine)
{
    routine.remove_prefix(std::min(routine.find_first_not_of("_."), routine.size()));
    constexpr std::string_view kRefLock = "lockref_";
    if (routine.starts_with(kRefLock))
        return LockTake{'l', LockTake::kAnyVariant};
    for (const Stem& stem : kStems) {
        if (!routine.starts_with(stem.name))
            continue;
        const std::string_view rest = routine.substr(stem.name.size());
        if (!onlyKnownWords(rest))
            continue;
        const bool spins = stem.kind == 's' || stem.kind == 'r' || stem.kind == 'w';
        const bool anyOf = stem.name.starts_with("native") || stem.name.starts_with("pv_")
            || stem.name.starts_with("queued") || stem.name.starts_with("ticket")
            || stem.name.starts_with("do_") || stem.name.starts_with("arch")
            || stem.name.starts_with("preempt");
        return LockTake{stem.kind, spins && !anyOf ? variantOf(rest) : LockTake::kAnyVariant};
    }
    return std::nullopt;
}

std::vector<LockTake> lockTakesOfKind(std::string_view kind, std::string_view side)
{
    struct Kind {
        std::string_view name;
        std::string_view reads;
        std::string_view writes;
    };
    constexpr Kind kKinds[] = {{"spinlock", "s", "s"}, {"mutex", "m", "m"}, {"semaphore", "S", "S"},
        {"rwlock", "r", "w"}, {"rwsem", "R", "W"}, {"rt-mutex", "t", "t"}, {"pcpu-sem", "p", "P"},
        {"percpu-rwsem", "p", "P"}};
    std::vector<LockTake> takes;
    for (const Kind& one : kKinds) {
        if (one.name != kind)
            continue;
        if (side != "write")
            takes.push_back({one.reads.front(), LockTake::kAnyVariant});
        if (side != "read" && (takes.empty() || one.writes != one.reads))
            takes.push_back({one.writes.front(), LockTake::kAnyVariant});
    }
    return takes;
}

} // namespace whichlock
