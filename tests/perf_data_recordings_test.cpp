// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings that are too many for the source tree, against the counts that an independent reader found.
// They lie beside the tree; without them these tests are skipped.
#include "parsers/perf_data/perf_data_reader.h"

#include "tests/support/gzip.h"
#include "tests/support/perf_data_dump.h"
#include "tests/support/perf_data_swap.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace whichlock {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kFolder = WHICHLOCK_RECORDINGS;

/// Counts what comes, the way the expectations do.
class CountingSink : public PerfDataSink {
public:
    void event(const PerfEvent& event) override { events[event.index] = event; }
    void comm(const PerfRecord& /*record*/, const PerfComm& comm) override
    {
        comms.insert(std::string(comm.name));
    }
    void sample(const PerfRecord& record, const PerfSample& sample) override
    {
        // A task that is past its exit has the number -1; the expectations leave such samples out.
        if (sample.has(sample_bit::kTid) && sample.tid == UINT32_MAX) {
            ++afterExit;
            return;
        }
        ++samples;
        ++byEvent[sample.event];
        leftBytes += sample.bytesLeft;
        if (sample.has(sample_bit::kTid))
            threads.insert(sample.tid);
        if (sample.has(sample_bit::kTime)) {
            first = std::min(first, sample.time);
            backwards += sample.time < last ? 1 : 0;
            last = std::max(last, sample.time);
        }
        compressedSamples += record.compressed ? 1 : 0;
    }
    void diagnostic(Diagnostic diagnostic) override { diagnostics.push_back(std::move(diagnostic)); }

    std::map<uint32_t, PerfEvent> events;
    std::map<uint32_t, uint64_t> byEvent;
    std::set<std::string> comms;
    std::set<uint32_t> threads;
    uint64_t samples = 0;
    uint64_t afterExit = 0;
    uint64_t compressedSamples = 0;
    uint64_t leftBytes = 0;
    uint64_t backwards = 0; ///< samples that came after a later one
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    std::vector<Diagnostic> diagnostics;
};

Json jsonOf(const fs::path& path)
{
    std::ifstream in(path);
    return Json::parse(in);
}

std::string bytesOf(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string diagnosticsOf(const CountingSink& sink)
{
    std::string text;
    for (const Diagnostic& diagnostic : sink.diagnostics)
        text += std::string(codeName(diagnostic.code)) + ": " + diagnostic.message + "\n";
    return text;
}

void checkRecording(const fs::path& path, const Json& expected, bool byTime)
{
    SCOPED_TRACE(path.filename().string());
    CountingSink sink;
    const Result<PerfDataSummary> summary = readPerfData(path.string(), sink, {.byTime = byTime});
    ASSERT_TRUE(summary.has_value()) << summary.error().message;
    EXPECT_EQ(sink.samples, expected.at("samples").get<uint64_t>()) << diagnosticsOf(sink);
    EXPECT_EQ(summary->counts.samples, sink.samples + sink.afterExit);
    EXPECT_EQ(summary->counts.of(PerfRecordType::Sample), summary->counts.samples);
    EXPECT_EQ(sink.afterExit, path.stem() == "x.schedrecord" ? 8U : 0U); // as `perf script` has them
    EXPECT_EQ(sink.leftBytes, 0U);
    const bool complete = !expected.contains("samples_by_tracepoint_id");
    Json byEvent = Json::object();
    for (const auto& [event, count] : sink.byEvent) {
        ASSERT_TRUE(sink.events.contains(event));
        const PerfEvent& known = sink.events[event];
        byEvent[complete ? known.name : std::to_string(known.attr.config)] = count;
        EXPECT_EQ(known.format != nullptr, complete && known.attr.type == perf_type::kTracepoint)
            << known.name;
    }
    EXPECT_EQ(byEvent, expected.at(complete ? "events" : "samples_by_tracepoint_id"));
    EXPECT_EQ(sink.threads.size(), expected.at("threads_seen").get<size_t>());
    EXPECT_EQ(sink.first, expected.at("first_ns").get<uint64_t>());
    EXPECT_EQ(sink.last, expected.at("last_ns").get<uint64_t>());
    if (byTime) {
        EXPECT_EQ(sink.backwards, 0U);
    }
    EXPECT_EQ(sink.diagnostics.empty(), complete) << diagnosticsOf(sink);
}

TEST(PerfDataRecordings, haveTheCountsOfAnIndependentReaderInEitherOrder)
{
    const fs::path folder = kFolder / "recordings";
    if (!fs::is_directory(folder))
        GTEST_SKIP() << "no recordings beside the source tree";
    unsigned checked = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != ".data")
            continue;
        fs::path expected = entry.path();
        expected.replace_extension(".expect.json");
        for (const bool byTime : {false, true})
            checkRecording(entry.path(), jsonOf(expected), byTime);
        ++checked;
    }
    const auto expectations = std::count_if(fs::directory_iterator(folder), fs::directory_iterator(),
        [](const fs::directory_entry& entry) { return entry.path().string().ends_with(".expect.json"); });
    EXPECT_GT(checked, 40U);
    EXPECT_EQ(checked, static_cast<unsigned>(expectations));
}

TEST(PerfDataRecordings, damagedOnesAreReadAsFarAsTheyGoAndSayWhatIsMissing)
{
    const fs::path folder = kFolder / "recordings";
    if (!fs::is_directory(folder))
        GTEST_SKIP() << "no recordings beside the source tree";
    for (const auto& [name, samples] : {std::pair("x.killed", 3526U), std::pair("x.truncated", 466U)}) {
        SCOPED_TRACE(name);
        CountingSink sink;
        ASSERT_TRUE(readPerfData((folder / name).string() + ".data", sink));
        EXPECT_EQ(sink.samples, samples);
        EXPECT_NE(diagnosticsOf(sink).find("tracepoints 372, 375, 374, 522, 521 are not in the file"),
            std::string::npos)
            << diagnosticsOf(sink);
    }
}

void checkFile(const std::string& bytes, const Json& expected)
{
    CountingSink sink;
    const Result<PerfDataSummary> summary = readPerfData(bytes, "input", sink);
    if (expected.contains("error")) {
        ASSERT_FALSE(summary.has_value());
        EXPECT_EQ(summary.error().message, expected.at("error").get<std::string>());
        return;
    }
    ASSERT_TRUE(summary.has_value()) << summary.error().message;
    Json records = summary->counts.byName();
    EXPECT_EQ(records, expected.at("records"));
    EXPECT_EQ(summary->version, expected.at("magic") == "PERFFILE" ? 1U : 2U);
    EXPECT_EQ(summary->pipe, expected.at("mode") == "pipe");
    EXPECT_EQ(sink.events.size(), expected.at("attrs").get<size_t>());
    EXPECT_EQ(sink.samples, expected.at("samples").get<uint64_t>()) << diagnosticsOf(sink);
    EXPECT_EQ(sink.comms.size(), expected.at("comms").get<size_t>());
    EXPECT_EQ(sink.leftBytes, 0U);
    if (expected.contains("comm_names")) {
        EXPECT_EQ(Json(sink.comms), expected.at("comm_names"));
    }
    if (expected.contains("uncompressed_bytes")) {
        EXPECT_EQ(summary->counts.decompressedBytes, expected.at("uncompressed_bytes").get<uint64_t>());
        const Json& inside = expected.at("records_inside_compressed");
        uint64_t count = 0;
        for (const auto& item : inside.items())
            count += item.value().get<uint64_t>();
        EXPECT_EQ(summary->counts.insideCompressed, count);
        EXPECT_EQ(sink.compressedSamples, inside.at("SAMPLE").get<uint64_t>());
    }
    const std::string diagnostics = diagnosticsOf(sink);
    for (const Json& wanted : expected.value("diagnostics", Json::array())) {
        const std::string text = wanted.get<std::string>();
        // The places and sizes are what matters, not the words.
        for (size_t at = 0; (at = text.find_first_of("0123456789", at)) != std::string::npos;) {
            const size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
            EXPECT_NE(diagnostics.find(text.substr(at, end - at)), std::string::npos) << text << "\n"
                                                                                      << diagnostics;
            at = end;
        }
    }
    EXPECT_EQ(diagnostics.empty(), !expected.contains("diagnostics")) << diagnostics;
}

TEST(PerfDataRecordings, filesOfOtherToolsHaveTheCountsOfAnIndependentReader)
{
    const fs::path folder = kFolder / "corpus" / "35-perfdata-files";
    if (!fs::is_directory(folder))
        GTEST_SKIP() << "no corpus beside the source tree";
    const Json expectations = jsonOf(folder / "expected.json");
    EXPECT_EQ(expectations.at("files").size(), 13U);
    for (const auto& [name, expected] : expectations.at("files").items()) {
        SCOPED_TRACE(name);
        const bool packed = name.ends_with(".gz");
        checkFile(packed ? test::unpacked(folder / name) : bytesOf(folder / name), expected);
    }
}

TEST(PerfDataRecordings, readAlikeFromAStreamInSmallPieces)
{
    const fs::path folder = kFolder / "recordings";
    if (!fs::is_directory(folder))
        GTEST_SKIP() << "no recordings beside the source tree";
    for (const std::string_view name : {"x.pipe-sf.data", "a.sf-fp.data"}) {
        const std::string bytes = bytesOf(folder / name);
        CountingSink whole;
        CountingSink pieces;
        const Result<PerfDataSummary> first = readPerfData(bytes, "input", whole);
        const std::unique_ptr<Source> source = Source::fromMemory("input", bytes, 61);
        const Result<PerfDataSummary> second = readPerfData(*source, pieces);
        ASSERT_TRUE(first.has_value());
        ASSERT_TRUE(second.has_value());
        EXPECT_EQ(first->counts.byName(), second->counts.byName());
        EXPECT_EQ(whole.byEvent, pieces.byEvent);
        EXPECT_EQ(diagnosticsOf(pieces), "");
    }
}

TEST(PerfDataRecordings, readAlikeWhenABigEndianMachineHadWrittenThem)
{
    const fs::path folder = kFolder / "recordings";
    if (!fs::is_directory(folder))
        GTEST_SKIP() << "no recordings beside the source tree";
    for (const std::string_view name : {"a.sf-fp", "a.sf-dwarf", "a.regs", "a.misc", "a.multi", "a.group",
             "a.rawsys-fp", "g.files.con-fp", "x.lost", "x.uprobe-a_mutex"}) {
        SCOPED_TRACE(name);
        const std::string bytes = bytesOf(folder / (std::string(name) + ".data"));
        test::PerfDataDump little;
        test::PerfDataDump big;
        const Result<PerfDataSummary> first = readPerfData(bytes, "input", little);
        const Result<PerfDataSummary> second = readPerfData(test::bigEndianCopy(bytes), "input", big);
        ASSERT_TRUE(first.has_value());
        ASSERT_TRUE(second.has_value());
        EXPECT_EQ(second->order, ByteOrder::Big);
        EXPECT_GT(first->counts.samples, 80U);
        EXPECT_EQ(first->counts.byName(), second->counts.byName());
        const auto differs = std::ranges::mismatch(little.text(), big.text());
        EXPECT_TRUE(little.text() == big.text())
            << std::string(differs.in1, little.text().end()).substr(0, 300) << "\n"
            << std::string(differs.in2, big.text().end()).substr(0, 300);
    }
}

} // namespace
} // namespace whichlock
