// SPDX-License-Identifier: GPL-3.0-or-later
// What the reader makes of recordings that are cut or damaged: all that is readable is kept, and each loss is
// told with its place.
#include "parsers/perf_data/perf_data_reader.h"

#include "tests/support/perf_data_dump.h"
#include "tests/support/perf_data_samples.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace whichlock {
namespace {

using test::Bytes;
using test::PerfDataDump;
using test::PerfFileWriter;

struct Reading {
    PerfDataSummary summary{};
    std::string text{};
    std::vector<Diagnostic> diagnostics{};
};

class DumpWithDiagnostics : public PerfDataDump {
public:
    void diagnostic(Diagnostic diagnostic) override { diagnostics.push_back(std::move(diagnostic)); }
    std::vector<Diagnostic> diagnostics;
};

Reading read(const std::string& bytes)
{
    DumpWithDiagnostics dump;
    const Result<PerfDataSummary> summary = readPerfData(bytes, "perf.data", dump);
    Reading reading;
    if (summary)
        reading.summary = *summary;
    else
        dump.diagnostics.push_back(summary.error());
    reading.text = dump.text();
    reading.diagnostics = dump.diagnostics;
    return reading;
}

bool has(const Reading& reading, DiagnosticCode code, uint64_t offset)
{
    return std::ranges::any_of(reading.diagnostics, [&](const Diagnostic& diagnostic) {
        return diagnostic.code == code && diagnostic.position.offset == offset
            && diagnostic.position.chain == "perf.data";
    });
}

/// One event and three samples of 16 bytes; the records begin at kData.
constexpr size_t kData = 104 + 8 + 144;
PerfFileWriter threeSamples()
{
    PerfFileWriter file;
    file.attr({.sampleType = 1, .ids = {1}});
    for (uint64_t i = 1; i <= 3; ++i)
        file.record(9, 1, file.bytes().u64(i));
    return file;
}

TEST(PerfDataDamage, keepsAllRecordsOfAKilledRecorder)
{
    const Reading reading = read(threeSamples().file(true));
    EXPECT_TRUE(reading.summary.killed);
    EXPECT_EQ(reading.summary.counts.samples, 3U);
    ASSERT_EQ(reading.diagnostics.size(), 1U);
    EXPECT_EQ(reading.diagnostics[0].code, DiagnosticCode::RecorderKilled);
}

TEST(PerfDataDamage, keepsWholeRecordsBeforeACut)
{
    const std::string whole = threeSamples().file();
    const Reading reading = read(whole.substr(0, kData + 40));
    EXPECT_EQ(reading.summary.counts.samples, 2U);
    ASSERT_EQ(reading.diagnostics.size(), 2U);
    EXPECT_EQ(reading.diagnostics[0].message,
        "the file is cut after 296 bytes: the data section of the header ends behind the end of the file");
    EXPECT_EQ(reading.diagnostics[1].message,
        "record at offset 288 runs past the end (16 bytes, 8 left) (SAMPLE); the 2 records before it were "
        "kept");
    EXPECT_EQ(reading.diagnostics[1].position.offset, 288U);
}

TEST(PerfDataDamage, isSurvivedAtEveryByte)
{
    for (const auto& [name, bytes] : test::namedPerfData()) {
        uint64_t records = 0;
        const uint64_t all = read(bytes).summary.counts.total();
        for (size_t size = 0; size <= bytes.size(); ++size) {
            const Reading reading = read(bytes.substr(0, size));
            const uint64_t kept = reading.summary.counts.total();
            EXPECT_GE(kept, records) << name << " cut at " << size;
            records = kept;
            // A stream may end behind any record, a file of a killed recorder too; others know their length.
            const bool knowsLength =
                name.find("pipe") == std::string::npos && name.find("killed") == std::string::npos;
            if (knowsLength && size < bytes.size()) {
                EXPECT_FALSE(reading.diagnostics.empty()) << name << " cut at " << size;
            }
        }
        EXPECT_EQ(records, all) << name;
    }
}

TEST(PerfDataDamage, isSurvivedInEveryByte)
{
    for (const auto& [name, bytes] : test::namedPerfData()) {
        for (size_t at = 0; at < bytes.size(); ++at) {
            std::string damaged = bytes;
            constexpr unsigned kValues[] = {0x00U, 0x7fU, 0xffU};
            damaged[at] = static_cast<char>(kValues[at % 3]);
            read(damaged); // that it comes back is all that is asked
        }
    }
}

TEST(PerfDataDamage, stopsAtARecordThatIsTooSmall)
{
    PerfFileWriter file = threeSamples();
    file.loose(file.bytes().u32(9).u16(1).u16(7).str()).record(9, 1, file.bytes().u64(4));
    const Reading reading = read(file.file());
    EXPECT_EQ(reading.summary.counts.samples, 3U);
    EXPECT_TRUE(has(reading, DiagnosticCode::RecordDamaged, kData + 48));
}

TEST(PerfDataDamage, skipsASampleWhoseCountsAreTooLarge)
{
    const struct {
        uint64_t sampleType;
        std::vector<uint64_t> words;
    } cases[] = {
        {1U << 5U, {UINT64_MAX}},                         // call chain
        {1U << 5U, {uint64_t{1} << 61U}},                 // times 8 it is 0
        {1U << 10U, {0xffffffff}},                        // raw data
        {1U << 11U, {0x0aaaaaaaaaaaaaab}},                // branches, times 24 it is 8
        {1U << 13U, {UINT64_MAX}},                        // stack
        {1U << 13U, {8, 0}},                              // stack without its dynamic size
        {1U << 12U, {1, 0}},                              // registers: 64 of them
        {1U << 20U, {UINT64_MAX}},                        // aux
        {1U << 4U, {uint64_t{1} << 60U}},                 // a group of counters
        {1U << 0U | 1U << 1U | 1U << 2U | 1U << 3U, {1}}, // too short for the fixed fields
    };
    for (const auto& wrong : cases) {
        PerfFileWriter file;
        file.attr({.sampleType = wrong.sampleType, .readFormat = 8 | 4, .userRegisters = UINT64_MAX});
        Bytes payload = file.bytes();
        for (const uint64_t word : wrong.words)
            payload.u64(word);
        file.record(9, 1, payload).record(3, 0, file.bytes().u32(1).u32(1).text("kept"));
        const Reading reading = read(file.file());
        EXPECT_EQ(reading.summary.counts.samples, 0U) << wrong.sampleType;
        EXPECT_EQ(reading.summary.counts.of(PerfRecordType::Sample), 1U);
        EXPECT_TRUE(has(reading, DiagnosticCode::RecordDamaged, 104 + 144)) << wrong.sampleType;
        EXPECT_NE(reading.text.find("kept"), std::string::npos);
    }
}

TEST(PerfDataDamage, ofManyRecordsIsOneDiagnosticWithACount)
{
    PerfFileWriter file;
    file.attr({.sampleType = 1U << 5U});
    for (int i = 0; i < 5; ++i)
        file.record(9, 1, file.bytes().u64(1000));
    const Reading reading = read(file.file());
    ASSERT_EQ(reading.diagnostics.size(), 1U);
    EXPECT_EQ(reading.diagnostics[0].count, 5U);
    EXPECT_EQ(reading.diagnostics[0].message,
        "SAMPLE record of 16 bytes at offset 248: CALLCHAIN does not fit; it was skipped, the others were "
        "kept");
}

TEST(PerfDataDamage, ofAFeatureSectionLeavesTheOthers)
{
    PerfFileWriter file = threeSamples();
    file.feature(3, file.bytes().u32(0xfffffff0).raw("short"));
    file.feature(4, file.bytes().sized("6.1"));
    file.feature(11, file.bytes().u32(0xffffffff).sized("perf"));
    const Reading reading = read(file.file());
    EXPECT_EQ(reading.summary.counts.samples, 3U);
    EXPECT_NE(reading.text.find("host  6.1"), std::string::npos) << reading.text;
    EXPECT_NE(reading.text.find(" perf\n"), std::string::npos) << reading.text;
    EXPECT_EQ(reading.diagnostics.size(), 2U);
}

TEST(PerfDataDamage, ofIdsOutsideOfTheFileLeavesTheEvent)
{
    std::string bytes = threeSamples().file();
    bytes.replace(104 + 8 + 128 + 8, 8, std::string(8, '\xff')); // the size of the section
    const Reading reading = read(bytes);
    EXPECT_EQ(reading.summary.counts.samples, 3U);
    EXPECT_TRUE(has(reading, DiagnosticCode::FeatureDamaged, 104 + 8));
}

TEST(PerfDataDamage, ofACompressedRecordKeepsThoseBefore)
{
    PerfFileWriter file;
    file.attr({.sampleType = 1});
    const std::string sample = PerfFileWriter::recordBytes(false, 9, 1, file.bytes().u64(1).str());
    file.record(81, 0, file.bytes().raw(test::zstdPieces({sample}).front()));
    file.record(81, 0, file.bytes().raw("this is no zstd block at all"));
    file.record(81, 0, file.bytes().raw("nor is this"));
    file.record(3, 0, file.bytes().u32(1).u32(1).text("kept"));
    const Reading reading = read(file.file());
    EXPECT_EQ(reading.summary.counts.samples, 1U);
    EXPECT_NE(reading.text.find("kept"), std::string::npos);
    ASSERT_EQ(reading.diagnostics.size(), 1U);
    EXPECT_EQ(reading.diagnostics[0].code, DiagnosticCode::CompressionBroken);
    EXPECT_EQ(reading.diagnostics[0].count, 2U);
}

TEST(PerfDataDamage, ofARecordInsideOfACompressedOneIsTold)
{
    PerfFileWriter file;
    file.attr({.sampleType = 1});
    std::string inner = PerfFileWriter::recordBytes(false, 9, 1, file.bytes().u64(1).str());
    inner += std::string(100'000, '\0'); // a record of size 0
    file.record(81, 0, file.bytes().raw(test::zstdPieces({inner}).front()));
    const Reading reading = read(file.file());
    EXPECT_EQ(reading.summary.counts.samples, 1U);
    EXPECT_TRUE(has(reading, DiagnosticCode::RecordDamaged, 104 + 144));
}

TEST(PerfDataDamage, ofTheDataOfAuxtraceIsTold)
{
    PerfFileWriter file = threeSamples();
    file.record(71, 0, file.bytes().u64s({1000, 0, 0}).u64(0).u64(0)).loose("only these");
    const Reading reading = read(file.file());
    EXPECT_EQ(reading.summary.counts.samples, 3U);
    EXPECT_TRUE(has(reading, DiagnosticCode::FileCut, kData + 48));
}

TEST(PerfDataDamage, ofAllAttrsLeavesTheCountsAndTheEventsOfTheDescription)
{
    PerfFileWriter file;
    file.record(9, 1, file.bytes().u64(0x10));
    EXPECT_EQ(read(file.file()).summary.counts.of(PerfRecordType::Sample), 1U);
    EXPECT_EQ(read(file.file()).summary.counts.samples, 0U);
    Bytes attr = file.bytes().u32(1).u32(64).u64s({0, 1, 1, 0, 0, 0, 0, 0}); // of sampleType 1
    file.feature(
        12, file.bytes().u32(1).u32(64).raw(attr.str().substr(0, 64)).u32(1).sized("cpu-clock").u64(5));
    EXPECT_EQ(read(file.file()).summary.counts.samples, 1U);
}

TEST(PerfDataDamage, meansThatOtherFilesAreNoRecordings)
{
    for (const std::string_view bytes : {"", "PERF", "PERFILE", "PERFILE2", "a text\nwith lines\n"}) {
        PerfDataSink nothing;
        EXPECT_FALSE(readPerfData(bytes, "perf.data", nothing).has_value()) << bytes;
        EXPECT_EQ(looksLikePerfData(bytes), bytes == "PERFILE2") << bytes;
    }
}

TEST(PerfDataDamage, ofADecompressionBombEndsEarly)
{
    // Records of one size, over and over: zstd packs them to a ten-thousandth.
    PerfFileWriter file;
    file.attr({.sampleType = 1});
    const std::string one =
        PerfFileWriter::recordBytes(false, 9, 1, file.bytes().raw(std::string(8184, 'x')).str());
    std::string inner;
    for (int i = 0; i < 256; ++i)
        inner += one;
    const std::vector<std::string> pieces = test::zstdPieces(std::vector<std::string>(64, inner));
    for (const std::string& piece : pieces)
        file.record(81, 0, file.bytes().raw(piece));
    PerfDataSink nothing;
    const Result<PerfDataSummary> summary = readPerfData(file.file(), "perf.data", nothing);
    ASSERT_TRUE(summary.has_value());
    EXPECT_LT(summary->counts.decompressedBytes, 66U * 1024 * 1024);
    EXPECT_GT(summary->counts.samples, 8000U);
}

} // namespace
} // namespace whichlock
