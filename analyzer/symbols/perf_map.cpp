// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/perf_map.h"

#include "analyzer/symbols/kallsyms.h"
#include "parsers/input/text_scan.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace whichlock {
namespace {

constexpr uint64_t kMostBytes = 512 << 20;

bool parseHex(std::string_view text, uint64_t& value)
{
    if (text.starts_with("0x"))
        text.remove_prefix(2);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

bool parseLine(std::string_view line, PerfMap::Entry& entry)
{
    uint64_t size = 0;
    if (!parseHex(nextToken(line), entry.start) || !parseHex(nextToken(line), size) || size == 0
        || size > UINT64_MAX - entry.start)
        return false;
    entry.end = entry.start + size;
    entry.symbolStart = entry.start;
    entry.name = trimmed(line);
    return !entry.name.empty();
}

using Ranges = std::map<uint64_t, PerfMap::Entry>;

/// Puts an entry on top: each costs what it covers, and what is covered is gone.
void put(Ranges& ranges, PerfMap::Entry entry)
{
    auto at = ranges.lower_bound(entry.start);
    if (at != ranges.begin() && std::prev(at)->second.end > entry.start)
        --at;
    while (at != ranges.end() && at->second.start < entry.end) {
        PerfMap::Entry old = std::move(at->second);
        at = ranges.erase(at);
        if (old.end > entry.end) {
            PerfMap::Entry tail = old;
            tail.start = entry.end;
            at = ranges.emplace(tail.start, std::move(tail)).first;
        }
        if (old.start < entry.start) {
            old.end = entry.start;
            ranges.emplace(old.start, std::move(old));
        }
    }
    ranges.emplace(entry.start, std::move(entry));
}

} // namespace

PerfMap PerfMap::parse(std::string_view text)
{
    PerfMap map;
    Ranges ranges;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        Entry entry;
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (trimmed(line).empty())
            continue;
        if (parseLine(line, entry))
            put(ranges, std::move(entry));
        else
            ++map.unreadableLines_;
    }
    for (auto& [start, entry] : ranges)
        map.entries_.push_back(std::move(entry));
    return map;
}

Result<PerfMap> PerfMap::readFile(const std::string& path)
{
    auto text = readSymbolText(path, kMostBytes);
    if (!text)
        return tl::make_unexpected(text.error());
    return parse(*text);
}

const PerfMap::Entry* PerfMap::find(uint64_t address) const
{
    const auto after = std::ranges::upper_bound(entries_, address, {}, &Entry::start);
    if (after == entries_.begin() || address >= std::prev(after)->end)
        return nullptr;
    return &*std::prev(after);
}

} // namespace whichlock
