// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/vmstat_block.h"

#include "parsers/input/text_scan.h"

#include <algorithm>

namespace whichlock::vmstat {
namespace {

/// Lines that one wrapped header or row may stand on.
constexpr size_t kMostWrapped = 4;
constexpr size_t kLongestLine = 4096;

/// The rows of exactly `fields` values that follow one another from the current line on.
Rows rowsOf(TextCursor& cursor, size_t fields)
{
    constexpr size_t kLookAhead = 12;
    Rows rows;
    size_t at = 0;
    while (at < kLookAhead) {
        std::vector<std::string_view> values;
        for (size_t i = 0; i < kMostWrapped && values.size() < fields; ++i) {
            const auto line = lineAt(cursor, at);
            const RowTokens more = line ? rowTokens(*line, fields - values.size()) : RowTokens{};
            if (more.values.empty() || more.foreign || more.remark)
                return rows;
            values.insert(values.end(), more.values.begin(), more.values.end());
            ++at;
        }
        if (values.size() != fields)
            return rows;
        rows.push_back(std::move(values));
    }
    return rows;
}

bool tailsAddUp(const Rows& rows)
{
    constexpr size_t kFewestCpu = 3;
    constexpr size_t kMostCpu = 6;
    for (size_t cpu = kFewestCpu; cpu <= kMostCpu; ++cpu) {
        if (std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return cpuAddsUp(row, cpu); }))
            return true;
    }
    return false;
}

} // namespace

std::optional<std::string_view> lineAt(TextCursor& cursor, size_t ahead)
{
    const TextLine* line = cursor.peek(ahead);
    if (line == nullptr || line->quoteDepth != cursor.peek()->quoteDepth || line->text.size() > kLongestLine)
        return std::nullopt;
    return line->text;
}

std::optional<HeaderLines> headerAt(TextCursor& cursor, size_t ahead)
{
    std::optional<HeaderLines> header;
    std::vector<std::string_view> words;
    for (size_t i = 0; i < kMostWrapped; ++i) {
        const auto line = lineAt(cursor, ahead + i);
        // Most lines of a text are told by their first word.
        if (!line || !areHeaderWords(tokensOf(*line, 1)))
            break;
        const auto more = tokensOf(*line);
        if (!areHeaderWords(more) || (i > 0 && more.front() == "r"))
            break;
        words.insert(words.end(), more.begin(), more.end());
        if (auto columns = columnsOf(words))
            header = {std::move(*columns), i + 1};
    }
    return header;
}

size_t groupLinesAt(TextCursor& cursor, size_t ahead)
{
    size_t lines = 0;
    while (lines < kMostWrapped) {
        const auto line = lineAt(cursor, ahead + lines);
        if (!line || !isGroupLine(*line))
            break;
        ++lines;
    }
    return lines;
}

RowLines rowAt(TextCursor& cursor, size_t ahead, const Columns& columns)
{
    const size_t fields = columns.words.size();
    const size_t cpuColumns = fields - columns.cpuBegin;
    RowLines row;
    const auto first = lineAt(cursor, ahead);
    if (!first)
        return row;
    RowTokens tokens = rowTokens(*first, fields);
    if (tokens.values.empty() || (tokens.foreign && tokens.values.size() < fields))
        return row;
    row.values = tokens.values;
    row.remark = tokens.remark;
    if (tokens.values.size() == fields) {
        row.kind = tokens.foreign ? RowKind::TooLong : RowKind::Whole;
        return row;
    }
    std::vector<std::string_view> joined = tokens.values;
    for (size_t i = 1; i < kMostWrapped; ++i) {
        const auto next = lineAt(cursor, ahead + i);
        if (!next)
            break;
        const RowTokens more = rowTokens(*next, fields - joined.size());
        if (more.values.empty() || more.foreign)
            break;
        joined.insert(joined.end(), more.values.begin(), more.values.end());
        if (joined.size() < fields)
            continue;
        if (!cpuAddsUp(joined, cpuColumns))
            break;
        return {RowKind::Rejoined, i + 1, std::move(joined), more.remark};
    }
    const bool tailStands = row.values.size() > cpuColumns && cpuAddsUp(row.values, cpuColumns);
    row.kind = tailStands ? RowKind::CpuOnly : RowKind::Short;
    return row;
}

bool isReadable(RowKind kind)
{
    return kind == RowKind::Whole || kind == RowKind::Rejoined || kind == RowKind::CpuOnly;
}

std::optional<Head> headAt(TextCursor& cursor)
{
    const size_t groups = groupLinesAt(cursor, 0);
    auto header = headerAt(cursor, groups);
    if (!header)
        return std::nullopt;
    constexpr size_t kMostBetween = 2;
    size_t lines = groups + header->lines;
    for (size_t i = 0; i <= kMostBetween; ++i, ++lines) {
        const auto line = lineAt(cursor, lines);
        if (!line)
            return std::nullopt;
        if (isReadable(rowAt(cursor, lines, header->columns).kind))
            return Head{std::move(header->columns), lines};
        if (line->find_first_not_of(" \t-") != std::string_view::npos)
            return std::nullopt;
    }
    return std::nullopt;
}

Rows bareRows(TextCursor& cursor)
{
    constexpr size_t kFewestFields = 12;
    constexpr size_t kMostFields = 24;
    constexpr size_t kFewestRows = 2;
    constexpr size_t kFewestOnALine = 8;
    size_t fields = 0;
    for (size_t i = 0; i < kMostWrapped; ++i) {
        const auto line = lineAt(cursor, i);
        const RowTokens tokens = line ? rowTokens(*line, kMostFields + 1) : RowTokens{};
        if (tokens.foreign || tokens.remark || tokens.values.empty()
            || (i == 0 && tokens.values.size() < kFewestOnALine))
            return {};
        fields += tokens.values.size();
        if (fields > kMostFields)
            return {};
        if (fields < kFewestFields)
            continue;
        Rows rows = rowsOf(cursor, fields);
        if (rows.size() >= kFewestRows && tailsAddUp(rows))
            return rows;
    }
    return {};
}

std::string_view foreignAt(TextCursor& cursor)
{
    constexpr size_t kMostWords = 40;
    constexpr size_t kLookAhead = 3;
    const auto first = lineAt(cursor, 0);
    if (!first || first->empty())
        return {};
    const bool group = isForeignGroupLine(*first) || isGroupLine(*first);
    if (!group && !trimmed(*first).starts_with("r "))
        return {};
    for (size_t i = 0; i <= (group ? kLookAhead : 0); ++i) {
        const auto line = lineAt(cursor, i);
        const auto system = line ? foreignSystem(tokensOf(*line, kMostWords)) : std::string_view();
        if (!system.empty())
            return system;
    }
    return {};
}

} // namespace whichlock::vmstat
