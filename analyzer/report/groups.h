// SPDX-License-Identifier: GPL-3.0-or-later
// The weight of a section by thread, process, processor or function: what --by asks for.
#pragma once

#include "analyzer/locks/attribution.h"
#include "analyzer/report/report.h"

namespace whichlock {

/// One row before shares are computed. The weights of all rows add up to the listed weight of the section,
/// or, by call site, to its contention.
struct GroupSum {
    ReportGroup row; ///< identity only
    Weight all;
    Weight idle;
    Weight contention;
};

/// The rows, heaviest first; none where no sample tells whose it is. `classifier` may be null where stacks
/// mean nothing (counted events).
std::vector<GroupSum> recordedSums(
    const Profile& profile, const Section& section, GroupBy by, Classifier* classifier);
/// The call sites of all locks, heaviest first.
std::vector<GroupSum> siteSums(const Attribution& attribution);

} // namespace whichlock
