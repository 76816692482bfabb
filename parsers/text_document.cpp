// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/text_document.h"

#include "parsers/input/text_scan.h"
#include "parsers/prose_facts.h"

#include <algorithm>

namespace whichlock {
namespace {

/// Lines that a hunk of a unified diff still has to come, read from its `@@ -a,b +c,d @@` line; else 0.
/// Patches quote sample tables as documentation: their lines are no profile.
uint64_t hunkLines(std::string_view line)
{
    if (!line.starts_with("@@ -"))
        return 0;
    const size_t end = line.find(" @@", 4);
    if (end == std::string_view::npos)
        return 0;
    uint64_t most = 0;
    for (std::string_view range : tokensOf(line.substr(3, end - 3), 2)) {
        const size_t comma = range.find(',');
        const auto count =
            comma == std::string_view::npos ? 1 : parseUnsigned(range.substr(comma + 1)).value_or(0);
        most = std::max(most, count);
    }
    return most;
}

bool belongsToHunk(std::string_view line)
{
    return line.empty() || line[0] == ' ' || line[0] == '+' || line[0] == '-' || line[0] == '\\';
}

struct Choice {
    size_t format = 0;
    Claim claim;
};

Choice bestClaim(TextCursor& cursor, std::span<const TextFormat* const> formats)
{
    Choice best;
    for (size_t i = 0; i < formats.size(); ++i) {
        const Claim claim = formats[i]->claim(cursor);
        if (claim.confidence > best.claim.confidence)
            best = {i, claim};
        if (best.claim.confidence == Confidence::Certain)
            break;
    }
    return best;
}

class DocumentReader {
public:
    DocumentReader(TextCursor& cursor, RecordSink& sink, std::span<const TextFormat* const> formats)
        : cursor_(cursor)
        , sink_(sink)
        , formats_(formats)
    {
        for (const TextFormat* format : formats)
            scores_.push_back({.format = format->name, .yields = format->yields});
    }

    std::vector<FormatScore> run()
    {
        while (const TextLine* line = cursor_.peek()) {
            if (const uint64_t hunk = hunkLines(line->text))
                skipHunk(*line, hunk);
            else if (trimmed(line->text).empty())
                passProse(*line);
            else
                readBlockOrProse(*line);
        }
        return std::move(scores_);
    }

private:
    void readBlockOrProse(const TextLine& line)
    {
        const Choice choice = bestClaim(cursor_, formats_);
        if (choice.claim.confidence == Confidence::No) {
            passProse(line);
            return;
        }
        const uint64_t firstLine = line.number;
        const TextFormat& format = *formats_[choice.format];
        BlockContext context(sink_, around_, memory_, cursor_);
        const std::string caption(format.yields == Yields::Scores ? line.text : std::string_view());
        const unsigned quoteDepth = line.quoteDepth;
        format.read(cursor_, context);
        if (format.yields == Yields::Scores)
            around_.prose({.text = caption, .number = firstLine, .offset = 0, .quoteDepth = quoteDepth});
        else
            around_.tableEnded();
        FormatScore& score = scores_[choice.format];
        const TextLine* next = cursor_.peek();
        score.lines += next != nullptr ? next->number - firstLine : 1;
        if (score.blocks++ == 0)
            score.firstLine = firstLine;
        if (choice.claim.confidence > score.best.confidence)
            score.best = choice.claim;
    }

    void passProse(const TextLine& line)
    {
        around_.prose(line);
        reportProseFacts(line, cursor_.positionOf(line), sink_);
        cursor_.advance();
    }

    void skipHunk(const TextLine& line, uint64_t hunk)
    {
        sink_.diagnostic(makeDiagnostic(DiagnosticCode::PatchSkipped,
            "a patch was passed over; tables inside it are no profile", cursor_.positionOf(line)));
        cursor_.advance();
        for (const TextLine* next = cursor_.peek(); hunk > 0 && next != nullptr && belongsToHunk(next->text);
             next = cursor_.peek()) {
            if (!next->text.starts_with('-'))
                --hunk;
            cursor_.advance();
        }
    }

    TextCursor& cursor_;
    RecordSink& sink_;
    std::span<const TextFormat* const> formats_;
    std::vector<FormatScore> scores_;
    Surroundings around_;
    DocumentMemory memory_;
};

} // namespace

std::vector<FormatScore> readTextDocument(
    TextCursor& cursor, RecordSink& sink, std::span<const TextFormat* const> formats)
{
    return DocumentReader(cursor, sink, formats).run();
}

} // namespace whichlock
