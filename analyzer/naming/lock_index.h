// SPDX-License-Identifier: GPL-3.0-or-later
// Who takes which lock: all call sites of a module with their names, as plain rows.
#pragma once

#include "analyzer/naming/lock_name.h"
#include "parsers/result.h"

#include <functional>
#include <string_view>

namespace whichlock {

class LockNamer;
struct ModuleFiles;

/// One call site.
struct LockIndexRow {
    uint64_t callSite = 0;
    std::string routine{};
    std::string function{}; ///< that the code is in
    std::vector<std::string>
        inlined{};            ///< functions inlined there, the innermost first; without lock routines
    std::string lock{};       ///< the class, `A or B` if several come into question; empty = unnamed
    std::string expression{}; ///< of unnamed ones the local pointer
    LockType kind = LockType::Spin;
    LockSide side = LockSide::Exclusive;
    NameSource source = NameSource::Type;
    bool tries = false;
    bool tail = false;
    bool inferred = false;
    bool ambiguous = false;
    bool btf = false; ///< see LockName

    bool operator==(const LockIndexRow&) const = default;
};

/// All call sites by address.
struct LockIndex {
    std::string buildId{}; ///< hex; empty if the file has none
    std::vector<LockIndexRow> rows{};
    uint64_t namedCount = 0;
    uint64_t withoutInfoCount = 0; ///< call sites in code that the debug info says nothing of

    bool operator==(const LockIndex&) const = default;
};

/// Called now and then, by one thread at a time, with the calls done and all.
using IndexProgress = std::function<void(uint64_t done, uint64_t all)>;

/// Names every direct call of a lock routine.
LockIndex buildLockIndex(LockNamer& namer, const IndexProgress& progress = {});
/// The same on several threads, each with handles of its own; equal for any number of them.
Result<LockIndex> buildLockIndex(const ModuleFiles& files, const LockEntries& entries, unsigned threads,
    const IndexProgress& progress = {});

/// Which rows are wanted.
struct LockIndexFilter {
    std::string function{}; ///< a whole name, of the function or one inlined; empty = all
    std::string lock{};     ///< any part of a lock's class or expression; empty = all

    bool takes(const LockIndexRow& row) const;
};

/// One lock with how much it is taken.
struct LockSummary {
    std::string lock{};
    std::string_view kind{};
    uint64_t functionCount = 0; ///< out of line
    uint64_t callSiteCount = 0;
};

/// The locks of the rows, those taken by most functions first.
std::vector<LockSummary> summariseLocks(const std::vector<LockIndexRow>& rows);

} // namespace whichlock
