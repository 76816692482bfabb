// SPDX-License-Identifier: GPL-3.0-or-later
// Call frame information as it lies in .eh_frame and .debug_frame: which bytes describe which addresses.
// Any bytes may come; what does not fit is no entry.
#pragma once

#include "parsers/input/byte_reader.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace whichlock {

/// What many functions have in common (a CIE).
struct CfiCommon {
    uint64_t codeAlignment = 1;
    int64_t dataAlignment = 1;
    uint64_t returnColumn = 0;
    uint8_t pointerEncoding = 0; ///< DW_EH_PE_*; of .eh_frame only
    uint8_t addressBytes = 8;
    bool signalFrame = false; ///< the frame that a signal interrupted is above this one
    bool hasFdeData = false;  ///< augmentation data stands in each FDE, too
    std::string_view program{};
};

/// What describes one range of code (an FDE).
struct CfiRange {
    uint64_t start = 0;
    uint64_t length = 0;
    CfiCommon common{};
    std::string_view program{};

    bool contains(uint64_t address) const { return address - start < length; }
};

enum class CfiKind : uint8_t { EhFrame, DebugFrame };

/// Bytes of a section with the address that they are loaded at. MT: safe, as it never changes.
class CfiSection {
public:
    CfiSection() = default;
    CfiSection(std::string_view bytes, uint64_t address, CfiKind kind, ByteOrder order, uint8_t addressBytes)
        : bytes_(bytes)
        , address_(address)
        , kind_(kind)
        , order_(order)
        , addressBytes_(addressBytes)
    {
    }

    /// Where an entry that describes code begins.
    struct Entry {
        uint64_t start = 0;  ///< first address that it describes
        uint64_t offset = 0; ///< of its bytes in the section
    };

    /// The entry at this offset; none if there is none that makes sense.
    std::optional<CfiRange> rangeAt(uint64_t offset) const;
    /// All entries by address. Of several for one address the first one counts.
    std::vector<Entry> entries() const;
    /// The same out of .eh_frame_hdr, which has them sorted; none if it is not of the usual form.
    std::optional<std::vector<Entry>> entriesByHeader(std::string_view header, uint64_t headerAddress) const;

    bool empty() const { return bytes_.empty(); }
    uint64_t address() const { return address_; }
    ByteOrder order() const { return order_; }

private:
    struct Record {
        uint64_t offset = 0;   ///< of its length field
        uint64_t idOffset = 0; ///< where the id, or the way to the CIE, stands
        uint64_t id = 0;
        bool wide = false;       ///< 64-bit DWARF
        std::string_view body{}; ///< behind the id
        uint64_t end = 0;        ///< offset of the next record
    };

    std::optional<Record> recordAt(uint64_t offset) const;
    bool isCommon(const Record& record) const;
    std::optional<CfiCommon> commonAt(uint64_t offset) const;
    std::optional<CfiCommon> commonOf(const Record& range) const;
    bool readAugmentation(std::string_view text, ByteReader& reader, CfiCommon& common) const;
    std::optional<CfiRange> parseRange(const Record& record, const CfiCommon& common) const;
    uint64_t offsetOf(const ByteReader& reader) const;
    std::optional<uint64_t> readPointer(ByteReader& reader, uint8_t encoding, uint8_t addressBytes) const;

    std::string_view bytes_{};
    uint64_t address_ = 0;
    CfiKind kind_ = CfiKind::EhFrame;
    ByteOrder order_ = kHostOrder;
    uint8_t addressBytes_ = 8;
};

/// Reads numbers of variable length; more than 64 bits count as damage.
uint64_t readUleb(ByteReader& reader);
int64_t readSleb(ByteReader& reader);

} // namespace whichlock
