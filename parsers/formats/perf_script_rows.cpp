// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/perf_script_rows.h"

#include "parsers/fixed_point.h"
#include "parsers/input/text_scan.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace whichlock::perfscript {
namespace {

constexpr std::string_view kUnknown = "[unknown]";

// --- frames -----------------------------------------------------------------------------------------------

constexpr std::array<bool, 256> makeHexTable()
{
    std::array<bool, 256> table{};
    for (int c = 0; c < 256; ++c)
        table[static_cast<size_t>(c)] = isHexDigit(static_cast<char>(c));
    return table;
}

constexpr std::array<bool, 256> kIsHex = makeHexTable();

bool isHex(char c)
{
    return kIsHex[static_cast<unsigned char>(c)];
}

/// Where the pair of parentheses opens that the last character of `text` closes, or npos. Objects may hold
/// pairs of their own: `(/memfd:pool (deleted))`, `(/opt/Tool (x86)/lib.so)`.
size_t objectStart(std::string_view text)
{
    const auto* found = static_cast<const char*>(::memrchr(text.data(), '(', text.size()));
    if (found == nullptr)
        return std::string_view::npos;
    const auto last = static_cast<size_t>(found - text.data());
    if (text.find(')', last) == text.size() - 1)
        return last;
    size_t depth = 0;
    for (size_t at = text.size(); at-- > 0;) {
        if (text[at] == ')')
            ++depth;
        else if (text[at] == '(' && --depth == 0)
            return at;
    }
    return last;
}

/// Takes `+0x1f` off the end of the symbol.
void splitOffset(TextFrame& frame)
{
    constexpr size_t kMostDigits = 16;
    const std::string_view symbol = frame.symbol;
    size_t at = symbol.size();
    uint64_t offset = 0;
    unsigned shift = 0;
    while (at > 0 && symbol.size() - at < kMostDigits && isHex(symbol[at - 1])) {
        const char c = symbol[--at];
        const auto digit = static_cast<uint64_t>(isDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
        offset |= digit << shift;
        shift += 4;
    }
    if (at == symbol.size() || at < 4 || symbol[at - 1] != 'x' || symbol[at - 2] != '0'
        || symbol[at - 3] != '+')
        return;
    frame.symbol = symbol.substr(0, at - 3);
    frame.symbolOffset = offset;
}

// --- events -----------------------------------------------------------------------------------------------

bool isModifierList(std::string_view text)
{
    return text.find_first_not_of("ukhGHIpPSDWebRX") == std::string_view::npos;
}

template <size_t n> bool isOneOf(std::string_view text, const std::array<std::string_view, n>& list)
{
    return std::find(list.begin(), list.end(), text) != list.end();
}

} // namespace

FrameShape parseFrame(std::string_view line, TextFrame& frame)
{
    constexpr size_t kMostAddressDigits = 16;
    size_t at = 0;
    while (at < line.size() && isBlank(line[at]))
        ++at;
    const size_t address = at;
    while (at < line.size() && isHex(line[at]))
        ++at;
    if (at == address || at - address > kMostAddressDigits || (at < line.size() && !isBlank(line[at])))
        return FrameShape::None;
    while (at < line.size() && isBlank(line[at]))
        ++at;
    const std::string_view text = line.substr(at);
    frame = TextFrame{.symbol = kUnknown, .object = {}};
    if (text.empty())
        return FrameShape::Open;
    frame.symbol = text;
    FrameShape shape = FrameShape::Open;
    if (text.back() == ')') {
        const size_t open = objectStart(text);
        if (open != std::string_view::npos && (open == 0 || text[open - 1] == ' ')) {
            shape = FrameShape::Whole;
            frame.object = text.substr(open + 1, text.size() - open - 2);
            frame.symbol = trimmed(text.substr(0, open));
            if (frame.symbol.empty())
                frame.symbol = kUnknown;
            if (frame.object == "inlined") {
                frame.inlined = true;
                frame.object = {};
            }
        }
    }
    splitOffset(frame);
    return shape;
}

EventClass classOf(std::string_view event)
{
    constexpr std::array<std::string_view, 2> kClocks = {"cpu-clock", "task-clock"};
    constexpr std::array<std::string_view, 13> kHappenings = {"context-switches", "cs", "page-faults",
        "faults", "minor-faults", "major-faults", "cpu-migrations", "migrations", "alignment-faults",
        "emulation-faults", "cgroup-switches", "bpf-output", "dummy"};
    std::string_view name = event;
    if (const size_t colon = name.rfind(':');
        colon != std::string_view::npos && isModifierList(name.substr(colon + 1)))
        name = name.substr(0, colon);
    if (isOneOf(name, kClocks))
        return EventClass::Clock;
    if (name == "offcpu-time")
        return EventClass::OffCpu;
    if (isOneOf(name, kHappenings))
        return EventClass::Happening;
    const bool isPmuTerm = name.find('/') != std::string_view::npos;
    if (name.find(':') == std::string_view::npos || isPmuTerm || name.starts_with("mem:0x"))
        return EventClass::Hardware;
    return EventClass::Tracepoint;
}

EventClass classOf(const Header& header)
{
    const EventClass byName = classOf(header.event);
    return header.kernelTrace && byName == EventClass::Hardware ? EventClass::Tracepoint : byName;
}

HeaderField parseHeaderField(std::string_view line)
{
    if (!line.starts_with('#'))
        return {};
    line.remove_prefix(1);
    const size_t colon = line.find(" : ");
    if (colon == std::string_view::npos)
        return {};
    return {trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 3))};
}

std::optional<FactKind> factOf(const HeaderField& field)
{
    constexpr std::array<std::pair<std::string_view, FactKind>, 6> kFacts = {{{"hostname", FactKind::Host},
        {"os release", FactKind::Kernel}, {"arch", FactKind::Arch}, {"nrcpus online", FactKind::Cpus},
        {"cpudesc", FactKind::CpuType}, {"cmdline", FactKind::Command}}};
    for (const auto& [key, kind] : kFacts) {
        if (key == field.key && !field.value.empty())
            return kind;
    }
    return std::nullopt;
}

bool isHeaderRule(std::string_view line)
{
    return line == "# ========";
}

uint64_t lostEvents(const Header& record)
{
    if (!record.event.starts_with("PERF_RECORD_LOST"))
        return 0;
    std::string_view rest = record.text;
    for (std::string_view token = nextToken(rest); !token.empty(); token = nextToken(rest)) {
        if (const auto count = parseUnsigned(token))
            return *count;
    }
    return 0;
}

bool isSourceLine(std::string_view line)
{
    if (!line.starts_with("  "))
        return false;
    line = trimmed(line);
    // The object has blanks where it was deleted: `  libx.so (deleted)[7f12]`.
    const size_t bracket = line.rfind('[');
    if (line.ends_with(']') && bracket != 0 && bracket != std::string_view::npos && line[bracket - 1] != ' ')
        return isAllHex(line.substr(bracket + 1, line.size() - bracket - 2));
    if (line.find_first_of(" \t") != std::string_view::npos)
        return false;
    const size_t colon = line.rfind(':');
    return colon != std::string_view::npos && isAllDigits(line.substr(colon + 1));
}

} // namespace whichlock::perfscript
