// SPDX-License-Identifier: GPL-3.0-or-later
// Holds the records of the kernel until it is their turn in time. A record waits as the place of its bytes
// and is decoded when it is delivered; bytes that will not stay where they are get copied.
#pragma once

#include "parsers/perf_data/time_order.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace whichlock {

/// A record that waits: where its bytes are, the header in front, and where they came from.
struct HeldRecord {
    const char* bytes = nullptr;
    uint64_t offset = 0; ///< as in PerfRecord
    uint32_t part = 0;
    uint16_t size = 0;
    bool compressed = false;

    /// Brings the front of the record near: it was read long ago, and only there.
    void prefetch() const
    {
        constexpr size_t kLineBytes = 64;
        constexpr size_t kMostBytes = 6 * kLineBytes;
        for (size_t at = 0; at < std::min<size_t>(size, kMostBytes); at += kLineBytes)
            __builtin_prefetch(bytes + at);
    }
};

/// Copies of records, kept for as long as a record can wait: two rounds. MT: one thread.
class RecordArena {
public:
    const char* keep(std::string_view bytes);
    /// Frees what was kept before the previous call.
    void roundEnded();
    uint64_t bytesThisRound() const { return current_.bytes; }

private:
    static constexpr size_t kBlockBytes = 256 * 1024;

    struct Round {
        std::vector<std::unique_ptr<char[]>> blocks{};
        size_t left = 0; ///< in the last block
        uint64_t bytes = 0;
    };

    Round current_;
    Round previous_;
    std::vector<std::unique_ptr<char[]>> spare_;
};

/// The records of one part of a recording. MT: one thread.
class RecordOrder {
public:
    using Deliver = std::function<void(uint64_t time, const HeldRecord& record)>;

    explicit RecordOrder(Deliver deliver)
        : deliver_(std::move(deliver))
    {
    }

    /// Takes a record; `bytesStay`: they are where they are until all records were delivered.
    void add(uint64_t time, HeldRecord record, bool bytesStay);
    /// A mark of the recorder: all that comes is newer than the newest record before the previous mark.
    void roundEnded();
    /// No more will come.
    void finish();

private:
    /// Where the recorder set no marks they are taken to be at least this close: memory stays bounded.
    static constexpr size_t kMostRecords = 500'000;
    static constexpr uint64_t kMostBytes = 64 * 1024 * 1024;

    Deliver deliver_;
    TimeOrder<HeldRecord> order_;
    RecordArena arena_;
    size_t thisRound_ = 0;
};

} // namespace whichlock
