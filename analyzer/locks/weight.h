// SPDX-License-Identifier: GPL-3.0-or-later
// What a part of a section weighs: its value, its samples, and the percentages that were printed for it.
#pragma once

#include "analyzer/model/profile.h"

#include <algorithm>

namespace whichlock {

struct Weight {
    uint64_t value = 0;   ///< in the section's unit
    uint64_t samples = 0; ///< samples or rows
    Share printed;

    Weight() = default;
    explicit Weight(const Cell& cell)
        : value(cell.weight)
        , samples(cell.samples)
        , printed(cell.printed)
    {
    }

    Weight& operator+=(const Weight& other)
    {
        value += other.value;
        samples += other.samples;
        printed = saturatedSum(printed, other.printed);
        return *this;
    }
    /// Takes a part away.
    Weight& operator-=(const Weight& part)
    {
        value -= std::min(part.value, value);
        samples -= std::min(part.samples, samples);
        printed.ppb -= std::min(part.printed.ppb, printed.ppb);
        return *this;
    }
    bool empty() const { return value == 0 && samples == 0 && printed.ppb == 0; }
};

/// By value, else by the printed percentages.
inline bool heavier(const Weight& a, const Weight& b)
{
    return a.value != b.value ? a.value > b.value : a.printed > b.printed;
}

} // namespace whichlock
