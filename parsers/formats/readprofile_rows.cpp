// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/readprofile_rows.h"

#include "parsers/fixed_point.h"
#include "parsers/input/text_scan.h"

#include <charconv>
#include <cmath>

namespace whichlock::readprofile {
namespace {

Row makeRow(std::string_view ticks, std::string_view symbol, std::string_view load, RowShape shape)
{
    const auto value = parseUnsigned(ticks);
    return {.symbol = symbol, .ticks = value.value_or(0), .load = load, .shape = shape, .overflow = !value};
}

bool isAddress(std::string_view token)
{
    return (token.size() == 8 || token.size() == 16) && isAllHex(token);
}

/// `<- vmap`, `# hot`: what people write behind a row that they point at.
bool opensARemark(std::string_view token)
{
    return token.starts_with("<-") || token.starts_with("<=") || token.starts_with("<<")
        || token.starts_with('#') || token.starts_with("//");
}

} // namespace

bool isSymbol(std::string_view token)
{
    if (token.empty())
        return false;
    const char c = token[0];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '*' || c == '$'
        || c == '<';
}

bool isLoad(std::string_view token)
{
    return isDecimal(token) || token == "inf" || token == "nan" || token == "-nan";
}

std::optional<Row> parseRow(std::string_view line)
{
    constexpr size_t kMostTokens = 5;
    std::string_view token[kMostTokens];
    size_t count = 0;
    for (; count < kMostTokens; ++count) {
        token[count] = nextToken(line);
        if (token[count].empty())
            break;
    }
    std::optional<Row> row;
    const auto endsBehind = [&](size_t columns) {
        return count == columns || (count > columns && opensARemark(token[columns]));
    };
    if (endsBehind(3) && isAllDigits(token[0]) && isSymbol(token[1]) && isLoad(token[2]))
        row = makeRow(token[0], token[1], token[2], RowShape::TicksFirst);
    else if (endsBehind(4) && isAddress(token[0]) && isSymbol(token[1]) && isAllDigits(token[2])
        && isLoad(token[3]))
        row = makeRow(token[2], token[1], token[3], RowShape::AddressFirst);
    if (row) {
        row->remark = count > (row->shape == RowShape::AddressFirst ? 4U : 3U);
        return row;
    }
    if (count == 2 && isAllDigits(token[0]) && isSymbol(token[1]) && !isCutMark(token[1]))
        return makeRow(token[0], token[1], {}, RowShape::TicksOnly);
    return std::nullopt;
}

std::optional<Row> tripleAt(const std::vector<std::string_view>& tokens, size_t at)
{
    if (at + 3 > tokens.size() || !isAllDigits(tokens[at]) || !isSymbol(tokens[at + 1])
        || !isLoad(tokens[at + 2]))
        return std::nullopt;
    return makeRow(tokens[at], tokens[at + 1], tokens[at + 2], RowShape::TicksFirst);
}

bool sizeIsWhole(const Row& row)
{
    const auto load = parseFixedPoint(row.load);
    if (!load || load->millionths <= 0)
        return false;
    const double ticks = static_cast<double>(row.ticks) * FixedPoint::kScale;
    constexpr double kRounding = 50; // the load is printed to 0.0001: +-0.00005
    const double low = ticks / (static_cast<double>(load->millionths) + kRounding);
    const double high = ticks / (static_cast<double>(load->millionths) - kRounding);
    return std::floor(high) >= std::ceil(low);
}

std::string_view binSymbol(std::string_view line)
{
    if (line.size() < 2 || isBlank(line[0]) || line.back() != ':')
        return {};
    const std::string_view name = line.substr(0, line.size() - 1);
    return isSymbol(name) && name.find_first_of(" \t:") == std::string_view::npos ? name : std::string_view();
}

std::optional<Bin> parseBin(std::string_view line)
{
    if (line.empty() || !isBlank(line[0]))
        return std::nullopt;
    const auto tokens = tokensOf(line, 4);
    if (tokens.size() < 2 || tokens.size() > 3 || !isAddress(tokens[0]))
        return std::nullopt;
    if (tokens.size() == 3 && tokens[2].front() != '(')
        return std::nullopt;
    uint64_t address = 0;
    std::from_chars(tokens[0].data(), tokens[0].data() + tokens[0].size(), address, 16);
    const auto ticks = parseUnsigned(tokens[1]);
    return ticks ? std::optional(Bin{address, *ticks}) : std::nullopt;
}

} // namespace whichlock::readprofile
