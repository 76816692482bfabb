// SPDX-License-Identifier: GPL-3.0-or-later
// A sample that ends anywhere is read as far as it goes. Runs for every sample.
#include "parsers/input/text_cleaning.h"
#include "tests/support/record_dump.h"
#include "tests/support/samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace whichlock::test {
namespace {

class Truncation : public testing::TestWithParam<Sample> { };

INSTANTIATE_TEST_SUITE_P(Samples, Truncation, testing::ValuesIn(samples()), kNameOfSample);

/// Every byte of the first 4 KiB; behind it line ends +-1 and seeded offsets, within a budget of bytes read.
std::set<size_t> cutsOf(std::string_view text)
{
    constexpr size_t kEveryByteUntil = 4096;
    constexpr size_t kBytesToRead = 16 * 1024 * 1024;
    std::set<size_t> cuts;
    for (size_t at = 0; at < std::min(text.size(), kEveryByteUntil); ++at)
        cuts.insert(at);
    if (text.size() <= kEveryByteUntil)
        return cuts;
    const size_t most = std::clamp<size_t>(2 * kBytesToRead / text.size(), 100, 1000);
    std::vector<size_t> lineEnds;
    for (size_t at = text.find('\n', kEveryByteUntil); at != std::string_view::npos;
         at = text.find('\n', at + 1))
        lineEnds.push_back(at);
    const size_t step = std::max<size_t>(1, lineEnds.size() * 6 / most);
    for (size_t i = 0; i < lineEnds.size(); i += step) {
        for (const size_t at : {lineEnds[i] - 1, lineEnds[i], lineEnds[i] + 1})
            cuts.insert(std::min(at, text.size()));
    }
    std::mt19937 random(1);
    std::uniform_int_distribution<size_t> anywhere(kEveryByteUntil, text.size() - 1);
    for (size_t i = 0; i < most / 2; ++i)
        cuts.insert(anywhere(random));
    return cuts;
}

/// Rows without what depends on the end of the table: totals, the head of a table, and the parts of a row
/// that a call graph below it splits.
std::vector<std::string> rowsOf(const KeptSection& section)
{
    // What of a call path is in no other one follows from the rows below it.
    if (section.record.format == "lkp" && section.record.kind == SectionKind::CpuProfile)
        return {};
    std::vector<std::string> rows = dumpRows(section);
    std::erase_if(rows, [](const std::string& row) {
        const bool tableHead = row.starts_with("table ") && !row.starts_with("table row ");
        const bool graphPart = row.starts_with("row ") && !row.ends_with(" | ");
        return row.starts_with("total ") || row.starts_with("lock table ") || row.starts_with("columns ")
            || tableHead || graphPart;
    });
    return rows;
}

/// Whether `rows` without the last one, which may be cut, stand in `whole` in the same order.
bool isPrefixConsistent(const std::vector<std::string>& rows, const std::vector<std::string>& whole)
{
    size_t at = 0;
    for (size_t i = 0; i + 1 < rows.size(); ++i, ++at) {
        while (at < whole.size() && whole[at] != rows[i])
            ++at;
        if (at == whole.size())
            return false;
    }
    return true;
}

TEST_P(Truncation, keepsTheRowsBeforeTheCut)
{
    const std::string& text = GetParam().text;
    RecordingSink whole;
    loadText(text, whole);
    std::vector<std::vector<std::string>> wholeRows;
    for (const KeptSection& section : whole.sections)
        wholeRows.push_back(rowsOf(section));
    for (const size_t cut : cutsOf(text)) {
        // How a text is encoded cannot be told from too little of it.
        if (looksQuotedPrintable(text) != looksQuotedPrintable(std::string_view(text).substr(0, cut)))
            continue;
        RecordingSink sink;
        const LoadedInput loaded = loadText(std::string_view(text).substr(0, cut), sink);
        EXPECT_EQ(loaded.bytes, cut);
        ASSERT_LE(sink.sections.size(), whole.sections.size() + 1) << GetParam().path << " cut at " << cut;
        for (size_t i = 0; i < sink.sections.size(); ++i) {
            const auto rows = rowsOf(sink.sections[i]);
            const bool consistent = std::any_of(wholeRows.begin(), wholeRows.end(),
                [&](const auto& expected) { return isPrefixConsistent(rows, expected); });
            ASSERT_TRUE(consistent) << GetParam().path << " cut at " << cut << ": section " << i
                                    << " has rows that the whole has not:\n"
                                    << testing::PrintToString(rows);
        }
    }
}

} // namespace
} // namespace whichlock::test
