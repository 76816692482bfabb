// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a profile that a question is about.
#pragma once

#include "analyzer/model/profile.h"
#include "analyzer/report/query.h"

namespace whichlock {

/// Leaves out the stacks that the focus does not meet, and sections that a filter cannot be applied to, as
/// flat tables have neither threads nor times. What is left out is counted or has a diagnostic.
Profile narrowed(const Profile& profile, const Query& query, std::vector<Diagnostic>& diagnostics);

} // namespace whichlock
