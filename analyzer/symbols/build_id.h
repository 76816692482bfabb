// SPDX-License-Identifier: GPL-3.0-or-later
// The build id of a binary: what decides whether a file at hand is the one that was recorded.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace whichlock {

/// Up to 20 bytes, as recordings keep them; longer ids are cut there on both sides.
class BuildId {
public:
    static constexpr size_t kMaxBytes = 20;

    BuildId() = default;
    static BuildId fromBytes(std::span<const uint8_t> bytes);
    /// None unless the text is an even number of hex digits.
    static std::optional<BuildId> fromHex(std::string_view text);

    bool empty() const { return size_ == 0; }
    std::span<const uint8_t> bytes() const { return std::span(bytes_).first(size_); }
    std::string hex() const;

    /// Whether both name the same file. Old recordings pad short ids with zeros to 20 bytes.
    bool matches(const BuildId& other) const;
    auto operator<=>(const BuildId&) const = default;

private:
    std::array<uint8_t, kMaxBytes> bytes_{};
    uint8_t size_ = 0;
};

} // namespace whichlock
