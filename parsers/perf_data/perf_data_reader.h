// SPDX-License-Identifier: GPL-3.0-or-later
// Reads recordings of perf: files of both versions and byte orders, streams, and directories of
// `perf record --threads`. One pass; whatever can be read of a damaged recording is delivered.
#pragma once

#include "parsers/input/mapped_file.h"
#include "parsers/input/source.h"
#include "parsers/perf_data/perf_data_sink.h"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace whichlock {

/// Records by type; those inside of COMPRESSED records count, too.
struct PerfDataCounts {
    std::array<uint64_t, kPerfRecordTypes> records{};
    uint64_t otherRecords = 0;     ///< of types from kPerfRecordTypes on
    uint64_t samples = 0;          ///< delivered
    uint64_t insideCompressed = 0; ///< records
    uint64_t compressedBytes = 0;  ///< of COMPRESSED payloads
    uint64_t decompressedBytes = 0;

    uint64_t of(PerfRecordType type) const { return records[static_cast<size_t>(type)]; }
    uint64_t total() const;
    /// Counts that are not zero, by name; a type without a name is `type 99`.
    std::map<std::string, uint64_t> byName() const;
};

struct PerfDataSummary {
    PerfDataCounts counts{};
    unsigned version = 2;
    ByteOrder order = kHostOrder;
    bool pipe = false;
    bool killed = false;  ///< the recorder did not finish: nothing behind the records was written
    bool stopped = false; ///< the progress function asked for it
    /// What was read, of a single file that was opened by its path: to let go of it takes a while.
    std::shared_ptr<const MappedFile> file{};
};

struct PerfDataOptions {
    /// Records of the kernel are delivered in the order of time, and FINISHED_ROUND is not; those without a
    /// time come as soon as they are read. The others are delivered as they stand in the file. A large file
    /// is delivered by a thread of its own while it is read on.
    bool byTime = false;
    /// Told every few megabytes; returns false to stop reading.
    ProgressFunction progress{};
};

/// Whether the bytes begin as a perf.data file of any kind.
bool looksLikePerfData(std::string_view head);

/// Reads a file, or a directory with `data` and `data.0`, ... in it. An Error only when nothing can be read;
/// all else that is wrong goes to PerfDataSink::diagnostic().
Result<PerfDataSummary> readPerfData(
    const std::string& path, PerfDataSink& sink, const PerfDataOptions& options = {});
/// Reads a recording that is in memory as a whole.
Result<PerfDataSummary> readPerfData(
    std::string_view bytes, const std::string& name, PerfDataSink& sink, const PerfDataOptions& options = {});
/// Reads from a stream: in pieces in pipe mode; a file is first read to its end. Progress is the source's.
Result<PerfDataSummary> readPerfData(Source& source, PerfDataSink& sink, const PerfDataOptions& options = {});

} // namespace whichlock
