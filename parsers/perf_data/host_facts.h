// SPDX-License-Identifier: GPL-3.0-or-later
// What the feature sections of perf.data say about the machine and the recording.
#pragma once

#include "parsers/perf_data/attr.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace whichlock {

/// Numbers of the feature sections that are read.
enum class PerfFeature : uint8_t {
    TracingData = 1,
    BuildId = 2,
    HostName = 3,
    OsRelease = 4,
    Version = 5,
    Arch = 6,
    CpuCount = 7,
    CpuDescription = 8,
    CpuId = 9,
    TotalMemory = 10,
    CommandLine = 11,
    EventDesc = 12,
    CpuTopology = 13,
    NumaTopology = 14,
    BranchStack = 15,
    PmuMappings = 16,
    GroupDesc = 17,
    SampleTime = 21,
    ClockId = 23,
    DirFormat = 24,
    Compressed = 27,
    ClockData = 29,
};

struct PerfCpuPlace {
    uint32_t core = 0;
    uint32_t socket = 0;
};

struct PerfNumaNode {
    uint32_t node = 0;
    uint64_t totalKb = 0;
    uint64_t freeKb = 0;
    std::string cpus{};
};

struct PerfEventGroup {
    std::string name{};
    uint32_t leader = 0; ///< index of the event
    uint32_t members = 0;
};

/// A moment by two clocks: wall time = wallNs + t - clockNs.
struct PerfClockData {
    uint32_t clockId = 0;
    uint64_t wallNs = 0;
    uint64_t clockNs = 0;
};

/// How processor ticks become time (TIME_CONV).
struct PerfTimeConversion {
    uint64_t shift = 0;
    uint64_t multiplier = 0;
    uint64_t zero = 0;
};

/// Texts are empty and numbers zero when the file does not tell.
struct PerfHostFacts {
    std::string hostName{};
    std::string osRelease{};
    std::string perfVersion{};
    std::string arch{}; ///< as `uname -m`
    uint32_t cpusAvailable = 0;
    uint32_t cpusOnline = 0;
    std::string cpuDescription{};
    std::string cpuId{};
    uint64_t totalMemoryKb = 0;
    std::vector<std::string> commandLine{};
    std::vector<std::string> coreSiblings{};   ///< lists of processors of one socket
    std::vector<std::string> threadSiblings{}; ///< lists of processors of one core
    std::vector<PerfCpuPlace> cpuPlaces{};     ///< by processor
    std::vector<PerfNumaNode> numaNodes{};
    bool hasBranchStacks = false;
    std::vector<PerfPmu> pmus{};
    std::vector<PerfEventGroup> groups{};
    std::optional<std::pair<uint64_t, uint64_t>> sampleTime{}; ///< of the first and the last sample
    uint64_t clockResolutionNs = 0;
    std::optional<PerfClockData> clock{};
    std::optional<PerfTimeConversion> timeConversion{};
    uint64_t directoryVersion = 0; ///< of a recording by threads
    uint32_t compressionRatio = 0; ///< as the recorder counted it
};

} // namespace whichlock
