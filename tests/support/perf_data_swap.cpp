// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/perf_data_swap.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <vector>

namespace whichlock::test {
namespace {

/// Walks over little endian integers, turns each around and tells what it was.
class Turner {
public:
    explicit Turner(std::string& bytes, size_t at = 0)
        : bytes_(bytes)
        , at_(at)
    {
    }

    uint64_t u16() { return turn(2); }
    uint64_t u32() { return turn(4); }
    uint64_t u64() { return turn(8); }
    void u64s(uint64_t count)
    {
        for (uint64_t i = 0; i < count; ++i)
            u64();
    }
    void skip(uint64_t count) { at_ += count; }
    void pad(size_t unit) { at_ = (at_ + unit - 1) / unit * unit; }
    size_t at() const { return at_; }
    void moveTo(size_t at) { at_ = at; }
    std::string text(size_t size) const { return bytes_.substr(at_, size); }
    std::string takeText()
    {
        const std::string text = bytes_.c_str() + at_;
        at_ += text.size() + 1;
        return text;
    }
    void sized() { skip(u32()); }
    void sizedList()
    {
        for (uint64_t count = u32(); count > 0; --count)
            sized();
    }
    /// Bit fields are numbered from the other end of each byte.
    void flags()
    {
        for (size_t end = at_ + 8; at_ < end; ++at_) {
            unsigned turned = 0;
            for (unsigned bit = 0; bit < 8; ++bit)
                turned |= (static_cast<unsigned char>(bytes_.at(at_)) >> bit & 1U) << (7 - bit);
            bytes_[at_] = static_cast<char>(turned);
        }
    }
    void setByte(char value) { bytes_.at(at_++) = value; }

private:
    uint64_t turn(size_t width)
    {
        uint64_t value = 0;
        for (size_t i = width; i > 0; --i)
            value = value << 8U | static_cast<unsigned char>(bytes_.at(at_ + i - 1));
        std::reverse(bytes_.begin() + static_cast<std::ptrdiff_t>(at_),
            bytes_.begin() + static_cast<std::ptrdiff_t>(at_ + width));
        at_ += width;
        return value;
    }

    std::string& bytes_;
    size_t at_;
};

/// Integers in the raw data of a tracepoint.
struct RawField {
    size_t offset = 0;
    size_t width = 0;
    size_t count = 1;
};

size_t numberBehind(const std::string& text, const std::string& key)
{
    return std::stoul(text.substr(text.find(key) + key.size()));
}

std::vector<RawField> rawFields(const std::string& format)
{
    std::vector<RawField> fields;
    for (size_t at = 0; (at = format.find("field:", at)) != std::string::npos; ++at) {
        const std::string line = format.substr(at, format.find('\n', at) - at);
        const std::string declaration = line.substr(0, line.find(';'));
        const size_t size = numberBehind(line, "size:");
        const bool dynamic = declaration.find("__data_loc") != std::string::npos;
        const bool array = declaration.find('[') != std::string::npos && !dynamic;
        if (array && declaration.find("char") != std::string::npos)
            continue;
        const size_t width = array ? 8 : size;
        fields.push_back({numberBehind(line, "offset:"), width, size / width});
    }
    return fields;
}

/// The parts of attr that say how its samples look.
struct Layout {
    uint64_t sampleType = 0;
    uint64_t readFormat = 0;
    uint64_t userRegisters = 0;
    uint64_t interruptRegisters = 0;
    uint64_t config = 0;

    bool has(unsigned bit) const { return (sampleType >> bit & 1U) != 0; }
};

class FileTurner {
public:
    explicit FileTurner(std::string& bytes)
        : bytes_(bytes)
    {
    }

    void turn()
    {
        std::reverse(bytes_.begin(), bytes_.begin() + 8);
        Turner header(bytes_, 8);
        header.u64();
        const uint64_t stride = header.u64();
        const uint64_t attrs = header.u64();
        const uint64_t attrBytes = header.u64();
        const uint64_t data = header.u64();
        const uint64_t dataBytes = header.u64();
        header.u64s(2);
        uint64_t features[4];
        for (uint64_t& word : features)
            word = header.u64();
        for (uint64_t at = attrs; at < attrs + attrBytes; at += stride) {
            Turner attr(bytes_, at);
            layouts_.push_back(turnAttr(attr));
            attr.moveTo(at + stride - 16);
            turnIds(attr);
        }
        Turner table(bytes_, data + dataBytes);
        for (unsigned number = 0; number < 256; ++number) {
            if ((features[number / 64] >> number % 64 & 1U) == 0)
                continue;
            const uint64_t offset = table.u64();
            Turner section(bytes_, offset);
            turnFeature(number, section, offset + table.u64());
        }
        Turner records(bytes_, data);
        while (records.at() < data + dataBytes)
            turnRecord(records);
    }

private:
    static Layout turnAttr(Turner& at)
    {
        Layout layout;
        const size_t start = at.at();
        at.u32();
        const uint64_t size = at.u32();
        layout.config = at.u64();
        at.u64();
        layout.sampleType = at.u64();
        layout.readFormat = at.u64();
        at.flags();
        at.u32();
        at.u32();
        at.u64s(3);
        layout.userRegisters = at.u64();
        at.u32();
        at.u32();
        layout.interruptRegisters = at.u64();
        at.u32();
        at.u16();
        at.u16();
        at.u32();
        at.u32();
        at.u64s((size - 120) / 8);
        at.moveTo(start + size);
        return layout;
    }

    void turnIds(Turner& section)
    {
        const uint64_t offset = section.u64();
        const uint64_t count = section.u64() / 8;
        Turner ids(bytes_, offset);
        for (uint64_t i = 0; i < count; ++i)
            byId_[ids.u64()] = layouts_.size() - 1;
    }

    void turnFeature(unsigned number, Turner& at, size_t end)
    {
        const bool text = (number >= 3 && number <= 6) || number == 8 || number == 9;
        if (number == 1) {
            turnTracing(at);
        } else if (number == 2) {
            while (at.at() < end) {
                const size_t start = at.at();
                at.u32();
                at.u16();
                const uint64_t size = at.u16();
                at.u32();
                at.moveTo(start + size);
            }
        } else if (text) {
            at.sized();
        } else if (number == 7) {
            at.u32();
            at.u32();
        } else if (number == 10 || number == 23 || number == 21) {
            at.u64s((end - at.at()) / 8);
        } else if (number == 11) {
            at.sizedList();
        } else if (number == 12) {
            turnDescriptions(at);
        } else if (number == 13) {
            at.sizedList();
            at.sizedList();
            while (at.at() + 4 <= end)
                at.u32(); // what comes behind the pairs is not read
        } else {
            turnLists(number, at);
        }
    }

    static void turnLists(unsigned number, Turner& at)
    {
        if (number == 29) {
            at.u32();
            at.u32();
            at.u64s(2);
        }
        if (number != 14 && number != 16 && number != 17)
            return; // the reader takes no number from it
        for (uint64_t count = at.u32(); count > 0; --count) {
            if (number == 14) {
                at.u32();
                at.u64s(2);
                at.sized();
            } else if (number == 16) {
                at.u32();
                at.sized();
            } else {
                at.sized();
                at.u32();
                at.u32();
            }
        }
    }

    static void turnDescriptions(Turner& at)
    {
        const uint64_t count = at.u32();
        const uint64_t attrBytes = at.u32();
        for (uint64_t i = 0; i < count; ++i) {
            const size_t start = at.at();
            turnAttr(at);
            at.moveTo(start + attrBytes);
            const uint64_t ids = at.u32();
            at.sized();
            at.u64s(ids);
        }
    }

    void turnTracing(Turner& at)
    {
        at.skip(10); // magic
        at.takeText();
        at.setByte(1);
        at.skip(1);
        at.u32();
        for (int i = 0; i < 2; ++i) {
            at.takeText();
            at.skip(at.u64());
        }
        turnFormats(at);
        for (uint64_t systems = at.u32(); systems > 0; --systems) {
            at.takeText();
            turnFormats(at);
        }
    }

    void turnFormats(Turner& at)
    {
        for (uint64_t count = at.u32(); count > 0; --count) {
            const uint64_t size = at.u64();
            const std::string text = at.text(size);
            fields_[numberBehind(text, "ID: ")] = rawFields(text);
            at.skip(size);
        }
    }

    const Layout& layoutOf(Turner at) const
    {
        const Layout& first = layouts_.at(0);
        if (layouts_.size() == 1)
            return first;
        size_t words = 0;
        for (unsigned bit = 0; bit < 4 && !first.has(16); ++bit)
            words += first.has(bit) ? 1 : 0;
        std::string id = at.text(8 * words + 8).substr(8 * words);
        return layouts_.at(byId_.at(Turner(id).u64()));
    }

    void turnRecord(Turner& at)
    {
        const size_t start = at.at();
        const uint64_t type = at.u32();
        const uint64_t misc = at.u16();
        const size_t end = start + at.u16();
        if (type == 9) {
            turnSample(at, layoutOf(at));
            if (at.at() != end)
                throw std::out_of_range("a sample does not fill its record");
        } else if (type < 64) {
            turnKernelRecord(type, misc, at, end);
        } else if (type == 73) {
            at.u64();
            while (at.at() < end) {
                at.u64();
                at.skip(16);
            }
        } else if (type == 79) {
            at.u64s(3);
        } // the reader takes no number from the others
        at.moveTo(end);
    }

    void turnKernelRecord(uint64_t type, uint64_t misc, Turner& at, size_t end)
    {
        if (type == 17) {
            at.u64();
            at.u32();
            at.u16();
            at.u16();
        } else if (type == 2 || type == 13 || type == 19) {
            at.u64s(type == 2 ? 2 : 1);
        } else if (type != 14 && type != 18) {
            at.u32();
            at.u32();
        }
        if (type == 1 || type == 10)
            at.u64s(3);
        if (type == 10) {
            if ((misc & 0x4000U) != 0) {
                at.skip(24);
            } else {
                at.u32();
                at.u32();
                at.u64s(2);
            }
            at.u32();
            at.u32();
        } else if (type == 4 || type == 7) {
            at.u32();
            at.u32();
            at.u64();
        } else if (type == 16) {
            at.u64s(2 * at.u64());
        }
        turnTrailer(at, end);
    }

    void turnTrailer(Turner& at, size_t end) const
    {
        const Layout& layout = layouts_.at(0);
        size_t words = 0;
        for (const unsigned bit : {1U, 2U, 6U, 9U, 7U, 16U})
            words += layout.has(bit) ? 1 : 0;
        at.moveTo(end - 8 * words);
        for (const unsigned bit : {1U, 2U, 6U, 9U, 7U, 16U}) {
            if (layout.has(bit))
                turnWord(at, bit == 1 || bit == 7);
        }
    }

    static void turnWord(Turner& at, bool pair)
    {
        if (!pair) {
            at.u64();
            return;
        }
        at.u32();
        at.u32();
    }

    void turnSample(Turner& at, const Layout& layout)
    {
        for (const unsigned bit : {16U, 0U, 1U, 2U, 3U, 6U, 9U, 7U, 8U}) {
            if (layout.has(bit))
                turnWord(at, bit == 1 || bit == 7);
        }
        if (layout.has(4)) {
            const auto words = static_cast<unsigned>(std::popcount(layout.readFormat & 0x14U)) + 1U;
            const uint64_t first = at.u64();
            at.u64s(static_cast<unsigned>(std::popcount(layout.readFormat & 3U)));
            at.u64s((layout.readFormat & 8U) != 0 ? first * words : words - 1);
        }
        if (layout.has(5))
            at.u64s(at.u64());
        if (layout.has(10))
            turnRaw(at, layout);
        if (layout.has(12) && at.u64() != 0)
            at.u64s(static_cast<unsigned>(std::popcount(layout.userRegisters)));
        if (layout.has(13)) {
            const uint64_t size = at.u64();
            at.skip(size);
            at.u64s(size == 0 ? 0 : 1);
        }
        for (const unsigned bit : {14U, 24U, 15U, 17U})
            at.u64s(layout.has(bit) ? 1 : 0);
        if (layout.has(18) && at.u64() != 0)
            at.u64s(static_cast<unsigned>(std::popcount(layout.interruptRegisters)));
        for (const unsigned bit : {19U, 21U, 22U, 23U})
            at.u64s(layout.has(bit) ? 1 : 0);
    }

    void turnRaw(Turner& at, const Layout& layout)
    {
        const uint64_t size = at.u32();
        const size_t start = at.at();
        if (const auto known = fields_.find(layout.config); known != fields_.end()) {
            for (const RawField& field : known->second) {
                at.moveTo(start + field.offset);
                for (size_t i = 0; i < field.count; ++i) {
                    if (field.width == 1)
                        at.skip(1);
                    else if (field.width == 2)
                        at.u16();
                    else if (field.width == 4)
                        at.u32();
                    else
                        at.u64();
                }
            }
        }
        at.moveTo(start + size);
    }

    std::string& bytes_;
    std::vector<Layout> layouts_;
    std::map<uint64_t, size_t> byId_;
    std::map<uint64_t, std::vector<RawField>> fields_; ///< by the number of the tracepoint
};

} // namespace

std::string bigEndianCopy(std::string_view littleEndian)
{
    std::string bytes(littleEndian);
    FileTurner(bytes).turn();
    return bytes;
}

} // namespace whichlock::test
