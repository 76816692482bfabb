// SPDX-License-Identifier: GPL-3.0-or-later
// The wire format of protocol buffers: fields of a message one after the other, each checked against the end.
#pragma once

#include "parsers/input/byte_reader.h"

#include <cstdint>
#include <string_view>

namespace whichlock::pprof {

enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct WireField {
    uint32_t number = 0;
    WireType type = WireType::Varint;
    uint64_t value = 0;       ///< of numbers
    std::string_view bytes{}; ///< of texts, messages and packed numbers
};

/// Reads the fields of one message. MT: one thread.
class WireReader {
public:
    explicit WireReader(std::string_view message)
        : reader_(message, ByteOrder::Little)
    {
    }

    /// The next field; false at the end, and where the message is damaged.
    bool next(WireField& field)
    {
        if (damaged_ || reader_.remaining() == 0)
            return false;
        const uint64_t key = varint();
        constexpr uint64_t kMostFields = 1U << 29U;
        const uint64_t number = key >> 3U;
        field.type = static_cast<WireType>(key & 7U);
        field.number = static_cast<uint32_t>(number);
        field.bytes = {};
        damaged_ = damaged_ || number == 0 || number >= kMostFields || !takeValue(field) || !reader_.ok();
        return !damaged_;
    }

    /// A number of packed ones; false at the end.
    bool nextPacked(uint64_t& value)
    {
        if (damaged_ || reader_.remaining() == 0)
            return false;
        value = varint();
        return !damaged_;
    }

    bool damaged() const { return damaged_; }

private:
    bool takeValue(WireField& field)
    {
        switch (field.type) {
        case WireType::Varint:
            field.value = varint();
            return !damaged_;
        case WireType::Fixed64:
            field.value = reader_.u64();
            return true;
        case WireType::Fixed32:
            field.value = reader_.u32();
            return true;
        case WireType::Bytes:
            field.bytes = reader_.bytes(varint());
            return !damaged_;
        }
        return false; // groups, which nobody writes any more, and what is none
    }

    /// Seven bits a byte, the lowest first.
    uint64_t varint()
    {
        uint64_t value = 0;
        constexpr unsigned kMostBits = 64;
        for (unsigned shift = 0; shift < kMostBits; shift += 7) {
            const uint8_t byte = reader_.u8();
            value |= static_cast<uint64_t>(byte & 0x7fU) << shift;
            if ((byte & 0x80U) == 0) {
                damaged_ = damaged_ || !reader_.ok();
                return value;
            }
        }
        damaged_ = true;
        return 0;
    }

    ByteReader reader_;
    bool damaged_ = false;
};

} // namespace whichlock::pprof
