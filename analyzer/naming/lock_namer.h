// SPDX-License-Identifier: GPL-3.0-or-later
// Names the lock that a call site takes, out of one module's machine code and DWARF.
#pragma once

#include "analyzer/naming/backward_slice.h"
#include "analyzer/naming/lock_calls.h"
#include "analyzer/naming/lock_name.h"

#include <list>
#include <span>

namespace whichlock {

class LockNamer;

/// A call in a chain.
struct ChainSite {
    LockNamer* module = nullptr; ///< never null in a chain
    uint64_t address = 0;        ///< in the call instruction
};

/// A module that is ready for questions. MT: one thread; only plain structs leave it.
class LockNamer {
public:
    struct Options {
        bool evidence = false;                ///< instructions and values of each step; costs time
        const LockEntries* entries = nullptr; ///< which routines take locks; null = the built-in ones
    };

    static Result<std::unique_ptr<LockNamer>> open(const ModuleFiles& files, Options options);
    static Result<std::unique_ptr<LockNamer>> open(const ModuleFiles& files)
    {
        return open(files, Options());
    }
    ~LockNamer();

    const ModuleImage& image() const { return *image_; }
    /// All direct calls of lock routines in the module, by address, without those in lock routines
    /// themselves.
    std::vector<LockCall> findCalls() const;
    /// The call of a lock routine at an address, which may lie anywhere in the call.
    std::optional<LockCall> callAt(uint64_t address);
    /// The call at an address of a method of a class that calls itself a lock, whatever the method does.
    std::optional<LockCall> ownLockCallAt(uint64_t address);

    /// The lock that a call site takes; nothing if no lock routine is called there. `callSite` lies in the
    /// call instruction: a return address less one.
    std::optional<LockName> nameAt(uint64_t callSite);
    LockName nameCall(const LockCall& call);
    /// The lock that is taken at the end of a chain of calls. `callSites` are addresses in the call
    /// instructions, from the call of the lock routine outwards. What only passes a lock on gets the name
    /// that its caller has for it, through as many frames as there are, of whatever module. Where no lock
    /// routine is called, but methods of a class that calls itself a lock, its object is the lock.
    static std::optional<LockName> nameOfChain(std::span<const ChainSite> callSites);
    /// The same for call sites that are all of this module.
    std::optional<LockName> nameOfChain(std::span<const uint64_t> callSites);

    /// The function of a call site and those inlined into it, innermost first; only names.
    std::vector<std::string> functionsAt(uint64_t callSite);
    /// The function around an address, kept until trim(); null if the debug info has none.
    FunctionModel* functionAt(uint64_t address);
    DwarfTypes& types();
    /// Frees what was kept of functions and units that are not used any more.
    void trim();

private:
    struct Unit;
    struct State;
    struct Named;
    explicit LockNamer(std::unique_ptr<ModuleImage> image, Options options);
    Unit* unitAt(uint64_t address);
    Named nameIn(FunctionModel& function, uint64_t callSite, const SymbolicValue& value, LockType kind);
    static std::optional<LockName> nameOfOwnLock(std::span<const ChainSite> callSites);
    static std::optional<LockName> nameInCalled(std::span<const ChainSite> callSites);
    std::optional<SymbolicValue> passedBy(FunctionModel& caller, uint64_t callerSite, FunctionModel& called,
        uint64_t callSite, const SymbolicValue& value);
    static void setName(const Named& named, LockName& result);
    LockName nameThroughFrames(const LockCall& call, std::span<const ChainSite> callers);

    std::unique_ptr<ModuleImage> image_;
    Options options_;
    std::unique_ptr<State> state_;
};

} // namespace whichlock
