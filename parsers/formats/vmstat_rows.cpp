// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/vmstat_rows.h"

#include "parsers/fixed_point.h"
#include "parsers/input/text_scan.h"

#include <algorithm>
#include <array>

namespace whichlock::vmstat {
namespace {

constexpr size_t kMostColumns = 64;

template <size_t Size> bool isOneOf(std::string_view word, const std::array<std::string_view, Size>& words)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool isUser(std::string_view word)
{
    return word == "us" || word == "usr";
}

bool isSystem(std::string_view word)
{
    return word == "sy" || word == "sys";
}

/// The CPU columns behind `us sy`.
bool isRestOfCpu(std::string_view word)
{
    constexpr std::array<std::string_view, 4> kWords = {"id", "wa", "st", "gu"};
    return isOneOf(word, kWords);
}

bool isCounterWord(std::string_view word)
{
    constexpr std::array<std::string_view, 26> kWords = {"r", "b", "s", "w", "swpd", "free", "buff", "cache",
        "inact", "active", "si", "so", "bi", "bo", "in", "int", "cs", "avm", "fre", "flt", "re", "pi", "po",
        "fr", "sr", "swap"};
    return isOneOf(word, kWords) || isUser(word) || isSystem(word) || isRestOfCpu(word);
}

/// `ad0`, `wd0`, `w0`: a disk of a BSD.
bool isDevice(std::string_view word)
{
    constexpr size_t kLongest = 8;
    const size_t digits = word.find_first_of("0123456789");
    if (word.size() > kLongest || digits == 0 || digits == std::string_view::npos)
        return false;
    return isAllDigits(word.substr(digits))
        && std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(digits),
            [](char c) { return c >= 'a' && c <= 'z'; });
}

/// `UTC`, `CEST`, `+03`: what stands above the times of -t.
bool isTimeZone(std::string_view word)
{
    constexpr size_t kLongest = 5;
    if (word.size() < 2 || word.size() > kLongest)
        return false;
    if (word[0] == '+' || word[0] == '-')
        return isAllDigits(word.substr(1));
    return std::all_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// The word of a group in a group line, without its dashes and bars.
std::string_view withoutDashes(std::string_view word)
{
    const size_t begin = word.find_first_not_of("-|");
    if (begin == std::string_view::npos)
        return {};
    return word.substr(begin, word.find_last_not_of("-|") - begin + 1);
}

/// `21:21:49`, `2019-04-12`: what collectors print in front of each row.
bool isTimeOrDate(std::string_view word)
{
    constexpr size_t kTime = 8;
    constexpr size_t kDate = 10;
    if (word.size() != kTime && word.size() != kDate)
        return false;
    const bool time = word.size() == kTime;
    for (size_t i = 0; i < word.size(); ++i) {
        const bool mark = time ? i == 2 || i == 5 : i == 4 || i == 7;
        if (mark ? word[i] != (time ? ':' : '-') : !isDigit(word[i]))
            return false;
    }
    return true;
}

bool hasTwice(const std::vector<std::string_view>& words)
{
    for (size_t i = 0; i < words.size(); ++i) {
        const auto again = std::count(words.begin(), words.end(), words[i]);
        if (again > 1 && !isDevice(words[i]) && !(words[i] == "sy" && again == 2))
            return true;
    }
    return false;
}

/// 514G, 1.3M: kilobytes.
std::optional<int64_t> humanNumber(std::string_view token)
{
    constexpr int64_t kStep = 1024;
    int64_t factor = 1;
    switch (token.back()) {
    case 'K':
        break;
    case 'M':
        factor = kStep;
        break;
    case 'G':
        factor = kStep * kStep;
        break;
    case 'T':
        factor = kStep * kStep * kStep;
        break;
    default:
        return std::nullopt;
    }
    const auto number = parseFixedPoint(token.substr(0, token.size() - 1));
    int64_t scaled = 0;
    if (!number || number->millionths < 0 || __builtin_mul_overflow(number->millionths, factor, &scaled))
        return std::nullopt;
    return scaled / FixedPoint::kScale;
}

bool isHumanNumber(std::string_view token)
{
    constexpr size_t kLongest = 8;
    if (token.size() < 2 || token.size() > kLongest
        || std::string_view("KMGT").find(token.back()) == SIZE_MAX)
        return false;
    const std::string_view number = token.substr(0, token.size() - 1);
    return isAllDigits(number) || isDecimal(number);
}

} // namespace

bool Columns::hasProcs() const
{
    const auto has = [&](std::string_view word) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    return has("r") && (has("b") || has("s")); // newer OpenBSD counts sleeping threads, `s`
}

bool areHeaderWords(const std::vector<std::string_view>& words)
{
    return !words.empty() && std::all_of(words.begin(), words.end(), [](std::string_view word) {
        return isCounterWord(word) || isDevice(word) || isTimeZone(word);
    });
}

std::optional<Columns> columnsOf(const std::vector<std::string_view>& header)
{
    std::vector<std::string_view> words = header;
    Columns columns;
    if (!words.empty() && (isTimeZone(words.back()) || words.back() == "timestamp")) {
        columns.timestamp = true;
        words.pop_back();
    }
    if (words.size() < 3 || words.size() > kMostColumns || !areHeaderWords(words) || hasTwice(words)
        || !foreignSystem(words).empty())
        return std::nullopt;
    // The CPU group stands last: in two BSDs an earlier column `sy` counts system calls.
    size_t begin = words.size();
    while (begin > 0 && isRestOfCpu(words[begin - 1]))
        --begin;
    const size_t rest = words.size() - begin;
    if (rest == 0 || begin < 2 || !isSystem(words[begin - 1]) || !isUser(words[begin - 2])
        || std::find(words.begin(), words.end(), "id") == words.end())
        return std::nullopt;
    const bool bsd = std::find(words.begin(), words.end(), "avm") != words.end();
    if (!bsd && std::any_of(words.begin(), words.end(), isDevice))
        return std::nullopt;
    columns.cpuBegin = begin - 2;
    columns.words.assign(words.begin(), words.end());
    return columns;
}

std::optional<Columns> columnsOf(const std::vector<std::string>& words)
{
    return columnsOf(std::vector<std::string_view>(words.begin(), words.end()));
}

bool isGroupLine(std::string_view line)
{
    constexpr size_t kLongest = 256;
    constexpr std::array<std::string_view, 15> kGroups = {"procs", "proc", "memory", "swap", "io", "system",
        "cpu", "page", "disks", "disk", "faults", "traps", "timestamp", "time", "date"};
    if (line.size() > kLongest)
        return false;
    bool any = false;
    for (const std::string_view word : tokensOf(line)) {
        if (!isOneOf(withoutDashes(word), kGroups))
            return false;
        any = true;
    }
    return any;
}

bool isForeignGroupLine(std::string_view line)
{
    const auto words = tokensOf(line, 8);
    return words.size() >= 3 && words[0] == "kthr"
        && std::find(words.begin(), words.end(), "memory") != words.end()
        && std::find(words.begin(), words.end(), "page") != words.end();
}

std::string_view foreignSystem(const std::vector<std::string_view>& words)
{
    const auto has = [&](std::string_view word) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (words.size() < 8 || words[0] != "r" || !has("re") || !has("pi") || !has("po") || has("flt"))
        return {};
    if (has("mf") && has("de"))
        return "Solaris";
    if (has("avm") && has("at"))
        return "HP-UX";
    return has("avm") ? "AIX" : "";
}

RowTokens rowTokens(std::string_view line, size_t fields)
{
    constexpr size_t kLongest = 4096;
    RowTokens row;
    if (line.size() > kLongest) {
        row.foreign = true;
        return row;
    }
    for (std::string_view token = nextToken(line); !token.empty(); token = nextToken(line)) {
        const bool counter = isAllDigits(token) || isHumanNumber(token);
        if (row.values.size() == fields) {
            // Behind the counters: the time of -t, or a remark. One more number makes it no row.
            row.foreign = row.foreign || (counter && !row.remark);
            row.remark = true;
        } else if (counter) {
            row.values.push_back(token);
        } else if (!row.values.empty() || !isTimeOrDate(token)) {
            row.foreign = true;
            return row;
        }
    }
    return row;
}

std::optional<int64_t> counterOf(std::string_view token)
{
    if (isHumanNumber(token))
        return humanNumber(token);
    const auto value = parseUnsigned(token);
    return value && *value <= static_cast<uint64_t>(INT64_MAX) ? std::optional(static_cast<int64_t>(*value))
                                                               : std::nullopt;
}

bool cpuAddsUp(std::span<const std::string_view> values, size_t cpuColumns)
{
    constexpr uint64_t kLeast = 98;
    constexpr uint64_t kMost = 102;
    if (values.size() < cpuColumns)
        return false;
    uint64_t sum = 0;
    for (const std::string_view token : values.last(cpuColumns)) {
        const auto value = parseUnsigned(token);
        if (!value || *value > kMost)
            return false;
        sum += *value;
    }
    return sum >= kLeast && sum <= kMost;
}

std::optional<Columns> guessColumns(const std::vector<std::vector<std::string_view>>& rows)
{
    constexpr std::array<std::string_view, 4> kKnown = {
        "r b w swpd free buff cache si so bi bo in cs us sy id",
        "r b swpd free buff cache si so bi bo in cs us sy id wa",
        "r b swpd free buff cache si so bi bo in cs us sy id wa st",
        "r b swpd free buff cache si so bi bo in cs us sy id wa st gu",
    };
    std::optional<Columns> found;
    for (const std::string_view known : kKnown) {
        auto columns = columnsOf(tokensOf(known));
        const bool fits = !rows.empty() && std::all_of(rows.begin(), rows.end(), [&](const auto& row) {
            return row.size() == columns->words.size()
                && cpuAddsUp(row, columns->words.size() - columns->cpuBegin);
        });
        if (fits && found)
            return std::nullopt;
        if (fits)
            found = std::move(columns);
    }
    return found;
}

} // namespace whichlock::vmstat
