// SPDX-License-Identifier: GPL-3.0-or-later
// What a name rests on in one function, in words: instructions, variables, the place in the type.
#pragma once

#include "analyzer/naming/backward_slice.h"
#include "analyzer/naming/lock_name.h"

namespace whichlock {

/// A name with the slice that led to it; without its candidates.
struct SlicedName {
    const NameCandidate& name;
    const SliceResult& slice;
};

/// `value` is what points to the lock at the call site.
EvidenceFrame evidenceOf(FunctionModel& function, Disassembler& disassembler, uint64_t callSite,
    const SymbolicValue& value, const SlicedName& named);

} // namespace whichlock
