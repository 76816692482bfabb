// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/perf_report_rows.h"

#include "parsers/input/text_scan.h"

#include <algorithm>

namespace whichlock::perfreport {
namespace {

/// Lines, blocks and geometric shapes are U+2500..U+25FF: these lead bytes, and one more.
bool isGlyphAt(std::string_view text, size_t at)
{
    return at + 2 < text.size() && text[at] == '\xe2' && text[at + 1] >= '\x94' && text[at + 1] <= '\x97';
}

bool isTag(std::string_view token)
{
    constexpr std::string_view kKinds = "k.guHh!";
    return token.size() == 3 && token.front() == '[' && token.back() == ']'
        && kKinds.find(token[1]) != std::string_view::npos;
}

/// Where a gap of at least two blanks or a tab begins.
size_t gapIn(std::string_view text)
{
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\t' || (text[i] == ' ' && i + 1 < text.size() && isBlank(text[i + 1])))
            return i;
    }
    return text.size();
}

/// What is separated by gaps.
std::vector<std::string_view> fieldsOf(std::string_view text)
{
    constexpr size_t kMost = 16;
    std::vector<std::string_view> fields;
    for (text = trimmed(text); !text.empty() && fields.size() < kMost;) {
        const size_t gap = gapIn(text);
        fields.push_back(text.substr(0, gap));
        text = trimmed(text.substr(gap));
    }
    return fields;
}

bool isImage(std::string_view text)
{
    return text.starts_with('[') || text.starts_with('/') || text.find(".so") != std::string_view::npos
        || text.starts_with("vmlinux");
}

/// `1234:mysqld` of the column `Pid:Command`.
std::string_view withoutPid(std::string_view comm)
{
    const size_t colon = comm.find(':');
    return colon != std::string_view::npos && isAllDigits(comm.substr(0, colon)) ? comm.substr(colon + 1)
                                                                                 : comm;
}

/// Comm and object out of what stands before the symbol, without column names.
void guessTexts(std::vector<std::string_view> fields, Row& row)
{
    while (!fields.empty() && isAllDigits(fields.front()))
        fields.erase(fields.begin()); // samples, periods
    if (fields.size() > 1 && fields.back().starts_with("0x"))
        fields.pop_back(); // an address (-v)
    if (fields.empty())
        return;
    std::string_view last = fields.back();
    const size_t blank = last.rfind(' ');
    if (blank != std::string_view::npos && isImage(last.substr(blank + 1))) {
        if (fields.size() == 1)
            row.comm = withoutPid(trimmed(last.substr(0, blank)));
        last = last.substr(blank + 1);
    }
    row.image = last;
    if (fields.size() > 1)
        row.comm = withoutPid(fields.front());
}

void takeTexts(std::string_view text, const Layout& layout, Row& row)
{
    std::vector<std::string_view> fields = fieldsOf(text);
    if (!layout.named || fields.size() != layout.before.size()) {
        guessTexts(std::move(fields), row);
        return;
    }
    for (size_t i = 0; i < fields.size(); ++i) {
        if (layout.before[i] == Column::Comm)
            row.comm = withoutPid(fields[i]);
        else if (layout.before[i] == Column::Object)
            row.image = fields[i];
    }
}

void takeSymbol(std::string_view text, Row& row)
{
    text = trimmed(text);
    size_t end = gapIn(text);
    for (size_t i = 0; i < end; ++i) {
        if (isGlyphAt(text, i))
            end = i;
    }
    row.symbol = trimmed(text.substr(0, end));
    row.behind = text.substr(end);
    row.fit = row.symbol.empty() ? Fit::NeedsSymbol : Fit::Complete;
}

/// The first versions print no tag; then the last of the named columns is the symbol.
bool takeUntagged(std::string_view text, const Layout& layout, Row& row)
{
    const auto fields = fieldsOf(text);
    if (!layout.named || fields.size() != layout.before.size() + 1 || layout.before.empty())
        return false;
    takeTexts(text.substr(0, static_cast<size_t>(fields.back().data() - text.data())), layout, row);
    takeSymbol(fields.back(), row);
    return true;
}

struct ColumnName {
    std::string_view name;
    Column column;
};

constexpr ColumnName kColumnNames[] = {
    {"Overhead", Column::Percent},
    {"Children", Column::Percent},
    {"Self", Column::Percent},
    {"guest sys", Column::Percent},
    {"guest usr", Column::Percent},
    {"sys", Column::Percent},
    {"usr", Column::Percent},
    {"us", Column::Percent},
    {"Samples", Column::Number},
    {"Period", Column::Number},
    {"Pid:Command", Column::Comm},
    {"Command", Column::Comm},
    {"Shared Object", Column::Object},
    {"Shared Obje", Column::Object},
};

/// `'` as perf prints it, or as an editor curled it.
std::string_view quoted(std::string_view text, size_t from)
{
    constexpr std::string_view kMarks = "'`";
    const size_t open = text.find_first_of(kMarks, from);
    if (open == std::string_view::npos)
        return {};
    const size_t close = text.find('\'', open + 1);
    return close == std::string_view::npos ? std::string_view() : text.substr(open + 1, close - open - 1);
}

} // namespace

std::string_view withoutGlyphs(std::string_view text)
{
    for (;;) {
        while (!text.empty() && isBlank(text.back()))
            text.remove_suffix(1);
        if (text.size() < 3 || !isGlyphAt(text, text.size() - 3))
            return text;
        text.remove_suffix(3);
    }
}

std::optional<Share> takePercent(std::string_view& rest)
{
    constexpr Share kMost{10 * Share::kWhole};
    std::string_view look = rest;
    std::string_view token = nextToken(look);
    if (!token.ends_with('%'))
        return std::nullopt;
    token.remove_suffix(1);
    if (!isDecimal(token))
        return std::nullopt;
    const auto share = parsePercent(token);
    if (!share || *share > kMost)
        return std::nullopt;
    rest = look;
    return share;
}

Row parseRow(std::string_view line, const Layout& layout)
{
    Row row;
    if (line.size() > kLongestRow)
        return row;
    std::string_view rest = trimmed(withoutGlyphs(line));
    if (rest.size() > 2 && (rest[0] == '+' || rest[0] == '-') && isBlank(rest[1]))
        rest.remove_prefix(2);
    while (row.percentCount < kMostPercents) {
        const auto share = takePercent(rest);
        if (!share)
            break;
        row.percents[row.percentCount++] = *share;
    }
    const std::string_view texts = trimmed(rest);
    const bool isDifference = texts.size() > 1 && (texts[0] == '+' || texts[0] == '-') && isDigit(texts[1]);
    if (row.percentCount == 0 || isDifference)
        return row;
    std::string_view look = rest;
    for (std::string_view token = nextToken(look); !token.empty(); token = nextToken(look)) {
        if (!isTag(token))
            continue;
        takeTexts(rest.substr(0, static_cast<size_t>(token.data() - rest.data())), layout, row);
        takeSymbol(look, row);
        return row;
    }
    if (!takeUntagged(rest, layout, row))
        row.fit = texts.empty() ? Fit::None : Fit::NeedsTag;
    return row;
}

Row parseOldTopRow(std::string_view line)
{
    Row row;
    std::string_view rest = trimmed(line);
    if (rest.empty() || !isDigit(rest.front()) || rest.size() > kLongestRow)
        return row;
    const auto skipDash = [&] {
        std::string_view look = rest;
        if (nextToken(look) == "-")
            rest = look;
    };
    if (!isDecimal(nextToken(rest)))
        return row;
    skipDash();
    const auto share = takePercent(rest);
    if (!share)
        return row;
    row.percents[row.percentCount++] = *share;
    skipDash();
    constexpr size_t kAddressDigits = 8;
    std::string_view look = rest;
    const std::string_view address = nextToken(look);
    if (address.size() >= kAddressDigits && isAllHex(address) && nextToken(look) == ":")
        rest = look;
    std::string_view texts = trimmed(rest);
    const size_t gap = gapIn(texts);
    const size_t blank = texts.find(' ');
    const size_t end = gap < texts.size() ? gap : std::min(blank, texts.size());
    row.symbol = texts.substr(0, end);
    row.image = trimmed(texts.substr(end));
    const bool named = !row.symbol.empty() && !isDigit(row.symbol.front());
    row.fit = named && fieldsOf(row.image).size() <= 1 ? Fit::Complete : Fit::None;
    return row;
}

std::optional<Layout> parseColumnNames(std::string_view line)
{
    std::string_view rest = trimmed(withoutGlyphs(line));
    while (rest.starts_with('#'))
        rest = trimmed(rest.substr(1));
    Layout layout;
    layout.named = true;
    layout.oldTop = rest.starts_with("samples  ") && rest.find("pcnt") != std::string_view::npos;
    layout.differs = rest.starts_with("Baseline");
    if (layout.oldTop || layout.differs)
        return layout;
    if (!rest.starts_with("Overhead") && !rest.starts_with("Children"))
        return std::nullopt;
    layout.children = rest.starts_with("Children");
    layout.hasSymbol = false;
    while (!rest.empty()) {
        if (rest.starts_with("Symbol")) {
            layout.hasSymbol = true;
            break;
        }
        const auto* known = std::find_if(std::begin(kColumnNames), std::end(kColumnNames),
            [&](const ColumnName& one) { return rest.starts_with(one.name); });
        const bool isKnown = known != std::end(kColumnNames);
        const size_t length = isKnown ? known->name.size() : gapIn(rest);
        const Column column = isKnown ? known->column : Column::Other;
        if (column == Column::Percent)
            ++layout.percents;
        else
            layout.before.push_back(column);
        rest = trimmed(rest.substr(length));
    }
    // `Overhead` may stand in a sentence; a table has another column.
    return layout.hasSymbol || !layout.before.empty() ? std::optional(layout) : std::nullopt;
}

bool beginsWithTag(std::string_view line)
{
    return isTag(nextToken(line));
}

std::optional<Caption> parseCaption(std::string_view line)
{
    std::string_view rest = trimmed(line);
    while (rest.starts_with('#'))
        rest = trimmed(rest.substr(1));
    const bool old = rest.starts_with("Events: ");
    if (!old && !rest.starts_with("Samples: "))
        return std::nullopt;
    rest = trimmed(rest.substr(rest.find(' ')));
    Caption caption;
    std::string_view look = rest;
    caption.samples = nextToken(look);
    if (caption.samples.empty() || !isDigit(caption.samples.front()))
        return std::nullopt;
    const size_t of = rest.find(" of event");
    if (of != std::string_view::npos)
        caption.events = quoted(rest, of);
    else if (old)
        caption.events = nextToken(look);
    else if (!trimmed(look).empty() || !line.starts_with('#'))
        return std::nullopt;
    for (const std::string_view part : {"Thread: ", "DSO: ", "Symbol: ", "UID: ", "Socket: "}) {
        const size_t at = rest.find(part);
        if (at != std::string_view::npos && caption.filter.empty())
            caption.filter = rest.substr(at, gapIn(rest.substr(at)));
    }
    return caption;
}

bool isPreamble(std::string_view line)
{
    line = trimmed(line);
    return line.starts_with("# Total Lost Samples:") || line.starts_with("# To display the perf.data header")
        || line.starts_with("PerfTop: ") || line.starts_with("# Event count (approx.):");
}

} // namespace whichlock::perfreport
