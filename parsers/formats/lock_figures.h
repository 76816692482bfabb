// SPDX-License-Identifier: GPL-3.0-or-later
// Figures of lock tables: times with their units, and rows of such cells beside a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace whichlock::locktable {

/// `53.63` and `ms` in ns, rounded down. Units: ns us ms s sec m h. Empty when it is no time or does not fit.
std::optional<uint64_t> timeNs(std::string_view number, std::string_view unit);
/// `33ms`, `6.9us`: the same in one word.
std::optional<uint64_t> gluedTimeNs(std::string_view word);

/// One cell: a number, in ns if a unit stood behind it.
struct Cell {
    uint64_t value = 0;
    bool hasUnit = false;
};

/// Cells off the front of `rest`, at most `most`; `rest` keeps what follows them.
std::vector<Cell> cellsAtFront(std::string_view& rest, size_t most);
/// Exactly `count` cells off the back of `rest`, in the order of the line; empty where there are fewer.
std::vector<Cell> cellsAtBack(std::string_view& rest, size_t count);

} // namespace whichlock::locktable
