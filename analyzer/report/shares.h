// SPDX-License-Identifier: GPL-3.0-or-later
// Shares of a section: what its whole is, and the arithmetic on parts of it.
#pragma once

#include "analyzer/report/report.h"

namespace whichlock {

/// The whole that the shares of one section refer to.
class SectionWhole {
public:
    /// Sums below this part of 100 % are of a list that was cut.
    static constexpr int64_t kRoundingPpb = Share::kPercent / 10;

    SectionWhole(const Section& section, const Weight& listed);

    /// The whole as a value, if it is known.
    std::optional<uint64_t> total() const { return total_; }
    const std::string& basis() const { return basis_; }
    /// What is not in the list; empty if the list is whole.
    Weight unlisted() const;
    /// Value and share of the total of a weight.
    Part part(const Weight& weight) const;
    /// Adds shares of the busy time, given the idle weight.
    void addBusyShare(Part& part, const Weight& weight, const Weight& idle) const;
    /// Share of `part` of the total without `idle`.
    std::optional<Share> shareWithout(const Weight& part, const Weight& idle) const;
    /// The whole without `idle`, as a weight.
    Weight without(const Weight& idle) const;

private:
    std::optional<uint64_t> total_;
    bool byPrintedShares_ = false;
    std::string basis_;
    Weight listed_;
};

/// 95 % interval of a share that `hits` of `samples` show (Wilson).
ShareInterval wilsonInterval(uint64_t hits, uint64_t samples);

/// The mean of a column of counter rows [first, last); nothing if none of the cells could be read.
std::optional<FixedPoint> meanOf(
    const std::vector<std::vector<int64_t>>& rows, size_t column, size_t first, size_t last);

/// A count in fixed point; nothing if it does not fit.
std::optional<FixedPoint> fixedFromCount(uint64_t count);
/// a / b in fixed point, rounded; nothing if b is 0 or the result does not fit.
std::optional<FixedPoint> quotient(FixedPoint a, FixedPoint b);
/// 100 * (after / before - 1).
std::optional<FixedPoint> changePercent(FixedPoint before, FixedPoint after);

} // namespace whichlock
