// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the type section of BTF: records with what follows each of them.
#pragma once

#include "parsers/result.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace whichlock {

enum class BtfKind : uint8_t {
    Void = 0,
    Int = 1,
    Pointer = 2,
    Array = 3,
    Struct = 4,
    Union = 5,
    Enum = 6,
    Forward = 7,
    Typedef = 8,
    Volatile = 9,
    Const = 10,
    Restrict = 11,
    Function = 12,
    Prototype = 13,
    Variable = 14,
    DataSection = 15,
    Float = 16,
    DeclarationTag = 17,
    TypeTag = 18,
    Enum64 = 19,
};

/// One record; `words` are the 32-bit numbers behind it.
struct BtfType {
    BtfKind kind = BtfKind::Void;
    bool flag = false;
    uint32_t name = 0; ///< offset in the strings
    uint32_t count = 0;
    uint32_t sizeOrType = 0;
    std::span<const uint8_t> tail{};

    uint32_t word(size_t index) const;
};

/// The types by their ids, from 1 on, with those of the base in front; and the strings of both.
struct BtfTypes {
    std::vector<BtfType> types{}; ///< id i at i; 0 is void
    std::vector<char> strings{};  ///< ends with a zero

    std::string_view text(uint32_t offset) const;
};

Result<BtfTypes> readBtf(std::span<const uint8_t> btf, std::span<const uint8_t> base);

} // namespace whichlock
