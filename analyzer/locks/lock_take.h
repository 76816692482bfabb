// SPDX-License-Identifier: GPL-3.0-or-later
// How a function takes a lock, by the name of the kernel's routine that it calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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

} // namespace whichlock
