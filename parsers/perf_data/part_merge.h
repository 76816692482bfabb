// SPDX-License-Identifier: GPL-3.0-or-later
// The files of a recording that has several, one a recording thread: their records as one sequence.
#pragma once

#include "parsers/perf_data/record_stream.h"

#include <span>
#include <string>
#include <string_view>

namespace whichlock {

/// Records in memory, and where they are from.
struct RecordingPart {
    std::string name{};
    std::string_view bytes{};
    uint64_t offset = 0; ///< of the first byte, in its file
    uint32_t number = 0; ///< as in PerfRecord
};

/// Reads one part in slices, so that progress can be told. MT: one thread.
class PartReader {
public:
    /// `bytes` begin at `offset` of the file, and stay until all records were delivered.
    PartReader(PerfDataState& state, std::string_view bytes, uint64_t offset);

    /// Takes the next slice of records; false when it was the last.
    bool step();
    uint64_t bytesDone() const { return done_; }

private:
    static constexpr size_t kSliceBytes = 4 * 1024 * 1024;

    RecordStream stream_;
    std::string_view bytes_;
    uint64_t offset_ = 0;
    size_t done_ = 0;
    size_t slice_ = kSliceBytes;
};

/// Delivers the records of all parts in the order of time; each is read only as far as it is needed for that.
/// False when the progress function asked to stop.
bool deliverByTime(
    PerfDataState& state, std::span<const RecordingPart> parts, const ProgressFunction& progress);

} // namespace whichlock
