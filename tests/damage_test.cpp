// SPDX-License-Identifier: GPL-3.0-or-later
// What happens to texts on their way must not change what is read from them. Runs for every sample.
#include "parsers/input/text_cleaning.h"
#include "tests/support/record_dump.h"
#include "tests/support/samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace whichlock::test {
namespace {

class Damage : public testing::TestWithParam<Sample> {
protected:
    /// Content of the sample as it is.
    std::vector<std::string> plainContent() const { return contentOf(GetParam().text); }

    static std::vector<std::string> contentOf(std::string_view text)
    {
        RecordingSink sink;
        loadText(text, sink);
        return dumpContent(sink);
    }
};

INSTANTIATE_TEST_SUITE_P(Samples, Damage, testing::ValuesIn(samples()), kNameOfSample);

std::string withCrLf(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (c == '\n' && !out.ends_with('\r'))
            out += '\r';
        out += c;
    }
    return out;
}

/// `> ` in front of each line; a carriage return that stands for a line feed ends a line, too.
std::string withQuoteMarks(std::string_view text)
{
    std::string out = "> ";
    for (size_t i = 0; i < text.size(); ++i) {
        out += text[i];
        const bool lineEnds = text[i] == '\n'
            || (text[i] == '\r' && i + 1 < text.size() && text[i + 1] != '\n' && text[i + 1] != '\r');
        if (lineEnds && i + 1 < text.size())
            out += "> ";
    }
    return out;
}

/// The rows of all sections; a total is no row.
std::vector<std::string> allRows(const RecordingSink& sink)
{
    std::vector<std::string> all;
    for (const KeptSection& section : sink.sections) {
        for (std::string& row : dumpRows(section)) {
            if (!row.starts_with("total ") && !row.starts_with("columns "))
                all.push_back(std::move(row));
        }
    }
    return all;
}

bool has(const std::vector<Diagnostic>& diagnostics, DiagnosticCode code)
{
    return std::any_of(diagnostics.begin(), diagnostics.end(),
        [&](const Diagnostic& diagnostic) { return diagnostic.code == code; });
}

TEST_P(Damage, thePieceSizeChangesNothing)
{
    const std::string& text = GetParam().text;
    RecordingSink whole;
    const auto expected = dumpEverything(whole, loadText(text, whole));
    for (const size_t pieceBytes : {1u, 2u, 3u, 7u, 61u, 4096u}) {
        RecordingSink sink;
        EXPECT_EQ(dumpEverything(sink, loadText(text, sink, pieceBytes)), expected) << pieceBytes;
    }
}

TEST_P(Damage, crLfChangesNoRows)
{
    EXPECT_EQ(contentOf(withCrLf(GetParam().text)), plainContent());
}

TEST_P(Damage, quoteMarksChangeNoRows)
{
    if (looksQuotedPrintable(GetParam().text))
        GTEST_SKIP() << "texts are quoted before they are encoded";
    EXPECT_EQ(contentOf(withQuoteMarks(GetParam().text)), plainContent());
}

TEST_P(Damage, nulBytesAreReadAsBlanks)
{
    constexpr size_t kOneIn = 20; // many more, and it would be a binary file
    std::string text = GetParam().text;
    size_t blanks = 0;
    size_t changed = 0;
    for (char& c : text) {
        if (c == ' ' && ++blanks % kOneIn == 0) {
            c = '\0';
            ++changed;
        }
    }
    RecordingSink sink;
    const LoadedInput loaded = loadText(text, sink);
    EXPECT_EQ(dumpContent(sink), plainContent());
    EXPECT_EQ(has(loaded.diagnostics, DiagnosticCode::NulBytes), changed > 0);
}

TEST_P(Damage, bytesThatAreNoUtf8ChangeNoRows)
{
    const std::string noise = "\n\xff\xfe caf\xe9, \xc3\n\n";
    RecordingSink sink;
    const LoadedInput loaded = loadText(noise + GetParam().text + noise, sink);
    EXPECT_EQ(dumpContent(sink), plainContent());
    EXPECT_TRUE(has(loaded.diagnostics, DiagnosticCode::InvalidUtf8));
}

TEST_P(Damage, aLineOf8MiBIsCutAndTheRestIsRead)
{
    const Sample& sample = GetParam();
    if (sample.text.size() > 16 * 1024)
        GTEST_SKIP() << "the smaller samples of each format do";
    constexpr size_t kLongLine = 8 * 1024 * 1024;
    // The sample on one line, over and over: as near to a table as a line gets.
    std::string oneLine = sample.text;
    std::replace_if(
        oneLine.begin(), oneLine.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    std::string text = sample.text + "\n\n";
    while (text.size() < kLongLine + sample.text.size())
        text += oneLine + ' ';
    text += "\n\n" + sample.text;
    RecordingSink sink;
    const LoadedInput loaded = loadText(text, sink);
    EXPECT_TRUE(has(loaded.diagnostics, DiagnosticCode::LineTooLong));
    // Both copies of the sample are there; whether in sections of their own depends on the format.
    std::map<std::string, int> surplus;
    for (const std::string& row : allRows(sink))
        ++surplus[row];
    RecordingSink plain;
    loadText(sample.text, plain);
    for (const std::string& row : allRows(plain))
        EXPECT_GE(surplus[row] -= 2, 0) << row;
}

TEST_P(Damage, aTableAndItsQuoteAreBothDelivered)
{
    const Sample& sample = GetParam();
    if (looksQuotedPrintable(sample.text))
        GTEST_SKIP() << "texts are quoted before they are encoded";
    RecordingSink once;
    loadText(sample.text, once);
    RecordingSink twice;
    loadText(sample.text + "\n\nSomebody wrote:\n\n" + withQuoteMarks(sample.text) + "\n", twice);
    ASSERT_EQ(twice.sections.size(), 2 * once.sections.size());
    for (size_t i = 0; i < twice.sections.size(); ++i) {
        const KeptSection& expected = once.sections[i % once.sections.size()];
        EXPECT_EQ(dumpHead(twice.sections[i]), dumpHead(expected));
        EXPECT_EQ(dumpRows(twice.sections[i]), dumpRows(expected));
        const unsigned deeper = i < once.sections.size() ? 0 : 1;
        EXPECT_EQ(twice.sections[i].record.quoteDepth, expected.record.quoteDepth + deeper);
    }
}

} // namespace
} // namespace whichlock::test
