// SPDX-License-Identifier: GPL-3.0-or-later
// Takes integers out of bytes of any alignment and byte order. Reading past the end yields zeros and is
// remembered, so that a caller may check once after a whole structure.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace whichlock {

enum class ByteOrder : uint8_t { Little, Big };

constexpr ByteOrder kHostOrder = std::endian::native == std::endian::big ? ByteOrder::Big : ByteOrder::Little;

constexpr uint8_t swapBytes(uint8_t value)
{
    return value;
}
constexpr uint16_t swapBytes(uint16_t value)
{
    return __builtin_bswap16(value);
}
constexpr uint32_t swapBytes(uint32_t value)
{
    return __builtin_bswap32(value);
}
constexpr uint64_t swapBytes(uint64_t value)
{
    return __builtin_bswap64(value);
}

/// The unsigned integer at `at`, which need not be aligned.
template <class T> inline T loadInteger(const char* at, ByteOrder order)
{
    static_assert(std::is_unsigned_v<T>);
    T value;
    std::memcpy(&value, at, sizeof value);
    return order == kHostOrder ? value : swapBytes(value);
}

/// Reads front to back. MT: one thread.
class ByteReader {
public:
    ByteReader(std::string_view bytes, ByteOrder order)
        : at_(bytes.data())
        , end_(bytes.data() + bytes.size())
        , order_(order)
    {
    }

    uint8_t u8() { return integer<uint8_t>(); }
    uint16_t u16() { return integer<uint16_t>(); }
    uint32_t u32() { return integer<uint32_t>(); }
    uint64_t u64() { return integer<uint64_t>(); }

    /// The next `count` bytes; empty when there are not as many.
    std::string_view bytes(uint64_t count)
    {
        if (count > remaining()) {
            overrun();
            return {};
        }
        const std::string_view taken(at_, static_cast<size_t>(count));
        at_ += count;
        return taken;
    }
    void skip(uint64_t count) { bytes(count); }
    /// The bytes before the next NUL, which is passed; all that is left when there is none.
    std::string_view untilNul()
    {
        const std::string_view left = rest();
        const size_t length = left.find('\0');
        at_ = length == std::string_view::npos ? end_ : at_ + length + 1;
        return left.substr(0, length);
    }

    std::string_view rest() const { return {at_, remaining()}; }
    size_t remaining() const { return static_cast<size_t>(end_ - at_); }
    ByteOrder order() const { return order_; }
    /// Whether everything asked for so far was there.
    bool ok() const { return ok_; }

private:
    template <class T> T integer()
    {
        if (remaining() < sizeof(T)) {
            overrun();
            return 0;
        }
        const T value = loadInteger<T>(at_, order_);
        at_ += sizeof(T);
        return value;
    }
    void overrun()
    {
        ok_ = false;
        at_ = end_;
    }

    const char* at_;
    const char* end_;
    ByteOrder order_;
    bool ok_ = true;
};

/// The text before the first NUL.
inline std::string_view beforeNul(std::string_view text)
{
    return text.substr(0, text.find('\0'));
}

} // namespace whichlock
