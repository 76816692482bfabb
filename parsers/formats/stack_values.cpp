// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/stack_values.h"

#include "parsers/input/text_scan.h"

#include <algorithm>
#include <string>

namespace whichlock::stackvalues {
namespace {

bool hasAny(std::string_view text, std::initializer_list<std::string_view> words)
{
    return std::any_of(words.begin(), words.end(),
        [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

std::string lowerCase(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

constexpr uint64_t kMicrosecond = 1'000;
constexpr uint64_t kMillisecond = 1'000'000;

/// Off-CPU time in the unit that the text names.
Values offCpu(std::string_view text)
{
    if (hasAny(text, {"(ns)", "nanosec", "nsecs"}))
        return {Told::OffCpu, 1};
    if (hasAny(text, {"(ms)", "millisec"}))
        return {Told::OffCpu, kMillisecond};
    const bool told = hasAny(text, {"(us)", "microsec", "usecs", "offcputime", "offwaketime"});
    return {Told::OffCpu, kMicrosecond, !told};
}

} // namespace

Values valuesToldBy(const Surroundings& around, std::string_view inputName)
{
    const std::string text = lowerCase(around.command() + '\n' + around.title() + '\n' + around.heading()
        + '\n' + around.paragraphAbove() + '\n' + std::string(inputName.substr(inputName.rfind('/') + 1)));
    if (hasAny(text, {"offcpu", "off-cpu", "off cpu", "offwake"}))
        return offCpu(text);
    return {
        hasAny(text, {"profile:hz:", "on-cpu", "cpu samples", "cpu-clock"}) ? Told::Samples : Told::Nothing};
}

void setQuantity(const Values& values, bool fractional, SectionRecord& record)
{
    switch (values.told) {
    case Told::OffCpu:
        record.kind = SectionKind::WaitProfile;
        record.quantity = QuantityKind::Wait;
        record.unit = Unit::Nanoseconds;
        return;
    case Told::Samples:
    case Told::Nothing:
        break;
    }
    record.kind = SectionKind::CpuProfile;
    record.quantity = QuantityKind::Cpu;
    record.unit = fractional ? Unit::Millionths : values.told == Told::Samples ? Unit::Samples : Unit::Count;
}

std::optional<Value> valueOf(std::string_view text, const Values& values, bool fractional)
{
    constexpr uint64_t kScale = FixedPoint::kScale;
    const uint64_t each = values.told == Told::OffCpu ? values.nsEach : fractional ? kScale : 1;
    if (const auto whole = parseUnsigned(text)) {
        uint64_t value = 0;
        return __builtin_mul_overflow(*whole, each, &value) ? std::nullopt : std::optional(Value{value});
    }
    const auto fixed = parseFixedPoint(text);
    if (!fixed || fixed->millionths < 0)
        return std::nullopt;
    uint64_t scaled = 0;
    if (__builtin_mul_overflow(static_cast<uint64_t>(fixed->millionths), each, &scaled))
        return std::nullopt;
    const uint64_t rest = scaled % kScale;
    return Value{scaled / kScale + (rest >= kScale / 2 ? 1 : 0), rest != 0};
}

TextFrame frameOf(std::string_view name)
{
    TextFrame frame{.symbol = name, .object = {}};
    constexpr size_t kMark = 4;
    if (name.size() <= kMark || name.back() != ']' || name[name.size() - kMark] != '_'
        || name[name.size() - kMark + 1] != '[')
        return frame;
    switch (name[name.size() - 2]) {
    case 'k':
        frame.object = kKernelObject;
        break;
    case 'i':
        frame.inlined = true;
        break;
    case 'j':
    case 'w':
        break;
    default:
        return frame;
    }
    frame.symbol.remove_suffix(kMark);
    return frame;
}

} // namespace whichlock::stackvalues
