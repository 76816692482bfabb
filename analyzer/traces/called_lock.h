// SPDX-License-Identifier: GPL-3.0-or-later
// One name for a lock out of what the code of its call sites says.
#pragma once

#include "analyzer/traces/trace_analysis.h"
#include "analyzer/traces/trace_record.h"

#include <string>
#include <vector>

namespace whichlock {

/// MT: one thread.
class CalledLockNames {
public:
    explicit CalledLockNames(LockKind kind)
        : kind_(kind)
    {
    }

    /// A call that waited that long. It is passed over if it takes another kind of lock than the events say:
    /// the lock is then one inside of what the call takes.
    void add(TracedCall call, uint64_t waitNs);
    /// What all calls leave possible; if they contradict each other all that they say, up to a few.
    TracedCall common() const;

private:
    struct Said {
        TracedCall call{};
        uint64_t waitNs = 0;
    };
    LockKind kind_;
    std::vector<Said> said_;
};

} // namespace whichlock
