// SPDX-License-Identifier: GPL-3.0-or-later
// The header of perf.data: version, byte order, and where things lie in the file.
#pragma once

#include "parsers/input/byte_reader.h"
#include "parsers/result.h"

#include <array>
#include <vector>

namespace whichlock {

/// A stretch of the file.
struct FileSection {
    uint64_t offset = 0;
    uint64_t size = 0;
};

struct PerfFileHeader {
    static constexpr size_t kPipeBytes = 16;
    static constexpr size_t kBytesWithoutFeatures = 72;
    static constexpr size_t kBytes = 104;

    unsigned version = 2;
    ByteOrder order = kHostOrder;
    bool pipe = false;       ///< records follow at once; everything below is empty
    uint64_t attrStride = 0; ///< attr and its section of ids
    FileSection attrs{};
    FileSection data{};
    FileSection eventTypes{};
    std::vector<unsigned> features{}; ///< numbers, ascending: the order of their sections
};

/// Whether the bytes begin as a perf.data file of any version and byte order.
bool looksLikePerfData(std::string_view head);

/// Reads the header at the front of `bytes`; an Error when it is none or is cut.
Result<PerfFileHeader> parseFileHeader(std::string_view bytes, const std::string& inputName);

/// Whether the recorder did not live to write the size of its records and what belongs behind them.
bool wasKilled(const PerfFileHeader& header, std::string_view bytes);

/// The part of `bytes` that a section covers; what lies behind the end is left out.
std::string_view sectionBytes(std::string_view bytes, FileSection section);
/// Whether the whole section lies in a file of this size.
bool sectionFits(uint64_t fileBytes, FileSection section);

} // namespace whichlock
