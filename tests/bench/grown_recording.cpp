// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/grown_recording.h"

#include "parsers/input/mapped_file.h"
#include "parsers/perf_data/attr.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <vector>

namespace whichlock::bench {
namespace {

constexpr size_t kHeaderBytes = 104;
constexpr size_t kDataOffsetAt = 40;
constexpr size_t kDataSizeAt = 48;
constexpr size_t kAttrOffsetAt = 24;
constexpr size_t kFeatureBitsAt = 72;
constexpr uint32_t kSampleRecord = 9;
constexpr uint32_t kFirstToolRecord = 64;

uint64_t loadWord(std::string_view bytes, size_t at)
{
    return loadInteger<uint64_t>(bytes.data() + at, ByteOrder::Little);
}

void addToWord(std::string& bytes, size_t at, uint64_t difference)
{
    const uint64_t value = loadWord(bytes, at) + difference;
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// Places of the times in the records.
std::vector<size_t> placesOfTimes(std::string_view records, uint64_t sampleType)
{
    constexpr uint64_t kBefore = sample_bit::kIdentifier | sample_bit::kIp | sample_bit::kTid;
    constexpr uint64_t kBehind =
        sample_bit::kId | sample_bit::kStreamId | sample_bit::kCpu | sample_bit::kIdentifier;
    std::vector<size_t> places;
    for (size_t at = 0; at + 8 <= records.size();) {
        const auto type = loadInteger<uint32_t>(records.data() + at, ByteOrder::Little);
        const auto size = loadInteger<uint16_t>(records.data() + at + 6, ByteOrder::Little);
        if (size < 8 || size > records.size() - at)
            break;
        const size_t place = type == kSampleRecord
            ? at + 8 + 8 * static_cast<size_t>(std::popcount(sampleType & kBefore))
            : at + size - 8 * static_cast<size_t>(1 + std::popcount(sampleType & kBehind));
        // Records that were made up have no time.
        if (type < kFirstToolRecord && loadWord(records, place) != 0)
            places.push_back(place);
        at += size;
    }
    return places;
}

size_t featureCount(std::string_view file)
{
    size_t count = 0;
    for (size_t word = 0; word < 4; ++word)
        count += static_cast<size_t>(std::popcount(loadWord(file, kFeatureBitsAt + 8 * word)));
    return count;
}

} // namespace

bool growRecording(const std::string& from, const std::string& to, uint64_t bytes)
{
    const auto mapped = MappedFile::open(from);
    if (!mapped || mapped->bytes().size() < kHeaderBytes || !mapped->bytes().starts_with("PERFILE2"))
        return false;
    const std::string_view all = mapped->bytes();
    const uint64_t dataAt = loadWord(all, kDataOffsetAt);
    const uint64_t dataBytes = loadWord(all, kDataSizeAt);
    if (dataBytes == 0 || dataAt + dataBytes > all.size())
        return false;
    const auto attr = parseAttr(all.substr(loadWord(all, kAttrOffsetAt)), ByteOrder::Little);
    if (!attr || (attr->sampleType & sample_bit::kTime) == 0)
        return false;
    std::string head(all.substr(0, dataAt));
    std::string records(all.substr(dataAt, dataBytes));
    std::string tail(all.substr(dataAt + dataBytes));
    const std::vector<size_t> places = placesOfTimes(records, attr->sampleType);
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    for (const size_t place : places) {
        first = std::min(first, loadWord(records, place));
        last = std::max(last, loadWord(records, place));
    }
    const uint64_t times = std::max<uint64_t>((bytes + dataBytes - 1) / dataBytes, 1);
    const uint64_t more = (times - 1) * dataBytes;
    addToWord(head, kDataSizeAt, more);
    // Behind the records is a table with the offsets and sizes of the feature sections.
    for (size_t feature = 0; feature < featureCount(all) && 16 * feature + 16 <= tail.size(); ++feature)
        addToWord(tail, 16 * feature, more);
    std::FILE* const file = std::fopen(to.c_str(), "wb");
    if (file == nullptr)
        return false;
    bool written = std::fwrite(head.data(), 1, head.size(), file) == head.size();
    for (uint64_t i = 0; written && i < times; ++i) {
        written = std::fwrite(records.data(), 1, records.size(), file) == records.size();
        for (const size_t place : places)
            addToWord(records, place, last - first + 1);
    }
    written = written && std::fwrite(tail.data(), 1, tail.size(), file) == tail.size();
    return std::fclose(file) == 0 && written;
}

} // namespace whichlock::bench
