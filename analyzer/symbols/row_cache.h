// SPDX-License-Identifier: GPL-3.0-or-later
// Which row belongs to a byte of a module: an open addressed table that is nearly always hit at once.
#pragma once

#include "analyzer/symbols/mapped_module.h"
#include "analyzer/symbols/unwind_rows.h"

#include <vector>

namespace whichlock {

/// MT: one thread.
class RowCache {
public:
    RowCache()
        : slots_(kSmallest)
    {
    }

    /// The row, which may be none; null if the byte was not asked for before.
    const UnwindRowId* find(ModuleId module, uint64_t offset) const
    {
        const Slot& slot = slots_[placeOf(module, offset)];
        return slot.module ? &slot.row : nullptr;
    }

    /// Adds what find() did not find.
    void insert(ModuleId module, uint64_t offset, UnwindRowId row)
    {
        if (++used_ * 2 > slots_.size())
            grow();
        slots_[placeOf(module, offset)] = {offset, module, row};
    }

    size_t size() const { return used_; }

private:
    static constexpr size_t kSmallest = 1 << 12;

    struct Slot {
        uint64_t offset = 0;
        ModuleId module{};
        UnwindRowId row{};
    };

    /// Where the byte is, or else would go.
    size_t placeOf(ModuleId module, uint64_t offset) const
    {
        const size_t mask = slots_.size() - 1;
        size_t at = mixBits(offset ^ static_cast<uint64_t>(module.v) << 48U) & mask;
        while (slots_[at].module && (slots_[at].offset != offset || slots_[at].module != module))
            at = (at + 1) & mask;
        return at;
    }

    void grow()
    {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.module)
                slots_[placeOf(slot.module, slot.offset)] = slot;
    }

    std::vector<Slot> slots_;
    size_t used_ = 0;
};

} // namespace whichlock
