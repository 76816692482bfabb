// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/attr.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace whichlock {
namespace {

constexpr std::array<std::string_view, 10> kHardwareNames = {"cycles", "instructions", "cache-references",
    "cache-misses", "branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend",
    "stalled-cycles-backend", "ref-cycles"};
constexpr std::array<std::string_view, 12> kSoftwareNames = {"cpu-clock", "task-clock", "page-faults",
    "context-switches", "cpu-migrations", "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy", "bpf-output", "cgroup-switches"};

/// Compilers for big endian machines number bit fields from the other end of the word.
uint64_t flagsOfBigEndian(uint64_t flags)
{
    uint64_t turned = 0;
    for (unsigned bit = 0; bit < 64; ++bit)
        turned |= (flags >> bit & 1U) << (63U - bit);
    // precise_ip is the one field of two bits; they keep their order.
    const uint64_t low = turned >> 15U & 1U;
    const uint64_t high = turned >> 16U & 1U;
    return (turned & ~(uint64_t{3} << 15U)) | high << 15U | low << 16U;
}

} // namespace

std::optional<PerfAttr> parseAttr(std::string_view bytes, ByteOrder order)
{
    if (bytes.size() < PerfAttr::kSmallest)
        return std::nullopt;
    PerfAttr attr;
    attr.size = loadInteger<uint32_t>(bytes.data() + 4, order);
    if (attr.size == 0)
        attr.size = PerfAttr::kSmallest;
    if (attr.size < PerfAttr::kSmallest)
        return std::nullopt;
    // What lies behind the size is not there; the reader gives zeros for it.
    ByteReader reader(bytes.substr(0, attr.size), order);
    attr.type = reader.u32();
    reader.skip(4);
    attr.config = reader.u64();
    attr.samplePeriod = reader.u64();
    attr.sampleType = reader.u64();
    attr.readFormat = reader.u64();
    const uint64_t flags = reader.u64();
    attr.flags = order == ByteOrder::Big ? flagsOfBigEndian(flags) : flags;
    attr.wakeup = reader.u32();
    attr.breakpointType = reader.u32();
    attr.config1 = reader.u64();
    attr.config2 = reader.u64();
    attr.branchSampleType = reader.u64();
    attr.sampleRegsUser = reader.u64();
    attr.sampleStackUser = reader.u32();
    attr.clockId = static_cast<int32_t>(reader.u32());
    attr.sampleRegsIntr = reader.u64();
    reader.skip(4); // aux_watermark
    attr.sampleMaxStack = reader.u16();
    reader.skip(2 + 8 + 8); // reserved, aux_sample_size, aux_action, sig_data
    attr.config3 = reader.u64();
    return attr;
}

std::string synthesizedEventName(const PerfAttr& attr, const std::vector<PerfPmu>& pmus)
{
    if (attr.type == perf_type::kHardware && attr.config < kHardwareNames.size())
        return std::string(kHardwareNames[attr.config]);
    if (attr.type == perf_type::kSoftware && attr.config < kSoftwareNames.size())
        return std::string(kSoftwareNames[attr.config]);
    if (attr.type == perf_type::kTracepoint)
        return fmt::format("tracepoint:{}", attr.config);
    if (attr.type == perf_type::kRaw)
        return fmt::format("r{:x}", attr.config);
    if (attr.type == perf_type::kBreakpoint)
        return fmt::format("mem:{:#x}", attr.config1);
    const auto pmu = std::ranges::find(pmus, attr.type, &PerfPmu::type);
    if (pmu != pmus.end() && !pmu->name.empty())
        return fmt::format("{}/config={:#x}/", pmu->name, attr.config);
    return fmt::format("type {} config {:#x}", attr.type, attr.config);
}

} // namespace whichlock
