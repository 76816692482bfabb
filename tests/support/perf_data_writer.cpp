// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/perf_data_writer.h"

#include <algorithm>
#include <utility>

#include <zstd.h>

namespace whichlock::test {

Bytes& Bytes::number(uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; ++i) {
        const unsigned byte = big_ ? width - 1 - i : i;
        bytes_.push_back(static_cast<char>(value >> (8 * byte) & 0xffU));
    }
    return *this;
}

Bytes& Bytes::u64s(std::initializer_list<uint64_t> values)
{
    for (const uint64_t value : values)
        u64(value);
    return *this;
}

Bytes& Bytes::raw(std::string_view bytes)
{
    bytes_ += bytes;
    return *this;
}

Bytes& Bytes::text(std::string_view text, size_t unit)
{
    bytes_ += text;
    size_t nuls = unit - text.size() % unit;
    bytes_.append(nuls, '\0');
    return *this;
}

Bytes& Bytes::sized(std::string_view text)
{
    u32((text.size() / 64 + 1) * 64);
    return this->text(text, 64);
}

PerfFileWriter& PerfFileWriter::attr(WrittenAttr attr)
{
    attrs_.push_back(std::move(attr));
    return *this;
}

std::string PerfFileWriter::recordBytes(bool big, uint32_t type, uint16_t misc, std::string_view payload)
{
    return Bytes(big).u32(type).u16(misc).u16(payload.size() + 8).raw(payload).str();
}

PerfFileWriter& PerfFileWriter::record(uint32_t type, uint16_t misc, const Bytes& payload)
{
    records_ += recordBytes(big_, type, misc, payload.str());
    return *this;
}

PerfFileWriter& PerfFileWriter::loose(std::string_view bytes)
{
    records_ += bytes;
    return *this;
}

PerfFileWriter& PerfFileWriter::feature(unsigned number, const Bytes& content)
{
    features_.push_back({number, content.str()});
    std::ranges::sort(features_, {}, &Feature::number);
    return *this;
}

PerfFileWriter& PerfFileWriter::eventType(uint64_t config, std::string_view name)
{
    std::string padded(name);
    padded.resize(64);
    eventTypes_ += bytes().u64(config).raw(padded).str();
    return *this;
}

PerfFileWriter& PerfFileWriter::longsOf32Bits()
{
    longs32_ = true;
    return *this;
}

std::string PerfFileWriter::attrBytes(const WrittenAttr& attr) const
{
    Bytes out = bytes();
    out.u32(attr.type).u32(attr.size).u64s({attr.config, attr.period, attr.sampleType, attr.readFormat});
    // Bit fields are numbered from the other end of each byte in big endian files.
    std::string flags(8, '\0');
    const auto set = [&](unsigned bit) {
        const unsigned within = big_ ? 7 - bit % 8 : bit % 8;
        flags[bit / 8] = static_cast<char>(static_cast<unsigned char>(flags[bit / 8]) | 1U << within);
    };
    for (const unsigned bit : attr.flags)
        set(bit);
    if ((attr.precise & 1U) != 0)
        set(big_ ? 16 : 15);
    if ((attr.precise & 2U) != 0)
        set(big_ ? 15 : 16);
    out.raw(flags);
    out.u32(0).u32(0).u64s({0x11, 0x22, attr.branchType, attr.userRegisters});
    out.u32(8192).u32(1).u64(attr.interruptRegisters);
    out.u32(0).u16(127).u16(0).u32(0).u32(0).u64(0x33);
    std::string result = out.str();
    result.resize(attr.size);
    return result;
}

std::string PerfFileWriter::bitmap() const
{
    uint64_t words[4] = {};
    for (const Feature& feature : features_)
        words[feature.number / 64] |= uint64_t{1} << feature.number % 64;
    Bytes out = bytes();
    for (const uint64_t word : words) {
        if (longs32_)
            out.u32(word & 0xffffffffU).u32(word >> 32U);
        else
            out.u64(word);
    }
    return out.str();
}

std::string PerfFileWriter::layOut(std::string_view magic, bool killed) const
{
    constexpr size_t kHeader = 104;
    const size_t attrBytesEach = attrs_.empty() ? 128 : attrs_.front().size;
    std::string ids;
    Bytes attrs = bytes();
    size_t idCount = 0;
    for (const WrittenAttr& attr : attrs_)
        idCount += attr.ids.size();
    const size_t attrsAt = kHeader + 8 * idCount;
    for (const WrittenAttr& attr : attrs_) {
        attrs.raw(attrBytes(attr)).u64(kHeader + ids.size()).u64(8 * attr.ids.size());
        for (const uint64_t id : attr.ids)
            ids += bytes().u64(id).str();
    }
    const size_t typesAt = attrsAt + attrs.size();
    const size_t dataAt = typesAt + eventTypes_.size();
    Bytes out = bytes();
    out.raw(magic).u64(kHeader).u64(attrBytesEach + 16);
    out.u64(attrsAt).u64(attrs.size());
    out.u64(dataAt).u64(killed ? 0 : records_.size());
    out.u64(typesAt).u64(eventTypes_.size());
    out.raw(killed ? std::string(32, '\0') : bitmap());
    out.raw(ids).raw(attrs.str()).raw(eventTypes_).raw(records_);
    if (killed)
        return out.str();
    size_t at = dataAt + records_.size() + 16 * features_.size();
    for (const Feature& feature : features_) {
        out.u64(at).u64(feature.content.size());
        at += feature.content.size();
    }
    for (const Feature& feature : features_)
        out.raw(feature.content);
    return out.str();
}

std::string PerfFileWriter::file(bool killed) const
{
    return layOut(big_ ? "2ELIFREP" : "PERFILE2", killed);
}

std::string PerfFileWriter::fileOfVersion1() const
{
    return layOut("PERFFILE", false);
}

std::string PerfFileWriter::pipe() const
{
    Bytes out = bytes();
    out.raw(big_ ? "2ELIFREP" : "PERFILE2").u64(16);
    for (const WrittenAttr& attr : attrs_) {
        Bytes payload = bytes();
        payload.raw(attrBytes(attr));
        for (const uint64_t id : attr.ids)
            payload.u64(id);
        out.raw(recordBytes(big_, 64, 0, payload.str()));
    }
    for (const Feature& feature : features_)
        out.raw(recordBytes(big_, 80, 0, bytes().u64(feature.number).raw(feature.content).str()));
    out.raw(records_);
    return out.str();
}

std::vector<std::string> zstdPieces(const std::vector<std::string>& pieces)
{
    std::vector<std::string> compressed;
    ZSTD_CStream* const stream = ZSTD_createCStream();
    for (const std::string& piece : pieces) {
        std::string out(ZSTD_compressBound(piece.size()) + 64, '\0');
        ZSTD_inBuffer from = {piece.data(), piece.size(), 0};
        ZSTD_outBuffer to = {out.data(), out.size(), 0};
        ZSTD_compressStream2(stream, &to, &from, ZSTD_e_flush);
        out.resize(to.pos);
        compressed.push_back(std::move(out));
    }
    ZSTD_freeCStream(stream);
    return compressed;
}

std::string tracingData(bool big, const std::vector<std::pair<std::string, std::string>>& formats)
{
    Bytes out(big);
    out.raw("\x17\x08\x44tracing").text("0.6", 1).u8(big ? 1 : 0).u8(8).u32(4096);
    out.text("header_page", 1).u64(4).raw("page").text("header_event", 1).u64(5).raw("event");
    out.u32(0).u32(formats.size());
    for (const auto& [system, text] : formats)
        out.text(system, 1).u32(1).u64(text.size()).raw(text);
    out.u32(0).u32(0).u64(0);
    return out.str();
}

} // namespace whichlock::test
