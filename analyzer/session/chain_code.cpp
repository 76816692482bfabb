// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/chain_code.h"

namespace whichlock {

/// Code of a process in a file. What the kernel maps for processes is called through pointers alone.
bool ChainCode::isProgramCode(ModuleId module) const
{
    return module && space_.module(module).kind == ModuleKind::File && !space_.module(module).guest;
}

const CallGap& ChainCode::gap(ModuleId leaf, uint64_t leafOffset, ModuleId caller, uint64_t returnOffset)
{
    const auto [entry, isNew] = gaps_.try_emplace({leaf.v, leafOffset, caller.v, returnOffset});
    if (isNew && isProgramCode(leaf) && isProgramCode(caller))
        entry->second =
            symbolizer_.callGap(space_.module(leaf), leafOffset, space_.module(caller), returnOffset);
    return entry->second;
}

bool ChainCode::waits(ModuleId module, uint64_t offset)
{
    const auto [entry, isNew] = waits_.try_emplace({module.v, offset});
    if (isNew && isProgramCode(module))
        entry->second = symbolizer_.isPauseLoop(space_.module(module), offset);
    return entry->second;
}

} // namespace whichlock
