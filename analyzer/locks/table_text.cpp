// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/table_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace whichlock {

namespace {

/// Cuts the text in front of a separator off and returns it; nothing is left behind the last one.
std::string_view cut(std::string_view& rest, char separator)
{
    const size_t at = rest.find(separator);
    const std::string_view first = rest.substr(0, at);
    rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
    return first;
}

} // namespace

TableText::TableText(
    std::string_view fileName, std::string_view text, std::span<const std::string_view> columns)
    : fileName_(fileName)
    , rest_(text)
    , columns_(columns)
    , cells_(columns.size())
{
}

bool TableText::nextLine()
{
    while (!rest_.empty()) {
        line_ = cut(rest_, '\n');
        ++lineNumber_;
        if (line_.ends_with('\r'))
            line_.remove_suffix(1);
        if (!line_.empty() && line_.front() != '#')
            return true;
    }
    return false;
}

Result<void> TableText::readHeader(size_t requiredCount)
{
    if (!nextLine())
        return error("the table is empty: it needs a first line that names the columns");
    std::string_view rest = line_;
    while (!rest.empty()) {
        const std::string_view name = cut(rest, '\t');
        const auto found = std::find(columns_.begin(), columns_.end(), name);
        if (found == columns_.end())
            return error(fmt::format("no column is called '{}'; the columns are: {}", name,
                fmt::join(columns_.begin(), columns_.end(), ", ")));
        const auto index = static_cast<size_t>(found - columns_.begin());
        if (std::find(order_.begin(), order_.end(), index) != order_.end())
            return error(fmt::format("the column '{}' stands twice in the header", name));
        order_.push_back(index);
    }
    for (size_t index = 0; index < requiredCount; ++index) {
        if (std::find(order_.begin(), order_.end(), index) == order_.end())
            return error(fmt::format("the header lacks the column '{}'", columns_[index]));
    }
    return {};
}

Result<bool> TableText::next()
{
    if (!nextLine())
        return false;
    std::fill(cells_.begin(), cells_.end(), std::string_view());
    std::string_view rest = line_;
    for (const size_t index : order_) {
        cells_[index] = cut(rest, '\t');
        if (rest.empty())
            break; // editors strip the tabs of empty cells at the end
    }
    if (!rest.empty())
        return error(fmt::format("the row has more cells than the {} columns of the header", order_.size()));
    return true;
}

tl::unexpected<Error> TableText::error(std::string message) const
{
    Position position;
    position.chain = std::string(fileName_);
    position.line = lineNumber_;
    return fail(DiagnosticCode::UserTableRow, std::move(message), std::move(position));
}

Result<void> TableText::version(size_t column, std::optional<KernelVersion>& out) const
{
    const std::string_view text = cells_[column];
    if (text.empty())
        return {};
    // A prefix such as `4` is a version too in a table, although no kernel is called so.
    if (text.size() <= 3 && text.find_first_not_of("0123456789") == std::string_view::npos) {
        KernelVersion major;
        for (const char digit : text)
            major.part[0] = static_cast<uint16_t>(major.part[0] * 10 + (digit - '0'));
        major.parts = 1;
        out = major;
        return {};
    }
    out = KernelVersion::parse(text);
    if (!out || toString(*out) != text)
        return error(fmt::format("'{}' in column '{}' is no version like 2.6.8", text, columns_[column]));
    return {};
}

Result<Era> TableText::era(size_t sinceColumn, size_t untilColumn) const
{
    Era era;
    if (auto read = version(sinceColumn, era.since); !read)
        return tl::make_unexpected(read.error());
    if (auto read = version(untilColumn, era.until); !read)
        return tl::make_unexpected(read.error());
    if (!era.valid())
        return error(fmt::format("since {} lies after until {}", cells_[sinceColumn], cells_[untilColumn]));
    return era;
}

} // namespace whichlock
