// SPDX-License-Identifier: GPL-3.0-or-later
// What threads call themselves while a recording is replayed in the order of time.
#pragma once

#include "analyzer/model/interner.h"

namespace whichlock {

/// MT: one thread.
class ThreadNames {
public:
    ThreadNames();

    void set(uint32_t tid, std::string_view name) { slotOf(tid) = strings_.intern(name); }
    /// A new thread begins with the name of the one that made it.
    void inherit(uint32_t tid, uint32_t parentTid);
    /// The name of a thread, else that of its process, else nothing.
    StringId of(uint32_t pid, uint32_t tid) const;

    std::string_view operator[](StringId name) const { return strings_[name]; }

private:
    struct Thread {
        uint32_t tid = 0;

        bool operator==(const Thread&) const = default;
        friend uint64_t hashOf(const Thread& thread) { return mixBits(thread.tid); }
    };

    StringId& slotOf(uint32_t tid);
    StringId nameOf(uint32_t tid) const;

    StringInterner strings_;
    Interner<Thread, Id<struct RecordedThreadTag>> threads_;
    std::vector<StringId> names_; ///< of threads_ row i + 1
};

} // namespace whichlock
