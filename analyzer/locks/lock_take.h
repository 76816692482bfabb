// SPDX-License-Identifier: GPL-3.0-or-later
// How a function takes a lock, by the name of the kernel's routine that it calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace whichlock {

/// A way to take a lock, in the letters of kernel_locks.tsv.
struct LockTake {
    static constexpr char kAnyVariant = '*';

    char kind = 0;              ///< `s` spin lock, `m` mutex ...: see the head of the table
    char variant = kAnyVariant; ///< of spin locks: 0 plain, `i` irq, `v` irqsave, `b` bh

    bool operator==(const LockTake&) const = default;
};

/// The way of a routine or its slow path, as it stands in a profile, normalised; nothing for functions that
/// take no lock, that only try, or whose name does not tell the kind.
std::optional<LockTake> lockTakeOf(std::string_view routine);
/// The ways to take a lock of a kind as lock tools print it (`spinlock`, `rwsem` with the side `read`), each
/// of which may be meant; no side: both. Nothing for words that are no kind.
std::vector<LockTake> lockTakesOfKind(std::string_view kind, std::string_view side);

} // namespace whichlock
