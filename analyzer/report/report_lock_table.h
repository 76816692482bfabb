// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a table in which another tool has added up what it saw of locks: rows of one lock together,
// with their shares of all waiting in the table.
#pragma once

#include "analyzer/locks/attribution.h"
#include "parsers/lock_table_record.h"

#include <optional>
#include <string>
#include <vector>

namespace whichlock {

struct ReportTableSite {
    LockTableSite figures;
    std::optional<Share> ofThisLock; ///< of its waiting, or of its contentions where sites have no times
    std::optional<Share> ofListed;   ///< of the contentions of all sites in the same list
};

/// One side of a lock with readers and writers.
struct ReportTableSide {
    std::string side;
    std::optional<uint64_t> contentions;
    LockTimes wait;
    std::optional<Share> ofThisLock; ///< of its waiting
};

/// A lock; in tables by thread or group who waited, or who was waited for.
struct ReportTableLock {
    uint32_t id = 0; ///< place in the section, from one
    std::string name;
    Rung rung = Rung::Unnamed;
    std::string basis;                  ///< what the name rests on, in words; empty for threads and groups
    LockTableRow figures;               ///< of all its rows; without sites
    uint64_t rows = 0;                  ///< that it was added up from
    std::optional<Share> ofLock;        ///< of all waiting in the table
    std::vector<ReportTableSide> sides; ///< empty without readers and writers
    std::vector<ReportTableSite> sites; ///< as printed; holders apart, by their mark
};

struct ReportLockTable {
    LockTableRecord facts; ///< without its rows
    bool waitsKnown = false;
    uint64_t waitNs = 0;           ///< sum over the listed rows
    uint64_t unlistedNs = 0;       ///< of the printed total: in no row
    std::optional<Share> cpuShare; ///< of the time of all processors: spent waiting, as printed or listed
    bool cpuShareListed = false;   ///< the sum of the listed rows: at least that
    std::vector<ReportTableLock> locks;   ///< most waiting first; by place where they are taken, or by name
    std::vector<ReportTableLock> waiters; ///< rows of a table by thread or group
    std::vector<std::string> leftOut;     ///< sentences
};

} // namespace whichlock
