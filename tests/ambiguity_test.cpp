// SPDX-License-Identifier: GPL-3.0-or-later
// No block of a sample may be claimed by two formats with the same confidence, and the format that a sample's
// folder names must win. Runs for every sample and every format.
#include "tests/support/recording_sink.h"
#include "tests/support/samples.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace whichlock::test {
namespace {

class Ambiguity : public testing::TestWithParam<Sample> { };

INSTANTIATE_TEST_SUITE_P(Samples, Ambiguity, testing::ValuesIn(samples()), kNameOfSample);

/// What the formats said at a line.
struct Asked {
    uint64_t line = 0;
    std::string text;
    std::vector<Claim> claims; ///< in the order of textFormats()
};

std::vector<Asked>& askedLines()
{
    static std::vector<Asked> asked;
    return asked;
}

/// A format that claims nothing. It is asked first at each line that no block has taken, and asks the others.
Claim askAll(TextCursor& cursor)
{
    const TextLine line = *cursor.peek();
    Asked asked{line.number, std::string(line.text.substr(0, 200)), {}};
    for (const TextFormat* format : textFormats())
        asked.claims.push_back(format->claim(cursor));
    askedLines().push_back(std::move(asked));
    return {};
}

void readNothing(TextCursor&, BlockContext&) { }

constexpr TextFormat kAsker = {"asker", "asks all formats", askAll, readNothing};

std::string claimants(const Asked& asked)
{
    std::string text;
    for (size_t i = 0; i < asked.claims.size(); ++i) {
        const Claim& claim = asked.claims[i];
        if (claim.confidence != Confidence::No)
            text += "\n  " + std::string(textFormats()[i]->name) + ": "
                + std::string(confidenceName(claim.confidence)) + ", " + std::string(claim.why);
    }
    return text;
}

TEST_P(Ambiguity, noTwoFormatsClaimABlockAlike)
{
    std::vector<const TextFormat*> formats = {&kAsker};
    formats.insert(formats.end(), textFormats().begin(), textFormats().end());
    askedLines().clear();
    RecordingSink sink;
    std::vector<Diagnostic> diagnostics;
    const auto source = Source::fromMemory("input.txt", GetParam().text);
    TextCursor cursor(*source, diagnostics);
    readTextDocument(cursor, sink, formats);
    ASSERT_FALSE(askedLines().empty());
    for (const Asked& asked : askedLines()) {
        const auto best =
            std::max_element(asked.claims.begin(), asked.claims.end(), [](const Claim& a, const Claim& b) {
                return a.confidence < b.confidence;
            })->confidence;
        const auto sharing = std::count_if(asked.claims.begin(), asked.claims.end(),
            [&](const Claim& claim) { return claim.confidence == best; });
        EXPECT_TRUE(best <= Confidence::Weak || sharing == 1)
            << GetParam().path << ':' << asked.line << ": " << asked.text << claimants(asked);
    }
}

bool hasFolder(std::string_view format)
{
    return std::any_of(
        samples().begin(), samples().end(), [&](const Sample& sample) { return sample.folder == format; });
}

TEST_P(Ambiguity, noFormatIsSurerThanThatOfTheFolder)
{
    const Sample& sample = GetParam();
    RecordingSink sink;
    const LoadedInput loaded = loadText(sample.text, sink);
    Confidence expected = Confidence::No; // of the format that the folder names
    Confidence best = Confidence::No;
    std::string scores;
    for (const FormatScore& score : loaded.scores) {
        // Tables of all kinds stand in one folder: any format will do that has no folder of its own.
        const bool isExpected =
            sample.folder == "benchmarks" ? !hasFolder(score.format) : score.format == sample.folder;
        if (score.blocks > 0 && isExpected)
            expected = std::max(expected, score.best.confidence);
        best = std::max(best, score.best.confidence);
        if (score.blocks > 0)
            scores += "\n  " + std::string(score.format) + ": "
                + std::string(confidenceName(score.best.confidence)) + ", " + std::to_string(score.blocks)
                + " blocks, " + std::to_string(score.lines) + " lines";
    }
    EXPECT_GT(expected, Confidence::Weak) << sample.path << scores;
    EXPECT_EQ(expected, best) << sample.path << scores;
}

} // namespace
} // namespace whichlock::test
