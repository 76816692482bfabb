// SPDX-License-Identifier: GPL-3.0-or-later
// Record types of perf.data with the names that perf gives them, and the flags in their `misc`.
#pragma once

#include <cstdint>
#include <string_view>

namespace whichlock {

/// From 64 on, records are written by the tool, not by the kernel.
enum class PerfRecordType : uint32_t {
#define WHICHLOCK_PERF_RECORD(number, enumerator, name) enumerator = number,
#include "parsers/perf_data/record_types.def"
#undef WHICHLOCK_PERF_RECORD
};

/// Types below this are counted one by one.
constexpr uint32_t kPerfRecordTypes = 128;

/// The name without `PERF_RECORD_`, or an empty text for a type that is not known.
std::string_view recordTypeName(uint32_t type);

namespace perf_misc {
constexpr uint16_t kCpuModeMask = 7;
constexpr uint16_t kMapParseTimeout = 1U << 12U;
constexpr uint16_t kMmapData = 1U << 13U;
constexpr uint16_t kCommExec = 1U << 13U;
constexpr uint16_t kForkExec = 1U << 13U;
constexpr uint16_t kSwitchOut = 1U << 13U;
constexpr uint16_t kSwitchOutPreempt = 1U << 14U;
constexpr uint16_t kExactIp = 1U << 14U;
constexpr uint16_t kMmapBuildId = 1U << 14U;
constexpr uint16_t kBuildIdSize = 1U << 15U;
constexpr uint16_t kLostByFilter = 1U << 15U;
} // namespace perf_misc

/// The low three bits of `misc`: where the processor was.
enum class PerfCpuMode : uint8_t { Unknown, Kernel, User, Hypervisor, GuestKernel, GuestUser };

} // namespace whichlock
