// SPDX-License-Identifier: GPL-3.0-or-later
// Single results of benchmarks, one a line: `specjbb score: 2218`, `Throughput 296.11 MB/sec 32 procs`,
// `tps = 123.4 (...)`, `patched: ~47149 I/Os per second`. Whole lines only, so that prose with figures stays
// prose; numbers may have `~` before them and commas between thousands nowhere.
#include "parsers/format.h"
#include "parsers/formats/benchmark_scan.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace whichlock {
namespace {

constexpr std::string_view kName = "scores";
constexpr size_t kLongestLine = 160;

using benchmark::sameWord;
using WordSpan = std::span<const std::string_view>;

struct Score {
    std::string name;
    FixedPoint value;
    std::string unit;
    std::string label; ///< what stands before it on the line and names the variant
};

/// A figure that is not negative; `~` may stand before it.
std::optional<FixedPoint> figure(std::string_view word)
{
    if (word.starts_with('~'))
        word.remove_prefix(1);
    const auto value = isAllDigits(word) || isDecimal(word) ? parseFixedPoint(word) : std::nullopt;
    return word.find(',') == std::string_view::npos ? value : std::nullopt; // 1,234 is no decimal
}

/// `specjbb score: 2218`, `System Benchmarks Index Score 3389.7`.
std::optional<Score> namedScore(WordSpan words)
{
    constexpr std::array<std::string_view, 6> kBenchmarks = {
        "specjbb", "unixbench", "volano", "specweb", "specsfs", "geekbench"};
    const auto value = words.size() >= 3 ? figure(words.back()) : std::nullopt;
    if (!value)
        return std::nullopt;
    const std::string first = benchmark::lowered(words[0]);
    const bool known = std::any_of(kBenchmarks.begin(), kBenchmarks.end(),
        [&](std::string_view name) { return first.starts_with(name); });
    if (words.size() == 3 && known && (sameWord(words[1], "score:") || sameWord(words[1], "score")))
        return Score{fmt::format("{} score", words[0]), *value, {}, {}};
    if (words.size() == 5 && benchmark::joined(words.first(4)) == "System Benchmarks Index Score")
        return Score{benchmark::joined(words.first(4)), *value, {}, {}};
    return std::nullopt;
}

/// `Throughput 296.11 MB/sec 32 procs`, `Throughput 61.5 MB/sec (NB=76.9 MB/sec 615.3 MBit/sec) 512 procs`,
/// `Throughput 123.4 MB/sec  10 clients  10 procs  max_latency=12.3 ms`, `Throughput 5000 ops/sec`.
std::optional<Score> throughput(WordSpan words)
{
    if (words.size() < 3 || !sameWord(words[0], "throughput") || !words[2].ends_with("/sec"))
        return std::nullopt;
    const auto value = figure(words[1]);
    if (!value)
        return std::nullopt;
    Score score{"Throughput", *value, std::string(words[2]), {}};
    WordSpan rest = words.subspan(3);
    if (!rest.empty() && rest[0].starts_with('(')) {
        const auto close =
            std::find_if(rest.begin(), rest.end(), [](auto word) { return word.ends_with(')'); });
        if (close == rest.end())
            return std::nullopt;
        rest = rest.subspan(static_cast<size_t>(close - rest.begin()) + 1);
    }
    while (rest.size() >= 2 && isAllDigits(rest[0]) && (rest[1] == "procs" || rest[1] == "clients")) {
        score.name += fmt::format(", {} {}", rest[0], rest[1]);
        rest = rest.subspan(2);
    }
    const bool whole = rest.empty() || rest[0].starts_with("max_latency=") || rest[0].starts_with("(sync");
    return whole ? std::optional(score) : std::nullopt;
}

/// `tps = 123.4 (including connections establishing)`, `average throughput = 1234 messages per second`.
std::optional<Score> assigned(WordSpan words)
{
    const auto equals = std::find(words.begin(), words.end(), "=");
    const auto at = static_cast<size_t>(equals - words.begin());
    if (at == 0 || at + 1 >= words.size())
        return std::nullopt;
    const auto value = figure(words[at + 1]);
    const std::string name = benchmark::joined(words.first(at));
    const std::string rest = benchmark::joined(words.subspan(at + 2));
    if (!value)
        return std::nullopt;
    const bool remark = rest.empty() || (rest.front() == '(' && rest.back() == ')');
    if (name == "tps" && remark)
        return Score{rest.empty() ? name : name + " " + rest, *value, "transactions/s", {}};
    if (sameWord(name, "average throughput") && rest == "messages per second")
        return Score{name, *value, rest, {}};
    return std::nullopt;
}

/// `transactions:    10000  (1234.56 per sec.)` of sysbench.
std::optional<Score> sysbench(WordSpan words)
{
    if (words.size() != 5 || words[0] != "transactions:" || !isAllDigits(words[1]) || words[2].front() != '('
        || words[3] != "per" || words[4] != "sec.)")
        return std::nullopt;
    const auto value = figure(words[2].substr(1));
    return value ? std::optional(Score{"transactions", *value, "per second", {}}) : std::nullopt;
}

/// `Time: 12.345` of hackbench, `Total time: 236.418 [sec]` of perf bench: three digits after the point.
std::optional<Score> seconds(WordSpan words)
{
    const auto inMilliseconds = [](std::string_view word) {
        return isDecimal(word) && word.size() - word.find('.') == 4; // npos gives no 4 for a short word
    };
    if (words.size() == 2 && words[0] == "Time:" && inMilliseconds(words[1]) && figure(words[1]))
        return Score{"Time", *figure(words[1]), "s", {}};
    if (words.size() == 4 && words[0] == "Total" && words[1] == "time:" && words[3] == "[sec]"
        && inMilliseconds(words[2]) && figure(words[2]))
        return Score{"Total time", *figure(words[2]), "s", {}};
    return std::nullopt;
}

/// `stock BK tree: ~43945 I/Os per second`, `1234 I/Os per second`, `5000 ops/sec`.
std::optional<Score> perSecond(WordSpan words)
{
    constexpr std::array<std::string_view, 7> kThings = {
        "I/Os", "IOs", "messages", "requests", "transactions", "operations", "ops"};
    const auto isThing = [&](std::string_view word) {
        return std::find(kThings.begin(), kThings.end(), word) != kThings.end();
    };
    constexpr size_t kMostLabelWords = 6;
    const size_t size = words.size();
    if (size < 4 || words[size - 1] != "second" || words[size - 2] != "per" || !isThing(words[size - 3]))
        return std::nullopt;
    const auto value = figure(words[size - 4]);
    const WordSpan label = words.first(size - 4);
    // Before the figure stands nothing or a label with a colon: a sentence has other words there.
    if (!value || label.size() > kMostLabelWords || (!label.empty() && !label.back().ends_with(':')))
        return std::nullopt;
    Score score{benchmark::joined(words.last(3)), *value, benchmark::joined(words.last(3)), {}};
    score.label = benchmark::joined(label);
    if (!score.label.empty())
        score.label.pop_back();
    return score;
}

std::optional<Score> scoreOn(std::string_view line)
{
    constexpr size_t kMostWords = 20;
    line = trimmed(line);
    if (line.size() > kLongestLine || std::none_of(line.begin(), line.end(), isDigit))
        return std::nullopt;
    const auto words = tokensOf(line, kMostWords);
    using Rule = std::optional<Score> (*)(WordSpan);
    constexpr std::array<Rule, 6> kRules = {namedScore, throughput, assigned, sysbench, seconds, perSecond};
    for (const Rule rule : kRules) {
        if (auto score = rule(words))
            return score;
    }
    return std::nullopt;
}

Claim claim(TextCursor& cursor)
{
    return scoreOn(cursor.peek()->text) ? Claim{Confidence::Likely, "a line with the result of a benchmark"}
                                        : Claim{};
}

void read(TextCursor& cursor, BlockContext& context)
{
    const TextLine& line = *cursor.peek();
    if (auto score = scoreOn(line.text)) {
        std::string heading = score->label;
        if (heading.empty())
            heading = context.around.heading();
        if (heading.empty())
            heading = context.around.title();
        context.sink.score({.name = std::move(score->name),
            .value = score->value,
            .unit = std::move(score->unit),
            .heading = std::move(heading),
            .position = cursor.positionOf(line)});
    }
    cursor.advance();
}

} // namespace

extern const TextFormat scoresFormat;
const TextFormat scoresFormat = {
    kName, "single results of benchmarks: scores, throughput, rates", claim, read, Yields::Scores};

} // namespace whichlock
