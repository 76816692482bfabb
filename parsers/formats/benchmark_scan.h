// SPDX-License-Identifier: GPL-3.0-or-later
// What the readers of benchmark tables share: words of a line or paragraph and what they may be.
#pragma once

#include "parsers/fixed_point.h"
#include "parsers/input/text_cursor.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock::benchmark {

/// The words of some lines in a row, each with its line (counted ahead from the cursor).
struct Words {
    std::vector<std::string_view> text;
    std::vector<size_t> lineOf;

    size_t size() const { return text.size(); }
    void append(std::string_view line, size_t ahead);
};

/// The words from the cursor to the next blank line, to another quote depth, or to `mostLines`.
Words paragraphWords(TextCursor& cursor, size_t mostLines);

/// Lines that a claim looks at in a paragraph: enough for a header and one row that an editor re-filled.
constexpr size_t kLinesOfClaim = 6;

/// The paragraph at the cursor, only as far as it is needed, so that reading many small tables stays linear:
/// it grows until the last line in use, as `lastLineUsed(words)` tells, is well before its end.
template <typename LastLineUsed> Words paragraphAsFarAsUsed(TextCursor& cursor, LastLineUsed lastLineUsed)
{
    constexpr size_t kMostLines = 4096;
    for (size_t lines = 2 * kLinesOfClaim;; lines *= 2) {
        Words words = paragraphWords(cursor, lines);
        const bool whole = words.lineOf.empty() || words.lineOf.back() + 1 < lines;
        if (whole || lines >= kMostLines || lastLineUsed(words) + kLinesOfClaim < lines)
            return words;
    }
}

/// Whether the word is a plain number: `12`, `-1.5`, `3.25`.
bool isNumber(std::string_view word);
/// Whether the word is a run of at least `fewest` dashes and nothing else.
bool isDashes(std::string_view word, size_t fewest = 1);
/// Whether two words are the same but for ASCII capitals.
bool sameWord(std::string_view left, std::string_view right);
/// The text in small ASCII letters.
std::string lowered(std::string_view text);
/// Whether the words from `at` on are all numbers, `count` of them.
bool numbersAt(std::span<const std::string_view> words, size_t at, size_t count);
/// The words joined by single blanks.
std::string joined(std::span<const std::string_view> words);

} // namespace whichlock::benchmark
