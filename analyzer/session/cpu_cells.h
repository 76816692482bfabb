// SPDX-License-Identifier: GPL-3.0-or-later
// Sums of samples by what they are told apart by.
#pragma once

#include "analyzer/session/recorded_stacks.h"

namespace whichlock {

/// What samples are told apart by; -1 where that is not asked for, or not recorded.
struct CpuCellKey {
    uint32_t event = 0;
    AddressStackId stack{};
    StringId comm{};
    int32_t pid = -1;
    int32_t tid = -1;
    int32_t cpu = -1;

    bool operator==(const CpuCellKey&) const = default;
};

inline uint64_t hashOf(const CpuCellKey& key)
{
    const auto pair = [](uint32_t a, uint32_t b) { return static_cast<uint64_t>(a) << 32 | b; };
    return mixBits(pair(key.event, key.stack.v)
        ^ mixBits(pair(key.comm.v, static_cast<uint32_t>(key.pid))
            + 3 * pair(static_cast<uint32_t>(key.tid), static_cast<uint32_t>(key.cpu))));
}

/// MT: one thread.
class CpuCells {
public:
    struct Sum {
        uint64_t samples = 0;
        uint64_t weight = 0; ///< in the unit of the event
    };

    void add(const CpuCellKey& key, uint64_t weight)
    {
        const CellId id = keys_.intern(key);
        if (id.v > sums_.size())
            sums_.emplace_back();
        Sum& sum = sums_[id.v - 1];
        ++sum.samples;
        sum.weight += weight;
    }

    size_t size() const { return sums_.size(); }
    /// In the order in which they first came.
    const CpuCellKey& key(size_t index) const { return keys_.rows()[index]; }
    const Sum& sum(size_t index) const { return sums_[index]; }

private:
    using CellId = Id<struct CpuCellTag>;

    Interner<CpuCellKey, CellId> keys_;
    std::vector<Sum> sums_; ///< of keys_ row i + 1
};

} // namespace whichlock
