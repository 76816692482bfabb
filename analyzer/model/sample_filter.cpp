// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/model/sample_filter.h"

#include <algorithm>
#include <fmt/format.h>

namespace whichlock {
namespace {

constexpr unsigned kNsDigits = 9;      // seconds to ns
constexpr unsigned kPercentDigits = 7; // per cent to parts per billion
constexpr uint64_t kWholePpb = 1'000'000'000;

/// `12.5` times 10^digits. Nothing for what is no number, too long or too large.
std::optional<uint64_t> parseScaled(std::string_view text, unsigned digits)
{
    uint64_t value = 0;
    bool point = false;
    bool any = false;
    unsigned behind = 0;
    const auto append = [&](unsigned digit) {
        return !__builtin_mul_overflow(value, uint64_t{10}, &value)
            && !__builtin_add_overflow(value, uint64_t{digit}, &value);
    };
    for (const char c : text) {
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9' || (point && ++behind > digits) || !append(static_cast<unsigned>(c - '0')))
            return std::nullopt;
        any = true;
    }
    for (; behind < digits; ++behind) {
        if (!append(0))
            return std::nullopt;
    }
    return any ? std::optional(value) : std::nullopt;
}

std::string scaledText(uint64_t value, unsigned digits)
{
    uint64_t unit = 1;
    for (unsigned i = 0; i < digits; ++i)
        unit *= 10;
    std::string text = fmt::format("{}.{:0{}}", value / unit, value % unit, digits);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
        text.pop_back();
    return text;
}

/// One end of a range; empty is no bound. False for what is neither.
bool parseBound(std::string_view text, unsigned digits, std::optional<uint64_t>& bound)
{
    if (text.empty())
        return true;
    bound = parseScaled(text, digits);
    return bound.has_value();
}

std::optional<int32_t> parseCpu(std::string_view text)
{
    const auto value = parseScaled(text, 0);
    if (!value || *value > INT32_MAX || text.find('.') != std::string_view::npos)
        return std::nullopt;
    return static_cast<int32_t>(*value);
}

uint64_t saturatedSum(uint64_t a, uint64_t b)
{
    uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t partOf(uint64_t whole, uint64_t ppb)
{
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>(static_cast<Wide>(whole) * std::min(ppb, kWholePpb) / kWholePpb);
}

/// Whether one of the entries is this name or number.
bool names(const std::vector<std::string>& entries, std::string_view name, int32_t number)
{
    const std::string digits = number >= 0 ? std::to_string(number) : std::string();
    return std::any_of(entries.begin(), entries.end(),
        [&](const std::string& entry) { return entry == name || (!digits.empty() && entry == digits); });
}

/// What two parts of a filter say together.
Kept both(Kept a, Kept b)
{
    return b == Kept::No || a == Kept::Yes ? b : a;
}

/// `yes` where the entries name it; where they do not, whether there was anything to compare with.
Kept judgeTask(const std::vector<std::string>& entries, std::string_view name, int32_t number)
{
    if (names(entries, name, number))
        return Kept::Yes;
    const bool isNumber = std::any_of(entries.begin(), entries.end(),
        [](const std::string& entry) { return parseScaled(entry, 0).has_value(); });
    const bool isName = std::any_of(entries.begin(), entries.end(),
        [](const std::string& entry) { return !parseScaled(entry, 0).has_value(); });
    const bool untold = (isNumber && number < 0) || (isName && name.empty());
    return untold ? Kept::Untold : Kept::No;
}

} // namespace

tl::expected<TimeRange, std::string> parseTimeRange(std::string_view text)
{
    const auto wrong = [&] {
        return tl::make_unexpected(fmt::format("--time takes FROM-TO in seconds after the first sample "
                                               "(1.5-2.25, -2, 3-), percentages (10%-20%) "
                                               "or FROM,TO as perf script prints times; not '{}'",
            text));
    };
    TimeRange range;
    size_t middle = text.find(',');
    if (middle != std::string_view::npos)
        range.base = TimeRange::Base::Clock;
    else
        middle = text.find('-');
    if (middle == std::string_view::npos || text.size() == 1)
        return wrong(); // a lone number may mean either end
    std::string_view from = text.substr(0, middle);
    std::string_view to = text.substr(middle + 1);
    if (range.base != TimeRange::Base::Clock && text.find('%') != std::string_view::npos) {
        range.base = TimeRange::Base::Percent;
        for (std::string_view* const end : {&from, &to}) {
            if (end->empty())
                continue;
            if (!end->ends_with('%') || end->size() == 1)
                return wrong();
            end->remove_suffix(1);
        }
    }
    const unsigned digits = range.base == TimeRange::Base::Percent ? kPercentDigits : kNsDigits;
    if (!parseBound(from, digits, range.from) || !parseBound(to, digits, range.to))
        return wrong();
    if (range.base == TimeRange::Base::Percent && std::max(range.from, range.to) > kWholePpb)
        return tl::make_unexpected(fmt::format("--time {} goes beyond 100 %", text));
    if (range.from && range.to && *range.from >= *range.to)
        return tl::make_unexpected(fmt::format("--time {} ends before it begins", text));
    return range;
}

tl::expected<std::vector<CpuRange>, std::string> parseCpus(std::string_view text)
{
    const auto wrong = [&] {
        return tl::make_unexpected(fmt::format("--cpu takes numbers and ranges (0,2-5), not '{}'", text));
    };
    std::vector<CpuRange> cpus;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view part = text.substr(begin, end - begin);
        const size_t dash = part.find('-');
        const auto first = parseCpu(part.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : parseCpu(part.substr(dash + 1));
        if (!first || !last || *first > *last)
            return wrong();
        cpus.push_back({*first, *last});
        begin = end + 1;
    }
    return cpus;
}

std::string toText(const TimeRange& range)
{
    const bool percent = range.base == TimeRange::Base::Percent;
    const auto bound = [&](const std::optional<uint64_t>& value) {
        return value ? scaledText(*value, percent ? kPercentDigits : kNsDigits) + (percent ? "%" : "")
                     : std::string();
    };
    return bound(range.from) + (range.base == TimeRange::Base::Clock ? "," : "-") + bound(range.to);
}

std::string toText(const std::vector<CpuRange>& cpus)
{
    std::string text;
    for (const CpuRange& range : cpus) {
        text += text.empty() ? "" : ",";
        text += std::to_string(range.first);
        if (range.last != range.first)
            text += '-' + std::to_string(range.last);
    }
    return text;
}

SampleGate::SampleGate(SampleFilter filter)
    : filter_(std::move(filter))
{
    if (filter_.time && filter_.time->base == TimeRange::Base::Clock) {
        fromNs_ = filter_.time->from;
        toNs_ = filter_.time->to;
        bounded_ = true;
    }
}

void SampleGate::setSpan(uint64_t firstNs, uint64_t lastNs)
{
    if (!filter_.time || filter_.time->base != TimeRange::Base::Percent || lastNs < firstNs)
        return;
    // The last sample belongs to 100 %, although the end of a range does not belong to it.
    const auto& [base, from, to] = *filter_.time;
    if (from)
        fromNs_ = saturatedSum(firstNs, partOf(lastNs - firstNs, *from));
    if (to && *to < kWholePpb)
        toNs_ = saturatedSum(firstNs, partOf(lastNs - firstNs, *to));
    bounded_ = true;
}

void SampleGate::setBounds(uint64_t firstNs)
{
    if (filter_.time->from)
        fromNs_ = saturatedSum(firstNs, *filter_.time->from);
    if (filter_.time->to)
        toNs_ = saturatedSum(firstNs, *filter_.time->to);
    bounded_ = true;
}

Kept SampleGate::judgeTime(const SampleOrigin& sample)
{
    if (!sample.timeNs)
        return Kept::Untold;
    if (!bounded_ && filter_.time->base == TimeRange::Base::FirstSample)
        setBounds(*sample.timeNs);
    if (!bounded_)
        return Kept::Untold;
    const bool inside = (!fromNs_ || *sample.timeNs >= *fromNs_) && (!toNs_ || *sample.timeNs < *toNs_);
    return inside ? Kept::Yes : Kept::No;
}

std::optional<std::pair<uint64_t, uint64_t>> SampleGate::timesKept(uint64_t firstNs)
{
    if (!filter_.time)
        return std::pair(uint64_t{0}, UINT64_MAX);
    if (!bounded_ && filter_.time->base == TimeRange::Base::FirstSample)
        setBounds(firstNs);
    if (!bounded_)
        return std::nullopt;
    return std::pair(fromNs_.value_or(0), toNs_.value_or(UINT64_MAX));
}

Kept SampleGate::judgeCpu(int32_t cpu) const
{
    if (filter_.cpus.empty())
        return Kept::Yes;
    if (cpu < 0)
        return Kept::Untold;
    const bool any = std::any_of(filter_.cpus.begin(), filter_.cpus.end(),
        [&](const CpuRange& range) { return cpu >= range.first && cpu <= range.last; });
    return any ? Kept::Yes : Kept::No;
}

Kept SampleGate::judgeThread(const SampleOrigin& sample) const
{
    const Kept thread =
        filter_.threads.empty() ? Kept::Yes : judgeTask(filter_.threads, sample.comm, sample.tid);
    if (filter_.processes.empty() || thread == Kept::No)
        return thread;
    return both(thread, judgeTask(filter_.processes, sample.processComm, sample.pid));
}

Kept SampleGate::judge(const SampleOrigin& sample)
{
    Kept result = filter_.time ? judgeTime(sample) : Kept::Yes;
    if (result != Kept::No)
        result = both(result, judgeCpu(sample.cpu));
    return result == Kept::No ? result : both(result, judgeThread(sample));
}

} // namespace whichlock
