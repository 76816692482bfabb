// SPDX-License-Identifier: GPL-3.0-or-later
// From the address of a lock in a recording to the variable that it is, or lies in.
#pragma once

#include "analyzer/session/lock_modules.h"
#include "analyzer/traces/trace_record.h"

#include <map>
#include <set>

namespace whichlock {

/// MT: one thread.
class LockVariables {
public:
    /// All three must outlive it.
    LockVariables(const AddressSpace& space, Symbolizer& symbolizer, LockModules& modules);

    /// The variable at an address of a process that lies `distance` bytes behind the code at `codeOffset`
    /// of a module.
    TracedVariable userVariable(uint64_t address, ModuleId module, uint64_t codeOffset, int64_t distance);
    /// The variable at an address of the recorded kernel.
    TracedVariable kernelVariable(uint64_t address);
    /// The calls that take the lock at this address name it so: a variable, or a member of a type. If each
    /// processor has its own, this tells where those of one processor are. Before any kernelVariable().
    void learnPerCpu(uint64_t address, const std::string& name, bool isVariable);

private:
    TracedVariable describe(ModuleId module, const ObjectName& object) const;
    void writeDown(uint64_t address, uint64_t inFile, ModuleId module, const TracedVariable& variable,
        const ResolvedObject& symbol, bool perCpu);
    TracedVariable perCpuVariable(ObjectNamer& objects, uint64_t address);
    std::vector<uint64_t> possibleOffsets(
        uint64_t address, const std::string& name, std::string ObjectName::*field);
    void settlePerCpu();

    const AddressSpace& space_;
    Symbolizer& symbolizer_;
    LockModules& modules_;
    ModuleId kernel_{};
    std::set<uint64_t> perCpuOffsets_; ///< from the addresses of the file to those of one processor
    std::map<std::string, std::map<uint64_t, uint64_t>> perCpuGuesses_; ///< by class and address: the offset
};

} // namespace whichlock
