// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a text, cleaned of what mail programs and web archives did to them, with look-ahead.
// One pass over the source, bounded memory: lines that were passed are forgotten.
#pragma once

#include "parsers/input/source.h"

#include <deque>
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
        const size_t index = at_ + ahead;
        if (!pieces_.empty() && index < pieces_.front().lines.size())
            return &pieces_.front().lines[index];
        return peekFurther(index);
    }
    /// Moves on by `count` lines; at the end it stays there.
    void advance(size_t count = 1);

    const std::string& inputName() const { return source_.name(); }
    Position positionOf(const TextLine& line) const;
    /// Bytes read from the source so far.
    uint64_t bytesRead() const { return source_.bytesRead(); }

private:
    /// A stretch of input with the lines in it. `rewritten` owns the text of lines that were changed.
    struct Piece {
        std::vector<char> bytes; ///< no string: lines point into it, also when the piece was moved
        std::vector<TextLine> lines;
        std::deque<std::string> rewritten;
    };

    static std::string_view textOf(const Piece& piece) { return {piece.bytes.data(), piece.bytes.size()}; }
    const TextLine* peekFurther(size_t index);
    bool readPiece();
    void splitLines(Piece& piece, uint64_t offset);
    void addLine(Piece& piece, std::string_view raw, uint64_t offset);
    std::string_view clean(Piece& piece, std::string_view raw, uint64_t offset);
    void report(DiagnosticCode code, std::string message, uint64_t offset);

    Source& source_;
    std::vector<Diagnostic>& diagnostics_;
    std::vector<char> buffer_; ///< what the source is read into
    std::deque<Piece> pieces_;
    Piece spare_;       ///< storage of the last finished piece, to be used again
    size_t at_ = 0;     ///< index of the current line in the first piece
    std::string carry_; ///< the unfinished last line of what was read
    uint64_t carryOffset_ = 0;
    uint64_t nextLineNumber_ = 1;
    bool ended_ = false;
    bool skippingLongLine_ = false;
    bool quotedPrintable_ = false;
    bool nulReported_ = false;
    bool utf8Reported_ = false;
};

} // namespace whichlock
