// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/kernbench_rows.h"

#include "parsers/input/text_scan.h"

#include <algorithm>

namespace whichlock::kernbench {
namespace {

using benchmark::sameWord;

constexpr size_t kMostLabelWords = 6;
constexpr size_t kMostFlatLabelWords = 3;

bool isColumn(size_t column, std::string_view word)
{
    constexpr std::array<std::array<std::string_view, 4>, kMostColumns> kNames = {{
        {"time", "elapsed", "real", "wall"},
        {"user", "usr", "user", "user"},
        {"system", "sys", "system", "system"},
        {"%cpu", "cpu%", "%cpus", "cpu"},
        {"ctx", "ctxsw", "ctxt", "csw"},
        {"sleeps", "sleep", "sleeps", "sleeps"},
    }};
    return std::any_of(kNames[column].begin(), kNames[column].end(),
        [&](std::string_view name) { return sameWord(name, word); });
}

} // namespace

bool mayHoldHeader(std::string_view line)
{
    size_t seen = 0;
    for (std::string_view word = nextToken(line); !word.empty(); word = nextToken(line)) {
        seen = isColumn(seen, word) ? seen + 1 : (isColumn(0, word) ? 1 : 0);
        if (seen == kFewestColumns)
            return true;
    }
    return false;
}

std::optional<Header> headerIn(std::span<const std::string_view> words)
{
    for (size_t at = 0; at < words.size(); ++at) {
        size_t columns = 0;
        while (
            columns < kMostColumns && at + columns < words.size() && isColumn(columns, words[at + columns]))
            ++columns;
        if (columns >= kFewestColumns)
            return Header{at, columns};
    }
    return std::nullopt;
}

std::optional<FixedPoint> figure(std::string_view word)
{
    if (word.ends_with('%'))
        word.remove_suffix(1);
    return parseFixedPoint(word);
}

std::optional<Row> rowOf(std::span<const std::string_view> words, size_t columns)
{
    if (words.size() < columns || words.size() > columns + kMostLabelWords)
        return std::nullopt;
    const size_t label = words.size() - columns;
    const bool figures = std::all_of(words.begin() + static_cast<std::ptrdiff_t>(label), words.end(),
        [](std::string_view w) { return figure(w).has_value(); });
    // A label of numbers alone would be a row of another table with more columns.
    const bool named = label <= 1 || !figure(words[label - 1]);
    return figures && named ? std::optional(Row{label, words.size()}) : std::nullopt;
}

std::optional<Row> flatRowAt(std::span<const std::string_view> words, size_t columns)
{
    for (size_t label = 1; label <= kMostFlatLabelWords && label + columns <= words.size(); ++label) {
        const auto figures = words.subspan(label, columns);
        if (std::all_of(
                figures.begin(), figures.end(), [](std::string_view w) { return figure(w).has_value(); }))
            return Row{label, label + columns};
    }
    return std::nullopt;
}

bool percentFits(std::span<const std::optional<FixedPoint>> figures)
{
    if (figures.size() < kFewestColumns)
        return true;
    constexpr int64_t kLargest = 1'000'000 * FixedPoint::kScale;
    for (size_t i = 0; i < kFewestColumns; ++i) {
        if (!figures[i] || figures[i]->millionths <= 0 || figures[i]->millionths > kLargest)
            return true; // nothing to compare
    }
    const auto busy = static_cast<uint64_t>(figures[1]->millionths + figures[2]->millionths);
    const int64_t expected = shareOf(busy, static_cast<uint64_t>(figures[0]->millionths)).ppb;
    const int64_t printed = figures[3]->millionths * (Share::kPercent / FixedPoint::kScale);
    constexpr int64_t kOneIn = 200;
    return std::abs(printed - expected) <= expected / kOneIn;
}

std::string loadLabel(std::string_view line)
{
    line = trimmed(line);
    constexpr size_t kLongest = 80;
    if (line.size() > kLongest || !line.starts_with("Average ") || !line.ends_with(':'))
        return {};
    const auto words = tokensOf(line);
    const auto isLoad = [](std::string_view word) { return sameWord(word, "load"); };
    const auto isRun = [](std::string_view word) { return word.starts_with("Run"); };
    if (words.size() < 3 || std::none_of(words.begin(), words.end(), isLoad)
        || std::none_of(words.begin(), words.end(), isRun))
        return {};
    for (size_t i = 2; i < words.size(); ++i) {
        std::string_view jobs = words[i];
        if (!jobs.starts_with("-j"))
            continue;
        jobs.remove_prefix(2);
        if (jobs.empty() && i + 1 < words.size())
            jobs = words[i + 1];
        if (isAllDigits(jobs))
            return std::string(jobs);
    }
    return benchmark::lowered(words[1]);
}

std::optional<LoadFigure> loadFigure(std::string_view line)
{
    line = trimmed(line);
    for (size_t i = 0; i < kLoadFigures.size(); ++i) {
        if (!line.starts_with(kLoadFigures[i]))
            continue;
        std::string_view rest = line.substr(kLoadFigures[i].size());
        const std::string_view value = nextToken(rest);
        const std::string_view deviation = trimmed(rest);
        if (value.empty() || (!deviation.empty() && deviation.front() != '('))
            return std::nullopt;
        return LoadFigure{i, figure(value)};
    }
    return std::nullopt;
}

} // namespace whichlock::kernbench
