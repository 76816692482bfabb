// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/perf_data/file_header.h"

#include "parsers/perf_data/attr.h"

#include <algorithm>

#include <fmt/core.h>

namespace whichlock {
namespace {

constexpr std::string_view kMagicVersion1 = "PERFFILE";
constexpr std::string_view kMagicLittle = "PERFILE2";
constexpr std::string_view kMagicBig = "2ELIFREP";
constexpr size_t kFeatureWords = 4;
constexpr unsigned kHostNameBit = 3;
constexpr unsigned kBuildIdBit = 2;
constexpr uint64_t kSectionBytes = 16;

/// Version 1 writes its magic as text, so the size of an attr has to tell the byte order.
ByteOrder orderOfVersion1(std::string_view bytes)
{
    constexpr std::array<uint64_t, 6> kAttrSizes = {64, 72, 80, 96, 104, 112};
    const auto plausible = [&](ByteOrder order) {
        const uint64_t size = loadInteger<uint64_t>(bytes.data() + 16, order);
        return std::ranges::find(kAttrSizes, size - kSectionBytes) != kAttrSizes.end();
    };
    if (bytes.size() < 24 || plausible(ByteOrder::Little) || !plausible(ByteOrder::Big))
        return ByteOrder::Little;
    return ByteOrder::Big;
}

FileSection readSection(ByteReader& reader)
{
    const uint64_t offset = reader.u64();
    return {offset, reader.u64()};
}

std::vector<unsigned> bitsOf(const std::array<uint64_t, kFeatureWords>& words)
{
    std::vector<unsigned> bits;
    for (unsigned bit = 0; bit < 64 * kFeatureWords; ++bit) {
        if ((words[bit / 64] >> (bit % 64) & 1U) != 0)
            bits.push_back(bit);
    }
    return bits;
}

/// The bitmap is an array of `unsigned long`. That matters in big endian files: a recorder of 32 bits put
/// its low bits where one of 64 bits has its high ones. Every recorder sets HOSTNAME.
std::vector<unsigned> readFeatures(ByteReader& reader)
{
    std::array<uint64_t, kFeatureWords> words = {};
    for (uint64_t& word : words)
        word = reader.u64();
    if (reader.order() == ByteOrder::Little || (words[0] >> kHostNameBit & 1U) != 0)
        return bitsOf(words);
    for (uint64_t& word : words)
        word = word >> 32U | word << 32U;
    if ((words[0] >> kHostNameBit & 1U) != 0)
        return bitsOf(words);
    if (bitsOf(words).empty())
        return {};
    return {kBuildIdBit};
}

} // namespace

bool looksLikePerfData(std::string_view head)
{
    return head.starts_with(kMagicLittle) || head.starts_with(kMagicBig) || head.starts_with(kMagicVersion1);
}

Result<PerfFileHeader> parseFileHeader(std::string_view bytes, const std::string& inputName)
{
    const Position position = {.chain = inputName, .offset = 0};
    if (!looksLikePerfData(bytes))
        return fail(DiagnosticCode::UnknownFormat, "not a perf.data file", position);
    PerfFileHeader header;
    if (bytes.starts_with(kMagicVersion1)) {
        header.version = 1;
        header.order = orderOfVersion1(bytes);
    } else {
        header.order = bytes.starts_with(kMagicBig) ? ByteOrder::Big : ByteOrder::Little;
    }
    ByteReader reader(bytes, header.order);
    reader.skip(kMagicLittle.size());
    const uint64_t size = reader.u64();
    if (reader.ok() && size == PerfFileHeader::kPipeBytes) {
        header.pipe = true;
        return header;
    }
    header.attrStride = reader.u64();
    header.attrs = readSection(reader);
    header.data = readSection(reader);
    header.eventTypes = readSection(reader);
    if (!reader.ok())
        return fail(DiagnosticCode::FileCut, "the file ends within its header", position);
    if (size < PerfFileHeader::kBytesWithoutFeatures)
        return fail(DiagnosticCode::RecordDamaged, fmt::format("a file header of {} bytes", size), position);
    if (size >= PerfFileHeader::kBytes && reader.remaining() >= kFeatureWords * sizeof(uint64_t))
        header.features = readFeatures(reader);
    return header;
}

bool wasKilled(const PerfFileHeader& header, std::string_view bytes)
{
    if (header.pipe || header.data.size != 0)
        return false;
    // A file that has no records at all goes on with the table of its feature sections, which begins with
    // the place right behind itself. A record cannot look like that.
    const std::string_view next = sectionBytes(bytes, {header.data.offset, sizeof(uint64_t)});
    if (header.features.empty() || next.size() < sizeof(uint64_t))
        return true;
    return loadInteger<uint64_t>(next.data(), header.order)
        != header.data.offset + kSectionBytes * header.features.size();
}

std::string_view sectionBytes(std::string_view bytes, FileSection section)
{
    if (section.offset >= bytes.size())
        return {};
    const uint64_t size = std::min<uint64_t>(section.size, bytes.size() - section.offset);
    return bytes.substr(static_cast<size_t>(section.offset), static_cast<size_t>(size));
}

bool sectionFits(uint64_t fileBytes, FileSection section)
{
    return section.offset <= fileBytes && section.size <= fileBytes - section.offset;
}

} // namespace whichlock
