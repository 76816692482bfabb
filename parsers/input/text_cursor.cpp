// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/input/text_cursor.h"

#include "parsers/input/text_cleaning.h"

#include <algorithm>
#include <cstring>

namespace whichlock {
namespace {

constexpr size_t kPieceBytes = 256 * 1024;

/// The last line feed that ends a line; one behind a soft break does not.
size_t lastLineEnd(std::string_view bytes, bool quotedPrintable)
{
    size_t end = bytes.rfind('\n');
    while (quotedPrintable && end != std::string_view::npos) {
        const size_t before = end == 0 ? std::string_view::npos : bytes.rfind('\n', end - 1);
        const size_t start = before == std::string_view::npos ? 0 : before + 1;
        if (!endsInSoftBreak(bytes.substr(start, end - start)))
            return end;
        end = before;
    }
    return end;
}

} // namespace

TextCursor::TextCursor(Source& source, std::vector<Diagnostic>& diagnostics)
    : source_(source)
    , diagnostics_(diagnostics)
    , buffer_(kPieceBytes)
{
    if (auto head = source.head())
        quotedPrintable_ = looksQuotedPrintable(*head);
}

Position TextCursor::positionOf(const TextLine& line) const
{
    return {.chain = source_.name(), .line = line.number, .offset = line.offset};
}

const TextLine* TextCursor::peekFurther(size_t index)
{
    size_t piece = 0;
    for (;;) {
        if (piece == pieces_.size() && !readPiece())
            return nullptr;
        if (index < pieces_[piece].lines.size())
            return &pieces_[piece].lines[index];
        index -= pieces_[piece].lines.size();
        ++piece;
    }
}

void TextCursor::advance(size_t count)
{
    at_ += count;
    while (!pieces_.empty() && at_ >= pieces_.front().lines.size()) {
        at_ -= pieces_.front().lines.size();
        spare_ = std::move(pieces_.front());
        pieces_.pop_front();
        if (pieces_.empty() && at_ > 0 && !readPiece())
            at_ = 0;
    }
}

/// Appends a piece with at least one line; false at the end of the input.
bool TextCursor::readPiece()
{
    if (ended_)
        return false;
    Piece piece = std::move(spare_);
    spare_ = Piece();
    piece.lines.clear();
    piece.rewritten.clear();
    piece.bytes.assign(carry_.begin(), carry_.end());
    const uint64_t offset = carryOffset_;
    carry_.clear();
    size_t lineEnd = std::string::npos;
    while (lineEnd == std::string::npos) {
        auto got = source_.read(buffer_);
        if (!got)
            diagnostics_.push_back(got.error());
        const std::string_view more(buffer_.data(), got ? *got : 0);
        if (more.empty()) {
            ended_ = true;
            break;
        }
        piece.bytes.insert(piece.bytes.end(), more.begin(), more.end());
        // Pipes may deliver a few bytes at a time: a long line is not searched again for each of them.
        if (more.find('\n') != std::string_view::npos)
            lineEnd = lastLineEnd(textOf(piece), quotedPrintable_);
        if (lineEnd == std::string::npos && piece.bytes.size() > kMaxLineBytes)
            break;
    }
    if (lineEnd == std::string::npos) {
        // Either the last line without a line feed, or a line that is too long: its front is kept.
        if (!ended_) {
            if (!skippingLongLine_)
                report(DiagnosticCode::LineTooLong,
                    "a line is longer than 1 MiB; its first MiB was read, the rest of it skipped", offset);
            carryOffset_ = offset + piece.bytes.size();
            if (skippingLongLine_)
                piece.bytes.clear();
            else
                piece.bytes.resize(kMaxLineBytes);
            const bool firstPart = !skippingLongLine_;
            skippingLongLine_ = true;
            if (firstPart) {
                const auto number = nextLineNumber_;
                addLine(piece, textOf(piece), offset);
                nextLineNumber_ = number; // its line feed is still to come
            }
            pieces_.push_back(std::move(piece));
            return true;
        }
    } else {
        carry_ = textOf(piece).substr(lineEnd + 1);
        carryOffset_ = offset + lineEnd + 1;
        piece.bytes.resize(lineEnd + 1);
    }
    splitLines(piece, offset);
    if (piece.lines.empty() && ended_)
        return false;
    pieces_.push_back(std::move(piece));
    return true;
}

void TextCursor::splitLines(Piece& piece, uint64_t offset)
{
    const std::string_view bytes = textOf(piece);
    size_t start = 0;
    while (start < bytes.size()) {
        size_t end = bytes.find('\n', start);
        if (quotedPrintable_) {
            while (end != std::string_view::npos
                && endsInSoftBreak(bytes.substr(start, end - start)
                                       .substr(bytes.substr(start, end - start).rfind('\n') + 1)))
                end = bytes.find('\n', end + 1);
        }
        if (end == std::string_view::npos)
            end = bytes.size();
        const std::string_view raw = bytes.substr(start, end - start);
        if (skippingLongLine_) {
            skippingLongLine_ = false; // the end of the line that was cut
            ++nextLineNumber_;
        } else {
            addLine(piece, raw, offset + start);
        }
        start = end + 1;
    }
}

/// Adds the raw line, or several if carriage returns stand in for line feeds.
void TextCursor::addLine(Piece& piece, std::string_view raw, uint64_t offset)
{
    while (raw.ends_with('\r'))
        raw.remove_suffix(1);
    const auto lineFeeds = static_cast<uint64_t>(1 + std::count(raw.begin(), raw.end(), '\n'));
    for (;;) {
        const size_t end = raw.find('\r');
        const bool softBreakFollows =
            end != std::string_view::npos && end + 1 < raw.size() && raw[end + 1] == '\n';
        const std::string_view part = softBreakFollows ? raw : raw.substr(0, end);
        Dequoted line = stripQuoteMarks(clean(piece, part, offset));
        while (!line.text.empty() && (line.text.back() == ' ' || line.text.back() == '\t'))
            line.text.remove_suffix(1);
        piece.lines.push_back({line.text, nextLineNumber_, offset, line.depth});
        if (part.size() == raw.size())
            break;
        raw.remove_prefix(end + 1);
        offset += end + 1;
    }
    nextLineNumber_ += lineFeeds;
}

/// Returns `raw` itself where nothing needs repair, which is nearly always.
std::string_view TextCursor::clean(Piece& piece, std::string_view raw, uint64_t offset)
{
    std::string_view text = raw;
    const auto rewrite = [&](std::string changed) {
        text = piece.rewritten.emplace_back(std::move(changed));
    };
    if (quotedPrintable_ && text.find('=') != std::string_view::npos) {
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
    if (std::memchr(text.data(), 0, text.size()) != nullptr) {
        if (!nulReported_)
            report(DiagnosticCode::NulBytes, "the text holds NUL bytes; they were read as blanks", offset);
        nulReported_ = true;
        std::string changed(text);
        std::replace(changed.begin(), changed.end(), '\0', ' ');
        rewrite(std::move(changed));
    }
    const bool anyHigh = std::any_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
    if (anyHigh && !utf8Reported_ && !isValidUtf8(text)) {
        report(
            DiagnosticCode::InvalidUtf8, "the text is not UTF-8; such bytes were kept as they are", offset);
        utf8Reported_ = true;
    }
    if ((anyHigh || text.find('&') != std::string_view::npos) && hasOddCharacters(text))
        rewrite(replaceOddCharacters(text));
    return text;
}

void TextCursor::report(DiagnosticCode code, std::string message, uint64_t offset)
{
    diagnostics_.push_back(makeDiagnostic(
        code, std::move(message), {.chain = source_.name(), .line = nextLineNumber_, .offset = offset}));
}

} // namespace whichlock
