// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/cfi_section.h"

#include <algorithm>

namespace whichlock {
namespace {

constexpr uint32_t kWideLength = UINT32_MAX;
constexpr uint8_t kPointerOmitted = 0xff;
constexpr uint8_t kPointerIndirect = 0x80;
constexpr uint8_t kPointerFormat = 0x0f;
constexpr uint8_t kPointerBase = 0x70;
constexpr uint8_t kRelativeToPlace = 0x10;
constexpr uint8_t kRelativeToHeader = 0x30;
constexpr uint8_t kSigned32 = 0x0b;

uint64_t signExtended32(uint32_t value)
{
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(value)));
}

/// A number in one of the formats of DW_EH_PE; none for those that do not exist.
std::optional<uint64_t> readFormat(ByteReader& reader, uint8_t format, uint8_t addressBytes)
{
    switch (format) {
    case 0x00: // of the size of an address
        return addressBytes == 4 ? reader.u32() : reader.u64();
    case 0x08:
        return addressBytes == 4 ? signExtended32(reader.u32()) : reader.u64();
    case 0x01:
        return readUleb(reader);
    case 0x02:
        return reader.u16();
    case 0x03:
        return reader.u32();
    case 0x04:
    case 0x0c:
        return reader.u64();
    case 0x09:
        return static_cast<uint64_t>(readSleb(reader));
    case 0x0a:
        return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int16_t>(reader.u16())));
    case kSigned32:
        return signExtended32(reader.u32());
    default:
        return std::nullopt;
    }
}

} // namespace

uint64_t readUleb(ByteReader& reader)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        const uint8_t byte = reader.u8();
        if (shift < 64)
            value |= static_cast<uint64_t>(byte & 0x7fU) << shift;
        if ((byte & 0x80U) == 0)
            return value;
    }
    reader.skip(UINT64_MAX); // longer than any number: the reader is no longer ok()
    return 0;
}

int64_t readSleb(ByteReader& reader)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        const uint8_t byte = reader.u8();
        if (shift < 64)
            value |= static_cast<uint64_t>(byte & 0x7fU) << shift;
        if ((byte & 0x80U) == 0) {
            if (shift + 7 < 64 && (byte & 0x40U) != 0)
                value |= ~uint64_t{0} << (shift + 7);
            return static_cast<int64_t>(value);
        }
    }
    reader.skip(UINT64_MAX);
    return 0;
}

std::optional<CfiSection::Record> CfiSection::recordAt(uint64_t offset) const
{
    if (offset >= bytes_.size())
        return std::nullopt;
    ByteReader reader(bytes_.substr(offset), order_);
    Record record{.offset = offset};
    uint64_t length = reader.u32();
    record.wide = length == kWideLength;
    if (record.wide)
        length = reader.u64();
    if (!reader.ok() || length > reader.remaining())
        return std::nullopt;
    record.idOffset = offsetOf(reader);
    record.end = record.idOffset + length;
    ByteReader inside(reader.bytes(length), order_);
    // In .eh_frame the way to the CIE always has four bytes.
    record.id = record.wide && kind_ == CfiKind::DebugFrame ? inside.u64() : inside.u32();
    if (length != 0 && !inside.ok())
        return std::nullopt;
    record.body = inside.rest();
    return record;
}

bool CfiSection::isCommon(const Record& record) const
{
    if (kind_ == CfiKind::EhFrame)
        return record.id == 0;
    return record.id == (record.wide ? UINT64_MAX : uint64_t{UINT32_MAX});
}

uint64_t CfiSection::offsetOf(const ByteReader& reader) const
{
    return static_cast<uint64_t>(reader.rest().data() - bytes_.data());
}

std::optional<uint64_t> CfiSection::readPointer(
    ByteReader& reader, uint8_t encoding, uint8_t addressBytes) const
{
    if (encoding == kPointerOmitted || (encoding & kPointerIndirect) != 0)
        return std::nullopt;
    const uint64_t place = address_ + offsetOf(reader);
    std::optional<uint64_t> value = readFormat(reader, encoding & kPointerFormat, addressBytes);
    if (!value || !reader.ok())
        return std::nullopt;
    if ((encoding & kPointerBase) == kRelativeToPlace)
        *value += place;
    else if ((encoding & kPointerBase) != 0)
        return std::nullopt; // relative to text, data or function: no linker of today writes it here
    return addressBytes == 4 ? *value & UINT32_MAX : *value;
}

bool CfiSection::readAugmentation(std::string_view text, ByteReader& reader, CfiCommon& common) const
{
    if (text.empty())
        return true;
    if (text.front() != 'z')
        return text == "eh"; // of gcc 2; its word was passed already
    common.hasFdeData = true;
    ByteReader data(reader.bytes(readUleb(reader)), order_);
    for (const char letter : text.substr(1)) {
        switch (letter) {
        case 'R':
            common.pointerEncoding = data.u8();
            break;
        case 'L':
            data.u8();
            break;
        case 'P': { // of no interest, but it has to be passed
            const uint8_t encoding = data.u8();
            if (!readFormat(data, encoding & kPointerFormat, common.addressBytes))
                return false;
            break;
        }
        case 'S':
            common.signalFrame = true;
            break;
        case 'B': // keys and tags of aarch64 change nothing for who only reads return addresses
        case 'G':
            break;
        default:
            return reader.ok(); // its data cannot be told apart, but its length is known
        }
    }
    return reader.ok() && data.ok();
}

std::optional<CfiCommon> CfiSection::commonAt(uint64_t offset) const
{
    const std::optional<Record> record = recordAt(offset);
    if (!record || !isCommon(*record))
        return std::nullopt;
    ByteReader reader(record->body, order_);
    CfiCommon common;
    common.addressBytes = addressBytes_;
    const uint8_t version = reader.u8();
    constexpr size_t kMostAugmentation = 64;
    if (reader.rest().substr(0, kMostAugmentation).find('\0') == std::string_view::npos)
        return std::nullopt;
    const std::string_view augmentation = reader.untilNul();
    if (augmentation == "eh")
        reader.skip(addressBytes_);
    if (version != 1 && version != 3 && version != 4)
        return std::nullopt;
    if (version == 4) {
        common.addressBytes = reader.u8();
        if (reader.u8() != 0 || (common.addressBytes != 4 && common.addressBytes != 8))
            return std::nullopt; // segmented addresses
    }
    common.codeAlignment = readUleb(reader);
    common.dataAlignment = readSleb(reader);
    common.returnColumn = version == 1 ? reader.u8() : readUleb(reader);
    if (!readAugmentation(augmentation, reader, common) || !reader.ok())
        return std::nullopt;
    common.program = reader.rest();
    return common;
}

std::optional<CfiCommon> CfiSection::commonOf(const Record& range) const
{
    if (kind_ == CfiKind::DebugFrame)
        return commonAt(range.id);
    return range.id <= range.idOffset ? commonAt(range.idOffset - range.id) : std::nullopt;
}

std::optional<CfiRange> CfiSection::parseRange(const Record& record, const CfiCommon& common) const
{
    ByteReader reader(record.body, order_);
    CfiRange range{.common = common};
    const std::optional<uint64_t> start = readPointer(reader, common.pointerEncoding, common.addressBytes);
    const std::optional<uint64_t> length =
        readFormat(reader, common.pointerEncoding & kPointerFormat, common.addressBytes);
    if (!start || !length)
        return std::nullopt;
    range.start = *start;
    range.length = common.addressBytes == 4 ? *length & UINT32_MAX : *length;
    if (common.hasFdeData)
        reader.skip(readUleb(reader));
    if (!reader.ok())
        return std::nullopt;
    range.program = reader.rest();
    return range;
}

std::optional<CfiRange> CfiSection::rangeAt(uint64_t offset) const
{
    const std::optional<Record> record = recordAt(offset);
    if (!record || record->body.empty() || isCommon(*record))
        return std::nullopt;
    const std::optional<CfiCommon> common = commonOf(*record);
    return common ? parseRange(*record, *common) : std::nullopt;
}

std::vector<CfiSection::Entry> CfiSection::entries() const
{
    std::vector<Entry> found;
    // Neighbours share a CIE: it is parsed once for all in a row.
    std::optional<CfiCommon> common;
    uint64_t commonKey = UINT64_MAX;
    for (std::optional<Record> record = recordAt(0); record; record = recordAt(record->end)) {
        if (record->body.empty() || isCommon(*record))
            continue;
        const uint64_t key = kind_ == CfiKind::DebugFrame ? record->id : record->idOffset - record->id;
        if (key != commonKey) {
            common = commonOf(*record);
            commonKey = key;
        }
        const std::optional<CfiRange> range = common ? parseRange(*record, *common) : std::nullopt;
        // Functions that the linker dropped stand at address 0.
        if (range && range->start != 0 && range->length != 0)
            found.push_back({range->start, record->offset});
    }
    std::ranges::stable_sort(found, {}, &Entry::start);
    const auto sameStart = [](const Entry& a, const Entry& b) { return a.start == b.start; };
    found.erase(std::unique(found.begin(), found.end(), sameStart), found.end());
    return found;
}

std::optional<std::vector<CfiSection::Entry>> CfiSection::entriesByHeader(
    std::string_view header, uint64_t headerAddress) const
{
    ByteReader reader(header, order_);
    const uint8_t version = reader.u8();
    const uint8_t pointerEncoding = reader.u8();
    const uint8_t countEncoding = reader.u8();
    const uint8_t tableEncoding = reader.u8();
    if (!reader.ok() || version != 1 || tableEncoding != (kRelativeToHeader | kSigned32))
        return std::nullopt;
    readFormat(reader, pointerEncoding & kPointerFormat, addressBytes_);
    const std::optional<uint64_t> count = readFormat(reader, countEncoding & kPointerFormat, addressBytes_);
    constexpr size_t kRowBytes = 8;
    if (!reader.ok() || !count || *count == 0 || *count > reader.remaining() / kRowBytes)
        return std::nullopt;
    std::vector<Entry> found;
    found.reserve(*count);
    for (uint64_t i = 0; i < *count; ++i) {
        const uint64_t start = headerAddress + signExtended32(reader.u32());
        found.push_back({start, headerAddress + signExtended32(reader.u32()) - address_});
    }
    if (!std::ranges::is_sorted(found, {}, &Entry::start))
        return std::nullopt;
    return found;
}

} // namespace whichlock
