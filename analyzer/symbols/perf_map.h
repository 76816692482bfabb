// SPDX-License-Identifier: GPL-3.0-or-later
// perf-PID.map: what a JIT compiler tells about the code that it made. `HEXSTART HEXSIZE name with blanks`.
#pragma once

#include "parsers/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// MT: safe once parsed.
class PerfMap {
public:
    struct Entry {
        uint64_t start = 0;
        uint64_t end = 0;
        std::string name;
        uint64_t symbolStart = 0; ///< of the whole entry where a later one covers its front
    };

    /// Later lines replace what they overlap: compilers write a line whenever they reuse memory.
    static PerfMap parse(std::string_view text);
    static Result<PerfMap> readFile(const std::string& path);

    const Entry* find(uint64_t address) const;
    size_t size() const { return entries_.size(); }
    uint64_t unreadableLines() const { return unreadableLines_; }

private:
    std::vector<Entry> entries_; ///< by start, not overlapping
    uint64_t unreadableLines_ = 0;
};

} // namespace whichlock
