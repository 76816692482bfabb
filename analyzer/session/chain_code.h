// SPDX-License-Identifier: GPL-3.0-or-later
// What the machine code tells about the chains of a recording: callers that frame pointers lost, and leaves
// that do nothing but wait. Each question is put to the symbolizer once.
#pragma once

#include "analyzer/symbols/address_space.h"
#include "analyzer/symbols/symbolizer.h"

#include <map>
#include <tuple>
#include <utility>

namespace whichlock {

/// MT: one thread.
class ChainCode {
public:
    ChainCode(Symbolizer& symbolizer, const AddressSpace& space)
        : symbolizer_(symbolizer)
        , space_(space)
    {
    }

    /// What lies between the innermost frame of a process and the return address that follows it in a chain.
    const CallGap& gap(ModuleId leaf, uint64_t leafOffset, ModuleId caller, uint64_t returnOffset);
    /// Whether the code at the innermost address of a chain only waits.
    bool waits(ModuleId module, uint64_t offset);

private:
    bool isProgramCode(ModuleId module) const;

    Symbolizer& symbolizer_;
    const AddressSpace& space_;
    std::map<std::tuple<uint32_t, uint64_t, uint32_t, uint64_t>, CallGap> gaps_;
    std::map<std::pair<uint32_t, uint64_t>, bool> waits_;
};

} // namespace whichlock
