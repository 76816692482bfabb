// SPDX-License-Identifier: GPL-3.0-or-later
// Single rows of readprofile text. Pure functions on strings.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace whichlock::readprofile {

enum class RowShape : uint8_t {
    TicksFirst,   ///< `123 symbol 1.2345`
    AddressFirst, ///< `c011bc70 symbol 123 1.2345` (-v)
    TicksOnly,    ///< `123 symbol`: `*unknown*`, or the last column was cut away
};

struct Row {
    std::string_view symbol;
    uint64_t ticks = 0;
    std::string_view load{}; ///< as printed
    RowShape shape = RowShape::TicksFirst;
    bool overflow = false; ///< the ticks do not fit; `ticks` is 0
    bool remark = false;   ///< somebody wrote something behind it, which is not in the row
};

struct Bin {
    uint64_t address = 0;
    uint64_t ticks = 0;
};

bool isSymbol(std::string_view token);
/// Ticks per byte: a decimal with point or comma, or what a function of length 0 gives.
bool isLoad(std::string_view token);

std::optional<Row> parseRow(std::string_view line);
/// The row of three tokens that begins at `at`, if there is one.
std::optional<Row> tripleAt(const std::vector<std::string_view>& tokens, size_t at);
/// Whether ticks / load is a whole number, as the size of a function must be: tells a shifted row at once.
bool sizeIsWhole(const Row& row);

/// The symbol of a line `symbol:`, or empty.
std::string_view binSymbol(std::string_view line);
/// A line `address ticks`, with or without a mark of the author behind it.
std::optional<Bin> parseBin(std::string_view line);

} // namespace whichlock::readprofile
