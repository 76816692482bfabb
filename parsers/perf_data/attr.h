// SPDX-License-Identifier: GPL-3.0-or-later
// perf_event_attr: what an event counts and what its records hold.
#pragma once

#include "parsers/input/byte_reader.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// Bits of sample_type. Their numbers are not the order of the fields.
namespace sample_bit {
constexpr uint64_t kIp = 1U << 0U;
constexpr uint64_t kTid = 1U << 1U;
constexpr uint64_t kTime = 1U << 2U;
constexpr uint64_t kAddr = 1U << 3U;
constexpr uint64_t kRead = 1U << 4U;
constexpr uint64_t kCallchain = 1U << 5U;
constexpr uint64_t kId = 1U << 6U;
constexpr uint64_t kCpu = 1U << 7U;
constexpr uint64_t kPeriod = 1U << 8U;
constexpr uint64_t kStreamId = 1U << 9U;
constexpr uint64_t kRaw = 1U << 10U;
constexpr uint64_t kBranchStack = 1U << 11U;
constexpr uint64_t kRegsUser = 1U << 12U;
constexpr uint64_t kStackUser = 1U << 13U;
constexpr uint64_t kWeight = 1U << 14U;
constexpr uint64_t kDataSrc = 1U << 15U;
constexpr uint64_t kIdentifier = 1U << 16U;
constexpr uint64_t kTransaction = 1U << 17U;
constexpr uint64_t kRegsIntr = 1U << 18U;
constexpr uint64_t kPhysAddr = 1U << 19U;
constexpr uint64_t kAux = 1U << 20U;
constexpr uint64_t kCgroup = 1U << 21U;
constexpr uint64_t kDataPageSize = 1U << 22U;
constexpr uint64_t kCodePageSize = 1U << 23U;
constexpr uint64_t kWeightStruct = 1U << 24U;
/// Fields of later kernels come behind those that are known.
constexpr uint64_t kKnown = (1U << 25U) - 1;
} // namespace sample_bit

/// Bits of read_format.
namespace read_bit {
constexpr uint64_t kTimeEnabled = 1U << 0U;
constexpr uint64_t kTimeRunning = 1U << 1U;
constexpr uint64_t kId = 1U << 2U;
constexpr uint64_t kGroup = 1U << 3U;
constexpr uint64_t kLost = 1U << 4U;
} // namespace read_bit

/// Numbers of the bits in PerfAttr::flags.
enum class PerfAttrFlag : uint8_t {
    Disabled = 0,
    Inherit = 1,
    ExcludeUser = 4,
    ExcludeKernel = 5,
    ExcludeHypervisor = 6,
    ExcludeIdle = 7,
    Mmap = 8,
    Comm = 9,
    Frequency = 10,
    EnableOnExec = 12,
    Task = 13,
    MmapData = 17,
    SampleIdAll = 18,
    ExcludeHost = 19,
    ExcludeGuest = 20,
    ExcludeCallchainKernel = 21,
    ExcludeCallchainUser = 22,
    Mmap2 = 23,
    CommExec = 24,
    UseClockId = 25,
    ContextSwitch = 26,
    WriteBackward = 27,
    DeferCallchain = 38,
};

/// Values of PerfAttr::type; others are the numbers of dynamic PMUs.
namespace perf_type {
constexpr uint32_t kHardware = 0;
constexpr uint32_t kSoftware = 1;
constexpr uint32_t kTracepoint = 2;
constexpr uint32_t kCache = 3;
constexpr uint32_t kRaw = 4;
constexpr uint32_t kBreakpoint = 5;
} // namespace perf_type

struct PerfAttr {
    static constexpr size_t kSmallest = 64; ///< PERF_ATTR_SIZE_VER0

    uint32_t type = 0;
    uint32_t size = 0; ///< bytes that the recorder filled; fields behind them are zero
    uint64_t config = 0;
    uint64_t samplePeriod = 0; ///< samples per second when the flag Frequency is set
    uint64_t sampleType = 0;
    uint64_t readFormat = 0;
    uint64_t flags = 0; ///< numbered as in a little endian file
    uint32_t wakeup = 0;
    uint32_t breakpointType = 0;
    uint64_t config1 = 0;
    uint64_t config2 = 0;
    uint64_t branchSampleType = 0;
    uint64_t sampleRegsUser = 0;
    uint32_t sampleStackUser = 0;
    int32_t clockId = 0; ///< means something with the flag UseClockId only
    uint64_t sampleRegsIntr = 0;
    uint16_t sampleMaxStack = 0;
    uint64_t config3 = 0;

    bool has(PerfAttrFlag flag) const { return (flags >> static_cast<unsigned>(flag) & 1U) != 0; }
    /// 0: any skid, to 3: none.
    unsigned preciseIp() const { return static_cast<unsigned>(flags >> 15U & 3U); }
    bool operator==(const PerfAttr&) const = default;
};

/// The attr at the front of `bytes`; its own size says how much of it is valid. Nothing below 64 bytes.
std::optional<PerfAttr> parseAttr(std::string_view bytes, ByteOrder order);

/// A number of a PMU and its name.
struct PerfPmu {
    uint32_t type = 0;
    std::string name{};
};

/// A name in the style of perf for an event that the file does not name: `cycles`, `cpu/config=0x1b7/`.
std::string synthesizedEventName(const PerfAttr& attr, const std::vector<PerfPmu>& pmus);

} // namespace whichlock
