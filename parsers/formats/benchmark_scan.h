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

/// Whether the word is a plain number: `12`, `-1.5`, `3.25`.
bool isNumber(std::string_view word);
/// Whether the word is a run of at least `fewest` dashes and nothing else.
bool isDashes(std::string_view word, size_t fewest = 1);
/// Words in small ASCII letters.
std::string lowered(std::string_view text);
/// Whether the words from `at` on are all numbers, `count` of them.
bool numbersAt(std::span<const std::string_view> words, size_t at, size_t count);
/// The words joined by single blanks.
std::string joined(std::span<const std::string_view> words);

} // namespace whichlock::benchmark
