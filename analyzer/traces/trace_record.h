// SPDX-License-Identifier: GPL-3.0-or-later
// Gives the result of an analysis its names, and brings it into a fixed order: what goes into a profile.
#pragma once

#include "analyzer/locks/kernel_locks.h"
#include "analyzer/traces/trace_analysis.h"
#include "parsers/lock_trace_record.h"

namespace whichlock {

/// The variable that a word of user space is, or lies in.
struct TracedVariable {
    std::string name{}; ///< empty: no symbol covers the word
    uint64_t offset = 0;
    std::string object{};
    bool verified = false;
};

/// The lock that a call takes, as the code of the call site tells it.
struct TracedCall {
    std::string lock{}; ///< empty: it does not tell; `A or B` if it may be either
    std::string expression{};
    std::string kind{};    ///< of the routine: `mutex`, `rwsem`
    bool variable = false; ///< a variable at a fixed address
    bool verified = false;
    bool btf = false; ///< by the types of BTF
};

/// Who knows names, once the recording is over.
class TraceNames {
public:
    virtual ~TraceNames() = default;

    /// The function that waits with that stack; empty when the stack does not tell.
    virtual TracedPlace siteOf(TraceStackId stack) = 0;
    /// The function that gives a lock back with that stack, or that took it.
    virtual TracedPlace holderSiteOf(TraceStackId stack) = 0;
    /// The outermost function of a sleep that is worth a name.
    virtual std::string sleepOf(TraceStackId stack) = 0;
    virtual TracedVariable variableOf(const TraceProcess& process, uint64_t address) = 0;
    /// The lock that is taken at the site of a stack.
    virtual TracedCall lockOf(TraceStackId) { return {}; }
    /// The variable of the kernel at an address.
    virtual TracedVariable kernelVariable(uint64_t) { return {}; }
    /// Tells, before any kernelVariable(), what calls say of the lock at an address of the kernel.
    virtual void learn(uint64_t, const TracedCall&) { }
    /// What the kernel's function that waits with that stack takes in kernels that are known.
    virtual std::optional<KernelLock> kernelLockOf(TraceStackId) { return std::nullopt; }
};

/// The record of a trace; `analysis` must have passed its check().
LockTraceRecord traceRecord(const TraceAnalysis& analysis, TraceNames& names);

} // namespace whichlock
