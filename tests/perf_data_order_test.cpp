// SPDX-License-Identifier: GPL-3.0-or-later
// Records in the order of time: out of several buffers and files, copied where they cannot stay.
#include "parsers/perf_data/perf_data_reader.h"
#include "parsers/perf_data/record_order.h"

#include "tests/support/perf_data_dump.h"
#include "tests/support/perf_data_samples.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace whichlock {
namespace {

namespace fs = std::filesystem;
using test::PerfDataDump;
using test::PerfFileWriter;

const PerfDataOptions kByTime{.byTime = true};
constexpr uint32_t kSample = 9;
constexpr uint32_t kComm = 3;
constexpr uint32_t kCompressed = 81;
constexpr uint32_t kFinishedRound = 68;

/// Times in the order in which they come; those of records that are no samples are negative.
class TimesSink : public PerfDataSink {
public:
    void comm(const PerfRecord& record, const PerfComm& comm) override
    {
        times.push_back(-static_cast<int64_t>(record.id.time));
        names.emplace_back(comm.name);
    }
    void sample(const PerfRecord& record, const PerfSample& sample) override
    {
        times.push_back(static_cast<int64_t>(sample.time));
        parts.push_back(record.part);
    }
    void finishedRound(const PerfRecord&) override { ++rounds; }

    std::vector<int64_t> times;
    std::vector<std::string> names;
    std::vector<uint32_t> parts;
    unsigned rounds = 0;
};

/// IP, TID, TIME, and a trailer on records that are no samples.
PerfFileWriter writer()
{
    PerfFileWriter file;
    file.attr({.sampleType = 7, .flags = {18}});
    return file;
}

std::string sampleAt(uint64_t time)
{
    const test::Bytes payload = test::Bytes(false).u64(0x1000).u32(1).u32(1).u64(time);
    return PerfFileWriter::recordBytes(false, kSample, 2, payload.str());
}

std::string commAt(uint64_t time, std::string_view name)
{
    const test::Bytes payload = test::Bytes(false).u32(1).u32(1).text(name).u32(1).u32(1).u64(time);
    return PerfFileWriter::recordBytes(false, kComm, 2, payload.str());
}

std::string round()
{
    return PerfFileWriter::recordBytes(false, kFinishedRound, 0, {});
}

std::vector<int64_t> timesOf(const std::string& bytes)
{
    TimesSink sink;
    EXPECT_TRUE(readPerfData(bytes, "perf.data", sink, kByTime));
    EXPECT_EQ(sink.rounds, 0U);
    return sink.times;
}

TEST(PerfDataOrder, mergesBuffersOfProcessors)
{
    PerfFileWriter file = writer();
    for (const uint64_t time : {30u, 40u, 10u, 20u, 50u})
        file.loose(sampleAt(time));
    file.loose(commAt(25, "a"));
    EXPECT_EQ(timesOf(file.file()), (std::vector<int64_t>{10, 20, -25, 30, 40, 50}));
}

TEST(PerfDataOrder, deliversAtOnceWhatHasNoTime)
{
    PerfFileWriter file = writer();
    file.loose(sampleAt(10)).loose(commAt(0, "made up at the end"));
    EXPECT_EQ(timesOf(file.file()), (std::vector<int64_t>{0, 10}));
}

TEST(PerfDataOrder, goesByMarksOfRounds)
{
    PerfFileWriter file = writer();
    file.loose(sampleAt(10)).loose(sampleAt(40)).loose(round());
    file.loose(sampleAt(20)).loose(sampleAt(50)).loose(round()); // complete up to 40
    file.loose(sampleAt(30));                                    // too late, as no sound recorder writes it
    EXPECT_EQ(timesOf(file.file()), (std::vector<int64_t>{10, 20, 40, 30, 50}));
}

TEST(PerfDataOrder, keepsTheOrderOfAFileWithoutTimes)
{
    PerfFileWriter file;
    file.attr({.sampleType = 1});
    for (uint64_t i = 0; i < 3; ++i)
        file.record(kSample, 2, file.bytes().u64(i));
    EXPECT_EQ(timesOf(file.file()), (std::vector<int64_t>{0, 0, 0}));
}

TEST(PerfDataOrder, copiesWhatWasDecompressed)
{
    // Later records overwrite the bytes of earlier ones in the buffer of the decompressor.
    std::vector<std::string> pieces;
    std::vector<std::string> names;
    for (uint64_t i = 0; i < 5000; ++i) {
        names.push_back("name-" + std::to_string(i) + std::string(i % 200, 'x'));
        pieces.push_back(commAt(10'000 - i, names.back())); // the last one is the first in time
    }
    PerfFileWriter file = writer();
    for (const std::string& piece : test::zstdPieces(pieces))
        file.loose(PerfFileWriter::recordBytes(false, kCompressed, 0, piece));
    std::reverse(names.begin(), names.end());
    TimesSink sink;
    ASSERT_TRUE(readPerfData(file.file(), "perf.data", sink, kByTime));
    EXPECT_EQ(sink.names, names);
}

TEST(PerfDataOrder, deliversTheSameInPiecesAsWhole)
{
    for (const auto& [name, bytes] : test::namedPerfData()) {
        PerfDataDump whole;
        PerfDataDump pieces;
        const auto first = readPerfData(bytes, "input", whole, kByTime);
        const auto second = readPerfData(*Source::fromMemory("input", bytes, 61), pieces, kByTime);
        EXPECT_EQ(first.has_value(), second.has_value()) << name;
        EXPECT_EQ(whole.text(), pieces.text()) << name;
    }
}

TEST(PerfDataOrder, deliversWhatTheFileHas)
{
    const auto sortedLines = [](const std::string& bytes, const PerfDataOptions& options) {
        PerfDataDump dump;
        EXPECT_TRUE(readPerfData(bytes, "input", dump, options));
        std::vector<std::string> lines;
        for (size_t at = 0, end = 0; (end = dump.text().find('\n', at)) != std::string::npos; at = end + 1) {
            lines.push_back(dump.text().substr(at, end - at));
            if (lines.back().find("FINISHED_ROUND") != std::string::npos)
                lines.pop_back();
        }
        std::sort(lines.begin(), lines.end());
        return lines;
    };
    for (const auto& [name, bytes] : test::namedPerfData()) {
        // In a stream an event is told of again between the records; which ones it is known for differs.
        if (name.find("pipe") != std::string::npos)
            continue;
        EXPECT_EQ(sortedLines(bytes, {}), sortedLines(bytes, kByTime)) << name;
    }
}

TEST(PerfDataOrder, mergesTheFilesOfAFolder)
{
    const fs::path folder = fs::path(testing::TempDir()) / "perf_data_order_test.data";
    fs::create_directories(folder);
    const auto put = [&](const char* name, const std::string& bytes) {
        std::ofstream(folder / name, std::ios::binary) << bytes;
    };
    // The first thread was long done when the second one began; its rounds must not go ahead of it.
    put("data", writer().loose(commAt(35, "b")).loose(commAt(5, "a")).file());
    put("data.0", sampleAt(10) + round() + sampleAt(20) + round() + sampleAt(30) + round() + sampleAt(40));
    put("data.1", sampleAt(15) + round() + sampleAt(25) + round() + sampleAt(45));
    TimesSink sink;
    const auto summary = readPerfData(folder.string(), sink, kByTime);
    TimesSink stopped;
    const auto early = readPerfData(
        folder.string(), stopped, {.byTime = true, .progress = [](uint64_t, uint64_t) { return false; }});
    fs::remove_all(folder);
    ASSERT_TRUE(summary);
    EXPECT_EQ(sink.times, (std::vector<int64_t>{-5, 10, 15, 20, 25, 30, -35, 40, 45}));
    EXPECT_EQ(sink.parts, (std::vector<uint32_t>{1, 2, 1, 2, 1, 1, 2}));
    ASSERT_TRUE(early);
    EXPECT_TRUE(early->stopped);
}

TEST(RecordOrder, holdsNoMoreThanTwoRoundsWhereThereAreNoMarks)
{
    // Times fall: each record is a run of its own, and none could be let go for sure.
    uint64_t delivered = 0;
    RecordOrder order([&](uint64_t, const HeldRecord&) { ++delivered; });
    const std::string bytes(1000, 'x');
    constexpr uint64_t kRecords = 200'000; // 200 MB
    uint64_t mostHeld = 0;
    for (uint64_t i = 0; i < kRecords; ++i) {
        order.add(kRecords - i, {.bytes = bytes.data(), .size = 1000}, false);
        mostHeld = std::max(mostHeld, i + 1 - delivered);
    }
    order.finish();
    EXPECT_EQ(delivered, kRecords);
    EXPECT_LE(mostHeld, 2 * (64U * 1024 * 1024 / 1000 + 1));
}

} // namespace
} // namespace whichlock
