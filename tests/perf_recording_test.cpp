// SPDX-License-Identifier: GPL-3.0-or-later
// A recording from its bytes to the report: sorted by time, named by kallsyms, attributed to a call site.
#include "analyzer/report/report.h"
#include "analyzer/session/perf_recording.h"
#include "analyzer/session/session.h"
#include "parsers/perf_data/perf_data_reader.h"
#include "tests/support/perf_data_writer.h"
#include "tests/support/recording_sink.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

namespace whichlock::test {
namespace {

constexpr uint64_t kText = 0xffffffff81000000;
constexpr uint64_t kSlowPath = kText + 0x1000;
constexpr uint64_t kSpinLock = kText + 0x2000;
constexpr uint64_t kDput = kText + 0x3000;
constexpr uint64_t kWork = kText + 0x4000;
constexpr uint64_t kKernelMark = static_cast<uint64_t>(-128);
constexpr uint64_t kPeriod = 250'000; // ns
constexpr uint16_t kKernelMode = 1;
constexpr uint16_t kUserMode = 2;

class PerfRecordingTest : public testing::Test {
protected:
    void SetUp() override
    {
        // A file of each test's own: they may run at the same time.
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        kallsyms_ = testing::TempDir() + "perf_recording_test." + test->name() + ".kallsyms";
        std::FILE* file = std::fopen(kallsyms_.c_str(), "w");
        ASSERT_NE(file, nullptr);
        const std::pair<uint64_t, const char*> symbols[] = {{kText, "_text"},
            {kSlowPath, "native_queued_spin_lock_slowpath"}, {kSpinLock, "_raw_spin_lock"},
            {kDput, "keep_book"}, {kWork, "ext4_do_writepages"}, {kText + 0x5000, "_etext"}};
        for (const auto& [address, name] : symbols)
            std::fprintf(file, "%016llx T %s\n", static_cast<unsigned long long>(address), name);
        std::fclose(file);
        // cpu-clock with IP, TID, TIME, PERIOD and CALLCHAIN, and a trailer on the other records.
        writer_.attr({.type = 1, .config = 0, .period = kPeriod, .sampleType = 0x127, .flags = {18}});
    }
    void TearDown() override { std::remove(kallsyms_.c_str()); }

    void sample(uint64_t time, std::initializer_list<uint64_t> chain)
    {
        Bytes payload = writer_.bytes();
        payload.u64(*chain.begin())
            .u32(100)
            .u32(101)
            .u64(time)
            .u64(kPeriod)
            .u64(chain.size() + 1)
            .u64(kKernelMark);
        payload.u64s(chain);
        writer_.record(9, kKernelMode, payload);
    }
    void kernelMapping(uint64_t time)
    {
        Bytes payload = writer_.bytes();
        payload.u32(UINT32_MAX).u32(0).u64(kText).u64(0x100000).u64(kText).text("[kernel.kallsyms]_text");
        payload.u32(0).u32(0).u64(time);
        writer_.record(1, kKernelMode, payload);
    }
    void comm(uint64_t time, const char* name)
    {
        Bytes payload = writer_.bytes();
        payload.u32(100).u32(101).text(name).u32(100).u32(101).u64(time);
        writer_.record(3, kUserMode, payload);
    }

    /// What a question leaves of it; all samples are of thread 101 of process 100.
    Report ask(const QueryTexts& texts)
    {
        const auto query = parseQuery(texts);
        EXPECT_TRUE(query) << query.error();
        const std::string bytes = writer_.file();
        std::vector<std::unique_ptr<Source>> sources;
        sources.push_back(Source::fromMemory("perf.data", bytes));
        const Profile read = loadSession(std::move(sources), {},
            {.kallsyms = kallsyms_, .debugRoot = "/nonexistent"}, selectionOf(*query));
        Report report = buildReport(read, *query, RoutineTable::builtIn());
        EXPECT_EQ(report.internalError, "");
        return report;
    }

    Profile profile()
    {
        const std::string bytes = writer_.file();
        std::vector<std::unique_ptr<Source>> sources;
        sources.push_back(Source::fromMemory("perf.data", bytes));
        return loadSession(std::move(sources), {}, {.kallsyms = kallsyms_, .debugRoot = "/nonexistent"});
    }

    std::string kallsyms_;
    PerfFileWriter writer_;
};

TEST_F(PerfRecordingTest, attributesSpinningToItsCallSite)
{
    // The samples stand before the mapping and the name in the file, as they do when they come from another
    // processor's buffer; their times are later.
    for (uint64_t i = 0; i < 40; ++i)
        sample(2000 + i, {kSlowPath + 0x10, kSpinLock + 0x20, kDput + 0x31});
    for (uint64_t i = 0; i < 10; ++i)
        sample(3000 + i, {kWork + 5});
    kernelMapping(1000);
    comm(1500, "worker");

    const Profile read = profile();
    ASSERT_EQ(read.sections.size(), 1U);
    EXPECT_EQ(read.inputs.front().format, "perf.data");
    const Report report = buildReport(read, {}, RoutineTable::builtIn());
    EXPECT_EQ(report.internalError, "");
    const ReportSection& section = report.sections.front();
    EXPECT_EQ(section.event, "cpu-clock");
    EXPECT_EQ(section.unit, Unit::Nanoseconds);
    EXPECT_EQ(section.samples, 50U);
    EXPECT_EQ(section.total, 50 * kPeriod);
    EXPECT_EQ(section.contention.value, 40 * kPeriod);
    ASSERT_TRUE(section.contention.ofTotal);
    EXPECT_EQ(section.contention.ofTotal->ppb, 80 * Share::kPercent); // 40 of 50
    ASSERT_EQ(section.locks.size(), 1U);
    EXPECT_EQ(section.locks[0].rung, Rung::CallSite);
    EXPECT_EQ(section.locks[0].sites.front().name, "keep_book+0x31");
    EXPECT_EQ(report.verdict.guilty, Guilty::Yes);
    for (const Cell& cell : read.sections[0].cells)
        EXPECT_EQ(read.string(read.group(cell.group).comm), "worker");
}

TEST_F(PerfRecordingTest, keepsAddressesWithoutAMappingAsUnknown)
{
    sample(2000, {0x1234});
    const Profile read = profile();
    ASSERT_EQ(read.sections.size(), 1U);
    ASSERT_EQ(read.sections[0].cells.size(), 1U);
    EXPECT_EQ(read.leafSymbol(read.sections[0].cells[0].stack), "[unknown]");
    EXPECT_EQ(read.sections[0].weight, kPeriod);
}

TEST_F(PerfRecordingTest, readsTheFolderThatRecordingByThreadsMakes)
{
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / "perf_recording_test.data";
    std::filesystem::create_directories(folder);
    const auto put = [&](const char* name, const std::string& bytes) {
        std::ofstream(folder / name, std::ios::binary) << bytes;
    };
    kernelMapping(1000);
    writer_.feature(24, writer_.bytes().u64(1)); // DIR_FORMAT
    put("data", writer_.file());
    PerfFileWriter thread;
    std::swap(writer_, thread);
    sample(2000, {kWork + 5});
    put("data.0", writer_.records());
    OpenedInputs opened = openInputs({folder.string()});
    EXPECT_TRUE(opened.errors.empty());
    const Profile read =
        loadSession(std::move(opened.sources), {}, {.kallsyms = kallsyms_, .debugRoot = "/nonexistent"});
    std::filesystem::remove_all(folder);
    ASSERT_EQ(read.sections.size(), 1U);
    ASSERT_EQ(read.sections[0].cells.size(), 1U);
    EXPECT_EQ(read.leafSymbol(read.sections[0].cells[0].stack), "ext4_do_writepages");
}

TEST_F(PerfRecordingTest, countsAsThePriceOfCallsOnlyWhatDidNotWait)
{
    sample(2000, {kSlowPath + 0x10, kSpinLock + 0x20, kDput + 0x31}); // 1 of 100 waits
    for (uint64_t i = 0; i < 3; ++i)
        sample(2100 + i, {kSpinLock + 0x20, kDput + 0x31}); // 3 are in the call alone
    for (uint64_t i = 0; i < 96; ++i)
        sample(3000 + i, {kWork + 5});
    kernelMapping(1000);
    const Report report = buildReport(profile(), {}, RoutineTable::builtIn());
    EXPECT_EQ(report.verdict.guilty, Guilty::Unknown);
    EXPECT_NE(report.verdict.text.find("(1.00 %"), std::string::npos) << report.verdict.text;
    EXPECT_NE(report.verdict.text.find("Lock calls cost 3.00 % without waiting"), std::string::npos)
        << report.verdict.text;
}

TEST_F(PerfRecordingTest, takesMappingsThatWereMadeUpAtTheEnd)
{
    // perf record --overwrite --tail-synthesize: what was there all the time is told of last, without a time.
    sample(2000, {kWork + 5});
    kernelMapping(0);
    comm(0, "worker");
    const Profile read = profile();
    ASSERT_EQ(read.sections.size(), 1U);
    ASSERT_EQ(read.sections[0].cells.size(), 1U);
    EXPECT_EQ(read.leafSymbol(read.sections[0].cells[0].stack), "ext4_do_writepages");
    EXPECT_EQ(read.string(read.group(read.sections[0].cells[0].group).comm), "worker");
}

TEST_F(PerfRecordingTest, namesTheIdleTaskAsPerfDoes)
{
    Bytes payload = writer_.bytes();
    payload.u64(kWork).u32(0).u32(0).u64(2000).u64(kPeriod).u64(0);
    writer_.record(9, kKernelMode, payload);
    const Profile read = profile();
    ASSERT_EQ(read.sections.at(0).cells.size(), 1U);
    EXPECT_EQ(read.string(read.group(read.sections[0].cells[0].group).comm), "swapper");
}

TEST_F(PerfRecordingTest, tellsThreadsApartOnlyWhenAskedTo)
{
    for (const uint32_t tid : {101U, 102U, 101U}) {
        Bytes payload = writer_.bytes();
        payload.u64(kWork).u32(100).u32(tid).u64(2000).u64(kPeriod).u64(0);
        writer_.record(9, kKernelMode, payload);
    }
    const std::string bytes = writer_.file();
    const auto weights = [&](const RecordingOptions& options) {
        const std::unique_ptr<Source> source = Source::fromMemory("perf.data", bytes);
        Symbolizer symbolizer(SymbolizerOptions{.debugRoot = "/nonexistent"});
        RecordingSink sink;
        loadPerfRecording(*source, symbolizer, sink, options);
        std::map<int32_t, uint64_t> byThread;
        for (const KeptSample& one : sink.sections.at(0).samples)
            byThread[one.tid] += one.weight;
        return byThread;
    };
    using Weights = std::map<int32_t, uint64_t>;
    EXPECT_EQ(weights({}), (Weights{{-1, 3 * kPeriod}}));
    EXPECT_EQ(weights({.byThread = true}), (Weights{{101, 2 * kPeriod}, {102, kPeriod}}));
    EXPECT_EQ(weights({.filter = {.threads = {"102"}}, .byThread = true}), (Weights{{102, kPeriod}}));
    EXPECT_EQ(
        weights({.filter = {.time = TimeRange{.base = TimeRange::Base::Clock, .from = 2001}}}), Weights());
    EXPECT_EQ(weights({.filter = {.cpus = {{0, 0}}}}), Weights()); // not recorded
}

/// Finds one caller in the first word of the stack.
class OneCaller final : public UserUnwinder {
public:
    bool unwind(const PerfSample& sample, const AddressSpace&, std::vector<UserAddress>& found) override
    {
        found.push_back({sample.userRegisters.values[0], AddressKind::InstructionPointer});
        found.push_back({loadInteger<uint64_t>(sample.userStack.data(), ByteOrder::Little)});
        return true;
    }
};

TEST_F(PerfRecordingTest, putsCallersThatAnUnwinderFindsBehindTheKernelPart)
{
    writer_ = PerfFileWriter();
    writer_.attr({.type = 1, .sampleType = 0x3127, .flags = {18}, .userRegisters = 1});
    kernelMapping(1000);
    Bytes payload = writer_.bytes();
    payload.u64(kWork).u32(100).u32(101).u64(2000).u64(kPeriod).u64s({2, kKernelMark, kWork + 5});
    payload.u64s({2, 0x4000}); // registers of a task of 64 bits
    payload.u64s({8, 0x5000, 8});
    writer_.record(9, kKernelMode, payload);
    const std::string bytes = writer_.file();

    OneCaller unwinder;
    PerfRecording recording("perf.data");
    recording.setUnwinder(&unwinder);
    ASSERT_TRUE(readPerfData(bytes, "perf.data", recording, {.byTime = true}));
    Symbolizer symbolizer(SymbolizerOptions{.kallsyms = kallsyms_, .debugRoot = "/nonexistent"});
    RecordingSink sink;
    recording.deliver(symbolizer, sink);
    ASSERT_EQ(sink.sections.at(0).samples.size(), 1U);
    const std::vector<KeptFrame>& frames = sink.sections[0].samples[0].frames;
    ASSERT_EQ(frames.size(), 3U);
    EXPECT_EQ(frames[0].symbol, "ext4_do_writepages");
    EXPECT_EQ(frames[1].symbol, "[unknown]");
    EXPECT_EQ(frames[2].symbol, "[unknown]");
}

/// Keeps what it hears as words.
class Listener final : public ReplayListener {
public:
    void sample(const ReplayedSample& one) override
    {
        heard += fmt::format("{}:{}{} ", one.sample.time, one.event.name, one.wanted ? "" : "(unwanted)");
        stack_ = one.stack;
        comm_ = one.comm;
    }
    void comm(const PerfRecord& record, const PerfComm& comm) override
    {
        heard += fmt::format("{}:{} ", record.id.time, comm.name);
    }
    void lost(const PerfRecord& record, const PerfLost& lost) override
    {
        heard += fmt::format("{}:lost {} ", record.id.time, lost.count);
    }
    void deliver(NamedStacks& stacks, const ThreadNames& names, RecordSink&) override
    {
        for (const TextFrame& frame : stacks.framesOf(stack_))
            heard += std::string(frame.symbol) + " ";
        heard += names[comm_];
    }

    std::string heard;

private:
    AddressStackId stack_{};
    StringId comm_{};
};

TEST_F(PerfRecordingTest, tellsListenersOfRecordsInTheOrderOfTime)
{
    sample(3000, {kWork + 5});
    sample(2000, {kSlowPath + 0x10, kSpinLock + 0x20});
    Bytes payload = writer_.bytes();
    payload.u64(0).u64(17).u32(0).u32(0).u64(2500);
    writer_.record(2, kKernelMode, payload);
    comm(1500, "worker");
    kernelMapping(1000);

    Listener listener;
    PerfRecording recording(
        "perf.data", {.filter = {.time = TimeRange{.base = TimeRange::Base::Clock, .to = 3000}}});
    recording.setListener(listener);
    ASSERT_TRUE(readPerfData(writer_.file(), "perf.data", recording, {.byTime = true}));
    Symbolizer symbolizer(SymbolizerOptions{.kallsyms = kallsyms_, .debugRoot = "/nonexistent"});
    RecordingSink sink;
    recording.deliver(symbolizer, sink);
    EXPECT_EQ(listener.heard,
        "1500:worker 2000:cpu-clock 2500:lost 17 3000:cpu-clock(unwanted) ext4_do_writepages worker");
    EXPECT_EQ(sink.sections.at(0).samples.size(), 1U);
}

TEST_F(PerfRecordingTest, saysWhichTracepointsWereSampled)
{
    writer_ = PerfFileWriter();
    constexpr unsigned kFrequency = 10;
    writer_.attr(
        {.type = 2, .config = 5, .period = 999, .sampleType = 0x10007, .flags = {kFrequency}, .ids = {1}});
    writer_.attr({.type = 2, .config = 6, .period = 1, .sampleType = 0x10007, .ids = {2}});
    for (const uint64_t id : {1U, 2U})
        writer_.record(9, kKernelMode, writer_.bytes().u64(id).u64(kWork).u32(1).u32(1).u64(5));
    const Profile read = profile();
    ASSERT_EQ(read.sections.size(), 2U);
    const auto said = std::find_if(read.diagnostics.begin(), read.diagnostics.end(),
        [](const Diagnostic& one) { return one.code == DiagnosticCode::EventsSampled; });
    ASSERT_NE(said, read.diagnostics.end());
    EXPECT_NE(said->message.find(read.sections[0].record.event), std::string::npos) << said->message;
    EXPECT_EQ(said->message.find(read.sections[1].record.event), std::string::npos) << said->message;
}

TEST_F(PerfRecordingTest, isCutByTimeFromTheFirstSampleInTheOrderOfTime)
{
    // 1 s and 2 s after the first one, which stands last in the file.
    sample(1'000'003'000, {kWork + 5});
    sample(2'000'003'000, {kSlowPath + 0x10, kSpinLock + 0x20, kDput + 0x31});
    sample(3'000, {kWork + 5});
    kernelMapping(1000);
    const auto left = [&](const char* time) {
        const Report report = ask({.time = time});
        if (report.sections.empty())
            return std::pair<uint64_t, uint64_t>();
        const ReportSection& section = report.sections.front();
        EXPECT_EQ(section.samples + section.leftOutSamples, 3U);
        EXPECT_EQ(section.total.value_or(0) + section.leftOutValue, 3 * kPeriod);
        return std::pair(section.samples, section.contention.samples);
    };
    EXPECT_EQ(left("-1"), std::pair(uint64_t{1}, uint64_t{0}));
    EXPECT_EQ(left("1-"), std::pair(uint64_t{2}, uint64_t{1}));
    EXPECT_EQ(left("1-2"), std::pair(uint64_t{1}, uint64_t{0}));
    EXPECT_EQ(left("2-"), std::pair(uint64_t{1}, uint64_t{1}));
    EXPECT_EQ(left("3-"), std::pair(uint64_t{0}, uint64_t{0}));
    EXPECT_EQ(left("0.000003,1"), std::pair(uint64_t{1}, uint64_t{0}));
}

TEST_F(PerfRecordingTest, isCutByPercentagesWhereTheFileTellsItsSpan)
{
    for (uint64_t i = 0; i <= 10; ++i)
        sample(5'000 + 100 * i, {kWork + 5});
    kernelMapping(1000);
    EXPECT_TRUE(ask({.time = "10%-20%"}).sections.empty());     // no span: nothing can be judged
    writer_.feature(21, writer_.bytes().u64(5'000).u64(6'000)); // SAMPLE_TIME
    const auto left = [&](const char* time) { return ask({.time = time}).sections.at(0).samples; };
    EXPECT_EQ(left("10%-30%"), 2U); // 5100 and 5200
    EXPECT_EQ(left("-50%"), 5U);    // 5000 to 5400
    EXPECT_EQ(left("50%-"), 6U);
    EXPECT_EQ(left("0%-100%"), 11U);
}

TEST_F(PerfRecordingTest, isCutByTheNamesOfItsThreadAndProcessAtThatTime)
{
    comm(1500, "before");
    sample(2000, {kWork + 5});
    comm(2500, "after");
    sample(3000, {kWork + 5});
    sample(3001, {kWork + 5});
    kernelMapping(1000);
    Bytes first = writer_.bytes(); // the first thread of the process has another name
    first.u32(100).u32(100).text("server").u32(100).u32(100).u64(1400);
    writer_.record(3, kUserMode, first);
    const auto left = [&](const QueryTexts& texts) { return ask(texts).sections.at(0).samples; };
    EXPECT_EQ(left({.threads = {"before"}}), 1U);
    EXPECT_EQ(left({.threads = {"after"}}), 2U);
    EXPECT_EQ(left({.threads = {"101"}}), 3U);
    EXPECT_EQ(left({.processes = {"server"}}), 3U);
    EXPECT_EQ(left({.processes = {"100"}}), 3U);
    EXPECT_TRUE(ask({.processes = {"after"}}).sections.empty());
    const Report byThread = ask({.by = "thread"});
    ASSERT_EQ(byThread.sections.at(0).groups.size(), 2U);
    EXPECT_EQ(byThread.sections[0].groups[0].name, "after");
    EXPECT_EQ(byThread.sections[0].groups[0].tid, 101);
    EXPECT_EQ(byThread.sections[0].groups[0].part.value, 2 * kPeriod);
    const Report byCpu = ask({.by = "cpu"}); // not recorded here
    EXPECT_TRUE(byCpu.sections.at(0).groups.empty());
    EXPECT_TRUE(ask({.cpus = {"0"}}).sections.empty());
}

TEST_F(PerfRecordingTest, countsLostEvents)
{
    sample(2000, {kWork});
    Bytes payload = writer_.bytes();
    payload.u64(0).u64(17).u32(0).u32(0).u64(2500);
    writer_.record(2, kKernelMode, payload);
    const Report report = buildReport(profile(), {}, RoutineTable::builtIn());
    ASSERT_EQ(report.sections.size(), 1U);
    EXPECT_EQ(report.sections[0].lost, 17U);
}

} // namespace
} // namespace whichlock::test
