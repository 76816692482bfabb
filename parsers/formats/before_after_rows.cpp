// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/before_after_rows.h"

#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace whichlock::before_after {
namespace {

template <size_t N> bool isOneOf(std::string_view word, const std::array<std::string_view, N>& list)
{
    return std::any_of(
        list.begin(), list.end(), [&](std::string_view item) { return benchmark::sameWord(item, word); });
}

bool isIdentifier(std::string_view word)
{
    const auto isPart = [](char c) {
        return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.'
            || c == '$';
    };
    return !word.empty() && !isDigit(word[0]) && std::all_of(word.begin(), word.end(), isPart);
}

/// `2.5.20`, `v2.6.9-rc1`, `linux-2.4.18`: at least a number, a point and a number.
bool isVersion(std::string_view word)
{
    constexpr std::array<std::string_view, 3> kPrefixes = {"linux-", "kernel-", "v"};
    for (const std::string_view prefix : kPrefixes) {
        if (word.starts_with(prefix))
            word.remove_prefix(prefix.size());
    }
    const size_t point = word.find('.');
    return point != std::string_view::npos && point > 0 && point <= 2 && isAllDigits(word.substr(0, point))
        && point + 1 < word.size() && isDigit(word[point + 1])
        && word.find_first_of("%/") == std::string_view::npos;
}

/// The change from `before` to `after` as a part of `before`, positive where it became less.
std::optional<int64_t> reduction(const Cell& before, const Cell& after)
{
    if (before.kind == CellKind::Missing || after.kind == CellKind::Missing || before.value.millionths <= 0
        || after.value.millionths < 0)
        return std::nullopt;
    const auto was = static_cast<uint64_t>(before.value.millionths);
    const auto is = static_cast<uint64_t>(after.value.millionths);
    constexpr uint64_t kMostTimes = 1'000'000; // beyond, a share does not fit
    if (is / kMostTimes > was)
        return std::nullopt;
    return was >= is ? shareOf(was - is, was).ppb : -shareOf(is - was, was).ppb;
}

/// A change as it is printed, and the weight of its last digit.
struct Printed {
    int64_t ppb = 0;
    int64_t lastDigit = Share::kPercent;
};

std::optional<Printed> printedChange(const Cell& cell)
{
    if (cell.kind == CellKind::Missing)
        return std::nullopt;
    std::string_view text = cell.text;
    if (text.ends_with('%'))
        text.remove_suffix(1);
    if (text.starts_with('+'))
        text.remove_prefix(1);
    const auto share = parsePercent(text);
    if (!share)
        return std::nullopt;
    Printed printed{share->ppb, Share::kPercent};
    const size_t point = text.find_first_of(".,");
    for (size_t i = point; point != std::string_view::npos && i + 1 < text.size(); ++i)
        printed.lastDigit = std::max<int64_t>(printed.lastDigit / 10, 1);
    return printed;
}

std::string hundredths(int64_t ppb)
{
    constexpr int64_t kHundredth = Share::kPercent / 100;
    const int64_t rounded = (std::abs(ppb) + kHundredth / 2) / kHundredth;
    return fmt::format("{}{}.{:02}", ppb < 0 ? "-" : "", rounded / 100, rounded % 100);
}

} // namespace

std::optional<Cell> cellOf(std::string_view word)
{
    if (benchmark::isDashes(word) || word == "n/a" || word == "N/A")
        return Cell{CellKind::Missing, {}, std::string(word)};
    std::string_view number = word;
    CellKind kind = isAllDigits(word) ? CellKind::Integer : CellKind::Decimal;
    if (number.ends_with('%')) {
        kind = CellKind::Percent;
        number.remove_suffix(1);
        if (number.starts_with('+'))
            number.remove_prefix(1);
    }
    const auto value = parseFixedPoint(number);
    return value ? std::optional(Cell{kind, *value, std::string(word)}) : std::nullopt;
}

bool isVariant(std::string_view word)
{
    constexpr std::array<std::string_view, 20> kNames = {"base", "baseline", "before", "after", "old", "new",
        "patched", "unpatched", "vanilla", "stock", "orig", "original", "mainline", "plain", "with",
        "without", "patch", "unmodified", "modified", "virgin"};
    return isOneOf(word, kNames) || isVersion(word);
}

bool isChange(std::string_view word)
{
    constexpr std::array<std::string_view, 12> kNames = {"speedup", "change", "%change", "diff", "%diff",
        "delta", "improvement", "gain", "%gain", "%", "reduction", "%improvement"};
    return isOneOf(word, kNames);
}

bool namesVariants(const Table& header)
{
    return !isVariant(header.rowName) && std::any_of(header.columns.begin(), header.columns.end(), isVariant)
        && std::none_of(header.columns.begin(), header.columns.end(), benchmark::isNumber);
}

std::optional<Row> rowOf(std::span<const std::string_view> words, size_t columns, bool labelMayBeNumber)
{
    if (words.size() < columns + 1 || benchmark::isDashes(words[0]) || words[0].ends_with(':'))
        return std::nullopt;
    if (!labelMayBeNumber && cellOf(words[0]))
        return std::nullopt;
    Row row{.label = std::string(words[0]), .cells = {}, .line = 0};
    for (const std::string_view word : words.subspan(1, columns)) {
        const auto cell = cellOf(word);
        if (!cell)
            return std::nullopt;
        row.cells.push_back(*cell);
    }
    return row;
}

bool isBrokenRow(std::span<const std::string_view> words, size_t columns)
{
    if (words.size() != columns + 1 || words[0].ends_with(':'))
        return false;
    const auto hasDigits = [](std::string_view word) {
        return !word.empty() && (isDigit(word[0]) || cellOf(word).has_value());
    };
    return std::all_of(words.begin() + 1, words.end(), hasDigits);
}

std::vector<Cell> sumsOf(std::span<const std::string_view> words, size_t columns)
{
    std::vector<Cell> sums;
    if (words.size() != columns)
        return sums;
    for (const std::string_view word : words) {
        const auto cell = cellOf(word);
        if (!cell || cell->kind == CellKind::Percent || cell->kind == CellKind::Missing)
            return {};
        sums.push_back(*cell);
    }
    return sums;
}

bool isProfile(const Table& table)
{
    constexpr std::array<std::string_view, 6> kBenchmarkEnds = {
        "_test", "_bench", "_ops", "_rate", "_time", "_lat"};
    bool symbolSeen = false;
    for (const Row& row : table.rows) {
        const auto endsLikeBenchmark = [&](std::string_view end) { return row.label.ends_with(end); };
        if (!isIdentifier(row.label)
            || std::any_of(kBenchmarkEnds.begin(), kBenchmarkEnds.end(), endsLikeBenchmark))
            return false;
        symbolSeen =
            symbolSeen || row.label.find('_') != std::string_view::npos || row.label.starts_with(".text.");
        for (const Cell& cell : row.cells) {
            if (cell.kind != CellKind::Integer && cell.kind != CellKind::Missing)
                return false;
        }
    }
    return symbolSeen;
}

std::string whatIsCounted(std::string_view text)
{
    constexpr std::array<std::string_view, 4> kNouns = {
        " counts in ", " ticks in ", " samples in ", " hits in "};
    size_t at = std::string_view::npos;
    size_t length = 0;
    for (const std::string_view noun : kNouns) {
        const size_t found = text.rfind(noun);
        if (found != std::string_view::npos && (at == std::string_view::npos || found > at)) {
            at = found;
            length = noun.size();
        }
    }
    if (at == std::string_view::npos)
        return {};
    std::string_view rest = text.substr(at + length);
    std::string_view function = nextToken(rest);
    while (!function.empty() && std::string_view(".,;:").find(function.back()) != std::string_view::npos)
        function.remove_suffix(1);
    const bool called = function.ends_with("()");
    const std::string_view name = called ? function.substr(0, function.size() - 2) : function;
    if (!isIdentifier(name) || (!called && name.find('_') == std::string_view::npos))
        return {};
    // The word before the noun belongs to it where it says who counted.
    constexpr std::array<std::string_view, 5> kCounters = {
        "profile", "profiler", "readprofile", "oprofile", "tick"};
    const std::string_view above = text.substr(0, at);
    const std::string_view before = above.substr(above.find_last_of(" \t") + 1); // npos + 1 is 0
    return (isOneOf(before, kCounters) ? std::string(before) + " " : std::string())
        + std::string(text.substr(at + 1, length - 1)) + std::string(function);
}

std::vector<Misprint> misprintedChanges(const std::vector<Row>& rows)
{
    // In rows where less is better a speedup is a reduction, in rows where more is better it is a growth.
    const auto differences = [&](int64_t sign) {
        std::vector<Misprint> found;
        for (const Row& row : rows) {
            if (row.cells.size() != 3)
                continue;
            const auto printed = printedChange(row.cells[2]);
            const auto share = reduction(row.cells[0], row.cells[1]);
            if (!printed || !share)
                continue;
            const int64_t expected = sign * *share;
            const int64_t away = std::abs(printed->ppb - expected);
            if (away <= printed->lastDigit / 2)
                continue;
            const bool cut = away < printed->lastDigit && std::abs(printed->ppb) < std::abs(expected);
            std::string_view text = row.cells[2].text;
            text.remove_suffix(text.ends_with('%') ? 1 : 0);
            found.push_back({fmt::format("{} {} printed {}", row.label, hundredths(expected), text), cut});
        }
        return found;
    };
    auto reductions = differences(1);
    auto growths = differences(-1);
    const auto wrong = [](const std::vector<Misprint>& list) {
        return std::count_if(
            list.begin(), list.end(), [](const Misprint& misprint) { return !misprint.cut; });
    };
    return wrong(reductions) <= wrong(growths) ? reductions : growths;
}

} // namespace whichlock::before_after
