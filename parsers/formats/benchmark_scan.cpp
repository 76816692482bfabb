// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/benchmark_scan.h"

#include "parsers/input/text_scan.h"

#include <algorithm>

namespace whichlock::benchmark {
namespace {

char small(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

} // namespace

void Words::append(std::string_view line, size_t ahead)
{
    for (std::string_view word = nextToken(line); !word.empty(); word = nextToken(line)) {
        text.push_back(word);
        lineOf.push_back(ahead);
    }
}

Words paragraphWords(TextCursor& cursor, size_t mostLines)
{
    Words words;
    const TextLine* first = cursor.peek();
    const unsigned depth = first == nullptr ? 0 : first->quoteDepth;
    for (size_t i = 0; i < mostLines; ++i) {
        const TextLine* line = cursor.peek(i);
        if (line == nullptr || line->quoteDepth != depth || trimmed(line->text).empty())
            break;
        words.append(line->text, i);
    }
    return words;
}

bool isNumber(std::string_view word)
{
    return parseFixedPoint(word).has_value();
}

bool isDashes(std::string_view word, size_t fewest)
{
    return word.size() >= fewest && !word.empty() && word.find_first_not_of('-') == std::string_view::npos;
}

bool sameWord(std::string_view left, std::string_view right)
{
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
        [](char a, char b) { return small(a) == small(b); });
}

std::string lowered(std::string_view text)
{
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), small);
    return result;
}

bool numbersAt(std::span<const std::string_view> words, size_t at, size_t count)
{
    if (at > words.size() || words.size() - at < count)
        return false;
    for (size_t i = at; i < at + count; ++i) {
        if (!isNumber(words[i]))
            return false;
    }
    return true;
}

std::string joined(std::span<const std::string_view> words)
{
    std::string text;
    for (const std::string_view word : words) {
        if (!text.empty())
            text += ' ';
        text += word;
    }
    return text;
}

} // namespace whichlock::benchmark
