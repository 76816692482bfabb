// SPDX-License-Identifier: GPL-3.0-or-later
// Unpacks gzip in memory, for formats that are packed by themselves.
#pragma once

#include <string>
#include <string_view>

namespace whichlock {

/// How unpacking ended.
enum class Unpacked : uint8_t { Whole, Cut, Damaged, TooLarge };

struct UnpackedBytes {
    std::string bytes{}; ///< all that came out before the end
    Unpacked end = Unpacked::Whole;
};

/// Whether the bytes begin as gzip does.
bool looksLikeGzip(std::string_view bytes);

/// Unpacks at most `most` bytes.
UnpackedBytes gunzip(std::string_view packed, size_t most);

} // namespace whichlock
