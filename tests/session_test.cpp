// SPDX-License-Identifier: GPL-3.0-or-later
// Several tables and inputs as one session: what stands there twice is counted once.
#include "tests/support/reported.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

const char* const kTable = "  1000 total                                      0.1000\n"
                           "   500 default_idle                               7.8125\n"
                           "   300 .text.lock.dcache                          1.5000\n"
                           "   120 dput                                       0.2500\n"
                           "    80 d_lookup                                   0.3125\n";

std::string quoted(const std::string& text)
{
    std::string result;
    size_t begin = 0;
    while (begin < text.size()) {
        const size_t end = text.find('\n', begin);
        result += "> " + text.substr(begin, end - begin + 1);
        begin = end + 1;
    }
    return result;
}

size_t countOf(const Profile& profile, DiagnosticCode code)
{
    return static_cast<size_t>(std::count_if(profile.diagnostics.begin(), profile.diagnostics.end(),
        [&](const Diagnostic& one) { return one.code == code; }));
}

std::string replaced(std::string text, const std::string& from, const std::string& to)
{
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    return text.replace(at, from.size(), to);
}

TEST(RepeatedTables, quotedWholeIsCountedOnce)
{
    const std::string mail = "The profile:\n\n" + std::string(kTable) + "\nAnd the answer to it:\n\n"
        + quoted(kTable) + "\nThat is the dcache.\n";
    const Reported reported = reportOfTexts({{"mail.txt", mail}});
    ASSERT_EQ(reported.profile.sections.size(), 1U);
    EXPECT_EQ(reported.profile.sections[0].record.quoteDepth, 0U);
    EXPECT_EQ(reported.profile.sections[0].total, 1000U);
    EXPECT_EQ(countOf(reported.profile, DiagnosticCode::TableRepeated), 1U);
    EXPECT_NEAR(
        reported.json.at("sections")[0].at("contention_share_of_total_percent").get<double>(), 30, 1e-9);
}

TEST(RepeatedTables, quotedInPartIsCountedOnce)
{
    const std::string excerpt = "   500 default_idle                               7.8125\n"
                                "   300 .text.lock.dcache                          1.5000\n"
                                "   120 dput                                       0.2500\n";
    const std::string mail =
        "The profile:\n\n" + std::string(kTable) + "\nThe answer:\n\n" + quoted(excerpt) + "\nWhy dput?\n";
    const Reported reported = reportOfTexts({{"mail.txt", mail}});
    ASSERT_EQ(reported.profile.sections.size(), 1U);
    EXPECT_EQ(reported.profile.sections[0].rows, 4U);
    EXPECT_EQ(countOf(reported.profile, DiagnosticCode::TableRepeated), 1U);
}

TEST(RepeatedTables, oneOtherFigureMakesAnotherTable)
{
    const std::string other = replaced(kTable, "120 dput", "121 dput");
    const std::string mail = "Before:\n\n" + std::string(kTable) + "\nAfter:\n\n" + other + "\nBye.\n";
    const Reported reported = reportOfTexts({{"mail.txt", mail}});
    EXPECT_EQ(reported.profile.sections.size(), 2U);
    EXPECT_EQ(countOf(reported.profile, DiagnosticCode::TableRepeated), 0U);
}

TEST(RepeatedTables, aQuotedTableWithAnotherFigureIsNoExcerpt)
{
    const std::string other = replaced(kTable, "120 dput", "121 dput");
    const std::string mail = "New:\n\n" + std::string(kTable) + "\nOld:\n\n" + quoted(other) + "\nBye.\n";
    EXPECT_EQ(reportOfTexts({{"mail.txt", mail}}).profile.sections.size(), 2U);
}

TEST(RepeatedTables, anExcerptThatIsNotQuotedIsATableOfItsOwn)
{
    const std::string excerpt = "   500 default_idle                               7.8125\n"
                                "   300 .text.lock.dcache                          1.5000\n"
                                "   120 dput                                       0.2500\n";
    const std::string mail = "Run 1:\n\n" + std::string(kTable) + "\nRun 2, cut:\n\n" + excerpt + "\nBye.\n";
    EXPECT_EQ(reportOfTexts({{"mail.txt", mail}}).profile.sections.size(), 2U);
}

std::string sampleText(const std::string& path)
{
    std::ifstream in(std::string(WHICHLOCK_TESTDATA) + '/' + path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// What a report says, without the list of inputs and the diagnostics.
Json sayingsOf(const Reported& reported)
{
    Json json = reported.json;
    json.erase("inputs");
    json.erase("diagnostics");
    return json;
}

TEST(RepeatedTables, theSameFileTwiceSaysWhatItSaysOnce)
{
    for (const std::string path : {"opreport/kretprobe-vmstat/input.txt", "readprofile/ia64-512p/input.txt",
             "benchmarks/kprobes-scaling/input.txt", "perf-script/two-events/input.txt"}) {
        const std::string text = sampleText(path);
        const Reported once = reportOfTexts({{"a.txt", text}});
        const Reported twice = reportOfTexts({{"a.txt", text}, {"a.txt", text}});
        EXPECT_EQ(Json::diff(sayingsOf(once), sayingsOf(twice)), Json::array()) << path;
        EXPECT_EQ(twice.json.at("inputs").size(), 2U);
        EXPECT_GE(countOf(twice.profile, DiagnosticCode::TableRepeated), 1U) << path;
        // A copy under another name is no other measurement either.
        const Reported copied = reportOfTexts({{"a.txt", text}, {"copy of a.txt", text}});
        EXPECT_EQ(Json::diff(sayingsOf(once), sayingsOf(copied)), Json::array()) << path;
    }
}

TEST(Session, twoInputsAreOneReport)
{
    const Reported reported = reportOfTexts({{"profile.txt", kTable},
        {"vmstat.txt",
            "procs -----------memory---------- ---swap-- -----io---- -system-- ----cpu----\n"
            " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa\n"
            " 1  0      0 100000  20000 300000    0    0     1     2  100  200 10 20 70  0\n"
            " 2  0      0 100000  20000 300000    0    0     1     2  100  200 10 40 50  0\n"}});
    ASSERT_EQ(reported.json.at("sections").size(), 2U);
    EXPECT_EQ(reported.json.at("sections")[0].at("kind"), "cpu-profile");
    EXPECT_EQ(reported.json.at("sections")[1].at("kind"), "counters");
    EXPECT_EQ(reported.json.at("sections")[1].at("input"), "vmstat.txt");
}

TEST(Session, keepsAnInputThatFailedBesideOneThatWasRead)
{
    const Reported reported = reportOfTexts({{"empty.txt", ""}, {"profile.txt", kTable}});
    ASSERT_EQ(reported.profile.inputs.size(), 2U);
    EXPECT_TRUE(reported.profile.inputs[0].failed);
    EXPECT_FALSE(reported.profile.inputs[1].failed);
    EXPECT_EQ(reported.profile.sections.size(), 1U);
    EXPECT_EQ(countOf(reported.profile, DiagnosticCode::EmptyInput), 1U);
}

} // namespace
} // namespace whichlock::test
