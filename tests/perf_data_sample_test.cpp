// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of samples of perf.data, and the events that they belong to.
#include "tests/support/perf_data_checks.h"
#include "tests/support/perf_data_samples.h"

#include <gtest/gtest.h>

namespace whichlock {
namespace {

using test::CheckingSink;
using test::PerfFileWriter;
using test::read;

std::vector<uint64_t> listOf(const U64Span& span)
{
    std::vector<uint64_t> values;
    for (size_t i = 0; i < span.size(); ++i)
        values.push_back(span[i]);
    return values;
}

void checkAllFields(const PerfSample& sample)
{
    EXPECT_EQ(sample.event, 0U);
    EXPECT_EQ(sample.identifier, 501U);
    EXPECT_EQ(sample.ip, 0xffffffff81000010U);
    EXPECT_EQ(sample.pid, 1234U);
    EXPECT_EQ(sample.tid, 1235U);
    EXPECT_EQ(sample.time, 5'000'000'001U);
    EXPECT_EQ(sample.addr, 0x7f00U);
    EXPECT_EQ(sample.id, 501U);
    EXPECT_EQ(sample.streamId, 900U);
    EXPECT_EQ(sample.cpu, 3U);
    EXPECT_EQ(sample.period, 77U);
    ASSERT_EQ(sample.read.size(), 2U);
    EXPECT_EQ(sample.read.timeEnabled, 1000U);
    EXPECT_EQ(sample.read.timeRunning, 900U);
    EXPECT_EQ(sample.read[1].value, 22U);
    EXPECT_EQ(sample.read[1].id, 502U);
    EXPECT_EQ(sample.read[1].lost, 2U);
    EXPECT_EQ(listOf(sample.callchain),
        (std::vector<uint64_t>{perf_context::kKernel, 0xffffffff81000010, perf_context::kUser, 0x401000}));
    EXPECT_EQ(sample.raw, "raw 12 bytes");
    EXPECT_EQ(sample.branchHwIndex, 5U);
    ASSERT_EQ(sample.branches.size(), 2U);
    EXPECT_EQ(sample.branches[0].to, 0x20U);
    EXPECT_EQ(sample.branches[0].flags, 2U);
    EXPECT_EQ(sample.branches[1].from, 0x30U);
    EXPECT_EQ(sample.branches[1].flags, 1U | 300U << 4U);
    EXPECT_EQ(listOf(sample.branchCounters), (std::vector<uint64_t>{0xc0, 0xc1}));
    EXPECT_EQ(sample.userRegisters.abi, 2U);
    EXPECT_EQ(sample.userRegisters.mask, 0b1011U);
    EXPECT_EQ(listOf(sample.userRegisters.values), (std::vector<uint64_t>{0xa, 0xb, 0xc}));
    EXPECT_EQ(sample.userStack, "0123456789abcdef");
    EXPECT_EQ(sample.userStackUsed, 10U);
    EXPECT_EQ(sample.weight, 0x0003000200000001U);
    EXPECT_EQ(sample.dataSource, 0xd5U);
    EXPECT_EQ(sample.transaction, 0x77U);
    EXPECT_EQ(listOf(sample.interruptRegisters.values), (std::vector<uint64_t>{0xbeef}));
    EXPECT_EQ(sample.physicalAddress, 0xabc000U);
    EXPECT_EQ(sample.cgroup, 42U);
    EXPECT_EQ(sample.dataPageSize, 4096U);
    EXPECT_EQ(sample.codePageSize, 2097152U);
    EXPECT_EQ(sample.aux, "aux data");
    EXPECT_EQ(sample.bytesLeft, 0U);
}

TEST(PerfDataSample, hasEveryFieldInBothByteOrders)
{
    for (const bool big : {false, true}) {
        CheckingSink sink;
        sink.onSample = [&](const PerfRecord& record, const PerfSample& sample) {
            EXPECT_EQ(record.cpuMode(), PerfCpuMode::Kernel);
            EXPECT_TRUE(record.has(perf_misc::kExactIp));
            checkAllFields(sample);
        };
        const PerfDataSummary summary = read(test::allSampleFields(big).file(), sink);
        EXPECT_EQ(sink.samples, 1U);
        EXPECT_EQ(summary.order, big ? ByteOrder::Big : ByteOrder::Little);
        ASSERT_EQ(sink.events.size(), 1U);
        const PerfAttr& attr = sink.events[0].attr;
        EXPECT_EQ(attr.flags, 1U | 1U << 8U | 1U << 9U | 2U << 15U | 1U << 18U | 1U << 25U);
        EXPECT_EQ(attr.preciseIp(), 2U);
        EXPECT_EQ(attr.config1, 0x11U);
        EXPECT_EQ(attr.config2, 0x22U);
        EXPECT_EQ(attr.sampleStackUser, 8192U);
        EXPECT_EQ(attr.clockId, 1);
        EXPECT_EQ(attr.sampleMaxStack, 127U);
        EXPECT_EQ(sink.events[0].name, "cpu-clock");
        for (const Diagnostic& diagnostic : sink.diagnostics)
            ADD_FAILURE() << diagnostic.message;
    }
}

TEST(PerfDataSample, hasNoRegistersAndNoStackForAKernelThread)
{
    PerfFileWriter file;
    file.attr({.sampleType = 1U << 12U | 1U << 13U | 1U << 14U, .userRegisters = 0xff});
    file.record(9, 1, file.bytes().u64(0).u64(0).u64(9)); // abi 0, stack 0 without a dynamic size, weight
    CheckingSink sink;
    sink.onSample = [](const PerfRecord&, const PerfSample& sample) {
        EXPECT_TRUE(sample.userRegisters.values.empty());
        EXPECT_TRUE(sample.userStack.empty());
        EXPECT_EQ(sample.weight, 9U);
        EXPECT_EQ(sample.bytesLeft, 0U);
    };
    read(file.file(), sink);
    EXPECT_EQ(sink.samples, 1U);
}

TEST(PerfDataSample, hasOneCounterValueWithItsTimesIdAndLosses)
{
    PerfFileWriter file;
    file.attr({.sampleType = 1U << 4U, .readFormat = 1 | 2 | 4 | 16});
    file.record(9, 1, file.bytes().u64s({70, 100, 90, 501, 3}));
    CheckingSink sink;
    sink.onSample = [](const PerfRecord&, const PerfSample& sample) {
        ASSERT_EQ(sample.read.size(), 1U);
        EXPECT_EQ(sample.read[0].value, 70U);
        EXPECT_EQ(sample.read.timeEnabled, 100U);
        EXPECT_EQ(sample.read.timeRunning, 90U);
        EXPECT_EQ(sample.read[0].id, 501U);
        EXPECT_EQ(sample.read[0].lost, 3U);
    };
    read(file.file(), sink);
    EXPECT_EQ(sink.samples, 1U);
}

TEST(PerfDataSample, takesItsPeriodFromTheEventUnlessThatHasAFrequency)
{
    for (const bool frequency : {false, true}) {
        PerfFileWriter file;
        file.attr({.period = 4000,
            .sampleType = 1,
            .flags = frequency ? std::vector<unsigned>{10} : std::vector<unsigned>{}});
        file.record(9, 1, file.bytes().u64(1));
        CheckingSink sink;
        sink.onSample = [&](const PerfRecord&, const PerfSample& sample) {
            EXPECT_EQ(sample.period, frequency ? 0U : 4000U);
        };
        read(file.file(), sink);
        EXPECT_EQ(sink.samples, 1U);
    }
}

TEST(PerfDataEvents, areToldApartByIdentifiers)
{
    // Their fields differ, so the identifier in front is the only way.
    PerfFileWriter file;
    file.attr({.sampleType = 1U << 16U | 1U, .ids = {100, 101}});
    file.attr({.config = 1, .sampleType = 1U << 16U | 1U << 2U | 1U << 8U, .ids = {200}});
    file.record(9, 1, file.bytes().u64s({200, 5, 6}));
    file.record(9, 1, file.bytes().u64s({101, 0x10}));
    CheckingSink sink;
    read(file.file(), sink);
    EXPECT_EQ(sink.eventsOfSamples, (std::vector<uint32_t>{1, 0}));
    EXPECT_TRUE(sink.diagnostics.empty());
}

TEST(PerfDataEvents, areToldApartByIdsAtDifferentPlaces)
{
    PerfFileWriter file;
    file.attr({.sampleType = 1U | 1U << 6U, .ids = {100}});
    file.attr({.config = 1, .sampleType = 1U | 1U << 2U | 1U << 6U, .ids = {200}});
    file.record(9, 1, file.bytes().u64s({1, 100}));
    file.record(9, 1, file.bytes().u64s({1, 2, 200}));
    CheckingSink sink;
    read(file.file(), sink);
    EXPECT_EQ(sink.eventsOfSamples, (std::vector<uint32_t>{0, 1}));
}

TEST(PerfDataEvents, countAsTheFirstWithADiagnosticWhenSamplesHaveNoId)
{
    PerfFileWriter file;
    file.attr({.sampleType = 1});
    file.attr({.config = 1, .sampleType = 1});
    file.record(9, 1, file.bytes().u64(1)).record(9, 1, file.bytes().u64(1));
    CheckingSink sink;
    read(file.file(), sink);
    EXPECT_EQ(sink.eventsOfSamples, (std::vector<uint32_t>{0, 0}));
    ASSERT_EQ(sink.diagnostics.size(), 1U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::EventsMixed);
    EXPECT_EQ(sink.diagnostics[0].count, 2U);
}

TEST(PerfDataEvents, keepASampleOfAnUnknownIdWithoutAnEvent)
{
    PerfFileWriter file;
    file.attr({.sampleType = 1U | 1U << 6U, .ids = {100}});
    file.attr({.config = 1, .sampleType = 1U | 1U << 6U, .ids = {200}});
    file.record(9, 1, file.bytes().u64s({0x77, 300}));
    CheckingSink sink;
    sink.onSample = [](const PerfRecord&, const PerfSample& sample) { EXPECT_EQ(sample.ip, 0x77U); };
    read(file.file(), sink);
    EXPECT_EQ(sink.eventsOfSamples, (std::vector<uint32_t>{kNoEvent}));
    ASSERT_EQ(sink.diagnostics.size(), 1U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::EventUnknown);
}

} // namespace
} // namespace whichlock
