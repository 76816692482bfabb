// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/perf_data_reader.h"

#include "parsers/input/mapped_file.h"
#include "parsers/perf_data/file_header.h"
#include "parsers/perf_data/file_metadata.h"
#include "parsers/perf_data/part_merge.h"
#include "parsers/perf_data/perf_data_state.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace whichlock {
namespace {

namespace fs = std::filesystem;

/// Reads one recording, which may have several files. MT: one thread.
class PerfDataReader {
public:
    PerfDataReader(PerfDataSink& sink, const PerfDataOptions& options)
        : state_(sink)
        , options_(options)
        , line_(state_)
        , order_([this](uint64_t, const HeldRecord& record) { line_.add(record); })
    {
        if (!options.byTime)
            return;
        state_.held = &order_;
        state_.line = &line_;
    }
    PerfDataReader(const PerfDataReader&) = delete;
    PerfDataReader& operator=(const PerfDataReader&) = delete;

    /// The header and what stands around the records of a file that is in memory as a whole. Returns the
    /// records.
    Result<RecordingPart> head(std::string_view bytes, const std::string& name)
    {
        state_.damage.setInputName(name);
        const Result<PerfFileHeader> header = parseFileHeader(bytes, name);
        if (!header)
            return tl::make_unexpected(header.error());
        take(*header);
        FileSection data = {PerfFileHeader::kPipeBytes, UINT64_MAX};
        if (!header->pipe) {
            summary_.killed = wasKilled(*header, bytes);
            readMetadata(state_, *header, bytes);
            data = header->data;
            if (summary_.killed)
                data.size = UINT64_MAX;
        }
        return RecordingPart{.name = name, .bytes = sectionBytes(bytes, data), .offset = data.offset};
    }

    void records(const RecordingPart& part)
    {
        state_.damage.setInputName(part.name);
        state_.part = part.number;
        PartReader reader(state_, part.bytes, part.offset);
        const uint64_t end = part.offset + part.bytes.size();
        for (bool more = true; more;) {
            more = reader.step();
            if (options_.progress && !options_.progress(part.offset + reader.bytesDone(), end)) {
                summary_.stopped = true;
                return;
            }
        }
    }

    void recordsByTime(std::span<const RecordingPart> parts)
    {
        summary_.stopped = !deliverByTime(state_, parts, options_.progress);
        state_.held = nullptr;
    }

    /// A stream in pipe mode. What was read before a failure stands.
    Result<void> stream(Source& source, const PerfFileHeader& header)
    {
        state_.damage.setInputName(source.name());
        take(header);
        line_.deliverAtOnce();
        RecordStream stream(state_, false);
        std::vector<char> buffer(1024 * 1024);
        size_t filled = 0;
        uint64_t offset = 0; // of the first byte in the buffer
        size_t done = PerfFileHeader::kPipeBytes;
        while (!stream.stopped()) {
            if (filled == buffer.size())
                buffer.resize(2 * buffer.size()); // one record with its data is longer than that
            const Result<size_t> got = source.read(std::span(buffer).subspan(filled));
            if (!got)
                state_.damage.note(got.error().code, DamageLog::kNoRecord, offset + filled,
                    [&] { return got.error().message; });
            if (!got || *got == 0)
                break;
            filled += *got;
            if (filled < done)
                continue;
            done += stream.take({buffer.data() + done, filled - done}, offset + done);
            // Moved only when it is worth it, else many short reads would move the same bytes again and
            // again.
            if (done > filled / 2) {
                std::copy(buffer.data() + done, buffer.data() + filled, buffer.data());
                filled -= done;
                offset += done;
                done = 0;
            }
        }
        done = std::min(done, filled);
        stream.finish({buffer.data() + done, filled - done}, offset + done);
        return {};
    }

    PerfDataSummary finish()
    {
        order_.finish();
        line_.finish();
        state_.deliverChanges();
        noteNamelessTracepoints();
        for (const Diagnostic& diagnostic : state_.damage.diagnostics())
            state_.sink.diagnostic(diagnostic);
        summary_.counts = state_.counts;
        return summary_;
    }
    bool stopped() const { return summary_.stopped; }

private:
    void take(const PerfFileHeader& header)
    {
        state_.order = header.order;
        state_.pipe = header.pipe;
        summary_.order = header.order;
        summary_.version = header.version;
        summary_.pipe = header.pipe;
    }

    /// The number of a tracepoint means nothing on another machine, or after the next boot.
    void noteNamelessTracepoints()
    {
        constexpr size_t kMostListed = 20;
        std::vector<uint64_t> ids;
        for (uint32_t i = 0; i < state_.events.size(); ++i) {
            const PerfEvent& event = state_.events[i];
            if (event.attr.type == perf_type::kTracepoint && event.nameOrigin == PerfNameOrigin::Synthesized)
                ids.push_back(event.attr.config);
        }
        if (ids.empty())
            return;
        const size_t more = ids.size() - std::min(ids.size(), kMostListed);
        ids.resize(ids.size() - more);
        const std::string rest = more == 0 ? std::string() : fmt::format(" and {} more", more);
        state_.damage.note(DiagnosticCode::EventNamesMissing, DamageLog::kNoRecord, 0, [&] {
            return fmt::format(
                "the names of the tracepoints {}{} are not in the file", fmt::join(ids, ", "), rest);
        });
    }

    PerfDataState state_;
    const PerfDataOptions& options_;
    DeliveryLine line_;
    RecordOrder order_; ///< of all records but those of several parts
    PerfDataSummary summary_;
};

/// The numbers N of the files `data.N` in a directory, ascending.
std::vector<uint32_t> partsOf(const fs::path& directory)
{
    std::vector<uint32_t> parts;
    std::error_code error;
    constexpr std::string_view kPrefix = "data.";
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with(kPrefix))
            continue;
        uint32_t number = 0;
        const char* const last = name.data() + name.size();
        const auto [stop, failure] = std::from_chars(name.data() + kPrefix.size(), last, number);
        if (failure == std::errc() && stop == last && number < UINT32_MAX)
            parts.push_back(number);
    }
    std::ranges::sort(parts);
    return parts;
}

Result<PerfDataSummary> readDirectory(
    const fs::path& path, PerfDataSink& sink, const PerfDataOptions& options)
{
    const std::string main = (path / "data").string();
    std::vector<MappedFile> files;
    Result<MappedFile> mapped = MappedFile::open(main);
    if (!mapped)
        return fail(DiagnosticCode::NotAFile, "a directory without the file `data` of a recording",
            {.chain = path.string()});
    files.push_back(std::move(*mapped));
    PerfDataReader reader(sink, options);
    const Result<RecordingPart> head = reader.head(files.back().bytes(), main);
    if (!head)
        return tl::make_unexpected(head.error());
    std::vector<RecordingPart> parts = {*head};
    for (const uint32_t number : partsOf(path)) {
        const std::string name = (path / fmt::format("data.{}", number)).string();
        Result<MappedFile> bare = MappedFile::open(name);
        if (!bare) {
            sink.diagnostic(bare.error());
            continue;
        }
        files.push_back(std::move(*bare));
        parts.push_back({.name = name, .bytes = files.back().bytes(), .number = number + 1});
    }
    if (options.byTime) {
        reader.recordsByTime(parts);
    } else {
        for (size_t i = 0; i < parts.size() && !reader.stopped(); ++i)
            reader.records(parts[i]);
    }
    return reader.finish();
}

} // namespace

uint64_t PerfDataCounts::total() const
{
    return std::accumulate(records.begin(), records.end(), otherRecords);
}

std::map<std::string, uint64_t> PerfDataCounts::byName() const
{
    std::map<std::string, uint64_t> counts;
    for (uint32_t type = 0; type < records.size(); ++type) {
        if (records[type] == 0)
            continue;
        const std::string_view name = recordTypeName(type);
        counts[name.empty() ? fmt::format("type {}", type) : std::string(name)] = records[type];
    }
    if (otherRecords != 0)
        counts[fmt::format("types from {} on", kPerfRecordTypes)] = otherRecords;
    return counts;
}

Result<PerfDataSummary> readPerfData(
    const std::string& path, PerfDataSink& sink, const PerfDataOptions& options)
{
    std::error_code error;
    if (fs::is_directory(path, error))
        return readDirectory(path, sink, options);
    if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
        Result<std::unique_ptr<Source>> source = Source::openFile(path);
        if (!source)
            return tl::make_unexpected(source.error());
        (*source)->setProgress(options.progress);
        return readPerfData(**source, sink, options);
    }
    Result<MappedFile> mapped = MappedFile::open(path);
    if (!mapped)
        return tl::make_unexpected(mapped.error());
    Result<PerfDataSummary> summary = readPerfData(mapped->bytes(), path, sink, options);
    if (summary)
        summary->file = std::make_shared<const MappedFile>(std::move(*mapped));
    return summary;
}

Result<PerfDataSummary> readPerfData(
    std::string_view bytes, const std::string& name, PerfDataSink& sink, const PerfDataOptions& options)
{
    PerfDataReader reader(sink, options);
    const Result<RecordingPart> part = reader.head(bytes, name);
    if (!part)
        return tl::make_unexpected(part.error());
    reader.records(*part);
    return reader.finish();
}

Result<PerfDataSummary> readPerfData(Source& source, PerfDataSink& sink, const PerfDataOptions& options)
{
    const Result<std::string_view> head = source.head();
    if (!head)
        return tl::make_unexpected(head.error());
    const Result<PerfFileHeader> header = parseFileHeader(*head, source.name());
    if (!header)
        return tl::make_unexpected(header.error());
    PerfDataReader reader(sink, options);
    if (header->pipe) {
        if (Result<void> read = reader.stream(source, *header); !read)
            return tl::make_unexpected(read.error());
        return reader.finish();
    }
    std::string bytes;
    std::vector<char> piece(1024 * 1024);
    while (true) {
        const Result<size_t> got = source.read(piece);
        if (!got)
            sink.diagnostic(got.error());
        if (!got || *got == 0)
            break;
        bytes.append(piece.data(), *got);
    }
    const Result<RecordingPart> part = reader.head(bytes, source.name());
    if (!part)
        return tl::make_unexpected(part.error());
    reader.records(*part);
    return reader.finish();
}

} // namespace whichlock
