// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/input/text_cursor.h"

#include "parsers/input/text_cleaning.h"

#include <algorithm>
#include <cstring>

namespace whichlock {
namespace {

/// Small enough for the second-level cache together with its lines.
constexpr size_t kPieceBytes = 128 * 1024;

bool holds(std::string_view text, char c)
{
    return !text.empty() && std::memchr(text.data(), c, text.size()) != nullptr;
}

} // namespace

TextCursor::TextCursor(Source& source, std::vector<Diagnostic>& diagnostics)
    : source_(source)
    , diagnostics_(diagnostics)
{
    if (auto head = source.head())
        quotedPrintable_ = looksQuotedPrintable(*head);
}

Position TextCursor::positionOf(const TextLine& line) const
{
    return {.chain = source_.name(), .line = line.number, .offset = line.offset};
}

const TextLine* TextCursor::peekFurther(size_t ahead)
{
    if (pieces_.empty() && !readPiece())
        return nullptr;
    size_t index = ahead + static_cast<size_t>(at_ - pieces_.front()->lines.data());
    for (size_t piece = 0;; ++piece) {
        if (piece == pieces_.size() && !readPiece())
            return nullptr;
        const std::vector<TextLine>& lines = pieces_[piece]->lines;
        if (index < lines.size())
            return &lines[index];
        index -= lines.size();
    }
}

void TextCursor::advanceFurther(size_t count)
{
    while (!pieces_.empty() || readPiece()) {
        const auto left = static_cast<size_t>(end_ - at_);
        if (count < left) {
            at_ += count;
            return;
        }
        count -= left;
        spare_ = std::move(pieces_.front());
        pieces_.pop_front();
        showFrontPiece();
        if (pieces_.empty() && count == 0)
            return; // the next piece is read when it is looked at
    }
}

void TextCursor::showFrontPiece()
{
    at_ = end_ = nullptr;
    if (pieces_.empty())
        return;
    const std::vector<TextLine>& lines = pieces_.front()->lines;
    at_ = lines.data();
    end_ = at_ + lines.size();
}

/// Appends a piece with at least one line; false at the end of the input.
bool TextCursor::readPiece()
{
    std::unique_ptr<Piece> piece = spare_ ? std::move(spare_) : std::make_unique<Piece>();
    piece->lines.clear();
    piece->rewritten.clear();
    while (piece->lines.empty()) {
        if (ended_) {
            spare_ = std::move(piece);
            return false;
        }
        const std::string_view bytes = fillPiece(*piece);
        contents_ = {.carriageReturns = holds(bytes, '\r'),
            .nuls = holds(bytes, '\0'),
            .ampersands = holds(bytes, '&'),
            .beyondAscii = !isAscii(bytes)};
        const size_t split = splitLines(*piece, bytes);
        carry_.assign(bytes.substr(split));
        bytesOffset_ += split;
    }
    pieces_.push_back(std::move(piece));
    if (pieces_.size() == 1)
        showFrontPiece();
    return true;
}

/// Puts the unfinished line and what the source has next into the piece. It is always filled up, so that
/// nothing depends on how much the source gives at a time.
std::string_view TextCursor::fillPiece(Piece& piece)
{
    const size_t needed = carry_.size() + kPieceBytes;
    if (piece.capacity < needed) {
        piece.bytes = std::make_unique_for_overwrite<char[]>(needed);
        piece.capacity = needed;
    }
    carry_.copy(piece.bytes.get(), carry_.size());
    size_t filled = carry_.size();
    while (filled < needed) {
        auto got = source_.read(std::span(piece.bytes.get() + filled, needed - filled));
        if (!got)
            diagnostics_.push_back(got.error());
        if (!got || *got == 0) {
            ended_ = true;
            break;
        }
        filled += *got;
    }
    return {piece.bytes.get(), filled};
}

/// Adds all lines that are complete; returns the number of bytes that are done with.
size_t TextCursor::splitLines(Piece& piece, std::string_view bytes)
{
    size_t start = 0;
    while (start < bytes.size()) {
        if (skippingLongLine_) {
            const size_t end = bytes.find('\n', start);
            if (end == std::string_view::npos)
                return bytes.size();
            skippingLongLine_ = false;
            ++nextLineNumber_;
            start = end + 1;
            continue;
        }
        size_t end = lineEnd(bytes, start);
        const bool complete = end != std::string_view::npos || ended_;
        end = std::min(end, bytes.size());
        if (end - start > kMaxLineBytes) {
            start += cutLongLine(piece, bytes.substr(start, kMaxLineBytes), bytesOffset_ + start);
            continue;
        }
        if (!complete)
            return start;
        addLine(piece, bytes.substr(start, end - start), bytesOffset_ + start);
        start = end + 1;
    }
    return bytes.size();
}

/// Where the line that begins at `start` ends; a line feed behind a soft break does not end it.
size_t TextCursor::lineEnd(std::string_view bytes, size_t start) const
{
    size_t end = bytes.find('\n', start);
    while (quotedPrintable_ && end != std::string_view::npos
        && endsInSoftBreak(bytes.substr(start, end - start))) {
        start = end + 1;
        end = bytes.find('\n', start);
    }
    return end;
}

/// Takes the front of a line that is too long: up to its last carriage return, where these stand in for line
/// feeds, else all of `front`, and what follows is skipped. Returns the number of bytes that are done with.
size_t TextCursor::cutLongLine(Piece& piece, std::string_view front, uint64_t offset)
{
    const size_t lastReturn = contents_.carriageReturns ? front.rfind('\r') : std::string_view::npos;
    if (lastReturn != std::string_view::npos) {
        addParts(piece, front.substr(0, lastReturn), offset);
        return lastReturn + 1;
    }
    report(DiagnosticCode::LineTooLong,
        "a line is longer than 1 MiB; its first MiB was read, the rest of it skipped", offset);
    addPart(piece, front, offset);
    nextLineNumber_ += static_cast<uint64_t>(std::count(front.begin(), front.end(), '\n'));
    skippingLongLine_ = true;
    return front.size();
}

/// Adds the raw line, or several if carriage returns stand in for line feeds.
void TextCursor::addLine(Piece& piece, std::string_view raw, uint64_t offset)
{
    if (contents_.carriageReturns) {
        while (raw.ends_with('\r'))
            raw.remove_suffix(1);
        addParts(piece, raw, offset);
    } else {
        addPart(piece, raw, offset);
    }
    ++nextLineNumber_;
    if (quotedPrintable_)
        nextLineNumber_ += static_cast<uint64_t>(std::count(raw.begin(), raw.end(), '\n'));
}

void TextCursor::addParts(Piece& piece, std::string_view raw, uint64_t offset)
{
    for (;;) {
        size_t end = raw.find('\r');
        // Before a line feed, which only a soft break leaves inside a line, it is part of that break.
        while (end != std::string_view::npos && end + 1 < raw.size() && raw[end + 1] == '\n')
            end = raw.find('\r', end + 1);
        addPart(piece, raw.substr(0, end), offset);
        if (end == std::string_view::npos)
            return;
        raw.remove_prefix(end + 1);
        offset += end + 1;
    }
}

void TextCursor::addPart(Piece& piece, std::string_view raw, uint64_t offset)
{
    const bool plain =
        !quotedPrintable_ && !contents_.nuls && !contents_.beyondAscii && !contents_.ampersands;
    Dequoted line = stripQuoteMarks(plain ? raw : clean(piece, raw, offset));
    while (!line.text.empty() && (line.text.back() == ' ' || line.text.back() == '\t'))
        line.text.remove_suffix(1);
    piece.lines.push_back({line.text, nextLineNumber_, offset, line.depth});
}

/// Returns `raw` itself where nothing needs repair, which is nearly always.
std::string_view TextCursor::clean(Piece& piece, std::string_view raw, uint64_t offset)
{
    std::string_view text = raw;
    const auto rewrite = [&](std::string changed) {
        text = piece.rewritten.emplace_back(std::move(changed));
    };
    if (quotedPrintable_ && holds(text, '=')) {
        std::string joined;
        for (std::string_view rest = text; !rest.empty();) {
            const size_t end = rest.find('\n');
            std::string_view part = rest.substr(0, end);
            if (end != std::string_view::npos)
                part = part.substr(0, part.rfind('='));
            joined += part;
            rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        }
        rewrite(decodeQuotedPrintable(joined));
    }
    // Decoding may bring characters that the piece did not hold.
    if ((contents_.nuls || quotedPrintable_) && holds(text, '\0')) {
        if (!nulReported_)
            report(DiagnosticCode::NulBytes, "the text holds NUL bytes; they were read as blanks", offset);
        nulReported_ = true;
        std::string changed(text);
        std::replace(changed.begin(), changed.end(), '\0', ' ');
        rewrite(std::move(changed));
    }
    const bool beyondAscii = (contents_.beyondAscii || quotedPrintable_) && !isAscii(text);
    if (beyondAscii && !utf8Reported_ && !isValidUtf8(text)) {
        report(
            DiagnosticCode::InvalidUtf8, "the text is not UTF-8; such bytes were kept as they are", offset);
        utf8Reported_ = true;
    }
    if ((beyondAscii || holds(text, '&')) && hasOddCharacters(text))
        rewrite(replaceOddCharacters(text));
    return text;
}

void TextCursor::report(DiagnosticCode code, std::string message, uint64_t offset)
{
    diagnostics_.push_back(makeDiagnostic(
        code, std::move(message), {.chain = source_.name(), .line = nextLineNumber_, .offset = offset}));
}

} // namespace whichlock
