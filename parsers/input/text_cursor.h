// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a text, cleaned of what mail programs and web archives did to them, with look-ahead.
// One pass over the source, bounded memory: lines that were passed are forgotten.
#pragma once

#include "parsers/input/source.h"

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// One line, cleaned: without line end, trailing blanks and quote marks; no-break blanks are blanks,
/// entities (`&lt;`) are decoded, soft breaks of quoted-printable texts are joined.
struct TextLine {
    std::string_view text;   ///< valid until the cursor advances past the line
    uint64_t number = 0;     ///< counted from one, in line feeds of the raw input
    uint64_t offset = 0;     ///< of the first byte in the raw input
    unsigned quoteDepth = 0; ///< quote marks that were removed
};

/// MT: one thread.
class TextCursor {
public:
    static constexpr size_t kMaxLineBytes = 1024 * 1024;

    /// Reads from `source`, which must outlive the cursor. Diagnostics about lines go to `diagnostics`.
    TextCursor(Source& source, std::vector<Diagnostic>& diagnostics);

    /// The line `ahead` lines further, or null past the end. Does not move.
    const TextLine* peek(size_t ahead = 0)
    {
        return ahead < static_cast<size_t>(end_ - at_) ? at_ + ahead : peekFurther(ahead);
    }
    /// Moves on by `count` lines; at the end it stays there.
    void advance(size_t count = 1)
    {
        if (count < static_cast<size_t>(end_ - at_))
            at_ += count;
        else
            advanceFurther(count);
    }

    const std::string& inputName() const { return source_.name(); }
    Position positionOf(const TextLine& line) const;
    /// Bytes read from the source so far.
    uint64_t bytesRead() const { return source_.bytesRead(); }

private:
    /// A stretch of input with the lines in it, at least one. It stays where it is until its last line was
    /// passed: lines point into `bytes` and into `rewritten`, which has the lines that were changed.
    struct Piece {
        std::unique_ptr<char[]> bytes;
        size_t capacity = 0;
        std::vector<TextLine> lines;
        std::deque<std::string> rewritten;
    };
    /// What the bytes of a piece hold at all, so that single lines need not be searched for it.
    struct Contents {
        bool carriageReturns = false;
        bool nuls = false;
        bool ampersands = false;
        bool beyondAscii = false;
    };

    const TextLine* peekFurther(size_t ahead);
    void advanceFurther(size_t count);
    void showFrontPiece();
    bool readPiece();
    std::string_view fillPiece(Piece& piece);
    size_t splitLines(Piece& piece, std::string_view bytes);
    size_t lineEnd(std::string_view bytes, size_t start) const;
    size_t cutLongLine(Piece& piece, std::string_view rest, uint64_t offset);
    void addLine(Piece& piece, std::string_view raw, uint64_t offset);
    void addParts(Piece& piece, std::string_view raw, uint64_t offset);
    void addPart(Piece& piece, std::string_view raw, uint64_t offset);
    std::string_view clean(Piece& piece, std::string_view raw, uint64_t offset);
    void report(DiagnosticCode code, std::string message, uint64_t offset);

    Source& source_;
    std::vector<Diagnostic>& diagnostics_;
    const TextLine* at_ = nullptr;              ///< the current line, in the first piece
    const TextLine* end_ = nullptr;             ///< the end of the first piece's lines
    std::deque<std::unique_ptr<Piece>> pieces_; ///< the current one and those looked into ahead of it
    std::unique_ptr<Piece> spare_;              ///< storage of the last finished piece, to be used again
    std::string carry_;                         ///< the unfinished last line of what was read
    uint64_t bytesOffset_ = 0;                  ///< of the first byte that was not split into lines yet
    Contents contents_;                         ///< of the piece that is being split
    uint64_t nextLineNumber_ = 1;
    bool ended_ = false;
    bool skippingLongLine_ = false;
    bool quotedPrintable_ = false;
    bool nulReported_ = false;
    bool utf8Reported_ = false;
};

} // namespace whichlock
