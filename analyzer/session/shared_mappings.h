// SPDX-License-Identifier: GPL-3.0-or-later
// Memory that several processes share: a word in it is the same word in all of them, wherever they have it
// mapped. Needs a recording of data mappings (`perf record -d`).
#pragma once

#include "parsers/perf_data/perf_data_sink.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace whichlock {

/// A place in a file or in memory that is mapped shared.
struct SharedPlace {
    uint32_t object = 0; ///< number of the file, from 1
    uint64_t offset = 0;
};

/// MT: one thread.
class SharedMappings {
public:
    /// A mapping as it was recorded; what it covers is not shared any more unless it is itself.
    void add(const PerfMapping& mapping);
    /// A process gets the mappings of its parent.
    void fork(int32_t pid, int32_t parent);
    void exec(int32_t pid) { processes_.erase(pid); }
    std::optional<SharedPlace> find(int32_t pid, uint64_t address) const;

private:
    struct Piece {
        uint64_t length = 0;
        uint64_t offset = 0;
        uint32_t object = 0;
    };
    using Pieces = std::map<uint64_t, Piece>; ///< by address; none overlap
    using FileKey = std::tuple<uint32_t, uint32_t, uint64_t, uint64_t>;

    static void clear(Pieces& pieces, uint64_t start, uint64_t length);

    std::unordered_map<int32_t, std::shared_ptr<Pieces>> processes_; ///< shared until one of them changes
    std::map<FileKey, uint32_t> files_;
};

} // namespace whichlock
