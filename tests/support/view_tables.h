// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the tables of a rendered report back, by rules of its own and not by those of the renderers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whichlock::test {

std::vector<std::string> linesOf(std::string_view text);
bool isAscii(std::string_view text);
/// The text without blanks and line ends: how it was wrapped does not matter then.
std::string withoutBlanks(std::string_view text);

/// Markdown with its escapes resolved.
std::string unescapedMarkdown(std::string_view text);
/// All pipe tables: title row first, then the rows, each as its cells.
std::vector<std::vector<std::vector<std::string>>> markdownTables(std::string_view text);

/// Finds tables in a text report, one after the other.
class TextTableReader {
public:
    explicit TextTableReader(std::string_view text);

    /// Takes the next table, whose first row is the titles. A table may be printed in parts that each repeat
    /// the first column; cells may be elided (`..`). Empty if all is there, else what is missing.
    std::string take(const std::vector<std::vector<std::string>>& rows);

private:
    size_t headerFrom(
        size_t line, const std::vector<std::string>& titles, size_t column, size_t& titlesShown) const;
    std::string wrongBelow(
        size_t header, const std::vector<std::vector<std::string>>& rows, size_t column, size_t shown) const;

    std::vector<std::string> lines_;
    size_t at_ = 0;
};

} // namespace whichlock::test
