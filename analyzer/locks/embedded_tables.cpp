// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/embedded_tables.h"

#include <cstddef>

extern "C" {
extern const char whichlock_lock_routines_begin[];
extern const char whichlock_lock_routines_end[];
extern const char whichlock_known_sites_begin[];
extern const char whichlock_known_sites_end[];
extern const char whichlock_kernel_locks_begin[];
extern const char whichlock_kernel_locks_end[];
}

namespace whichlock {

std::string_view embeddedLockRoutines()
{
    return {whichlock_lock_routines_begin,
        static_cast<size_t>(whichlock_lock_routines_end - whichlock_lock_routines_begin)};
}

std::string_view embeddedKnownSites()
{
    return {whichlock_known_sites_begin,
        static_cast<size_t>(whichlock_known_sites_end - whichlock_known_sites_begin)};
}

std::string_view embeddedKernelLocks()
{
    return {whichlock_kernel_locks_begin,
        static_cast<size_t>(whichlock_kernel_locks_end - whichlock_kernel_locks_begin)};
}

} // namespace whichlock
