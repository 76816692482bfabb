// SPDX-License-Identifier: GPL-3.0-or-later
// The repairs of single lines: quote marks, entities, odd blanks, quoted-printable. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace whichlock {

/// What stripQuoteMarks() found.
struct Dequoted {
    std::string_view text;
    unsigned depth = 0;
};

/// Removes `> `, `>> `, `  UserB> ` in front of a line and counts them.
Dequoted stripQuoteMarks(std::string_view line);

/// Decodes HTML entities that stand for one character, turns U+00A0 and its kin into blanks and U+2212 into
/// a minus, and drops zero-width characters. Bytes that are no UTF-8 stay as they are.
std::string replaceOddCharacters(std::string_view line);
/// Whether replaceOddCharacters() would change anything.
bool hasOddCharacters(std::string_view line);

/// Decodes `=3D`, `=20` and the like; an `=` that is followed by no hex pair stays.
std::string decodeQuotedPrintable(std::string_view line);
/// Whether a text is quoted-printable, judged by its beginning.
bool looksQuotedPrintable(std::string_view head);
/// Whether a raw line is continued on the next one by a soft break.
bool endsInSoftBreak(std::string_view line);

/// Whether all bytes are below 0x80.
bool isAscii(std::string_view text);
/// Bytes of the character at the front of a text that is not empty; 0 if it is no valid UTF-8.
size_t utf8Length(std::string_view text);
/// Whether the bytes are valid UTF-8 (ASCII included).
bool isValidUtf8(std::string_view text);

} // namespace whichlock
