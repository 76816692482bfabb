// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/lock_stat_rows.h"

#include "parsers/formats/lock_figures.h"
#include "parsers/input/text_scan.h"

#include <algorithm>
#include <array>
#include <string>

namespace whichlock::lockstat {
namespace {

/// A row is wrapped over this many lines at most.
constexpr size_t kMostLines = 6;

/// The figures of a row by version: c = count, t = time in us with decimals.
struct Shape {
    std::string_view figures;
    bool means;
    bool bounces;
};
constexpr std::array<Shape, 3> kShapes = {{
    {"ccttttcctttt", true, true}, // 0.4
    {"cctttccttt", false, true},  // 0.2, 0.3
    {"ctttcttt", false, false},   // 0.1
}};

bool isFigure(std::string_view word)
{
    return !word.empty() && isDigit(word.front()) && (isAllDigits(word) || isDecimal(word));
}

bool fits(const std::vector<std::string_view>& figures, const Shape& shape)
{
    if (figures.size() < shape.figures.size())
        return false;
    for (size_t i = 0; i < shape.figures.size(); ++i) {
        const bool isTime = !isAllDigits(figures[i]);
        if (isTime != (shape.figures[i] == 't'))
            return false;
    }
    return true;
}

/// Microseconds with two decimals; what does not fit is absent.
std::optional<uint64_t> microseconds(std::string_view word)
{
    return locktable::timeNs(word, "us");
}

/// Takes the figures of a row one after the other.
class Figures {
public:
    explicit Figures(const std::vector<std::string_view>& words)
        : words_(words)
    {
    }

    std::optional<uint64_t> count() { return parseUnsigned(words_[at_++]); }
    LockTimes times(bool mean)
    {
        LockTimes times{.minNs = microseconds(words_[at_]), .maxNs = microseconds(words_[at_ + 1])};
        times.totalNs = microseconds(words_[at_ + 2]);
        if (mean)
            times.meanNs = microseconds(words_[at_ + 3]);
        at_ += mean ? 4 : 3;
        return times;
    }

private:
    const std::vector<std::string_view>& words_;
    size_t at_ = 0;
};

void setName(std::string_view name, LockTableRow& row)
{
    if (name.ends_with("-W"))
        row.side = "write";
    else if (name.ends_with("-R"))
        row.side = "read";
    row.name = row.side.empty() ? name : name.substr(0, name.size() - 2);
}

/// The name in front of the figures and the figures behind its last colon, from one line on.
struct Words {
    std::string_view name{};
    std::vector<std::string_view> figures{};
    std::vector<size_t> lineOf{}; ///< of each figure
};

/// Where the name ends: the last colon with nothing but figures behind it on the line.
std::optional<Words> nameAndFigures(std::string_view line)
{
    constexpr size_t kMostFigures = 12;
    for (size_t colon = line.rfind(':'); colon != std::string_view::npos && colon > 0;
         colon = line.rfind(':', colon - 1)) {
        if (colon + 1 < line.size() && !isBlank(line[colon + 1]))
            continue;
        Words words{.name = trimmed(line.substr(0, colon))};
        words.figures = tokensOf(line.substr(colon + 1), kMostFigures + 1);
        if (words.name.empty() || words.figures.size() > kMostFigures
            || !std::all_of(words.figures.begin(), words.figures.end(), isFigure))
            return std::nullopt;
        words.lineOf.assign(words.figures.size(), 0);
        return words;
    }
    return std::nullopt;
}

} // namespace

std::string_view withoutLineNumber(std::string_view line)
{
    constexpr size_t kMostDigits = 4;
    const std::string_view text = trimmed(line);
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || digits > kMostDigits || digits == text.size())
        return line;
    return isBlank(text[digits]) || text[digits] == '-' ? text.substr(digits) : line;
}

std::optional<FoundRow> rowAt(TextCursor& cursor, size_t ahead)
{
    const TextLine* first = cursor.peek(ahead);
    if (first == nullptr || first->text.find(':') == std::string_view::npos)
        return std::nullopt;
    auto words = nameAndFigures(withoutLineNumber(first->text));
    if (!words)
        return std::nullopt;
    for (size_t i = 1; i < kMostLines && words->figures.size() < kShapes[0].figures.size(); ++i) {
        const TextLine* line = cursor.peek(ahead + i);
        if (line == nullptr || line->quoteDepth != first->quoteDepth)
            break;
        const auto more = tokensOf(line->text, kShapes[0].figures.size() + 1);
        if (more.empty() || words->figures.size() + more.size() > kShapes[0].figures.size()
            || !std::all_of(more.begin(), more.end(), isFigure))
            break;
        words->figures.insert(words->figures.end(), more.begin(), more.end());
        words->lineOf.insert(words->lineOf.end(), more.size(), i);
    }
    const auto shape = std::find_if(kShapes.begin(), kShapes.end(), [&](const Shape& one) {
        return one.figures.size() == words->figures.size() && fits(words->figures, one);
    });
    if (shape == kShapes.end())
        return std::nullopt;
    FoundRow found{.row = {.line = first->number}, .lines = words->lineOf.back() + 1};
    setName(words->name, found.row);
    Figures figures(words->figures);
    if (shape->bounces)
        found.row.waitBounces = figures.count();
    found.row.contentions = figures.count();
    found.row.wait = figures.times(shape->means);
    if (shape->bounces)
        found.row.takeBounces = figures.count();
    found.row.acquisitions = figures.count();
    found.row.hold = figures.times(shape->means);
    return found;
}

std::optional<FoundSite> siteAt(TextCursor& cursor, size_t ahead)
{
    const TextLine* first = cursor.peek(ahead);
    if (first == nullptr)
        return std::nullopt;
    std::string joined(withoutLineNumber(first->text));
    constexpr size_t kMostSiteLines = 3;
    for (size_t lines = 1;; ++lines) {
        const std::string_view text = joined;
        const size_t open = text.find("[<");
        const size_t close = open == std::string_view::npos ? open : text.find(">]", open);
        if (close != std::string_view::npos) {
            std::string_view behind = text.substr(close + 2);
            const std::string_view symbol = nextToken(behind);
            const std::string_view before = trimmed(text.substr(0, open));
            const size_t blank = before.find_last_of(" \t");
            const auto count =
                blank == std::string_view::npos ? std::nullopt : parseUnsigned(before.substr(blank + 1));
            if (!count)
                return std::nullopt;
            if (!symbol.empty()) {
                if (!trimmed(behind).empty() && !trimmed(behind).starts_with('['))
                    return std::nullopt;
                FoundSite found{
                    .site = {}, .name = std::string(trimmed(before.substr(0, blank))), .lines = lines};
                found.site.function = symbol.substr(0, symbol.find('/'));
                found.site.contentions = count;
                return found;
            }
        } else if (text.size() > TextCursor::kMaxLineBytes / 2 || text.find(':') != std::string_view::npos) {
            return std::nullopt;
        }
        const TextLine* next = lines < kMostSiteLines ? cursor.peek(ahead + lines) : nullptr;
        if (next == nullptr || next->quoteDepth != first->quoteDepth || trimmed(next->text).empty())
            return std::nullopt;
        // Without its address, only a name and a count can be the beginning of one.
        const auto words = tokensOf(text);
        if (open == std::string_view::npos && (words.size() < 2 || !isAllDigits(words.back())))
            return std::nullopt;
        joined += ' ';
        joined += trimmed(next->text);
    }
}

bool addField(std::string_view line, LockTableRow& row)
{
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos)
        return false;
    const std::string_view key = trimmed(line.substr(0, colon));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (!isFigure(value))
        return false;
    const std::pair<std::string_view, std::optional<uint64_t>*> kCounts[] = {
        {"con-bounces", &row.waitBounces}, {"contentions", &row.contentions},
        {"acq-bounces", &row.takeBounces}, {"acquisitions", &row.acquisitions}};
    for (const auto& [name, field] : kCounts) {
        if (key == name && !*field)
            return (*field = parseUnsigned(value)).has_value();
    }
    const std::pair<std::string_view, std::optional<uint64_t>*> kTimes[] = {{"waittime-min", &row.wait.minNs},
        {"waittime-max", &row.wait.maxNs}, {"waittime-total", &row.wait.totalNs},
        {"waittime-avg", &row.wait.meanNs}, {"holdtime-min", &row.hold.minNs},
        {"holdtime-max", &row.hold.maxNs}, {"holdtime-total", &row.hold.totalNs},
        {"holdtime-avg", &row.hold.meanNs}};
    for (const auto& [name, field] : kTimes) {
        if (key == name && !*field)
            return (*field = microseconds(value)).has_value();
    }
    return false;
}

bool isVersion(std::string_view line)
{
    return trimmed(withoutLineNumber(line)).starts_with("lock_stat version ");
}

bool isHead(std::string_view line)
{
    const std::string_view text = trimmed(withoutLineNumber(line));
    constexpr size_t kMostDigits = 4; // a line of a manual with nothing but its number
    if (isAllDigits(text) && text.size() <= kMostDigits)
        return true;
    if (isVersion(line) || text.starts_with("class name")
        || text.starts_with("*WARNING* lock debugging disabled"))
        return true;
    if (text.size() >= 3
        && (text.find_first_not_of('-') == std::string_view::npos
            || text.find_first_not_of('.') == std::string_view::npos))
        return true;
    // The rest of a wrapped head.
    const auto words = tokensOf(text, 13);
    const auto isColumn = [](std::string_view word) {
        return word.starts_with("waittime-") || word.starts_with("holdtime-") || word == "con-bounces"
            || word == "acq-bounces" || word == "contentions" || word == "acquisitions";
    };
    return !words.empty() && std::all_of(words.begin(), words.end(), isColumn);
}

} // namespace whichlock::lockstat
