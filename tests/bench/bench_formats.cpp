// SPDX-License-Identifier: GPL-3.0-or-later
// How fast each text format is read, into a sink that keeps nothing: the samples of testdata, the largest of
// each folder, one after the other until they are long enough.
// bench_formats [MB] [folder of testdata ...]
#include "parsers/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace whichlock::bench {
namespace {

namespace fs = std::filesystem;

/// Takes everything and keeps a sum, so that no work can be left out.
class NullSink final : public RecordSink {
public:
    uint64_t records = 0;

    SectionHandle section(const SectionRecord&) override { return {}; }
    void total(SectionHandle, uint64_t) override { }
    void row(SectionHandle, const ProfileRow& row) override { records += 1 + row.callers.size(); }
    void sample(SectionHandle, const SampleRecord& sample) override { records += 1 + sample.frames.size(); }
    void leftOut(SectionHandle, const LeftOut&) override { }
    void counterColumns(SectionHandle, std::span<const std::string_view>) override { }
    void counterRow(SectionHandle, std::span<const int64_t>) override { ++records; }
    void table(SectionHandle, const TableRecord&) override { ++records; }
    void lockTable(SectionHandle, const LockTableRecord& table) override { records += table.rows.size(); }
    void score(const ScoreRecord&) override { ++records; }
    void fact(SectionHandle, FactKind, std::string_view) override { }
    void inputFact(FactKind, std::string_view, const Position&) override { }
    void diagnostic(Diagnostic) override { }
};

std::string readFile(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The largest text of each folder.
std::map<std::string, std::string> largestTexts()
{
    std::map<std::string, std::string> texts;
    for (const auto& entry : fs::recursive_directory_iterator(WHICHLOCK_TESTDATA)) {
        if (!entry.is_regular_file() || !entry.path().filename().string().starts_with("input")
            || entry.path().extension() != ".txt")
            continue;
        std::string& largest = texts[fs::relative(entry.path(), WHICHLOCK_TESTDATA).begin()->string()];
        if (entry.file_size() > largest.size())
            largest = readFile(entry.path());
    }
    return texts;
}

double secondsToRead(const std::string& text, uint64_t& records)
{
    constexpr int kRuns = 5;
    std::vector<double> seconds;
    for (int i = 0; i < kRuns; ++i) {
        const auto source = Source::fromMemory("input.txt", text);
        NullSink sink;
        const std::clock_t start = std::clock(); // of the processor: others may run beside
        load(*source, sink);
        seconds.push_back(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
        records = sink.records;
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

int run(uint64_t megabytes, const std::vector<std::string>& asked)
{
    constexpr uint64_t kMegabyte = 1'000'000;
    for (const auto& [folder, text] : largestTexts()) {
        if (text.empty() || (!asked.empty() && std::find(asked.begin(), asked.end(), folder) == asked.end()))
            continue;
        std::string all;
        while (all.size() < megabytes * kMegabyte)
            all += text + '\n';
        uint64_t records = 0;
        const double seconds = secondsToRead(all, records);
        fmt::print("{:<18} {:8.0f} MB/s  {:>10} records\n", folder,
            static_cast<double>(all.size()) / seconds / static_cast<double>(kMegabyte), records);
    }
    return 0;
}

} // namespace
} // namespace whichlock::bench

int main(int argc, char** argv)
{
    const uint64_t megabytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50;
    return whichlock::bench::run(std::max<uint64_t>(megabytes, 1), {argv + std::min(argc, 2), argv + argc});
}
