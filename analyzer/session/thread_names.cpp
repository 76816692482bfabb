// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/thread_names.h"

namespace whichlock {

ThreadNames::ThreadNames()
{
    set(0, "swapper"); // the idle tasks, of which nothing is recorded
}

void ThreadNames::inherit(uint32_t tid, uint32_t parentTid)
{
    if (const StringId parent = nameOf(parentTid))
        slotOf(tid) = parent;
}

StringId ThreadNames::of(uint32_t pid, uint32_t tid) const
{
    const StringId own = nameOf(tid);
    return own || pid == tid ? own : nameOf(pid);
}

StringId& ThreadNames::slotOf(uint32_t tid)
{
    const auto thread = threads_.intern({tid});
    if (thread.v > names_.size())
        names_.emplace_back();
    return names_[thread.v - 1];
}

StringId ThreadNames::nameOf(uint32_t tid) const
{
    const auto thread = threads_.find({tid});
    return thread ? names_[thread.v - 1] : StringId{};
}

} // namespace whichlock
