// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/perf_script_stacks.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace whichlock::test {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

template <class Number> Number numberOf(std::string_view text, int base = 10)
{
    Number number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number, base);
    return number;
}

std::string_view trimmed(std::string_view text)
{
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return text.substr(0, text.find_last_not_of(" \t") + 1);
}

std::string_view lastWord(std::string_view text)
{
    text = trimmed(text);
    return text.substr(text.rfind(' ') + 1);
}

/// `ADDRESS SYMBOL+0xOFFSET (OBJECT)` or `ADDRESS [unknown] (OBJECT)`; of streams `ADDRESS SYMBOL`.
std::optional<PrintedFrame> frameOf(std::string_view text)
{
    text = trimmed(text);
    const size_t nameAt = text.find(' ');
    if (nameAt == std::string_view::npos || text.find_first_not_of(kHexDigits) != nameAt)
        return std::nullopt;
    PrintedFrame frame;
    frame.address = numberOf<uint64_t>(text.substr(0, nameAt), 16);
    std::string_view name = text.substr(nameAt + 1);
    if (const size_t objectAt = name.rfind(" ("); name.ends_with(')') && objectAt != std::string_view::npos) {
        frame.hasPlace = true;
        frame.object = name.substr(objectAt + 2, name.size() - objectAt - 3);
        name = name.substr(0, objectAt);
    }
    if (const size_t plus = name.rfind("+0x"); plus != std::string_view::npos) {
        frame.offset = numberOf<uint64_t>(name.substr(plus + 3), 16);
        name = name.substr(0, plus);
    }
    frame.symbol = name;
    return frame;
}

/// Where the time of a sample's first line ends: `SECONDS.NANOSECONDS:`.
size_t timeEnd(std::string_view line)
{
    for (size_t at = line.find(':'); at != std::string_view::npos; at = line.find(':', at + 1)) {
        const std::string_view word = lastWord(line.substr(0, at));
        const size_t point = word.find('.');
        if (point != std::string_view::npos && word.size() == point + 10
            && word.find_first_not_of("0123456789.") == std::string_view::npos)
            return at;
    }
    return std::string_view::npos;
}

std::optional<PrintedSample> headOf(std::string_view line)
{
    const size_t end = timeEnd(line);
    if (end == std::string_view::npos)
        return std::nullopt;
    PrintedSample sample;
    std::string_view head = line.substr(0, end);
    const std::string_view time = lastWord(head);
    sample.time = numberOf<uint64_t>(time) * 1'000'000'000 + numberOf<uint64_t>(time.substr(time.size() - 9));
    head = trimmed(head.substr(0, head.size() - time.size()));
    if (head.ends_with(']'))
        head = trimmed(head.substr(0, head.rfind('['))); // the processor
    const std::string_view tid = lastWord(head);
    if (tid.find_first_not_of("-0123456789") != std::string_view::npos)
        return std::nullopt;
    sample.tid = numberOf<int32_t>(tid);
    // Samples without a chain have their only frame behind the name of the event.
    const size_t eventEnd = line.find(": ", end + 1);
    if (eventEnd != std::string_view::npos) {
        if (auto frame = frameOf(line.substr(eventEnd + 2)); frame && frame->hasPlace)
            sample.frames.push_back(std::move(*frame));
    }
    return sample;
}

} // namespace

std::vector<PrintedSample> printedSamples(std::string_view script)
{
    std::vector<PrintedSample> samples;
    while (!script.empty()) {
        const size_t end = std::min(script.find('\n'), script.size());
        const std::string_view line = script.substr(0, end);
        script.remove_prefix(std::min(end + 1, script.size()));
        if (!line.starts_with('\t')) {
            if (auto sample = headOf(line))
                samples.push_back(std::move(*sample));
        } else if (auto frame = frameOf(line); frame && !samples.empty() && frame->object != "inlined") {
            samples.back().frames.push_back(std::move(*frame));
        }
    }
    return samples;
}

} // namespace whichlock::test
