// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/build_id.h"

#include "parsers/input/text_scan.h"

#include <algorithm>

namespace whichlock {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";
/// The shortest id that linkers make (xxhash, 8 bytes): what is shorter has lost too much to prove anything.
constexpr size_t kPaddedFromBytes = 8;

uint8_t hexValue(char c)
{
    if (isDigit(c))
        return static_cast<uint8_t>(c - '0');
    return static_cast<uint8_t>((c | 0x20) - 'a' + 10);
}

} // namespace

BuildId BuildId::fromBytes(std::span<const uint8_t> bytes)
{
    BuildId id;
    id.size_ = static_cast<uint8_t>(std::min(bytes.size(), kMaxBytes));
    std::copy_n(bytes.begin(), id.size_, id.bytes_.begin());
    return std::ranges::all_of(id.bytes(), [](uint8_t byte) { return byte == 0; }) ? BuildId() : id;
}

std::optional<BuildId> BuildId::fromHex(std::string_view text)
{
    if (text.empty() || text.size() % 2 != 0 || !isAllHex(text))
        return std::nullopt;
    std::array<uint8_t, kMaxBytes> bytes{};
    const size_t count = std::min(text.size() / 2, kMaxBytes);
    for (size_t i = 0; i < count; ++i)
        bytes[i] = static_cast<uint8_t>(hexValue(text[2 * i]) << 4 | hexValue(text[2 * i + 1]));
    return fromBytes(std::span(bytes).first(count));
}

std::string BuildId::hex() const
{
    std::string text;
    for (const uint8_t byte : bytes()) {
        text += kHexDigits[byte >> 4];
        text += kHexDigits[byte & 15];
    }
    return text;
}

bool BuildId::matches(const BuildId& other) const
{
    if (empty() || other.empty())
        return false;
    if (size_ == other.size_)
        return bytes_ == other.bytes_;
    // Unused bytes are zero, so the whole arrays are equal exactly if the longer id is the padded shorter
    // one.
    return std::min(size_, other.size_) >= kPaddedFromBytes && std::max(size_, other.size_) == kMaxBytes
        && bytes_ == other.bytes_;
}

} // namespace whichlock
