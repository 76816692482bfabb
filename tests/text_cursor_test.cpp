// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/input/text_cleaning.h"
#include "parsers/input/text_cursor.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

struct Line {
    std::string text;
    uint64_t number = 0;
    uint64_t offset = 0;
    unsigned depth = 0;

    bool operator==(const Line&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Line& line)
{
    return out << line.number << " @" << line.offset << " depth " << line.depth << " `"
               << line.text.substr(0, 90) << "`";
}

struct Reading {
    std::vector<Line> lines;
    std::vector<Diagnostic> diagnostics;
};

Reading readAll(std::string_view text, size_t pieceBytes = SIZE_MAX)
{
    Reading reading;
    const auto source = Source::fromMemory("input.txt", text, pieceBytes);
    TextCursor cursor(*source, reading.diagnostics);
    for (; const TextLine* line = cursor.peek(); cursor.advance())
        reading.lines.push_back({std::string(line->text), line->number, line->offset, line->quoteDepth});
    return reading;
}

/// A text in which every kind of repair is due, over and over.
std::string damagedText(bool quotedPrintable, size_t bytes)
{
    std::string text = quotedPrintable ? "Content-Transfer-Encoding: quoted-printable\n" : "plain\n";
    for (size_t i = 0; text.size() < bytes; ++i) {
        text += "> > quoted " + std::to_string(i) + "\r\n";
        text += "a &lt; b\u00a0c &amp;\t \n\n";
        text += "one\rtwo\rthree\n";
        text += std::string("nul\0here\n", 9);
        text += "latin \xb1\n";
        text += std::string(70, 'x') + std::to_string(i % 1000) + "=\n";
        text += std::string(70, 'y') + "=3D=\r\ntail=20\n";
    }
    return text + "no end of line";
}

TEST(TextCursor, countsLinesAndOffsetsInTheRawBytes)
{
    const Reading reading = readAll("a\n\nb  \r\nlast");
    const std::vector<Line> expected = {{"a", 1, 0, 0}, {"", 2, 2, 0}, {"b", 3, 3, 0}, {"last", 4, 8, 0}};
    EXPECT_EQ(reading.lines, expected);
    EXPECT_TRUE(reading.diagnostics.empty());
}

TEST(TextCursor, givesNoLineForAnEmptyTextAndOneForALineEnd)
{
    EXPECT_TRUE(readAll("").lines.empty());
    EXPECT_EQ(readAll("\n").lines, (std::vector<Line>{{"", 1, 0, 0}}));
}

TEST(TextCursor, stripsQuoteMarksAndCountsThem)
{
    const Reading reading = readAll("> a\n>> b\n> > c\n  JB> d\n    > e\na->b\nx>y\n\t7f12ab34 f>g\n>\n");
    ASSERT_EQ(reading.lines.size(), 9U);
    const std::vector<std::pair<std::string, unsigned>> expected = {{"a", 1}, {"b", 2}, {"c", 2}, {"d", 1},
        {"e", 1}, {"a->b", 0}, {"x>y", 0}, {"\t7f12ab34 f>g", 0}, {"", 1}};
    for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(reading.lines[i].text, expected[i].first);
        EXPECT_EQ(reading.lines[i].depth, expected[i].second);
    }
}

TEST(TextCursor, findsTheQuoteMarkBehindTheLongestIndentAndName)
{
    EXPECT_EQ(stripQuoteMarks("    Abcdefghijkl> x").text, "x");
    EXPECT_EQ(stripQuoteMarks("    Abcdefghijklm> x").depth, 0U);
    EXPECT_EQ(stripQuoteMarks("     > x").depth, 0U);
    EXPECT_EQ(stripQuoteMarks("").depth, 0U);
}

TEST(TextCursor, decodesEntitiesAndOddBlanks)
{
    const Reading reading = readAll("a &lt;b&gt; &amp;c &noentity; R&D\nx\u00a0y\u202fz \u2212"
                                    "5\u200b\n");
    ASSERT_EQ(reading.lines.size(), 2U);
    EXPECT_EQ(reading.lines[0].text, "a <b> &c &noentity; R&D");
    EXPECT_EQ(reading.lines[1].text, "x y z -5");
    EXPECT_TRUE(reading.diagnostics.empty());
}

TEST(TextCursor, takesCarriageReturnsForLineEndsWhereTheyStandAlone)
{
    const Reading reading = readAll("one\rtwo\r\rthree");
    const std::vector<Line> expected = {
        {"one", 1, 0, 0}, {"two", 1, 4, 0}, {"", 1, 8, 0}, {"three", 1, 9, 0}};
    EXPECT_EQ(reading.lines, expected);
}

TEST(TextCursor, readsALongTextWithCarriageReturnsOnly)
{
    std::string text;
    constexpr size_t kLines = 400'000; // 3.2 MB without one line feed
    for (size_t i = 0; i < kLines; ++i)
        text += std::to_string(1'000'000 + i) + '\r';
    const Reading reading = readAll(text);
    EXPECT_TRUE(reading.diagnostics.empty());
    ASSERT_EQ(reading.lines.size(), kLines);
    for (size_t i = 0; i < kLines; i += 1009) {
        EXPECT_EQ(reading.lines[i].text, std::to_string(1'000'000 + i));
        EXPECT_EQ(reading.lines[i].offset, i * 8);
        EXPECT_EQ(reading.lines[i].number, 1U);
    }
}

TEST(TextCursor, joinsSoftBreaksAndCountsTheirLineFeeds)
{
    const std::string front(50, 'a');
    const Reading reading =
        readAll("quoted-printable\n" + front + "=\n" + front + "=\r\n=3Dtail=20\nnext =3D\nx =\n");
    ASSERT_EQ(reading.lines.size(), 4U);
    EXPECT_EQ(reading.lines[1].text, front + front + "=tail");
    EXPECT_EQ(reading.lines[1].number, 2U);
    EXPECT_EQ(reading.lines[2], (Line{"next =", 5, 17 + 52 + 53 + 11, 0}));
    EXPECT_EQ(reading.lines[3].text, "x ="); // too short for a soft break
}

TEST(TextCursor, readsNulsAsBlanksAndReportsThemOnce)
{
    const Reading reading = readAll(std::string_view("ok\na\0b\nc\0\0\n", 11));
    ASSERT_EQ(reading.lines.size(), 3U);
    EXPECT_EQ(reading.lines[1].text, "a b");
    EXPECT_EQ(reading.lines[2].text, "c");
    ASSERT_EQ(reading.diagnostics.size(), 1U);
    EXPECT_EQ(reading.diagnostics[0].code, DiagnosticCode::NulBytes);
    EXPECT_EQ(reading.diagnostics[0].position.line, 2U);
    EXPECT_EQ(reading.diagnostics[0].position.offset, 3U);
}

TEST(TextCursor, keepsBytesThatAreNoUtf8AndReportsThemOnce)
{
    const Reading reading = readAll("gr\u00fcn\na \xb1 5\nb \xff\n");
    ASSERT_EQ(reading.lines.size(), 3U);
    EXPECT_EQ(reading.lines[0].text, "gr\u00fcn");
    EXPECT_EQ(reading.lines[1].text, "a \xb1 5");
    EXPECT_EQ(reading.lines[2].text, "b \xff");
    ASSERT_EQ(reading.diagnostics.size(), 1U);
    EXPECT_EQ(reading.diagnostics[0].code, DiagnosticCode::InvalidUtf8);
    EXPECT_EQ(reading.diagnostics[0].position.line, 2U);
}

TEST(TextCursor, tellsUtf8FromItsImitations)
{
    EXPECT_TRUE(isValidUtf8("\u00b1 \u20ac \U0001f512"));
    EXPECT_FALSE(isValidUtf8("\xc0\xaf"));         // overlong
    EXPECT_FALSE(isValidUtf8("\xe0\x80\xaf"));     // overlong
    EXPECT_FALSE(isValidUtf8("\xed\xa0\x80"));     // surrogate
    EXPECT_FALSE(isValidUtf8("\xf4\x90\x80\x80")); // beyond U+10FFFF
    EXPECT_FALSE(isValidUtf8("\xe2\x82"));         // cut
}

TEST(TextCursor, cutsALineOfEightMebibytesOnceAndReadsTheLinesBehindIt)
{
    constexpr size_t kLong = 8 * TextCursor::kMaxLineBytes;
    const std::string text = "first\n" + std::string(kLong, 'x') + "\nsecond\nthird\n";
    const Reading reading = readAll(text);
    ASSERT_EQ(reading.lines.size(), 4U);
    EXPECT_EQ(reading.lines[1].text, std::string(TextCursor::kMaxLineBytes, 'x'));
    EXPECT_EQ(reading.lines[2], (Line{"second", 3, 6 + kLong + 1, 0}));
    EXPECT_EQ(reading.lines[3], (Line{"third", 4, 6 + kLong + 8, 0}));
    ASSERT_EQ(reading.diagnostics.size(), 1U);
    EXPECT_EQ(reading.diagnostics[0].code, DiagnosticCode::LineTooLong);
    EXPECT_EQ(reading.diagnostics[0].position.line, 2U);
    EXPECT_EQ(reading.diagnostics[0].position.offset, 6U);
}

TEST(TextCursor, cutsByTheLengthOfTheLineAlone)
{
    const std::string most(TextCursor::kMaxLineBytes, 'x');
    const Reading whole = readAll(most + "\nb\n");
    EXPECT_TRUE(whole.diagnostics.empty());
    ASSERT_EQ(whole.lines.size(), 2U);
    for (const char* end : {"x\nb\n", "xyz\nb\n"}) {
        const Reading cut = readAll(most + end);
        ASSERT_EQ(cut.lines.size(), 2U);
        EXPECT_EQ(cut.lines[0].text.size(), TextCursor::kMaxLineBytes);
        EXPECT_EQ(cut.lines[1].text, "b");
        EXPECT_EQ(cut.lines[1].number, 2U);
        EXPECT_EQ(cut.diagnostics.size(), 1U);
    }
    const Reading last = readAll(most + "xyz");
    EXPECT_EQ(last.lines.size(), 1U);
    EXPECT_EQ(last.diagnostics.size(), 1U);
}

TEST(TextCursor, givesEqualLinesHoweverTheSourceIsCutUp)
{
    for (const bool quotedPrintable : {false, true}) {
        const std::string text = damagedText(quotedPrintable, 300 * 1024);
        const Reading whole = readAll(text);
        EXPECT_GT(whole.lines.size(), 5000U);
        for (const size_t pieceBytes : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{64 * 1024}}) {
            const Reading pieces = readAll(text, pieceBytes);
            EXPECT_TRUE(pieces.lines == whole.lines) << "pieces of " << pieceBytes;
            EXPECT_EQ(pieces.diagnostics.size(), whole.diagnostics.size());
        }
    }
}

TEST(TextCursor, givesEqualLinesWhereverTheyLieInTheBuffer)
{
    for (const bool quotedPrintable : {false, true}) {
        const std::string text = damagedText(quotedPrintable, 150 * 1024);
        const Reading plain = readAll(text);
        for (size_t shift = 1; shift <= 160; shift += 3) {
            const Reading shifted = readAll(std::string(shift - 1, '#') + '\n' + text);
            ASSERT_EQ(shifted.lines.size(), plain.lines.size() + 1);
            for (size_t i = 0; i < plain.lines.size(); ++i) {
                Line expected = plain.lines[i];
                expected.number += 1;
                expected.offset += shift;
                ASSERT_EQ(shifted.lines[i + 1], expected) << "shift " << shift;
            }
        }
    }
}

TEST(TextCursor, keepsLinesThatWereLookedAtUntilTheyArePassed)
{
    std::string text;
    constexpr size_t kLines = 60'000; // several pieces; the short ones fit into a string object
    for (size_t i = 0; i < kLines; ++i)
        text += "&lt;" + std::to_string(i) + "\n";
    std::vector<Diagnostic> diagnostics;
    const auto source = Source::fromMemory("input.txt", text);
    TextCursor cursor(*source, diagnostics);
    std::vector<const TextLine*> seen;
    for (size_t i = 0; i < kLines; ++i)
        seen.push_back(cursor.peek(i));
    EXPECT_EQ(cursor.peek(kLines), nullptr);
    for (size_t i = 0; i < kLines; ++i) {
        ASSERT_EQ(seen[i]->text, "<" + std::to_string(i));
        ASSERT_EQ(seen[i]->number, i + 1);
    }
}

TEST(TextCursor, movesOverPiecesAndStaysAtTheEnd)
{
    std::string text;
    constexpr size_t kLines = 100'000;
    for (size_t i = 0; i < kLines; ++i)
        text += std::to_string(i) + "\n";
    std::vector<Diagnostic> diagnostics;
    const auto source = Source::fromMemory("input.txt", text);
    TextCursor cursor(*source, diagnostics);
    cursor.advance(99'990); // without looking first
    ASSERT_NE(cursor.peek(), nullptr);
    EXPECT_EQ(cursor.peek()->text, "99990");
    EXPECT_EQ(cursor.peek(9)->text, "99999");
    EXPECT_EQ(cursor.peek(10), nullptr);
    cursor.advance(0);
    EXPECT_EQ(cursor.peek()->text, "99990");
    cursor.advance(1000);
    EXPECT_EQ(cursor.peek(), nullptr);
    cursor.advance();
    EXPECT_EQ(cursor.peek(), nullptr);
}

} // namespace
} // namespace whichlock::test
