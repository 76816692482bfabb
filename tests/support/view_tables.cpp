// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/view_tables.h"

#include <algorithm>

namespace whichlock::test {
namespace {

bool fieldEndsAt(std::string_view line, size_t at)
{
    return at >= line.size() || line[at] == ' ';
}

/// Whether `shown` is `cell` with its middle left out.
bool isElided(std::string_view shown, std::string_view cell)
{
    const size_t dots = shown.find("..");
    if (dots == std::string_view::npos || shown.size() >= cell.size())
        return false;
    return cell.starts_with(shown.substr(0, dots)) && cell.ends_with(shown.substr(dots + 2));
}

/// The place behind the cell in the line, from `at` on; npos if it is not there.
size_t behindCell(std::string_view line, size_t at, std::string_view cell)
{
    while (cell.starts_with(' '))
        cell.remove_prefix(1);
    while (cell.ends_with(' '))
        cell.remove_suffix(1);
    if (cell.empty())
        return at;
    for (size_t found = line.find(cell, at); found != std::string_view::npos;
         found = line.find(cell, found + 1)) {
        if ((found == 0 || line[found - 1] == ' ') && fieldEndsAt(line, found + cell.size()))
            return found + cell.size();
    }
    // Any field from here on may be the elided cell; cells are two blanks apart at least.
    for (size_t begin = at; begin < line.size(); ++begin) {
        if (line[begin] == ' ' || (begin > 0 && line[begin - 1] != ' '))
            continue;
        for (size_t end = begin + 1; end <= line.size(); ++end) {
            if (fieldEndsAt(line, end) && isElided(line.substr(begin, end - begin), cell))
                return end;
        }
    }
    return std::string_view::npos;
}

std::string trimmedCell(std::string_view cell)
{
    // One blank on each side belongs to the table.
    if (cell.starts_with(' '))
        cell.remove_prefix(1);
    if (cell.ends_with(' '))
        cell.remove_suffix(1);
    return unescapedMarkdown(cell);
}

} // namespace

std::vector<std::string> linesOf(std::string_view text)
{
    std::vector<std::string> lines;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        lines.emplace_back(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    return lines;
}

bool isAscii(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string withoutBlanks(std::string_view text)
{
    std::string result;
    std::copy_if(
        text.begin(), text.end(), std::back_inserter(result), [](char c) { return c != ' ' && c != '\n'; });
    return result;
}

std::string unescapedMarkdown(std::string_view text)
{
    constexpr std::pair<std::string_view, char> kEntities[] = {
        {"&nbsp;", ' '}, {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}};
    std::string result;
    while (!text.empty()) {
        const auto entity = std::find_if(std::begin(kEntities), std::end(kEntities),
            [&](const auto& one) { return text.starts_with(one.first); });
        if (entity != std::end(kEntities)) {
            result += entity->second;
            text.remove_prefix(entity->first.size());
            continue;
        }
        if (text.front() == '\\' && text.size() > 1)
            text.remove_prefix(1);
        result += text.front();
        text.remove_prefix(1);
    }
    return result;
}

std::vector<std::vector<std::vector<std::string>>> markdownTables(std::string_view text)
{
    std::vector<std::vector<std::vector<std::string>>> tables;
    bool inside = false;
    size_t row = 0;
    for (const std::string& line : linesOf(text)) {
        if (!line.starts_with('|')) {
            inside = false;
            continue;
        }
        if (!inside) {
            tables.emplace_back();
            row = 0;
        }
        inside = true;
        if (row++ == 1)
            continue; // the rule
        std::vector<std::string> cells;
        size_t begin = 1;
        for (size_t at = 1; at < line.size(); ++at) {
            if (line[at] == '\\')
                ++at;
            else if (line[at] == '|') {
                cells.push_back(trimmedCell(std::string_view(line).substr(begin, at - begin)));
                begin = at + 1;
            }
        }
        tables.back().push_back(std::move(cells));
    }
    return tables;
}

TextTableReader::TextTableReader(std::string_view text)
    : lines_(linesOf(text))
{
}

/// The next line from `line` on that has the first title and at least that of `column`; counts how many of
/// the titles from `column` on stand there.
size_t TextTableReader::headerFrom(
    size_t line, const std::vector<std::string>& titles, size_t column, size_t& titlesShown) const
{
    for (; line < lines_.size(); ++line) {
        size_t place = behindCell(lines_[line], 0, titles[0]);
        titlesShown = 0;
        while (place != std::string::npos && column + titlesShown < titles.size()) {
            place = behindCell(lines_[line], place, titles[column + titlesShown]);
            titlesShown += place == std::string::npos ? 0 : 1;
        }
        if (titlesShown > 0)
            return line;
    }
    return line;
}

std::string TextTableReader::wrongBelow(
    size_t header, const std::vector<std::vector<std::string>>& rows, size_t column, size_t shown) const
{
    for (size_t r = 1; r < rows.size(); ++r) {
        if (header + r >= lines_.size())
            return "the table ends before row " + std::to_string(r);
        const std::string& line = lines_[header + r];
        size_t place = behindCell(line, 0, rows[r][0]);
        for (size_t c = column; place != std::string::npos && c < column + shown && c < rows[r].size(); ++c)
            place = behindCell(line, place, rows[r][c]);
        if (place == std::string::npos)
            return "row " + std::to_string(r) + " is not in the line: " + line;
    }
    return {};
}

std::string TextTableReader::take(const std::vector<std::vector<std::string>>& rows)
{
    const std::vector<std::string>& titles = rows.front();
    for (size_t column = 1; column < titles.size();) {
        // Sentences may hold words that are titles, too: the header is where the rows stand below.
        size_t shown = 0;
        std::string wrong = "no line has the title " + titles[column];
        size_t header = headerFrom(at_, titles, column, shown);
        while (header < lines_.size()) {
            wrong = wrongBelow(header, rows, column, shown);
            if (wrong.empty())
                break;
            header = headerFrom(header + 1, titles, column, shown);
        }
        if (!wrong.empty())
            return wrong;
        at_ = header + rows.size();
        column += shown;
    }
    return {};
}

} // namespace whichlock::test
