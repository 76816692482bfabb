// SPDX-License-Identifier: GPL-3.0-or-later
// The name of a lock at a call site, with all that it rests on.
#pragma once

#include "analyzer/naming/lock_entries.h"
#include "analyzer/symbols/source_frame.h"

#include <cstdint>
#include <string>
#include <vector>

namespace whichlock {

/// How a name was told, strongest first.
enum class NameSource : uint8_t {
    Symbol, ///< a variable at a fixed address
    Type,   ///< the type and member of what was passed
};

/// One instruction that the value came through.
struct EvidenceStep {
    uint64_t address = 0;
    std::string instruction{};
    std::string value{}; ///< what points to the lock before it
};

/// A call through which the lock was passed.
struct EvidenceFrame {
    uint64_t callSite = 0;
    std::string module{}; ///< the file of the code
    std::string function{};
    std::string value{};      ///< what points to the lock there: `rdi`
    std::string expression{}; ///< its name in this function alone; empty if it has none
    std::vector<EvidenceStep> steps{};
    uint64_t namedAt = 0;                 ///< the instruction at which the value could be named; 0 = nowhere
    std::string namedValue{};             ///< what points to the lock there
    std::vector<std::string> variables{}; ///< those that the value rests on there, with where DWARF has them
    std::string typePath{}; ///< `struct dentry +0x58: d_lockref.lock`, the place of the lock in its owner
};

/// What a name rests on, for people who want to check it.
struct LockEvidence {
    std::string routine{}; ///< that takes the lock
    std::string lockType{};
    std::string method{};                ///< `value`, or how it was inferred
    std::vector<EvidenceFrame> frames{}; ///< from the call of the routine outwards
};

/// A name. Empty texts are not known.
struct LockName {
    std::string lockClass{};                 ///< the same for all call sites: `struct dentry::d_lockref.lock`
    std::string expression{};                ///< as the caller sees it: `dentry->d_lockref.lock`
    std::vector<std::string> alternatives{}; ///< classes of other locks that it may be as well
    NameSource source = NameSource::Type;
    LockType kind = LockType::Spin;
    LockSide side = LockSide::Exclusive;
    bool tries = false;
    bool btf = false;              ///< the types are those of BTF, not of debug info
    bool inferred = false;         ///< from the one type that fits, not from the value itself
    bool dependsOnCallers = false; ///< another chain to the same call site may give another name
    size_t sitesUsed = 1;          ///< call sites of the chain that the name rests on
    LockEvidence evidence{};

    bool isNamed() const { return !lockClass.empty(); }
    /// The class, or `A or B` where several locks come into question.
    std::string text() const;
};

} // namespace whichlock
