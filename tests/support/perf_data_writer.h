// SPDX-License-Identifier: GPL-3.0-or-later
// Writes perf.data files byte by byte, in either byte order, from the description of the format alone: it
// shares nothing with the reader that it tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock::test {

/// Appends integers in one byte order.
class Bytes {
public:
    explicit Bytes(bool big)
        : big_(big)
    {
    }

    Bytes& u8(uint64_t value) { return number(value, 1); }
    Bytes& u16(uint64_t value) { return number(value, 2); }
    Bytes& u32(uint64_t value) { return number(value, 4); }
    Bytes& u64(uint64_t value) { return number(value, 8); }
    Bytes& u64s(std::initializer_list<uint64_t> values);
    Bytes& raw(std::string_view bytes);
    /// Text with a NUL, then NULs up to a multiple of `unit`.
    Bytes& text(std::string_view text, size_t unit = 8);
    /// Text behind its length, padded to 64, as feature sections have it.
    Bytes& sized(std::string_view text);

    const std::string& str() const { return bytes_; }
    size_t size() const { return bytes_.size(); }
    bool big() const { return big_; }

private:
    Bytes& number(uint64_t value, unsigned width);

    bool big_;
    std::string bytes_;
};

/// One event of the file.
struct WrittenAttr {
    uint32_t type = 1;
    uint64_t config = 0;
    uint64_t period = 4000;
    uint64_t sampleType = 0;
    uint64_t readFormat = 0;
    std::vector<unsigned> flags{}; ///< numbers of bits
    unsigned precise = 0;
    uint64_t branchType = 0;
    uint64_t userRegisters = 0;
    uint64_t interruptRegisters = 0;
    std::vector<uint64_t> ids{};
    uint32_t size = 128; ///< of the attr
};

/// Collects the parts of a file, then lays them out.
class PerfFileWriter {
public:
    explicit PerfFileWriter(bool big = false)
        : big_(big)
    {
    }

    /// An empty piece in the byte order of the file.
    Bytes bytes() const { return Bytes(big_); }
    PerfFileWriter& attr(WrittenAttr attr);
    /// A record with this payload, which is to have a size that fits.
    PerfFileWriter& record(uint32_t type, uint16_t misc, const Bytes& payload);
    /// Bytes between the records.
    PerfFileWriter& loose(std::string_view bytes);
    /// Sections come out in ascending order of their numbers.
    PerfFileWriter& feature(unsigned number, const Bytes& content);
    /// A name for a config in the section of event types.
    PerfFileWriter& eventType(uint64_t config, std::string_view name);
    /// The bitmap as a recorder of 32 bits writes it.
    PerfFileWriter& longsOf32Bits();

    /// A file. `killed`: as it lies there when the recorder died.
    std::string file(bool killed = false) const;
    std::string fileOfVersion1() const;
    /// A stream: attrs and features become records in front of the others.
    std::string pipe() const;
    const std::string& records() const { return records_; }

    /// One record as bytes.
    static std::string recordBytes(bool big, uint32_t type, uint16_t misc, std::string_view payload);

private:
    struct Feature {
        unsigned number = 0;
        std::string content{};
    };

    std::string attrBytes(const WrittenAttr& attr) const;
    std::string layOut(std::string_view magic, bool killed) const;
    std::string bitmap() const;

    bool big_;
    bool longs32_ = false;
    std::vector<WrittenAttr> attrs_;
    std::vector<Feature> features_;
    std::string records_;
    std::string eventTypes_;
};

/// A zstd stream in pieces: each is flushed, the stream goes on.
std::vector<std::string> zstdPieces(const std::vector<std::string>& pieces);

/// Tracing data with these formats: {system, text}.
std::string tracingData(bool big, const std::vector<std::pair<std::string, std::string>>& formats);

} // namespace whichlock::test
