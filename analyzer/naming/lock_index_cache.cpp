// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/lock_index_cache.h"

#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <thread>
#include <unistd.h>

namespace whichlock {
namespace {

/// Changes with the layout, and whenever names change: old files are then built anew.
constexpr std::string_view kMagic = "whichlock-lock-index 2";
constexpr uint64_t kMostFileBytes = 256 << 20;

uint64_t checksum(std::string_view text)
{
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char c : text)
        hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    return hash;
}

/// Cells are separated by tabs, inlined functions by unit separators; names of symbols have neither.
constexpr char kInlinedSeparator = '\x1f';

std::string cell(std::string_view text)
{
    std::string result(text);
    for (char& c : result)
        if (c == '\t' || c == '\n' || c == kInlinedSeparator)
            c = ' ';
    return result;
}

std::string_view takeCell(std::string_view& line, char separator)
{
    const size_t at = line.find(separator);
    const std::string_view result = line.substr(0, at);
    line = at == std::string_view::npos ? std::string_view() : line.substr(at + 1);
    return result;
}

template <class Number> bool readNumber(std::string_view text, Number& number, int base = 10)
{
    const auto result = std::from_chars(text.data(), text.data() + text.size(), number, base);
    return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

enum Flag : unsigned { kTries = 1, kTail = 2, kInferred = 4, kAmbiguous = 8, kShared = 16, kSymbol = 32 };

bool readRow(std::string_view line, LockIndexRow& row)
{
    unsigned kind = 0;
    unsigned flags = 0;
    if (!readNumber(takeCell(line, '\t'), row.callSite, 16) || !readNumber(takeCell(line, '\t'), kind)
        || kind > static_cast<unsigned>(LockType::OwnLock) || !readNumber(takeCell(line, '\t'), flags))
        return false;
    row.kind = static_cast<LockType>(kind);
    row.tries = (flags & kTries) != 0;
    row.tail = (flags & kTail) != 0;
    row.inferred = (flags & kInferred) != 0;
    row.ambiguous = (flags & kAmbiguous) != 0;
    row.side = (flags & kShared) != 0 ? LockSide::Shared : LockSide::Exclusive;
    row.source = (flags & kSymbol) != 0 ? NameSource::Symbol : NameSource::Type;
    row.routine = takeCell(line, '\t');
    row.function = takeCell(line, '\t');
    row.lock = takeCell(line, '\t');
    row.expression = takeCell(line, '\t');
    while (!line.empty())
        row.inlined.emplace_back(takeCell(line, kInlinedSeparator));
    return true;
}

unsigned flagsOf(const LockIndexRow& row)
{
    return (row.tries ? kTries : 0U) | (row.tail ? kTail : 0U) | (row.inferred ? kInferred : 0U)
        | (row.ambiguous ? kAmbiguous : 0U) | (row.side == LockSide::Shared ? kShared : 0U)
        | (row.source == NameSource::Symbol ? kSymbol : 0U);
}

} // namespace

std::string encodeLockIndex(const LockIndex& index)
{
    std::string body = fmt::format(
        "{}\t{}\t{}\t{}\n", index.buildId, index.rows.size(), index.namedCount, index.withoutInfoCount);
    for (const LockIndexRow& row : index.rows) {
        body += fmt::format("{:x}\t{}\t{}\t{}\t{}\t{}\t{}\t", row.callSite, static_cast<unsigned>(row.kind),
            flagsOf(row), cell(row.routine), cell(row.function), cell(row.lock), cell(row.expression));
        for (size_t i = 0; i < row.inlined.size(); ++i)
            body += (i == 0 ? "" : std::string(1, kInlinedSeparator)) + cell(row.inlined[i]);
        body += '\n';
    }
    return fmt::format("{} {:016x}\n{}", kMagic, checksum(body), body);
}

std::optional<LockIndex> decodeLockIndex(std::string_view text)
{
    const std::string_view head = takeCell(text, '\n');
    if (head != fmt::format("{} {:016x}", kMagic, checksum(text)))
        return std::nullopt;
    LockIndex index;
    std::string_view counts = takeCell(text, '\n');
    uint64_t rowCount = 0;
    index.buildId = takeCell(counts, '\t');
    if (!readNumber(takeCell(counts, '\t'), rowCount) || !readNumber(takeCell(counts, '\t'), index.namedCount)
        || !readNumber(counts, index.withoutInfoCount))
        return std::nullopt;
    while (!text.empty()) {
        LockIndexRow row;
        if (!readRow(takeCell(text, '\n'), row))
            return std::nullopt;
        index.rows.push_back(std::move(row));
    }
    return index.rows.size() == rowCount ? std::optional(std::move(index)) : std::nullopt;
}

std::string LockIndexCache::pathOf(const BuildId& id) const
{
    return folder_ + "/locks-" + id.hex();
}

std::optional<LockIndex> LockIndexCache::read(const BuildId& id) const
{
    std::error_code problem;
    if (folder_.empty() || id.empty() || !std::filesystem::is_regular_file(pathOf(id), problem)
        || std::filesystem::file_size(pathOf(id), problem) > kMostFileBytes)
        return std::nullopt;
    std::ifstream stream(pathOf(id), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    auto index = decodeLockIndex(text);
    return index && index->buildId == id.hex() ? std::move(index) : std::nullopt;
}

bool LockIndexCache::write(const BuildId& id, const LockIndex& index) const
{
    if (folder_.empty() || id.empty())
        return false;
    std::error_code problem;
    std::filesystem::create_directories(folder_, problem);
    // No two writers at a time have one thread.
    const size_t thread = std::hash<std::thread::id>()(std::this_thread::get_id());
    const std::string temporary = fmt::format("{}.{}.{:x}", pathOf(id), ::getpid(), thread);
    {
        std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
        stream << encodeLockIndex(index);
        stream.flush();
        if (!stream) {
            std::filesystem::remove(temporary, problem);
            return false;
        }
    }
    std::filesystem::rename(temporary, pathOf(id), problem);
    if (!problem)
        return true;
    std::filesystem::remove(temporary, problem);
    return false;
}

} // namespace whichlock
