// SPDX-License-Identifier: GPL-3.0-or-later
// What was found out about locks while a recording got its names: filled only where somebody will ask.
#pragma once

#include "analyzer/naming/lock_name.h"

#include <optional>
#include <string>
#include <vector>

namespace whichlock {

/// The file that names of a module came from, or why there is none.
struct ModuleEvidence {
    std::string recordedPath{};
    std::string recordedBuildId{}; ///< hex; empty: none was recorded
    std::string code{};            ///< empty: no file may be used
    std::string debug{};
    bool verified = false;
    std::string problem{}; ///< why no lock is named from it; empty if they are
};

/// A call at which a lock is taken, with the name or without.
struct CallEvidence {
    ModuleEvidence module{};
    std::string function{}; ///< that calls
    uint64_t offset = 0;    ///< in the module as it was recorded
    std::optional<LockName> name{};
};

/// An address of a lock with the variable around it.
struct VariableEvidence {
    ModuleEvidence module{};
    uint64_t address = 0;       ///< as recorded
    uint64_t addressInFile = 0; ///< in the file's own terms
    std::string name{};         ///< of the variable with the member
    std::string symbol{};       ///< of the symbol table, with the offset in it
    bool perCpu = false;
};

struct EvidenceLog {
    std::vector<CallEvidence> calls{};
    std::vector<VariableEvidence> variables{};
};

} // namespace whichlock
