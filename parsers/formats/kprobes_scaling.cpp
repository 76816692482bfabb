// SPDX-License-Identifier: GPL-3.0-or-later
// Scaling of probe hits over CPUs: blocks of `Scalability total CPUs is N, Total probe hit is H` and
// `Total time in usec is T, Per Probe Hit in nsec is P`, titled `Scalable results for X kernel`. The four
// figures stand inside phrases; rules between the blocks may be wrapped, line ends may be lost.
#include "parsers/format.h"
#include "parsers/formats/benchmark_scan.h"
#include "parsers/input/text_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace whichlock {
namespace {

constexpr std::string_view kName = "kprobes-scaling";
constexpr std::string_view kTitleMark = "Scalable results for";
constexpr std::string_view kPointMark = "Scalability total CPUs is";
constexpr std::string_view kSecondLineMark = "Total time in usec is";

/// The words of one point; `#` is a figure.
constexpr std::array<std::string_view, 22> kPointWords = {"Scalability", "total", "CPUs", "is", "#", "Total",
    "probe", "hit", "is", "#", "Total", "time", "in", "usec", "is", "#", "Per", "Probe", "Hit", "in", "nsec",
    "is"};
constexpr size_t kFigures = 4;
constexpr size_t kPointLength = kPointWords.size() + 1; // the last figure ends it

/// Lines of dashes and blanks between a title and its first point, or between two points.
constexpr size_t kMostLinesBetween = 8;

/// The next word; commas separate like blanks.
std::string_view nextWord(std::string_view& rest)
{
    constexpr std::string_view kSeparators = " \t,";
    const size_t begin = std::min(rest.find_first_not_of(kSeparators), rest.size());
    const size_t end = std::min(rest.find_first_of(kSeparators, begin), rest.size());
    const std::string_view word = rest.substr(begin, end - begin);
    rest.remove_prefix(end);
    return word;
}

bool isBetween(std::string_view line)
{
    return trimmed(line).empty() || isRule(line);
}

bool has(std::string_view line, std::string_view mark)
{
    return line.find(mark) != std::string_view::npos;
}

/// The first line, from line `from` ahead on, that is neither blank nor a rule; 0 if it is too far away.
size_t speakingLineAt(TextCursor& cursor, size_t from)
{
    for (size_t i = from; i < from + kMostLinesBetween; ++i) {
        const TextLine* line = cursor.peek(i);
        if (line == nullptr)
            break;
        if (!isBetween(line->text))
            return i;
    }
    return 0;
}

/// Takes words, makes points of them, and hands over a section for each series.
class SeriesReader {
public:
    explicit SeriesReader(BlockContext& context)
        : context_(context)
    {
    }

    void line(const TextLine& line)
    {
        std::string_view rest = line.text;
        for (std::string_view word = nextWord(rest); !word.empty(); word = nextWord(rest)) {
            if (!titleWord(word, line))
                pointWord(word, line);
        }
        readingTitle_ = false;
        titleAt_ = 0;
    }

    bool insidePoint() const { return at_ > 0; }
    /// Whether the line goes on with the unfinished point.
    bool goesOn(std::string_view line) const
    {
        const std::string_view word = nextWord(line);
        const std::string_view expected = at_ < kPointWords.size() ? kPointWords[at_] : "#";
        return word == expected || (expected == "#" && isAllDigits(word));
    }

    void finish()
    {
        if (insidePoint())
            dropPoint("the last point is not complete; it was left out");
        if (!table_.rows.empty())
            handOver();
        table_ = {};
        title_.clear();
        begun_ = false;
    }

private:
    bool titleWord(std::string_view word, const TextLine& line)
    {
        constexpr std::array<std::string_view, 3> kTitleWords = {"Scalable", "results", "for"};
        if (readingTitle_) {
            readingTitle_ =
                word != "kernel" && word != kPointWords[0] && word[0] != '(' && !benchmark::isDashes(word);
            if (readingTitle_)
                title_ += (title_.empty() ? "" : " ") + std::string(word);
            return word != kPointWords[0];
        }
        titleAt_ = word == kTitleWords[titleAt_] ? titleAt_ + 1 : (word == kTitleWords[0] ? 1 : 0);
        if (titleAt_ < kTitleWords.size())
            return titleAt_ > 0;
        titleAt_ = 0;
        finish();
        begin(line);
        readingTitle_ = true;
        return true;
    }

    void begin(const TextLine& line)
    {
        record_ = context_.sectionAt(line, kName);
        record_.kind = SectionKind::Measurements;
        record_.quantity = QuantityKind::Count;
        record_.unit = Unit::Count;
        begun_ = true;
    }

    void pointWord(std::string_view word, const TextLine& line)
    {
        if (at_ == 0) {
            if (word == kPointWords[0])
                startPoint(line);
            return;
        }
        if (benchmark::isDashes(word))
            return;
        const std::string_view expected = at_ < kPointWords.size() ? kPointWords[at_] : "#";
        if (expected == "#") {
            const auto figure = parseUnsigned(word);
            const auto value = parseFixedPoint(word);
            if (!figure || !value)
                return dropPoint(isAllDigits(word) ? "a figure is too large; the point was left out"
                                                   : "a figure cannot be read; the point was left out");
            figures_[figuresSeen_] = *figure;
            values_[figuresSeen_++] = *value;
        } else if (word != expected) {
            dropPoint("the point is not complete; it was left out");
            if (word == kPointWords[0])
                startPoint(line);
            return;
        }
        if (++at_ == kPointLength)
            addPoint();
    }

    void startPoint(const TextLine& line)
    {
        pointLine_ = {
            .text = {}, .number = line.number, .offset = line.offset, .quoteDepth = line.quoteDepth};
        at_ = 1;
        figuresSeen_ = 0;
    }

    void dropPoint(std::string message)
    {
        context_.report(DiagnosticCode::RowUnreadable, std::move(message), pointLine_);
        at_ = 0;
    }

    void addPoint()
    {
        at_ = 0;
        if (!table_.rows.empty() && figures_[0] <= lastCpus_)
            finish(); // the numbers of CPUs begin again: another series, without a title
        if (!begun_)
            begin(pointLine_);
        lastCpus_ = figures_[0];
        table_.rows.push_back({.label = std::to_string(figures_[0]),
            .values = {values_[1], values_[2], values_[3]},
            .line = pointLine_.number});
        checkIdentities();
    }

    /// Each CPU makes 65536 hits; the time per hit is cut to whole nanoseconds.
    void checkIdentities()
    {
        constexpr uint64_t kHitsPerCpu = 65536;
        constexpr uint64_t kNsPerUs = 1000;
        uint64_t hits = 0;
        uint64_t ns = 0;
        if (__builtin_mul_overflow(figures_[0], kHitsPerCpu, &hits)
            || __builtin_mul_overflow(figures_[2], kNsPerUs, &ns))
            return;
        if (figures_[1] != hits)
            context_.report(DiagnosticCode::PrintedFigureDiffers,
                fmt::format(
                    "{} hits are printed for {} CPUs, {} are expected", figures_[1], figures_[0], hits),
                pointLine_);
        if (figures_[1] != 0 && ns / figures_[1] != figures_[3])
            context_.report(DiagnosticCode::PrintedFigureDiffers,
                fmt::format("{} ns per hit are printed at {} CPUs; time / hits is {}", figures_[3],
                    figures_[0], ns / figures_[1]),
                pointLine_);
    }

    void handOver()
    {
        if (!title_.empty())
            record_.title = title_;
        table_.shape = TableShape::Scaling;
        table_.rowName = "CPUs";
        table_.columns = {"probe hits", "total time us", "ns per hit"};
        context_.sink.table(context_.sink.section(record_), table_);
    }

    BlockContext& context_;
    SectionRecord record_;
    TableRecord table_;
    std::string title_;
    bool begun_ = false;
    bool readingTitle_ = false;
    size_t titleAt_ = 0; ///< words of the title's mark that were seen
    size_t at_ = 0;      ///< words of the current point that were seen
    size_t figuresSeen_ = 0;
    std::array<uint64_t, kFigures> figures_{};
    std::array<FixedPoint, kFigures> values_{};
    uint64_t lastCpus_ = 0;
    TextLine pointLine_;
};

/// Whether a series or a point begins on the line `ahead`: a title counts only with a point below it.
bool beginsAt(TextCursor& cursor, size_t ahead)
{
    const std::string_view text = cursor.peek(ahead)->text;
    if (has(text, kPointMark))
        return true;
    if (!has(text, kTitleMark))
        return false;
    const size_t next = speakingLineAt(cursor, ahead + 1);
    return next != 0 && has(cursor.peek(next)->text, kPointMark);
}

Claim claim(TextCursor& cursor)
{
    return beginsAt(cursor, 0) ? Claim{Confidence::Certain, "`Scalability total CPUs is`"} : Claim{};
}

void read(TextCursor& cursor, BlockContext& context)
{
    SeriesReader reader(context);
    const auto isOurs = [&](size_t ahead) {
        const std::string_view text = cursor.peek(ahead)->text;
        // The second half of a point whose first half could not be read belongs to the table, too.
        return beginsAt(cursor, ahead) || trimmed(text).starts_with(kSecondLineMark)
            || (reader.insidePoint() && reader.goesOn(text));
    };
    while (const TextLine* line = cursor.peek()) {
        if (isBetween(line->text)) {
            const size_t next = speakingLineAt(cursor, 1);
            if (next == 0 || !isOurs(next))
                break;
        } else if (!isOurs(0)) {
            break;
        }
        reader.line(*line);
        cursor.advance();
    }
    reader.finish();
}

} // namespace

extern const TextFormat kprobes_scalingFormat;
const TextFormat kprobes_scalingFormat = {
    kName, "scaling of probe hits over CPUs: figures in phrases, two lines a point", claim, read};

} // namespace whichlock
