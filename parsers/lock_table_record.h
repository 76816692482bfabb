// SPDX-License-Identifier: GPL-3.0-or-later
// Tables in which another tool has already added up what it saw of locks: /proc/lock_stat, lockmeter, perf
// lock, klockstat. Times in ns. What a table does not print is absent, never zero.
#pragma once

#include "parsers/fixed_point.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace whichlock {

/// What the rows of a table are told apart by.
enum class LockTableKey : uint8_t {
    Lock,   ///< by the lock, or by its class
    Site,   ///< by where it was taken: two rows may be one lock, one row may be several
    Thread, ///< by who waited, or who was waited for
    Group,  ///< by control group
};

/// What was added up over the events of one kind.
struct LockTimes {
    std::optional<uint64_t> totalNs{};
    std::optional<uint64_t> minNs{};
    std::optional<uint64_t> maxNs{};
    std::optional<uint64_t> meanNs{};

    auto operator<=>(const LockTimes&) const = default;
};

/// A place where a lock is taken, as part of a row.
struct LockTableSite {
    std::string function{}; ///< with offset where printed
    bool holder = false;    ///< others waited while it had the lock (the second list of lock_stat)
    std::optional<uint64_t> contentions{};
    LockTimes wait{};
    std::optional<Share> cpuShare{}; ///< see LockTableRow

    auto operator<=>(const LockTableSite&) const = default;
};

struct LockTableRow {
    std::string name{};   ///< of the lock, thread or group; empty: not printed
    bool nameCut = false; ///< the tool cut the name
    std::string side{};   ///< `read`, `write`, or empty
    std::string kind{};   ///< `spinlock`, `mutex`, as printed
    std::string site{};   ///< where it was taken, of tables by site and of locks that are known by it only
    std::string address{};
    int64_t tid = -1;
    std::optional<uint64_t> acquisitions{};
    std::optional<uint64_t> contentions{};
    std::optional<uint64_t> rejected{};    ///< calls that tried and did not wait
    std::optional<uint64_t> waitBounces{}; ///< contended from another processor than the last time
    std::optional<uint64_t> takeBounces{}; ///< taken on another processor than the last time
    LockTimes wait{};
    LockTimes hold{};
    std::optional<Share> cpuShare{};    ///< of the time of all processors: spent waiting for it
    std::optional<Share> utilisation{}; ///< of the time of the table: it was held
    std::vector<LockTableSite> sites{};
    std::vector<std::string> stack{}; ///< below the row, the nearest caller first
    uint64_t line = 0;

    auto operator<=>(const LockTableRow&) const = default;
};

/// One table, handed over whole.
struct LockTableRecord {
    LockTableKey key = LockTableKey::Lock;
    bool holdsOnly = false;    ///< it tells how long locks were held, nothing of waiting
    bool holders = false;      ///< of tables by thread: these were waited for
    bool givenBack = false;    ///< places are where locks were given back while others waited for them
    bool timesBroken = false;  ///< its clock is no clock: counts can be used, times cannot
    bool waitsDerived = false; ///< no sum of waiting is printed: it is number times mean
    std::optional<uint64_t> durationNs{};
    std::optional<LockTableRow> total{}; ///< as printed
    std::vector<LockTableRow> rows{};
    std::vector<std::string> warnings{}; ///< of the tool, about its own figures
    uint64_t rowsPrinted = 0;            ///< rows with figures, those of sites included

    auto operator<=>(const LockTableRecord&) const = default;
};

/// All content as bytes; equal for equal content.
std::string bytesOf(const LockTableRecord& record);

} // namespace whichlock
