// SPDX-License-Identifier: GPL-3.0-or-later
// The data tables of analyzer/locks/data as they are linked into the program.
#pragma once

#include <string_view>

namespace whichlock {

/// The text of lock_routines.tsv.
std::string_view embeddedLockRoutines();
/// The text of known_sites.tsv.
std::string_view embeddedKnownSites();
/// The text of kernel_locks.tsv.
std::string_view embeddedKernelLocks();

} // namespace whichlock
