// SPDX-License-Identifier: GPL-3.0-or-later
// Comparison tables that the kernel test robot mails: metrics of two or more commits with their deviations,
// and rows of profiles among them. The table is a section of measurements; the call paths of its profile are
// a profile for each commit, because only they tell which function waits for whom.
#include "parsers/format.h"
#include "parsers/formats/damage_counter.h"
#include "parsers/formats/lkp_profile.h"
#include "parsers/formats/lkp_rows.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace whichlock {
namespace {

using namespace lkp;

constexpr std::string_view kName = "lkp";
constexpr size_t kMostDamageReports = 3;
constexpr size_t kHeadLines = 6;     ///< at most: commits, dashes, twice column names and strokes
constexpr size_t kBlankLines = 3;    ///< that may stand between two rows
constexpr size_t kMostFunctions = 8; ///< of a path that is taken apart

/// The lines above the rows.
struct Head {
    std::vector<std::string> commits; ///< as far as printed
    size_t lines = 0;
};

/// Whether two or more runs of dashes stand on the line, and how many.
size_t dashGroups(std::string_view line)
{
    constexpr size_t kShortest = 8;
    size_t groups = 0;
    for (std::string_view word = nextToken(line); !word.empty(); word = nextToken(line)) {
        if (word.size() < kShortest || word.find_first_not_of('-') != std::string_view::npos)
            return 0;
        ++groups;
    }
    return groups > 1 ? groups : 0;
}

/// The head that begins on the cursor's line, from the commits or from the column names on.
Head headHere(TextCursor& cursor)
{
    Head head;
    const TextLine* dashes = cursor.peek(1);
    const size_t groups = dashes == nullptr ? 0 : dashGroups(dashes->text);
    if (groups != 0 && groups <= kMostCommits) {
        for (const std::string_view commit : tokensOf(cursor.peek()->text, groups + 1))
            head.commits.emplace_back(commit);
        head.lines = head.commits.size() == groups ? 2 : 0;
    }
    bool named = false;
    while (head.lines < kHeadLines) {
        const TextLine* line = cursor.peek(head.lines);
        if (line == nullptr || !(isColumnLine(line->text) || (named && isStrokeLine(line->text))))
            break;
        named = true;
        ++head.lines;
    }
    return named ? head : Head{};
}

/// The row on the cursor's line `ahead`, whose metric may stand alone on the next one; its number of lines.
std::pair<std::optional<Row>, size_t> rowAt(TextCursor& cursor, size_t ahead = 0)
{
    const TextLine* line = cursor.peek(ahead);
    auto row = line == nullptr ? std::nullopt : rowOf(line->text);
    if (!row || !row->metric.empty())
        return {std::move(row), 1};
    const TextLine* next = cursor.peek(ahead + 1);
    row->metric = next == nullptr ? std::string_view() : trimmed(next->text);
    if (!isMetric(row->metric))
        return {std::nullopt, 1};
    return {std::move(row), 2};
}

bool isRowLine(const TextLine* line)
{
    return line != nullptr && (isFailureRow(line->text) || rowOf(line->text).has_value());
}

class TableReader {
public:
    TableReader(TextCursor& cursor, BlockContext& context)
        : cursor_(cursor)
        , context_(context)
        , first_{.text = {},
              .number = cursor.peek()->number,
              .offset = cursor.peek()->offset,
              .quoteDepth = cursor.peek()->quoteDepth}
        , place_(context.sectionAt(*cursor.peek(), kName))
        , head_(headHere(cursor))
    {
        place_.kind = SectionKind::Measurements;
        place_.quantity = QuantityKind::Count;
        place_.unit = Unit::Count;
        place_.title.clear(); // what stands above is a list of commits or the end of a parameter list
    }

    void read()
    {
        cursor_.advance(head_.lines);
        while (cursor_.peek() != nullptr && readLine()) { }
        handOver();
    }

private:
    /// Reads what stands at the cursor; false at a line that is no part of the table.
    bool readLine()
    {
        const TextLine& line = *cursor_.peek();
        auto [row, lines] = rowAt(cursor_);
        if (row && (columns_ == 0 || row->cells.size() == columns_)) {
            columns_ = row->cells.size();
            add(*row, line.number);
            cursor_.advance(lines);
            return true;
        }
        if (isFailureRow(line.text)) {
            ++failureRows_;
            cursor_.advance();
            return true;
        }
        if (isColumnLine(line.text)
            || isStrokeLine(line.text)) { // heads of failures and of figures alternate
            cursor_.advance();
            return true;
        }
        return skipLine(line);
    }

    /// Passes over blank and damaged lines between rows.
    bool skipLine(const TextLine& line)
    {
        if (trimmed(line.text).empty()) {
            size_t blank = 1;
            const TextLine* next = cursor_.peek(blank);
            while (next != nullptr && blank < kBlankLines && trimmed(next->text).empty())
                next = cursor_.peek(++blank);
            if (!isRowLine(next))
                return false;
            cursor_.advance(blank);
            return true;
        }
        if (columns_ == 0 || !(hasFigures(line.text) || isRowLine(cursor_.peek(1))))
            return false;
        if (isCutMark(line.text))
            context_.report(DiagnosticCode::ListCut, "rows were cut out of the table by its author", line);
        else
            damaged_.add(context_, line, "the row cannot be read and was skipped, the others kept");
        cursor_.advance();
        return true;
    }

    void add(const Row& row, uint64_t line)
    {
        const ProfileMetric profile = profileMetricOf(row.metric);
        TableRow& kept = tableOf(profile).rows.emplace_back();
        kept.label = profile.kind.empty() ? row.metric : profile.path;
        kept.line = line;
        kept.percent = row.points;
        kept.values.reserve(row.cells.size());
        kept.spreads.reserve(row.cells.size());
        for (const Cell& cell : row.cells) {
            kept.values.push_back(cell.value);
            kept.spreads.push_back(cell.spread);
            tooLarge_ += cell.value ? 0 : 1;
        }
        if (profile.kind == "calltrace")
            addPath(profile, kept);
    }

    /// The table of one kind of rows; mostly that of the row before.
    TableRecord& tableOf(const ProfileMetric& profile)
    {
        if (table_ != nullptr && kind_ == profile.kind && event_ == profile.event)
            return *table_;
        kind_ = profile.kind;
        event_ = profile.event;
        table_ = &tables_[{kind_, event_}];
        if (table_->rowName.empty())
            table_->rowName = kind_.empty() ? "metric" : fmt::format("perf-profile {} of {}", kind_, event_);
        return *table_;
    }

    void addPath(const ProfileMetric& profile, const TableRow& row)
    {
        constexpr int64_t kPpbPerMillionthPercent = Share::kPercent / FixedPoint::kScale;
        CallPath path{.path = std::string(profile.path), .shares = {}, .line = row.line};
        for (const auto& value : row.values) {
            if (!value || value->millionths < 0 || value->millionths > 100 * FixedPoint::kScale)
                return;
            path.shares.push_back({value->millionths * kPpbPerMillionthPercent});
        }
        if (functionsOf(path.path).size() <= kMostFunctions)
            paths_[std::string(profile.event)].push_back(std::move(path));
    }

    std::string commitName(size_t column) const
    {
        if (column < head_.commits.size())
            return head_.commits[column];
        return column == 0 ? "before" : columns_ == 2 ? "after" : fmt::format("after {}", column);
    }

    void handOver()
    {
        if (columns_ == 0)
            return;
        SectionRecord table = place_;
        table.title = fmt::format("{} against {}", commitName(columns_ - 1), commitName(0));
        const SectionHandle section = context_.sink.section(table);
        for (auto& [key, rows] : tables_) {
            rows.shape = TableShape::ColumnsAreVariants;
            for (size_t column = 0; column < columns_; ++column)
                rows.columns.push_back(commitName(column));
            context_.sink.table(section, rows);
        }
        if (tooLarge_ != 0)
            context_.report(DiagnosticCode::NumberOverflow,
                fmt::format("{} figures are too large to be kept", tooLarge_), first_);
        if (failureRows_ != 0)
            context_.report(DiagnosticCode::RemarkInTable,
                fmt::format("{} rows of failures in some of the runs hold no figures", failureRows_), first_);
        damaged_.finish(context_, place_.position.chain,
            fmt::format("{} more lines between rows cannot be read", damaged_.count()));
        for (auto& [event, paths] : paths_)
            handOverProfiles(event, paths);
    }

    /// A profile for each commit, unless its parts are more than the whole.
    void handOverProfiles(const std::string& event, std::vector<CallPath>& paths)
    {
        takeApart(paths);
        for (size_t side = 0; side < columns_; ++side) {
            const bool innermostOnly = sumOf(paths, side, false) > kMostOfAll;
            if (innermostOnly && sumOf(paths, side, true) > kMostOfAll) {
                context_.report(DiagnosticCode::GraphNotUsed,
                    fmt::format(
                        "call paths of {} are more than the whole and were not used", commitName(side)),
                    first_);
                continue;
            }
            SectionRecord record = place_;
            record.kind = SectionKind::CpuProfile;
            record.quantity = QuantityKind::Cpu;
            record.unit = Unit::Percent;
            record.event = event;
            record.title = commitName(side);
            record.column = static_cast<unsigned>(side) + 1;
            const SectionHandle section = context_.sink.section(record);
            for (const CallPath& path : paths) {
                if (path.own[side].ppb != 0 && !(innermostOnly && path.hasPathsBelow))
                    emit(section, path, path.own[side]);
            }
        }
    }

    /// Rounding of each row adds up.
    static constexpr int64_t kMostOfAll = Share::kWhole + Share::kPercent;

    static int64_t sumOf(const std::vector<CallPath>& paths, size_t side, bool innermostOnly)
    {
        Share sum;
        for (const CallPath& path : paths) {
            if (!innermostOnly || !path.hasPathsBelow)
                sum = saturatedSum(sum, path.own[side]);
        }
        return sum.ppb;
    }

    void emit(SectionHandle section, const CallPath& path, Share share)
    {
        const auto functions = functionsOf(path.path);
        if (functions.empty())
            return;
        frames_.clear();
        for (size_t i = 1; i < functions.size(); ++i)
            frames_.push_back({.symbol = functions[i], .object = {}});
        context_.sink.row(section,
            {.symbol = functions[0],
                .image = {},
                .comm = {},
                .value = {},
                .share = share,
                .callers = frames_,
                .furtherPart = false,
                .line = path.line});
    }

    TextCursor& cursor_;
    BlockContext& context_;
    TextLine first_;
    SectionRecord place_;
    Head head_;
    size_t columns_ = 0;
    std::map<std::pair<std::string, std::string>, TableRecord> tables_; ///< by kind and event of the profile
    TableRecord* table_ = nullptr; ///< the last row's, with its kind and event
    std::string kind_;
    std::string event_;
    std::map<std::string, std::vector<CallPath>> paths_; ///< by event
    std::vector<TextFrame> frames_;
    uint64_t failureRows_ = 0;
    uint64_t tooLarge_ = 0;
    DamageCounter damaged_{DiagnosticCode::RowUnreadable, kMostDamageReports};
};

/// Rows without a head are told by their names: a line of figures alone may be anything.
bool rowsHere(TextCursor& cursor)
{
    constexpr size_t kFewest = 2;
    size_t at = 0;
    bool profile = false;
    for (size_t count = 0; count < kFewest; ++count) {
        const auto [row, lines] = rowAt(cursor, at);
        if (!row)
            return false;
        profile = profile || !profileMetricOf(row->metric).kind.empty();
        at += lines;
    }
    return profile;
}

Claim claim(TextCursor& cursor)
{
    const Head head = headHere(cursor);
    if (head.lines != 0 && rowAt(cursor, head.lines).first)
        return {Confidence::Certain, "commits side by side with deviations"};
    if (head.lines != 0 && cursor.peek(head.lines) != nullptr && isFailureRow(cursor.peek(head.lines)->text))
        return {Confidence::Likely, "commits side by side, failures first"};
    return head.lines == 0 && rowsHere(cursor)
        ? Claim{Confidence::Likely, "figures, changes and perf-profile"}
        : Claim{};
}

void read(TextCursor& cursor, BlockContext& context)
{
    TableReader(cursor, context).read();
}

} // namespace

extern const TextFormat lkpFormat;
const TextFormat lkpFormat = {kName,
    "comparisons of the kernel test robot: metrics, deviations, rows of profiles", claim, read,
    Yields::Profiles};

} // namespace whichlock
