// SPDX-License-Identifier: GPL-3.0-or-later
// Look-up of lock routines, idle functions, wait reasons and call sites by symbol name.
// What the columns and roles mean stands at the head of analyzer/locks/data/lock_routines.tsv.
#pragma once

#include "analyzer/locks/arch.h"
#include "analyzer/locks/lock_use.h"
#include "analyzer/locks/lookup_context.h"
#include "analyzer/locks/roles.h"
#include "parsers/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// One row of the table. The views live as long as the table (or a copy of it).
struct Routine {
    std::string_view symbol;
    bool glob = false;
    std::string_view os;
    ArchSet arch;
    Era era;                  ///< of the kernel if isKernel(), else of the library
    std::string_view eraNote; ///< what the era cannot say
    bool debugBuild = false;
    std::string_view subsystem;
    std::string_view primitive;
    Roles roles;
    Role mainRole{};
    std::string_view lockArg;
    std::vector<std::string_view> locks; ///< likeliest first
    bool candidatesOnly = false;         ///< none of the locks dominates
    std::string_view note;
    std::string_view takes; ///< the kind of lock that `lockArg` points to, for names out of code
    bool fromUser = false;

    bool isKernel() const { return subsystem.starts_with("linux-kernel"); }
    /// Not a lock routine: an ordinary function that is known to take `locks`.
    bool isSiteHint() const { return roles.has(Role::SiteHint); }
};

// MT: safe (immutable once built; copies share their rows)
/// The built-in table, with or without rows of the user in front of it.
class RoutineTable {
public:
    /// The table that is linked in; parsed at the first call.
    static const RoutineTable& builtIn();
    /// Reads a table; the views of its rows point into the text, which the table keeps a copy of.
    static Result<RoutineTable> parse(std::string_view fileName, std::string_view text);

    /// A table with the rows of a file of the user in front. An error names file, line and what is wrong.
    Result<RoutineTable> withUserFile(std::string_view fileName, std::string_view text) const;

    /// The same table beside what functions of a given kernel take.
    RoutineTable withLockUse(std::shared_ptr<const LockUse> use) const;
    /// Null if no kernel was given.
    const LockUse* lockUse() const { return use_.get(); }

    /// The rows that say what a symbol means, best first. It is looked up as written and normalised; built-in
    /// patterns only if no exact row fits. Rows that contradict the context are left out; without a known
    /// processor rows for all and for x86 count, and those of a symbol that exists on one processor only.
    std::vector<const Routine*> find(std::string_view symbol, const Context& context) const;
    /// All rows, those of the user first.
    const std::vector<Routine>& rows() const;

private:
    struct Data;
    explicit RoutineTable(std::shared_ptr<const Data> data);

    std::shared_ptr<const Data> data_;
    std::shared_ptr<const LockUse> use_;
};

} // namespace whichlock
