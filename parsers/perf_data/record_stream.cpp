// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/record_stream.h"

#include "parsers/perf_data/features.h"

#include <algorithm>

#include <fmt/core.h>

namespace whichlock {
namespace {

constexpr size_t kHeaderBytes = 8;
constexpr uint32_t kFirstToolType = 64;

constexpr bool is(uint32_t type, PerfRecordType expected)
{
    return type == static_cast<uint32_t>(expected);
}

std::string nameOf(uint32_t type)
{
    const std::string_view name = recordTypeName(type);
    return name.empty() ? fmt::format("type {}", type) : std::string(name);
}

/// Where a record begins is known only when the one before was read: without this each would wait for memory.
void fetchAhead(std::string_view left, size_t recordBytes)
{
    constexpr size_t kAheadBytes = 4096;
    constexpr size_t kLineBytes = 64;
    constexpr size_t kMostBytes = 8 * kLineBytes;
    const size_t end = std::min(kAheadBytes + std::min(recordBytes, kMostBytes), left.size());
    for (size_t at = kAheadBytes; at < end; at += kLineBytes)
        __builtin_prefetch(left.data() + at);
}

} // namespace

RecordStream::RecordStream(PerfDataState& state, bool bytesStay)
    : RecordStream(state, bytesStay ? Kind::StayingBytes : Kind::PassingBytes)
{
}

RecordStream::RecordStream(PerfDataState& state, Kind kind)
    : state_(state)
    , kind_(kind)
{
}

RecordStream::Header RecordStream::headerAt(std::string_view bytes, ByteOrder order)
{
    ByteReader reader(bytes, order);
    Header header;
    header.type = reader.u32();
    header.misc = reader.u16();
    header.size = reader.u16();
    return header;
}

void RecordStream::count(uint32_t type)
{
    PerfDataCounts& counts = state_.counts;
    if (type < kPerfRecordTypes)
        ++counts.records[type];
    else
        ++counts.otherRecords;
    if (inner())
        ++counts.insideCompressed;
}

/// Bytes of tracing data behind the record, outside of its size. That of AUXTRACE need not be there at once.
uint64_t RecordStream::bytesBehind(const Header& header, std::string_view payload) const
{
    if (!is(header.type, PerfRecordType::TracingData) || payload.size() < sizeof(uint32_t))
        return 0;
    return (uint64_t{loadInteger<uint32_t>(payload.data(), state_.order)} + 7U) & ~uint64_t{7};
}

size_t RecordStream::take(std::string_view bytes, uint64_t offset)
{
    size_t at = 0;
    while (!stopped_) {
        if (skip_ > 0) {
            const size_t skipped = static_cast<size_t>(std::min<uint64_t>(skip_, bytes.size() - at));
            at += skipped;
            skip_ -= skipped;
        }
        const std::string_view left = bytes.substr(at);
        if (left.size() < kHeaderBytes)
            break;
        const Header header = headerAt(left, state_.order);
        const uint64_t recordOffset = inner() ? offset : offset + at;
        if (header.size < kHeaderBytes) {
            stop(DiagnosticCode::RecordDamaged, header, recordOffset, {});
            break;
        }
        if (left.size() < header.size)
            break;
        fetchAhead(left, header.size);
        const std::string_view payload = left.substr(kHeaderBytes, header.size - kHeaderBytes);
        const uint64_t behind = bytesBehind(header, payload);
        if (behind > left.size() - header.size)
            break;
        PerfRecord record;
        record.type = header.type;
        record.misc = header.misc;
        record.size = header.size;
        record.offset = recordOffset;
        record.part = state_.part;
        record.compressed = inner();
        count(header.type);
        handle(record, payload, left.substr(header.size, static_cast<size_t>(behind)));
        at += header.size + static_cast<size_t>(behind);
    }
    return at;
}

/// A record without a time is not held back: those that perf makes up come before all others.
bool RecordStream::holdBack(const PerfRecord& record, std::string_view payload)
{
    const uint64_t time = timeOfKernelRecord(state_, record.type, payload);
    if (time == 0)
        return false;
    const HeldRecord held{.bytes = payload.data() - kHeaderBytes,
        .offset = record.offset,
        .part = record.part,
        .size = record.size,
        .compressed = record.compressed};
    state_.held->add(time, held, kind_ == Kind::StayingBytes);
    return true;
}

void RecordStream::handle(PerfRecord& record, std::string_view payload, std::string_view behind)
{
    if (record.type < kFirstToolType) {
        if (state_.held != nullptr && holdBack(record, payload))
            return;
        state_.settle();
        deliverKernelRecord(state_, record, payload);
        return;
    }
    if (!is(record.type, PerfRecordType::FinishedRound))
        state_.settle();
    switch (static_cast<PerfRecordType>(record.type)) {
    case PerfRecordType::TracingData:
        applyFeature(state_, static_cast<unsigned>(PerfFeature::TracingData),
            behind.substr(0, payload.size() < 4 ? 0 : loadInteger<uint32_t>(payload.data(), state_.order)),
            record.offset);
        break;
    case PerfRecordType::Auxtrace:
        if (payload.size() < sizeof(uint64_t)) {
            state_.damaged(record, "it is too short for its fields");
        } else {
            skip_ = loadInteger<uint64_t>(payload.data(), state_.order);
            skipFrom_ = record.offset;
        }
        break;
    case PerfRecordType::Compressed:
        decompress(record, payload);
        break;
    case PerfRecordType::Compressed2: {
        // The size without the padding stands in front.
        ByteReader reader(payload, state_.order);
        const std::string_view compressed = reader.bytes(reader.u64());
        if (reader.ok())
            decompress(record, compressed);
        else
            state_.damaged(record, "its data does not fit");
        break;
    }
    default:
        deliverToolRecord(state_, record, payload);
    }
}

void RecordStream::decompress(const PerfRecord& record, std::string_view payload)
{
    if (inner()) {
        state_.damaged(record, "it is inside of another such record");
        return;
    }
    if (state_.line != nullptr)
        state_.line->deliverAtOnce();
    if (decompressor_ == nullptr) {
        decompressor_ = std::make_unique<Decompressor>();
        innerStream_.reset(new RecordStream(state_, Kind::Decompressed));
    }
    innerOffset_ = record.offset;
    std::string_view wrong = "the records in an earlier one cannot be told apart";
    if (!innerStream_->stopped()) {
        const uint64_t before = decompressor_->bytesOut();
        wrong = decompressor_->feed(payload, [&](std::string_view bytes) {
            return innerStream_->stopped() ? bytes.size() : innerStream_->take(bytes, innerOffset_);
        });
        state_.counts.compressedBytes += payload.size();
        state_.counts.decompressedBytes += decompressor_->bytesOut() - before;
    }
    if (!wrong.empty()) {
        state_.damage.note(DiagnosticCode::CompressionBroken, record.type, record.offset, [&] {
            return fmt::format("{} record at offset {}: {}; the records before it were kept",
                recordTypeName(record.type), record.offset, wrong);
        });
    }
}

void RecordStream::stop(DiagnosticCode code, const Header& header, uint64_t offset, std::string_view what)
{
    stopped_ = true;
    state_.settle();
    state_.damage.note(code, header.type, offset, [&] {
        const uint64_t kept = state_.counts.total();
        if (what.empty()) {
            return fmt::format(
                "record of size {} at offset {} ({}): no record can be found behind it; the {} "
                "records before it were kept",
                header.size, offset, nameOf(header.type), kept);
        }
        return fmt::format("{} ({}); the {} records before it were kept", what, nameOf(header.type), kept);
    });
}

void RecordStream::finish(std::string_view rest, uint64_t offset)
{
    if (innerStream_ != nullptr && !innerStream_->stopped())
        innerStream_->finish(decompressor_->rest(), innerOffset_);
    if (stopped_)
        return;
    if (skip_ > 0) {
        stop(DiagnosticCode::FileCut, {static_cast<uint32_t>(PerfRecordType::Auxtrace)}, skipFrom_,
            fmt::format("the data of the record at offset {} runs {} bytes past the end", skipFrom_, skip_));
    } else if (rest.size() >= kHeaderBytes) {
        const Header header = headerAt(rest, state_.order);
        uint64_t size = header.size;
        if (rest.size() >= size)
            size += bytesBehind(header, rest.substr(kHeaderBytes, size - kHeaderBytes));
        stop(DiagnosticCode::FileCut, header, offset,
            fmt::format(
                "record at offset {} runs past the end ({} bytes, {} left)", offset, size, rest.size()));
    } else if (!rest.empty()) {
        stop(DiagnosticCode::FileCut, {DamageLog::kNoRecord}, offset,
            fmt::format("{} bytes at offset {} are no whole record", rest.size(), offset));
    }
    stopped_ = true;
}

void deliverHeldRecord(PerfDataState& state, const HeldRecord& held)
{
    const std::string_view bytes(held.bytes, held.size);
    const RecordStream::Header header = RecordStream::headerAt(bytes, state.order);
    PerfRecord record;
    record.type = header.type;
    record.misc = header.misc;
    record.size = header.size;
    record.offset = held.offset;
    record.part = held.part;
    record.compressed = held.compressed;
    deliverKernelRecord(state, record, bytes.substr(kHeaderBytes));
}

} // namespace whichlock
