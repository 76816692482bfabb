// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/lkp_rows.h"

#include "parsers/input/text_scan.h"

#include <algorithm>

namespace whichlock::lkp {
namespace {

constexpr std::string_view kProfilePrefix = "perf-profile.";

/// The plus-minus sign at the front of a word, in all the ways that mail programs leave it; else empty.
std::string_view spreadSign(std::string_view word)
{
    constexpr std::string_view kSigns[] = {"\xC2\xB1", "\xB1", "\xEF\xBF\xBD", "+-", "+/-", "?"};
    for (const std::string_view sign : kSigns) {
        if (word.starts_with(sign))
            return word.substr(0, sign.size());
    }
    return {};
}

/// `4%`; nothing else.
std::optional<FixedPoint> percentWord(std::string_view word)
{
    if (!word.ends_with('%'))
        return std::nullopt;
    word.remove_suffix(1);
    return word.empty() || !isDigit(word.front()) ? std::nullopt : parseScientific(word);
}

bool isNumberWord(std::string_view word)
{
    return !word.empty() && (isDigit(word.front()) || (word.front() == '-' && word.size() > 1))
        && word.find_first_not_of("0123456789.e+-") == std::string_view::npos;
}

/// `+94.7%`, `-7.2`, `+1.8e+99%`.
bool isChange(std::string_view word)
{
    if (word.size() < 2 || (word.front() != '+' && word.front() != '-'))
        return false;
    word.remove_prefix(1);
    if (word.ends_with('%'))
        word.remove_suffix(1);
    return !word.empty() && isDigit(word.front())
        && word.find_first_not_of("0123456789.e+-") == std::string_view::npos;
}

/// Takes `VALUE [± N%]` off the front of `rest`; false if it is none.
bool takeCell(std::string_view& rest, Row& row)
{
    const std::string_view number = nextToken(rest);
    if (!isNumberWord(number))
        return false;
    if (row.cells.empty())
        row.cells.reserve(2); // as most rows have
    Cell& cell = row.cells.emplace_back();
    cell.value = parseScientific(number);
    std::string_view behind = rest;
    std::string_view word = nextToken(behind);
    const std::string_view sign = spreadSign(word);
    if (sign.empty())
        return true;
    word.remove_prefix(sign.size());
    if (word.empty())
        word = nextToken(behind);
    cell.spread = percentWord(word);
    if (cell.spread)
        rest = behind;
    return cell.spread.has_value();
}

/// Takes all values and changes off the front of `rest`; false if there are not two values.
bool takeFigures(std::string_view& rest, Row& row)
{
    if (!takeCell(rest, row))
        return false;
    while (row.cells.size() < kMostCommits) {
        std::string_view behind = rest;
        const std::string_view change = nextToken(behind);
        if (!isChange(change) || !takeCell(behind, row))
            break;
        row.points = row.points || !change.ends_with('%');
        rest = behind;
    }
    return row.cells.size() >= 2;
}

/// `2:6`, `:6`.
bool isRuns(std::string_view word)
{
    const size_t colon = word.find(':');
    return colon != std::string_view::npos && colon + 1 < word.size() && isAllDigits(word.substr(colon + 1))
        && (colon == 0 || isAllDigits(word.substr(0, colon)));
}

/// Whether a compiler put this word behind a point of a function's name.
bool isSuffix(std::string_view word)
{
    constexpr std::string_view kSuffixes[] = {"isra", "part", "constprop", "cold", "llvm", "lto_priv"};
    return isAllDigits(word)
        || std::find(std::begin(kSuffixes), std::end(kSuffixes), word) != std::end(kSuffixes);
}

} // namespace

std::optional<Row> rowOf(std::string_view line)
{
    std::string_view rest = line;
    Row row;
    if (!takeFigures(rest, row))
        return std::nullopt;
    row.metric = trimmed(rest);
    if (!row.metric.empty() && !isMetric(row.metric))
        return std::nullopt;
    return row;
}

bool hasFigures(std::string_view line)
{
    Row row;
    return takeFigures(line, row);
}

bool isFailureRow(std::string_view line)
{
    std::string_view rest = line;
    if (!isRuns(nextToken(rest)))
        return false;
    std::string_view change = nextToken(rest);
    if (!change.empty() && (change.front() == '-' || change.front() == '+'))
        change.remove_prefix(1);
    return percentWord(change) && isRuns(nextToken(rest));
}

bool isMetric(std::string_view text)
{
    const size_t point = text.find('.');
    if (text.starts_with(kProfilePrefix) && profileMetricOf(text).path.empty())
        return false; // cut
    return point != std::string_view::npos && point != 0
        && text.find_first_of(" \t") == std::string_view::npos && !isDigit(text.front())
        && text.front() != '+' && text.front() != '-';
}

bool isColumnLine(std::string_view line)
{
    line = trimmed(line);
    return (line.starts_with("%stddev") && line.find("%change") != std::string_view::npos)
        || (line.starts_with("fail:runs") && line.find("%reproduction") != std::string_view::npos);
}

bool isStrokeLine(std::string_view line)
{
    line = trimmed(line);
    return !line.empty() && line.find_first_not_of(" \t|\\/") == std::string_view::npos;
}

ProfileMetric profileMetricOf(std::string_view metric)
{
    if (!metric.starts_with(kProfilePrefix))
        return {};
    metric.remove_prefix(kProfilePrefix.size());
    const size_t kindEnd = metric.find('.');
    const size_t eventEnd = kindEnd == std::string_view::npos ? kindEnd : metric.find('.', kindEnd + 1);
    if (eventEnd == std::string_view::npos)
        return {};
    return {.kind = metric.substr(0, kindEnd),
        .event = metric.substr(kindEnd + 1, eventEnd - kindEnd - 1),
        .path = metric.substr(eventEnd + 1)};
}

std::vector<std::string_view> functionsOf(std::string_view path)
{
    std::vector<std::string_view> functions;
    size_t begin = 0;
    while (begin < path.size()) {
        size_t end = std::min(path.find('.', begin), path.size());
        while (end < path.size()) { // takes the words behind further points that belong to the name
            const size_t next = std::min(path.find('.', end + 1), path.size());
            if (!isSuffix(path.substr(end + 1, next - end - 1)))
                break;
            end = next;
        }
        functions.push_back(path.substr(begin, end - begin));
        begin = end + 1;
    }
    return functions;
}

} // namespace whichlock::lkp
