// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/query.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>

namespace whichlock {
namespace {

struct NamedGroup {
    GroupBy by;
    std::string_view name;
};

constexpr std::array<NamedGroup, 8> kGroups = {{{GroupBy::Lock, "lock"}, {GroupBy::Site, "site"},
    {GroupBy::Holder, "holder"}, {GroupBy::Thread, "thread"}, {GroupBy::Comm, "comm"},
    {GroupBy::Process, "process"}, {GroupBy::Cpu, "cpu"}, {GroupBy::Symbol, "symbol"}}};

/// The parts of lists with commas. Empty parts are an error.
tl::expected<std::vector<std::string>, std::string> parts(
    const std::vector<std::string>& lists, std::string_view option)
{
    std::vector<std::string> all;
    for (const std::string& list : lists) {
        for (size_t begin = 0; begin <= list.size();) {
            const size_t end = std::min(list.find(',', begin), list.size());
            if (end == begin)
                return tl::make_unexpected(
                    fmt::format("{} takes names and numbers, with commas between; not '{}'", option, list));
            all.push_back(list.substr(begin, end - begin));
            begin = end + 1;
        }
    }
    return all;
}

/// Empty, or why it is no regular expression.
std::string wrongExpression(const std::string& expression)
{
    RE2::Options options;
    options.set_log_errors(false);
    const RE2 compiled(expression, options);
    return compiled.ok() ? std::string() : compiled.error();
}

std::string joinedList(const std::vector<std::string>& entries)
{
    return fmt::format("{}", fmt::join(entries, ","));
}

std::string timeWords(const TimeRange& range)
{
    const bool percent = range.base == TimeRange::Base::Percent;
    const auto bound = [&](const std::optional<uint64_t>& value) {
        const std::string text = toText({.base = range.base, .from = value, .to = {}});
        return text.substr(0, text.size() - (percent ? 2 : 1)); // without what stands between the two
    };
    std::string words = "time ";
    if (!range.from)
        words += "up to " + bound(range.to);
    else if (!range.to)
        words += "from " + bound(range.from);
    else
        words += bound(range.from) + " to " + bound(range.to);
    switch (range.base) {
    case TimeRange::Base::FirstSample:
        return words + " s after the first sample";
    case TimeRange::Base::Clock:
        return words + " s of the recording's clock";
    case TimeRange::Base::Percent:
        return words + " % of the recording";
    }
    return words;
}

} // namespace

std::string_view groupByName(GroupBy by)
{
    const auto found =
        std::find_if(kGroups.begin(), kGroups.end(), [&](const NamedGroup& one) { return one.by == by; });
    return found == kGroups.end() ? std::string_view() : found->name;
}

std::string groupByNames()
{
    std::string names;
    for (const NamedGroup& one : kGroups)
        names += (names.empty()                            ? ""
                         : one.name == kGroups.back().name ? " or "
                                                           : ", ")
            + std::string(one.name);
    return names;
}

tl::expected<Query, std::string> parseQuery(const QueryTexts& texts)
{
    Query query;
    if (texts.by) {
        const auto found = std::find_if(
            kGroups.begin(), kGroups.end(), [&](const NamedGroup& one) { return one.name == *texts.by; });
        if (found == kGroups.end())
            return tl::make_unexpected(fmt::format("--by takes {}, not '{}'", groupByNames(), *texts.by));
        query.by = found->by;
    }
    if (texts.time) {
        const auto range = parseTimeRange(*texts.time);
        if (!range)
            return tl::make_unexpected(range.error());
        query.filter.time = *range;
    }
    for (const auto& [lists, option, to] : {std::tuple(&texts.threads, "--thread", &query.filter.threads),
             std::tuple(&texts.processes, "--process", &query.filter.processes)}) {
        auto entries = parts(*lists, option);
        if (!entries)
            return tl::make_unexpected(entries.error());
        *to = std::move(*entries);
    }
    for (const std::string& list : texts.cpus) {
        const auto cpus = parseCpus(list);
        if (!cpus)
            return tl::make_unexpected(cpus.error());
        query.filter.cpus.insert(query.filter.cpus.end(), cpus->begin(), cpus->end());
    }
    if (const std::string why = wrongExpression(texts.focus); !why.empty())
        return tl::make_unexpected(fmt::format("--focus takes a regular expression (RE2): {}", why));
    query.focus = texts.focus;
    query.lock = texts.lock;
    query.holds = texts.holds;
    return query;
}

RecordingOptions selectionOf(const Query& query)
{
    const bool byTask = query.by == GroupBy::Thread || query.by == GroupBy::Process;
    return {.filter = query.filter, .byThread = byTask, .byCpu = query.by == GroupBy::Cpu};
}

std::vector<std::string> argumentsOf(const Query& query)
{
    std::vector<std::string> arguments;
    const auto add = [&](const char* option, std::string value) {
        arguments.emplace_back(option);
        arguments.push_back(std::move(value));
    };
    if (query.by != GroupBy::Lock)
        add("--by", std::string(groupByName(query.by)));
    if (query.filter.time)
        add("--time", toText(*query.filter.time));
    if (!query.filter.threads.empty())
        add("--thread", joinedList(query.filter.threads));
    if (!query.filter.processes.empty())
        add("--process", joinedList(query.filter.processes));
    if (!query.filter.cpus.empty())
        add("--cpu", toText(query.filter.cpus));
    if (!query.focus.empty())
        add("--focus", query.focus);
    if (!query.lock.empty())
        add("--lock", query.lock);
    if (query.holds)
        arguments.emplace_back("--holds");
    return arguments;
}

std::string filterText(const Query& query)
{
    std::vector<std::string> words;
    if (query.filter.time)
        words.push_back(timeWords(*query.filter.time));
    if (!query.filter.threads.empty())
        words.push_back(fmt::format("thread {}", fmt::join(query.filter.threads, " or ")));
    if (!query.filter.processes.empty())
        words.push_back(fmt::format("process {}", fmt::join(query.filter.processes, " or ")));
    if (!query.filter.cpus.empty())
        words.push_back("CPU " + toText(query.filter.cpus));
    if (!query.focus.empty())
        words.push_back("stacks with /" + query.focus + "/");
    return fmt::format("{}", fmt::join(words, ", "));
}

std::string shellQuoted(const std::string& word)
{
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:%+=@";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos)
        return word;
    std::string quoted = "'";
    for (const char c : word)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

} // namespace whichlock
