// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/lock_figures.h"

#include "parsers/fixed_point.h"
#include "parsers/input/text_scan.h"

#include <algorithm>

namespace whichlock::locktable {
namespace {

struct UnitOfTime {
    std::string_view name;
    uint64_t ns;
};

constexpr UnitOfTime kUnits[] = {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000},
    {"sec", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}};

const UnitOfTime* unitOf(std::string_view name)
{
    const auto* found = std::find_if(
        std::begin(kUnits), std::end(kUnits), [&](const UnitOfTime& one) { return one.name == name; });
    return found == std::end(kUnits) ? nullptr : found;
}

__extension__ using Wide = unsigned __int128;

/// A cell of one word, or of a number and its unit; empty when it is neither.
std::optional<Cell> cellOf(std::string_view number, std::string_view unit)
{
    if (!unit.empty()) {
        const auto value = timeNs(number, unit);
        return value ? std::optional(Cell{*value, true}) : std::nullopt;
    }
    if (const auto value = parseUnsigned(number))
        return Cell{*value, false};
    if (const auto value = gluedTimeNs(number))
        return Cell{*value, true};
    return std::nullopt;
}

/// The last run of non-blanks before `end`.
std::string_view wordBefore(std::string_view text, size_t end)
{
    while (end > 0 && isBlank(text[end - 1]))
        --end;
    size_t begin = end;
    while (begin > 0 && !isBlank(text[begin - 1]))
        --begin;
    return text.substr(begin, end - begin);
}

size_t placeOf(std::string_view part, std::string_view text)
{
    return static_cast<size_t>(part.data() - text.data());
}

} // namespace

std::optional<uint64_t> timeNs(std::string_view number, std::string_view unit)
{
    const UnitOfTime* known = unitOf(unit);
    const auto value = parseFixedPoint(number);
    if (known == nullptr || !value || value->millionths < 0)
        return std::nullopt;
    const Wide ns = static_cast<Wide>(value->millionths) * known->ns / FixedPoint::kScale;
    return ns > UINT64_MAX ? std::nullopt : std::optional(static_cast<uint64_t>(ns));
}

std::optional<uint64_t> gluedTimeNs(std::string_view word)
{
    const size_t end = word.find_first_not_of("0123456789.,");
    if (end == std::string_view::npos || end == 0)
        return std::nullopt;
    return timeNs(word.substr(0, end), word.substr(end));
}

std::vector<Cell> cellsAtFront(std::string_view& rest, size_t most)
{
    std::vector<Cell> cells;
    while (cells.size() < most) {
        std::string_view behind = rest;
        const std::string_view number = nextToken(behind);
        std::string_view behindUnit = behind;
        const std::string_view unit = nextToken(behindUnit);
        const bool hasUnit = unitOf(unit) != nullptr;
        const auto cell = cellOf(number, hasUnit ? unit : std::string_view());
        if (!cell)
            break;
        cells.push_back(*cell);
        rest = hasUnit ? behindUnit : behind;
    }
    return cells;
}

std::vector<Cell> cellsAtBack(std::string_view& rest, size_t count)
{
    std::vector<Cell> cells;
    size_t end = rest.size();
    while (cells.size() < count) {
        const std::string_view last = wordBefore(rest, end);
        if (last.empty())
            return {};
        const bool isUnit = unitOf(last) != nullptr;
        const std::string_view number = isUnit ? wordBefore(rest, placeOf(last, rest)) : last;
        const auto cell = number.empty() ? std::nullopt : cellOf(number, isUnit ? last : std::string_view());
        if (!cell)
            return {};
        cells.push_back(*cell);
        end = placeOf(number, rest);
    }
    std::reverse(cells.begin(), cells.end());
    rest = trimmed(rest.substr(0, end));
    return cells;
}

} // namespace whichlock::locktable
