// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/opreport_rows.h"

#include "parsers/input/text_scan.h"

#include <algorithm>

namespace whichlock::opreport {
namespace {

constexpr size_t kMostColumns = 1024;
constexpr size_t kLongestFigure = 40;

bool isText(Column column)
{
    return column == Column::LineInfo || column == Column::Image || column == Column::App
        || column == Column::Symbol;
}

/// Takes the next column's name off the front of a header line.
std::optional<Column> nextColumn(std::string_view& rest)
{
    const std::string_view word = nextToken(rest);
    std::string_view after = rest;
    const std::string_view second = nextToken(after);
    const auto twoWords = [&](Column column) {
        rest = after;
        return column;
    };
    if (word == "vma")
        return Column::Vma;
    if (word == "samples")
        return Column::Samples;
    if (word == "%" || word == "%-age" || word == "%age")
        return Column::Percent;
    if (word == "cum." && second == "samples")
        return twoWords(Column::CumSamples);
    if (word == "cum." && second == "%")
        return twoWords(Column::CumPercent);
    if (word == "diff" && second == "%")
        return twoWords(Column::DiffPercent);
    if (word == "linenr" && second == "info")
        return twoWords(Column::LineInfo);
    if ((word == "image" && second == "name") || (word == "[image" && second == "name]"))
        return twoWords(Column::Image);
    if ((word == "app" && second == "name") || (word == "[app" && second == "name]"))
        return twoWords(Column::App);
    if (word == "symbol" && second == "name")
        return twoWords(Column::Symbol);
    if (word == "image" || word == "[image]")
        return Column::Image;
    if (word == "symbol")
        return Column::Symbol;
    return std::nullopt;
}

/// `51.0125`, `100.000`, `7.5e-04`, `0`; a locale may print a comma.
std::optional<Share> percentOf(std::string_view token)
{
    if (token.empty() || token.size() > kLongestFigure || !isDigit(token.front()))
        return std::nullopt;
    const auto share = parsePercent(token);
    return share && share->ppb <= Share::kWhole ? share : std::nullopt;
}

bool isVma(std::string_view token)
{
    constexpr size_t kShortest = 4;
    constexpr size_t kLongest = 16;
    return token.size() >= kShortest && token.size() <= kLongest && isAllHex(token);
}

/// Whether a token looks like the name of a program, library or kernel image.
bool isImageLike(std::string_view token)
{
    return token.starts_with('/') || token.find("vmlinux") != std::string_view::npos
        || token.find(".so") != std::string_view::npos || token.ends_with(".ko") || token == "kallsyms"
        || token.ends_with(".jo") || token.starts_with("ld-") || token.starts_with("anon (tgid:")
        || token.starts_with("[vdso]");
}

/// Takes a name off the front of `rest`. Names have no blanks, but for those that opreport makes up itself.
/// Empty at the end of the line, or when the line ends inside the name.
std::string_view takeName(std::string_view& rest)
{
    rest = trimmed(rest);
    for (const std::string_view fixed : {"(no location information)", "(no symbols)"}) {
        if (rest.starts_with(fixed)) {
            const std::string_view name = rest.substr(0, fixed.size());
            rest.remove_prefix(fixed.size());
            return name;
        }
    }
    std::string_view after = rest;
    const std::string_view token = nextToken(after);
    size_t size = token.size();
    if (after.starts_with(" (tgid:") || after.starts_with(" (deleted)")) {
        const size_t close = after.find(')');
        if (close == std::string_view::npos)
            return {};
        size += close + 1;
    }
    const std::string_view name = rest.substr(0, size);
    rest.remove_prefix(size);
    return name;
}

/// Takes the last token off the end of `rest`.
std::string_view takeLast(std::string_view& rest)
{
    rest = trimmed(rest);
    size_t begin = rest.size();
    while (begin > 0 && !isBlank(rest[begin - 1]))
        --begin;
    const std::string_view token = rest.substr(begin);
    rest = trimmed(rest.substr(0, begin));
    return token;
}

/// A C++ name that goes on: `f(int,`, `std::map<int,`.
bool isOpen(std::string_view symbol)
{
    const auto opening = std::count(symbol.begin(), symbol.end(), '(');
    const auto closing = std::count(symbol.begin(), symbol.end(), ')');
    return opening > closing || symbol.ends_with(',');
}

void keepText(Column column, std::string_view text, Row& row)
{
    if (column == Column::Image || (column == Column::App && row.image.empty()))
        row.image = text;
}

/// Reads the figures in front. Complete, Incomplete when the line ends before, or None.
Fit takeFigures(std::string_view& rest, const Layout& layout, Row& row)
{
    row.figures.resize(layout.events);
    size_t samplesSeen = 0;
    size_t percentsSeen = 0;
    for (size_t i = 0; i < layout.figures.size(); ++i) {
        const std::string_view token = nextToken(rest);
        if (token.empty())
            return i > 0 ? Fit::Incomplete : Fit::None;
        switch (layout.figures[i]) {
        case Column::Vma:
            if (!isVma(token))
                return Fit::None;
            break;
        case Column::Samples:
        case Column::CumSamples:
            if (!isAllDigits(token))
                return Fit::None;
            if (layout.figures[i] == Column::Samples) {
                const auto samples = parseUnsigned(token);
                row.overflow = row.overflow || !samples;
                row.figures[samplesSeen++].samples = samples;
            }
            break;
        case Column::Percent:
        case Column::CumPercent: {
            const auto share = percentOf(token);
            if (!share)
                return Fit::None;
            if (layout.figures[i] == Column::Percent) {
                row.figures[percentsSeen].percentText = token;
                row.figures[percentsSeen++].share = share;
            }
            break;
        }
        case Column::DiffPercent:
            break;
        case Column::LineInfo:
        case Column::Image:
        case Column::App:
        case Column::Symbol:
            return Fit::None;
        }
    }
    return Fit::Complete;
}

Layout layoutOf(std::vector<Column> figures, std::vector<Column> before, std::vector<Column> after)
{
    Layout layout;
    layout.figures = std::move(figures);
    layout.beforeSymbol = std::move(before);
    layout.afterSymbol = std::move(after);
    layout.events = 1;
    return layout;
}

/// Fields that are separated by at least two blanks or a tab.
size_t wideFields(std::string_view text)
{
    size_t fields = 0;
    bool between = true;
    for (size_t i = 0; i < text.size(); ++i) {
        if (isBlank(text[i])) {
            between = between || text[i] == '\t' || (i + 1 < text.size() && isBlank(text[i + 1]));
            continue;
        }
        fields += between ? 1 : 0;
        between = false;
    }
    return fields;
}

} // namespace

std::optional<Layout> parseHeader(std::string_view line)
{
    std::string_view rest = trimmed(line);
    if (!rest.starts_with("samples") && !rest.starts_with("vma") && !rest.starts_with('%'))
        return std::nullopt;
    Layout layout;
    size_t samples = 0;
    size_t percents = 0;
    size_t columns = 0;
    bool symbolSeen = false;
    while (!trimmed(rest).empty()) {
        const auto column = nextColumn(rest);
        if (!column || ++columns > kMostColumns)
            return std::nullopt;
        if (*column == Column::Symbol) {
            if (symbolSeen)
                return std::nullopt;
            symbolSeen = true;
        } else if (isText(*column)) {
            (symbolSeen ? layout.afterSymbol : layout.beforeSymbol).push_back(*column);
        } else {
            if (symbolSeen || !layout.beforeSymbol.empty())
                return std::nullopt;
            layout.figures.push_back(*column);
        }
        samples += *column == Column::Samples ? 1 : 0;
        percents += *column == Column::Percent ? 1 : 0;
        layout.differential = layout.differential || *column == Column::DiffPercent;
    }
    layout.events = std::max(samples, percents);
    const bool paired = samples == percents || samples == 0 || percents == 0;
    if (!symbolSeen || layout.events == 0 || (!paired && !layout.differential))
        return std::nullopt;
    return layout;
}

Row parseRow(std::string_view line, const Layout& layout)
{
    Row row;
    if (line.size() > kLongestRow)
        return row;
    std::string_view rest = line;
    row.fit = takeFigures(rest, layout, row);
    if (row.fit != Fit::Complete)
        return row;
    for (const Column column : layout.beforeSymbol) {
        const std::string_view name = takeName(rest);
        if (name.empty()) {
            row.fit = Fit::Incomplete;
            return row;
        }
        keepText(column, name, row);
    }
    for (size_t i = layout.afterSymbol.size(); i-- > 0;) {
        const std::string_view name = takeLast(rest);
        keepText(layout.afterSymbol[i], name, row);
    }
    row.symbol = trimmed(rest);
    if (row.symbol.empty())
        row.fit = Fit::Incomplete;
    else if (isOpen(row.symbol))
        row.fit = Fit::Open;
    return row;
}

std::optional<Layout> guessLayout(const std::vector<std::string_view>& rows)
{
    if (rows.empty())
        return std::nullopt;
    const std::string_view firstToken = tokensOf(rows.front(), 1).front();
    const bool vma = (firstToken.size() == 8 || firstToken.size() == 16) && isAllHex(firstToken)
        && parseRow(rows.front(), layoutOf({Column::Vma, Column::Samples, Column::Percent}, {}, {})).fit
            != Fit::None;
    std::vector<Column> figures = {Column::Samples, Column::Percent};
    if (vma)
        figures.insert(figures.begin(), Column::Vma);
    const Layout plain = layoutOf(figures, {}, {});
    size_t fewestFields = SIZE_MAX;
    bool imageLast = true;
    size_t imagesFirst = 0;
    for (const std::string_view text : rows) {
        const Row row = parseRow(text, plain);
        if (row.fit != Fit::Complete && row.fit != Fit::Open)
            return std::nullopt;
        std::string_view rest = row.symbol;
        if (wideFields(rest) > 1) // a row with one field is wrapped before its symbol
            fewestFields = std::min(fewestFields, wideFields(rest));
        std::string_view fromFront = rest;
        imagesFirst += isImageLike(takeName(fromFront)) && !trimmed(fromFront).empty() ? 1 : 0;
        const std::string_view last = takeLast(rest);
        imageLast = imageLast && !rest.empty() && isImageLike(last);
    }
    if (vma && imageLast)
        return layoutOf(figures, {}, {Column::Image});
    if (vma && imagesFirst == rows.size())
        return layoutOf(figures, {Column::Image}, {});
    if (vma)
        return plain;
    if (fewestFields == SIZE_MAX || imagesFirst == 0)
        return std::nullopt;
    if (fewestFields == 2)
        return layoutOf(figures, {Column::Image}, {});
    return layoutOf(figures, {Column::Image, Column::App}, {});
}

bool isDetail(std::string_view line, const Layout& layout)
{
    if (!layout.hasVma() || line.empty() || !isBlank(line.front()))
        return false;
    const auto tokens = tokensOf(line.substr(0, kLongestRow), 2 + 2 * layout.events + 2);
    const size_t figures = 1 + 2 * layout.events;
    if (tokens.size() < figures || tokens.size() > figures + 1 || !isVma(tokens[0]))
        return false;
    for (size_t i = 1; i < figures; i += 2) {
        if (!isAllDigits(tokens[i]) || !percentOf(tokens[i + 1]))
            return false;
    }
    return tokens.size() == figures || tokens.back().find(':') != std::string_view::npos;
}

bool isCutRow(std::string_view line)
{
    if (isCutMark(line))
        return true;
    size_t points = 0;
    for (const char c : line) {
        if (c != '.' && !isBlank(c))
            return false;
        points += c == '.' ? 1 : 0;
    }
    return points >= 3;
}

bool isCallGraphRule(std::string_view line)
{
    constexpr size_t kShortest = 40;
    line = trimmed(line);
    return line.size() >= kShortest && line.find_first_not_of('-') == std::string_view::npos;
}

bool isSummaryBox(std::string_view line)
{
    std::string_view rest = trimmed(line);
    if (!rest.starts_with("samples|"))
        return false;
    bool percent = false;
    for (std::string_view token = nextToken(rest); !token.empty(); token = nextToken(rest)) {
        if (token != "samples|" && token != "%|")
            return false;
        percent = percent || token == "%|";
    }
    return percent;
}

size_t indentOf(std::string_view line)
{
    constexpr size_t kTab = 8;
    size_t width = 0;
    for (const char c : line) {
        if (c == ' ')
            ++width;
        else if (c == '\t')
            width = (width / kTab + 1) * kTab;
        else
            break;
    }
    return width;
}

void ImpliedTotal::add(const Figure& figure)
{
    if (!figure.samples || !figure.share || figure.share->ppb <= 0 || *figure.samples == 0)
        return;
    // What the last printed digit stands for, in ppb: 1 % is 10^7 ppb. A writer may cut instead of round.
    uint64_t step = Share::kPercent;
    const std::string_view text = figure.percentText;
    const size_t exponent = text.find_first_of("eE");
    const size_t point = text.find_first_of(".,");
    size_t decimals = point == std::string_view::npos ? 0 : std::min(exponent, text.size()) - point - 1;
    if (exponent != std::string_view::npos)
        decimals = 7;
    for (; decimals > 0 && step > 1; --decimals)
        step /= 10;
    if (exponent != std::string_view::npos)
        step = static_cast<uint64_t>(figure.share->ppb) / 10 + 1;
    __extension__ using Wide = unsigned __int128;
    const auto share = static_cast<uint64_t>(figure.share->ppb);
    const Wide scaled = static_cast<Wide>(*figure.samples) * static_cast<uint64_t>(Share::kWhole);
    const Wide low = scaled / (share + step);
    const Wide high = share > step ? scaled / (share - step) + 1 : Wide(UINT64_MAX);
    low_ = std::max(low_, static_cast<uint64_t>(std::min(low, Wide(UINT64_MAX))));
    high_ = std::min(high_, static_cast<uint64_t>(std::min(high, Wide(UINT64_MAX))));
}

} // namespace whichlock::opreport
