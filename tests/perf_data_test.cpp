// SPDX-License-Identifier: GPL-3.0-or-later
// What the reader makes of sound recordings that are built byte by byte.
#include "tests/support/perf_data_checks.h"
#include "tests/support/perf_data_dump.h"
#include "tests/support/perf_data_samples.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace whichlock {
namespace {

using test::CheckingSink;
using test::PerfDataDump;
using test::PerfFileWriter;
using test::read;

std::string dumped(const std::string& bytes)
{
    PerfDataDump dump;
    read(bytes, dump);
    return dump.text();
}

TEST(PerfDataRecords, areAllDeliveredWithTheirTrailers)
{
    const std::string text = dumped(test::allRecords(false).file());
    const std::string trailer = " | present=102c6 event=0 7/8 time=";
    for (const std::string_view line : {
             "MMAP misc=2002 size=96 7/8 400000+1000 @200 prot=0 flags=0 0:0 0 0 id= data=true /bin/a",
             "LOST misc=0 size=72 33 id=501 event=0 samples=false rule=false",
             "COMM misc=2000 size=72 7/8 worker exec=true",
             "EXIT misc=0 size=80 7/8 of 6/5 at 99",
             "THROTTLE misc=0 size=80 true 98 501 900",
             "UNTHROTTLE misc=0 size=80 false 97 501 900",
             "FORK misc=2000 size=80 17/18 of 7/8 at 96",
             "MMAP2 misc=2 size=136 7/8 500000+2000 @1000 prot=5 flags=2 8:1 4711 2 id= data=false /lib/b.so",
             "600000+3000 @0 prot=5 flags=2 0:0 0 0 id=6162636465666768696a6b6c6d6e6f7071727374 data=false",
             "LOST_SAMPLES misc=0 size=64 44 id=0 event=0 samples=true rule=false",
             "LOST_SAMPLES misc=8000 size=64 45 id=0 event=0 samples=true rule=true",
             "SWITCH misc=6000 size=56 out=true preempted=true other=false 0/0",
             "SWITCH_CPU_WIDE misc=2000 size=64 out=true preempted=false other=true 70/80",
             "NAMESPACES misc=0 size=104 7/8 [4 f1 4 f2 ]",
             "KSYMBOL misc=0 size=88 ffffffffc0000000+100 type=1 gone=true bpf_prog",
             "CGROUP misc=0 size=80 77 /user.slice",
             "TEXT_POKE misc=0 size=76 ffffffff81000000 9091 -> eb05",
             "CALLCHAIN_DEFERRED misc=2 size=88 66 [1000 2000 ]",
         })
        EXPECT_NE(
            text.find(std::string(line) + (line.ends_with("data=false") ? "" : trailer)), std::string::npos)
            << line << "\n"
            << text;
    EXPECT_NE(text.find("build id -1 8002 30313233343536373839616263646566 /lib/d.so"), std::string::npos)
        << text;
    EXPECT_NE(text.find("THREAD_MAP misc=0 size=40 55 watched"), std::string::npos) << text;
    EXPECT_NE(text.find("stream=900 cpu=3"), std::string::npos) << text;
}

TEST(PerfDataRecords, areCountedByName)
{
    PerfDataSink nothing;
    const PerfDataSummary summary = read(test::allRecords(false).file(), nothing);
    const std::map<std::string, uint64_t> counts = summary.counts.byName();
    EXPECT_EQ(counts.at("MMAP2"), 2U);
    EXPECT_EQ(counts.at("LOST_SAMPLES"), 2U);
    EXPECT_EQ(counts.at("BPF_EVENT"), 1U);
    EXPECT_EQ(counts.at("AUXTRACE"), 1U);
    EXPECT_EQ(counts.at("THREAD_MAP"), 1U); // it is behind the data of AUXTRACE
    EXPECT_EQ(counts.at("FINISHED_INIT"), 1U);
    EXPECT_EQ(counts.at("type 60"), 1U);
    EXPECT_EQ(counts.at("type 99"), 1U);
    EXPECT_EQ(counts.at("types from 128 on"), 1U);
    EXPECT_EQ(summary.counts.total(), 34U);
}

TEST(PerfData, ofABigEndianMachineReadsLikeThatOfALittleEndianOne)
{
    EXPECT_EQ(dumped(test::allSampleFields(true).file()), dumped(test::allSampleFields(false).file()));
    EXPECT_EQ(dumped(test::allRecords(true).file()), dumped(test::allRecords(false).file()));
    EXPECT_EQ(dumped(test::tracepoints(true).file()), dumped(test::tracepoints(false).file()));
    EXPECT_EQ(dumped(test::tracepoints(true).pipe()), dumped(test::tracepoints(false).pipe()));
    EXPECT_EQ(dumped(test::version1(true)), dumped(test::version1(false)));
}

TEST(PerfData, readsTheSameFromAStreamInPieces)
{
    for (const auto& [name, bytes] : test::namedPerfData()) {
        for (const size_t piece : {size_t{1}, size_t{7}, size_t{4096}}) {
            const std::unique_ptr<Source> source = Source::fromMemory("perf.data", bytes, piece);
            PerfDataDump dump;
            EXPECT_TRUE(readPerfData(*source, dump).has_value()) << name;
            EXPECT_EQ(dump.text(), dumped(bytes)) << name;
        }
    }
}

TEST(PerfData, tellsOfHostAndRecording)
{
    for (const bool longs32 : {false, true}) {
        PerfFileWriter file = test::tracepoints(true);
        if (longs32)
            file.longsOf32Bits();
        CheckingSink sink;
        read(file.file(), sink);
        const PerfHostFacts& facts = sink.facts;
        EXPECT_EQ(facts.hostName, "host-1");
        EXPECT_EQ(facts.osRelease, "6.18.44");
        EXPECT_EQ(facts.arch, "x86_64");
        EXPECT_EQ(facts.cpusAvailable, 8U);
        EXPECT_EQ(facts.cpusOnline, 6U);
        EXPECT_EQ(facts.cpuId, "GenuineIntel,6,143,8");
        EXPECT_EQ(facts.totalMemoryKb, 16384U);
        EXPECT_EQ(facts.commandLine, (std::vector<std::string>{"perf", "record", "-a"}));
        EXPECT_EQ(facts.coreSiblings, (std::vector<std::string>{"0-7"}));
        EXPECT_EQ(facts.threadSiblings, (std::vector<std::string>{"0-1", "2-3"}));
        ASSERT_EQ(facts.cpuPlaces.size(), 2U);
        EXPECT_EQ(facts.cpuPlaces[1].core, 2U);
        EXPECT_EQ(facts.cpuPlaces[1].socket, 3U);
        ASSERT_EQ(facts.numaNodes.size(), 1U);
        EXPECT_EQ(facts.numaNodes[0].cpus, "0-7");
        ASSERT_EQ(facts.pmus.size(), 2U);
        EXPECT_EQ(facts.pmus[1].type, 14U);
        ASSERT_EQ(facts.groups.size(), 1U);
        EXPECT_EQ(facts.groups[0].members, 2U);
        EXPECT_EQ(facts.sampleTime, (std::pair<uint64_t, uint64_t>{10, 30}));
        EXPECT_EQ(facts.clockResolutionNs, 1U);
        EXPECT_EQ(facts.compressionRatio, 9U);
        ASSERT_TRUE(facts.clock.has_value());
        EXPECT_EQ(facts.clock->wallNs, 1'700'000'000'000'000'000U);
        EXPECT_EQ(sink.buildIds, (std::vector<std::string>{"ABCDEFGHIJKLMNOPQRST [kernel.kallsyms]"}));
        EXPECT_TRUE(sink.diagnostics.empty());
    }
}

TEST(PerfData, namesTracepointsAndReadsTheirFields)
{
    for (const bool big : {false, true}) {
        CheckingSink sink;
        std::vector<std::string> values;
        sink.onSample = [&](const PerfRecord&, const PerfSample& sample) {
            const PerfEvent& event = sink.events[sample.event];
            if (event.format == nullptr)
                return;
            const auto text = [&](std::string_view field) {
                return std::string(tracepointText(sample.raw, sample.rawOrder, *event.format->find(field)));
            };
            const auto number = [&](std::string_view field) {
                return std::to_string(static_cast<int64_t>(
                    tracepointInteger(sample.raw, sample.rawOrder, *event.format->find(field)).value()));
            };
            if (event.format->find("prev_pid") != nullptr)
                values.push_back(text("prev_comm") + " " + number("prev_pid"));
            else
                values.push_back(number("__probe_ip") + " " + text("path") + " " + text("rel"));
        };
        read(test::tracepoints(big).file(), sink);
        EXPECT_EQ(values, (std::vector<std::string>{"busy -3", "30583 /tmp rel"}));
        ASSERT_EQ(sink.events.size(), 3U);
        EXPECT_EQ(sink.events[0].name, "sched:sched_switch");
        EXPECT_EQ(sink.events[0].nameOrigin, PerfNameOrigin::TracingData);
        EXPECT_EQ(sink.events[0].format->printFormat, "\"prev_comm=%s\", REC->prev_comm");
        EXPECT_FALSE(sink.events[0].format->builtIn);
        EXPECT_EQ(sink.events[1].name, "probe_libc:mlock");
        EXPECT_EQ(sink.events[2].name, "cpu-clock");
    }
}

TEST(PerfData, usesBuiltInLayoutsWhenOnlyTheNameIsKnown)
{
    PerfFileWriter file;
    const uint64_t sampleType = 1U << 10U | 1U << 16U;
    file.attr({.type = 2, .config = 408, .sampleType = sampleType, .ids = {1}});
    file.attr({.type = 2, .config = 409, .sampleType = sampleType, .ids = {2}});
    test::Bytes desc = file.bytes().u32(2).u32(64);
    desc.raw(std::string(64, '\0')).u32(1).sized("lock:contention_begin").u64(1);
    desc.raw(std::string(64, '\0')).u32(1).sized("lock:unheard_of").u64(2);
    file.feature(12, desc);
    CheckingSink sink;
    read(file.file(), sink);
    ASSERT_EQ(sink.events.size(), 2U);
    EXPECT_EQ(sink.events[0].name, "lock:contention_begin");
    ASSERT_NE(sink.events[0].format, nullptr);
    EXPECT_TRUE(sink.events[0].format->builtIn);
    EXPECT_EQ(sink.events[0].format->find("lock_addr")->offset, 8U);
    EXPECT_EQ(sink.events[0].format->find("flags")->offset, 16U);
    EXPECT_EQ(sink.events[1].name, "lock:unheard_of");
    EXPECT_EQ(sink.events[1].format, nullptr);
}

TEST(PerfData, ofTheFirstVersionHasItsNamesInAListOfItsOwn)
{
    for (const bool big : {false, true}) {
        CheckingSink sink;
        const PerfDataSummary summary = read(test::version1(big), sink);
        EXPECT_EQ(summary.version, 1U);
        EXPECT_EQ(summary.order, big ? ByteOrder::Big : ByteOrder::Little);
        EXPECT_EQ(sink.samples, 1U);
        ASSERT_EQ(sink.events.size(), 1U);
        EXPECT_EQ(sink.events[0].name, "sched:sched_switch");
        EXPECT_EQ(sink.facts.hostName, "old-host");
    }
}

TEST(PerfData, ofAStreamGetsNamesFromUpdatesAndTracingData)
{
    PerfFileWriter file;
    const uint64_t sampleType = 1U << 16U | 1U;
    file.attr({.type = 2, .config = 372, .sampleType = sampleType, .ids = {1}});
    file.attr({.type = 9, .config = 3, .sampleType = sampleType, .ids = {2}});
    const std::string tracing = test::tracingData(false, {{"sched", test::kSwitchFormat}});
    file.record(66, 0, file.bytes().u32(tracing.size()).u32(0));
    file.loose(tracing).loose(std::string((8 - tracing.size() % 8) % 8, '\0'));
    file.record(78, 0, file.bytes().u64s({2, 2}).text("uncore/reads/"));
    file.record(9, 1, file.bytes().u64s({2, 0x10}));
    CheckingSink sink;
    sink.onSample = [&](const PerfRecord&, const PerfSample& sample) {
        EXPECT_EQ(sink.events[sample.event].name, "uncore/reads/");
    };
    const PerfDataSummary summary = read(file.pipe(), sink);
    EXPECT_TRUE(summary.pipe);
    EXPECT_EQ(sink.samples, 1U);
    EXPECT_EQ(sink.events[0].name, "sched:sched_switch");
    EXPECT_TRUE(sink.diagnostics.empty());
}

TEST(PerfData, ofAStreamMayDescribeItsEventsBeforeThem)
{
    PerfFileWriter file;
    test::Bytes desc = file.bytes().u64(12).u32(1).u32(64); // the number of the feature, then its content
    desc.raw(std::string(64, '\0')).u32(1).sized("cycles:pp").u64(5);
    file.record(80, 0, desc);
    const test::Bytes attr = file.bytes().u32(0).u32(64).u64s({0, 1, 1, 0, 0, 0, 0}).u64(5); // and its id
    file.record(64, 0, attr);
    file.record(9, 1, file.bytes().u64(0x10));
    CheckingSink sink;
    read(file.pipe(), sink);
    ASSERT_EQ(sink.events.size(), 1U);
    EXPECT_EQ(sink.events[0].name, "cycles:pp");
    EXPECT_EQ(sink.samples, 1U);
}

TEST(PerfData, countsRecordsInsideOfCompressedOnes)
{
    for (const bool second : {false, true}) {
        CheckingSink sink;
        std::vector<uint64_t> addresses;
        sink.onSample = [&](const PerfRecord& record, const PerfSample& sample) {
            EXPECT_TRUE(record.compressed);
            addresses.push_back(sample.ip);
        };
        const PerfDataSummary summary = read(test::compressed(second).file(), sink);
        EXPECT_EQ(addresses, (std::vector<uint64_t>{0x1000, 0x1001, 0x1002, 0x1003, 0x1004, 0x1005}));
        EXPECT_EQ(summary.counts.of(second ? PerfRecordType::Compressed2 : PerfRecordType::Compressed), 2U);
        EXPECT_EQ(summary.counts.of(PerfRecordType::Comm), 1U);
        EXPECT_EQ(summary.counts.insideCompressed, 6U);
        EXPECT_EQ(summary.counts.decompressedBytes, 6U * 24U);
        EXPECT_TRUE(sink.diagnostics.empty());
    }
}

TEST(PerfData, ofThreadsIsReadWithAllItsFiles)
{
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "whichlock-threads.data";
    std::filesystem::create_directories(folder);
    PerfFileWriter file;
    file.attr({.sampleType = 1U});
    file.feature(24, file.bytes().u64(1));
    std::ofstream(folder / "data", std::ios::binary) << file.file();
    for (const unsigned part : {0U, 2U, 10U}) {
        PerfFileWriter records;
        records.record(9, 1, records.bytes().u64(part));
        std::ofstream(folder / ("data." + std::to_string(part)), std::ios::binary) << records.records();
    }
    std::ofstream(folder / "data.notes") << "no part";
    CheckingSink sink;
    std::vector<std::pair<uint32_t, uint64_t>> seen;
    sink.onSample = [&](const PerfRecord& record, const PerfSample& sample) {
        seen.emplace_back(record.part, sample.ip);
    };
    ASSERT_TRUE(readPerfData(folder.string(), sink).has_value());
    EXPECT_EQ(seen, (std::vector<std::pair<uint32_t, uint64_t>>{{1, 0}, {3, 2}, {11, 10}}));
    EXPECT_EQ(sink.facts.directoryVersion, 1U);
    std::filesystem::remove_all(folder);
}

TEST(PerfData, stopsWhenTheProgressFunctionSaysSo)
{
    PerfDataSink nothing;
    PerfDataOptions options;
    options.progress = [](uint64_t, uint64_t) { return false; };
    const Result<PerfDataSummary> summary =
        readPerfData(test::allRecords(false).file(), "perf.data", nothing, options);
    ASSERT_TRUE(summary.has_value());
    EXPECT_TRUE(summary->stopped);
}

} // namespace
} // namespace whichlock
