// SPDX-License-Identifier: GPL-3.0-or-later
// The same work as mutex_two_sites, with the static probes that a C library has around its mutexes where it
// was built for SystemTap: mutex_entry, mutex_acquired (at two places) and mutex_release, each with the
// mutex.
#include <dlfcn.h>
#include <pthread.h>

#define PROBE(NAME, MUTEX)                                                                                   \
    asm volatile("1: nop\n"                                                                                  \
                 ".pushsection .note.stapsdt,\"\",\"note\"\n"                                                \
                 ".balign 4\n"                                                                               \
                 ".4byte 3f - 2f, 5f - 4f, 3\n"                                                              \
                 "2: .asciz \"stapsdt\"\n"                                                                   \
                 "3: .balign 4\n"                                                                            \
                 "4: .8byte 1b, 0, 0\n"                                                                      \
                 ".asciz \"libc\"\n"                                                                         \
                 ".asciz \"" NAME "\"\n"                                                                     \
                 ".asciz \"8@%0\"\n"                                                                         \
                 "5: .balign 4\n"                                                                            \
                 ".popsection\n"                                                                             \
                 :                                                                                           \
                 : "r"(MUTEX))

namespace {

using MutexCall = int (*)(pthread_mutex_t*);

MutexCall libraryCall(const char* name)
{
    return reinterpret_cast<MutexCall>(dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept
{
    static const MutexCall tryIt = libraryCall("pthread_mutex_trylock");
    static const MutexCall lockIt = libraryCall("pthread_mutex_lock");
    PROBE("mutex_entry", mutex);
    if (tryIt(mutex) == 0) {
        PROBE("mutex_acquired", mutex);
        return 0;
    }
    const int result = lockIt(mutex);
    PROBE("mutex_acquired", mutex);
    return result;
}

extern "C" int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept
{
    static const MutexCall unlockIt = libraryCall("pthread_mutex_unlock");
    PROBE("mutex_release", mutex);
    return unlockIt(mutex);
}

#include "mutex_two_sites.cpp"
