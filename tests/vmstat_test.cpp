// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/recording_sink.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace whichlock::test {
namespace {

using Words = std::vector<std::string>;
using Values = std::vector<int64_t>;

RecordingSink readVmstat(std::string_view text, size_t pieceBytes = SIZE_MAX)
{
    RecordingSink sink;
    loadText(text, sink, pieceBytes, {.onlyFormat = "vmstat"});
    return sink;
}

size_t countOf(const RecordingSink& sink, DiagnosticCode code)
{
    return static_cast<size_t>(std::count_if(sink.diagnostics.begin(), sink.diagnostics.end(),
        [&](const Diagnostic& diagnostic) { return diagnostic.code == code; }));
}

/// The sum of a column over all rows of a section; `fromEnd` counts columns from the last one.
int64_t sumOf(const KeptSection& section, size_t fromEnd)
{
    int64_t sum = 0;
    for (const Values& row : section.counterRows)
        sum += row.at(row.size() - 1 - fromEnd);
    return sum;
}

constexpr std::string_view kHeader =
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in    cs us sy id wa\n";

// --- generations ------------------------------------------------------------------------------------------

TEST(Vmstat, readsAWholeHeaderWithItsGroupLine)
{
    const RecordingSink sink =
        readVmstat("## sample 1\n"
                   "procs -----------memory---------- ---swap-- -----io---- -system-- ----cpu----\n"
                   " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa\n"
                   " 2  0      0 491008 199604 741304    0    0     2     1  147   54  4  1 95  0\n"
                   " 0  0      0 487528 199604 745220    0    0     0     8  884 2284 28 26 46  0\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    const KeptSection& section = sink.sections[0];
    EXPECT_EQ(section.record.format, "vmstat");
    EXPECT_EQ(section.record.kind, SectionKind::Counters);
    EXPECT_EQ(section.record.quantity, QuantityKind::Count);
    EXPECT_EQ(section.record.unit, Unit::Count);
    EXPECT_EQ(section.record.title, "sample 1");
    EXPECT_EQ(section.record.position.line, 2U);
    EXPECT_EQ(section.counterColumns,
        (Words{"r", "b", "swpd", "free", "buff", "cache", "si", "so", "bi", "bo", "in", "cs", "us", "sy",
            "id", "wa"}));
    ASSERT_EQ(section.counterRows.size(), 2U);
    EXPECT_EQ(section.counterRows[1],
        (Values{0, 0, 0, 487528, 199604, 745220, 0, 0, 0, 8, 884, 2284, 28, 26, 46, 0}));
    EXPECT_EQ(countOf(sink, DiagnosticCode::FirstRowSinceBoot), 1U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::ColumnsPartial), 0U);
}

TEST(Vmstat, tellsTheColumnsByTheWordsAndNotByTheirPlace)
{
    const RecordingSink waBeforeId =
        readVmstat(" r  b   swpd   free   buff  cache   si   so    bi    bo   in    cs us sy wa id\n"
                   " 1  0      0   2000   3000   4000    0    0     1     2  100   200  5 10  1 84\n");
    ASSERT_EQ(waBeforeId.sections.size(), 1U);
    EXPECT_EQ(waBeforeId.sections[0].counterColumns.at(14), "wa");
    const RecordingSink withW =
        readVmstat("   procs                      memory    swap          io     system         cpu\n"
                   " r  b  w   swpd   free   buff  cache  si  so    bi    bo   in    cs  us  sy  id\n"
                   " 1  0  0  14008   4348   4144 802828   1   0  6390    13 4828  1765  14  22  64\n");
    ASSERT_EQ(withW.sections.size(), 1U);
    EXPECT_EQ(withW.sections[0].counterColumns.at(2), "w");
    EXPECT_EQ(withW.sections[0].counterRows.at(0).back(), 64);
    const RecordingSink guest =
        readVmstat(" r  b   swpd   free  inact active   si   so    bi    bo   in   cs us sy id wa st gu\n"
                   " 4  0      0 1037646940  0 8372420   0    0   184 21968 17318 40213 1 1 97  0  0  1\n");
    ASSERT_EQ(guest.sections.size(), 1U);
    EXPECT_EQ(guest.sections[0].counterColumns.at(4), "inact");
    EXPECT_EQ(guest.sections[0].counterRows.at(0).at(3), 1037646940);
    EXPECT_EQ(guest.sections[0].counterRows.at(0).back(), 1);
}

TEST(Vmstat, makesNoCounterOfATimestamp)
{
    const RecordingSink sink = readVmstat(
        "procs -----memory------- ---swap-- -----io---- -system-- --------cpu-------- -----timestamp-----\n"
        " r    b    swpd     free   buff   cache   si   so    bi    bo   in   cs  us  sy  id  wa  st        "
        "         UTC\n"
        " 1    0       0   806000  12000  400000    0    0     1     2   10   20   1   2  97   0   0 "
        "2024-01-02 10:11:12\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].counterColumns.size(), 17U);
    EXPECT_EQ(sink.sections[0].counterColumns.back(), "st");
    EXPECT_EQ(sink.sections[0].counterRows.at(0),
        (Values{1, 0, 0, 806000, 12000, 400000, 0, 0, 1, 2, 10, 20, 1, 2, 97, 0, 0}));
    EXPECT_EQ(countOf(sink, DiagnosticCode::RemarkInTable), 0U);
}

TEST(Vmstat, readsTheBsdsWithTheirDisks)
{
    const RecordingSink freeBsd =
        readVmstat(" procs      memory      page                    disks     faults         cpu\n"
                   " r b w     avm    fre   flt  re  pi  po    fr  sr ad0 da0   in   sy   cs us sy id\n"
                   " 1 0 0   63720  339504  1158   0   0   0  1022   0   0   0  246 1201  336 22 15 63\n"
                   " 0 0 0   58164  339792  7924   0   0   0  6663   0   4   3  242 5829  744 15 71 14\n");
    ASSERT_EQ(freeBsd.sections.size(), 1U);
    const KeptSection& section = freeBsd.sections[0];
    EXPECT_EQ(section.counterColumns,
        (Words{"r", "b", "w", "avm", "fre", "flt", "re", "pi", "po", "fr", "sr", "ad0", "da0", "in", "sy",
            "cs", "us", "sy", "id"}));
    EXPECT_EQ(sumOf(section, 1), 15 + 71); // the last sy is the CPU's
    EXPECT_EQ(sumOf(section, 4), 1201 + 5829);
    EXPECT_EQ(countOf(freeBsd, DiagnosticCode::FirstRowSinceBoot), 1U);
    const RecordingSink openBsd =
        readVmstat(" procs    memory       page                    disks    traps          cpu\n"
                   " r b w    avm     fre  flt  re  pi  po  fr  sr wd0 cd0  int   sys   cs us sy id\n"
                   " 2 1 0   7608  191356   66   0   0   0   0   0   2   0  231   108   14  0  1 99\n");
    ASSERT_EQ(openBsd.sections.size(), 1U);
    EXPECT_EQ(openBsd.sections[0].counterColumns.at(13), "int");
}

TEST(Vmstat, readsMemoryWithSuffixesInKilobytes)
{
    const RecordingSink sink =
        readVmstat("r  b  w  avm  fre  flt  re  pi  po   fr   sr ada0 da0   in   sy   cs us sy id\n"
                   "1  0  0 514G 1.5G   10   0   0   0   12   16    0   0   10  200  300  1  2 97\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].counterRows.at(0).at(3), 514LL * 1024 * 1024);
    EXPECT_EQ(sink.sections[0].counterRows.at(0).at(4), 3LL * 512 * 1024);
}

TEST(Vmstat, readsTextWithCarriageReturnsAndTabs)
{
    const RecordingSink sink =
        readVmstat("procs memory swap io system cpu\r"
                   "\t r  b   swpd   free   si   so    bi    bo   in   cs us sy id wa\r"
                   "\t 2  0      1  56540    0    0    10   152    0    0  3  1 95  1\r");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].counterRows.at(0), (Values{2, 0, 1, 56540, 0, 0, 10, 152, 0, 0, 3, 1, 95, 1}));
}

// --- cut excerpts -----------------------------------------------------------------------------------------

TEST(Vmstat, readsExcerptsOfSomeColumns)
{
    const RecordingSink io = readVmstat("vmstat:\n"
                                        "---io---  --system-- ----cpu----\n"
                                        "bi   bo   in    cs   us sy id wa\n"
                                        "0     2   35   465   82 17  1  0\n"
                                        "0    50   37   463   80 18  3  0\n"
                                        "0    86   27   434   80 19  1  0\n"
                                        "0     0   10   410   80 20  0  0\n"
                                        "0    26   18   416   81 19  0  0\n"
                                        "\n");
    ASSERT_EQ(io.sections.size(), 1U);
    EXPECT_EQ(io.sections[0].record.title, "vmstat");
    EXPECT_EQ(io.sections[0].counterColumns, (Words{"bi", "bo", "in", "cs", "us", "sy", "id", "wa"}));
    EXPECT_EQ(io.sections[0].counterRows.size(), 5U);
    EXPECT_EQ(sumOf(io.sections[0], 2), 93); // a mean of 18.6
    EXPECT_EQ(countOf(io, DiagnosticCode::ColumnsPartial), 1U);
    EXPECT_EQ(countOf(io, DiagnosticCode::FirstRowSinceBoot), 0U);
    const RecordingSink cpu =
        readVmstat("CPU time from vmstat:\n usr sys id wa\n   0  15 20 65\n   0  19  0 81\n");
    ASSERT_EQ(cpu.sections.size(), 1U);
    EXPECT_EQ(cpu.sections[0].counterColumns, (Words{"usr", "sys", "id", "wa"}));
    EXPECT_EQ(sumOf(cpu.sections[0], 2), 34);
}

TEST(Vmstat, skipsRepeatedHeadersButBeginsAnewAfterABlankLine)
{
    const std::string group = "procs memory swap io system cpu\n";
    const std::string header = " r  b   bi    bo   in   cs us sy id wa\n";
    const std::string row = " 1  0    0     0   10   20  1  2 97  0\n";
    const RecordingSink one = readVmstat(group + header + row + group + header + row + header + row);
    ASSERT_EQ(one.sections.size(), 1U);
    EXPECT_EQ(one.sections[0].counterRows.size(), 3U);
    const RecordingSink two = readVmstat(group + header + row + "\n" + group + header + row);
    EXPECT_EQ(two.sections.size(), 2U);
}

// --- wrapped, and without a header
// --------------------------------------------------------------------------

TEST(Vmstat, joinsRowsThatAreWrappedAtVaryingColumns)
{
    const RecordingSink sink =
        readVmstat("Preempt on, mem=4G\n"
                   "\n"
                   " r  b   swpd   free   buff  cache   si   so    bi    bo   in    cs us sy \n"
                   "id wa\n"
                   " 9  0      0 3708656  43480 334772    0    0    31    10  135    14  0  3 \n"
                   "96  1\n"
                   " 9  0      0 3270376  44460 761840    0    0     0 84554 1146    57  0 100  \n"
                   "0  0\n"
                   "10  0      0 2839680  45436 1185396    0    0     0 84579 1219    68  0 \n"
                   "100  0  0\n"
                   "\n"
                   "Preempt off\n"
                   "\n"
                   " 9  1      0 4221696  59828 3372500    0    0    54  2356  147    51  1 17 \n"
                   "81  1\n"
                   " 8  1      0 3594336  61208 3989276    0    0     0 110992 1373  1680  0 \n"
                   "91  2  7\n"
                   " 7  1      0 2975704  63588 4596296    0    0     0 116468 1344  1989  0 \n"
                   "92  2  7\n");
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[0].counterRows.size(), 3U);
    EXPECT_EQ(sumOf(sink.sections[0], 2), 3 + 100 + 100);
    EXPECT_EQ(sumOf(sink.sections[0], 6), 10 + 84554 + 84579); // bo
    // The second block takes the columns of the first.
    EXPECT_EQ(sink.sections[1].record.title, "Preempt off");
    EXPECT_EQ(sink.sections[1].counterColumns, sink.sections[0].counterColumns);
    EXPECT_EQ(sink.sections[1].counterRows.size(), 3U);
    EXPECT_EQ(sumOf(sink.sections[1], 2), 17 + 91 + 92);
    EXPECT_EQ(countOf(sink, DiagnosticCode::HeaderMissing), 1U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::RowsRejoined), 2U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::FirstRowSinceBoot), 2U);
}

TEST(Vmstat, joinsQuotedPrintableRows)
{
    const RecordingSink sink =
        readVmstat("Now it should be stuck.=20\n"
                   "\n"
                   "   procs                      memory    swap          io     system cpu\n"
                   " r  b  w   swpd   free   buff  cache  si  so    bi    bo   in    cs  us  sy =\n"
                   " id\n"
                   " 1  0  0  14008   4348   4144 802828   1   0  6390    13 4828  1765  14 22 =\n"
                   " 64\n"
                   " 0  1  0  14008   4428   4080 804840   0   0    56     8  490   332   2 2  =\n"
                   "96\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].counterRows.size(), 2U);
    EXPECT_EQ(sumOf(sink.sections[0], 0), 64 + 96);
}

TEST(Vmstat, guessesTheColumnsOfRowsWithoutAnyHeader)
{
    const std::string rows =
        " 1  0   0   2000   3000   4000    0    0     1     2  100   200  5 10  85 0 0\n"
        " 1  0   0   2000   3000   4000    0    0     1     2  100   200  5 10  84 1 0\n";
    const RecordingSink sink = readVmstat(rows);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].counterColumns.back(), "st");
    EXPECT_EQ(sink.sections[0].counterRows.size(), 2U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::HeaderMissing), 1U);
    // The columns above are others: they are not taken.
    const RecordingSink after = readVmstat("usr sys id wa\n0 15 20 65\n\n" + rows);
    ASSERT_EQ(after.sections.size(), 2U);
    EXPECT_EQ(after.sections[1].counterColumns.size(), 17U);
}

TEST(Vmstat, doesNotGuessWhatCannotBeTold)
{
    const RecordingSink sink =
        readVmstat("1 2 3 4 5 6 7 8 9 10 11 12 3 97 0\n1 2 3 4 5 6 7 8 9 10 11 12 3 97 0\n");
    EXPECT_TRUE(sink.sections.empty());
    EXPECT_EQ(countOf(sink, DiagnosticCode::HeaderMissing), 1U);
}

// --- damage -----------------------------------------------------------------------------------------------

TEST(Vmstat, keepsTheCpuColumnsOfARowWhoseValuesRanTogether)
{
    const RecordingSink sink = readVmstat(std::string(kHeader)
        + " 1  0      0   2000   3000   4000    0    0     1     2  100   200  5 10 85  0\n"
          " 1  0      0   2000 1005664131072    0    0     1     2  100   200  5 11 84  0\n"
          " 1  0      0   2000 1005664131072    0    0     1     2  100   200  5 11 44  0\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].counterRows.size(), 2U);
    const Values& tail = sink.sections[0].counterRows[1];
    EXPECT_EQ(tail[0], kNoCounter);
    EXPECT_EQ(tail[11], kNoCounter);
    EXPECT_EQ(Values(tail.begin() + 12, tail.end()), (Values{5, 11, 84, 0}));
    EXPECT_EQ(countOf(sink, DiagnosticCode::ValuesRunTogether), 1U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::RowUnreadable), 1U);
}

TEST(Vmstat, saysWhatItPassesOverBetweenRows)
{
    const std::string row = " 1  0      0   2000   3000   4000    0    0     1     2  100   200  5 10 85  0";
    const RecordingSink sink = readVmstat(std::string(kHeader) + row + "\n...\n" + row + " <- look\n"
        + "(now the load starts)\n" + row + "\n"
        + " 1  0      0   2000   3000   xxxx    0    0     1     2  100   200  5 10 85  0\n"
        + " 1  0      0   2000   3000   4000    0    0     1 99999999999999999999  100   200  5 10 85  0\n"
        + row + " 17\n" + row + "\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].counterRows.size(), 4U);
    ASSERT_EQ(sink.sections[0].facts.size(), 1U);
    EXPECT_EQ(sink.sections[0].facts[0].kind, FactKind::CutMark);
    EXPECT_EQ(countOf(sink, DiagnosticCode::RemarkInTable), 2U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::RowUnreadable), 2U); // xxxx, and one field too many
    EXPECT_EQ(countOf(sink, DiagnosticCode::NumberOverflow), 1U);
}

TEST(Vmstat, endsAQuotedBlockWhereTheQuoteEnds)
{
    const RecordingSink sink = readVmstat("> in cs us sy id wa\n> 100 200 1 2 97 0\n100 200 3 4 93 0\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].counterRows.size(), 1U);
}

TEST(Vmstat, refusesOtherSystemsByName)
{
    const RecordingSink solaris =
        readVmstat(" kthr      memory            page            disk          faults      cpu\n"
                   " r b w   swap  free  re  mf pi po fr de sr s0 s1 s2 s3   in   sy   cs us sy id\n"
                   " 0 0 0 2143552 1342008 1 6  0  0  0  0  0  0  0  0  0  405  237  262  0  1 99\n");
    EXPECT_TRUE(solaris.sections.empty());
    ASSERT_EQ(solaris.diagnostics.size(), 1U);
    EXPECT_EQ(solaris.diagnostics[0].code, DiagnosticCode::ShapeUnread);
    EXPECT_NE(solaris.diagnostics[0].message.find("Solaris"), std::string::npos);
    const RecordingSink aix =
        readVmstat("kthr    memory              page              faults        cpu\n"
                   "----- ----------- ------------------------ ------------ -----------\n"
                   " r  b   avm   fre  re  pi  po  fr   sr  cy  in   sy  cs us sy id wa\n"
                   " 1  1 228000 13000   0   0   0   0    0   0 120  500 200  3  2 95  0\n");
    EXPECT_TRUE(aix.sections.empty());
    ASSERT_EQ(aix.diagnostics.size(), 1U);
    EXPECT_NE(aix.diagnostics[0].message.find("AIX"), std::string::npos);
}

TEST(Vmstat, leavesProseAndOtherTablesAlone)
{
    for (const std::string_view text : {
             "we see us sy id here\n1 2 97\n",
             "us sy id\nwords\n",
             "r b\n1 2\n",
             "12:00:01 AM  CPU    %usr   %nice    %sys %iowait    %irq   %soft   %idle\n"
             "12:00:02 AM  all    1.00    0.00    2.00    0.00    0.00    0.00   97.00\n",
             "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
             "           1.00    0.00    2.00    0.00    0.00   97.00\n",
             "      tty             ad0              cpu\n tin tout  KB/t tps  MB/s  us ni sy in id\n"
             "   0    1 22.00   1  0.02   1  0  2  0 97\n",
             "@@ -1,2 +1,3 @@\n bi bo in cs us sy id wa\n+0 2 35 465 82 17 1 0\n",
             "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
         }) {
        const RecordingSink sink = readVmstat(text);
        EXPECT_TRUE(sink.sections.empty()) << text;
        EXPECT_EQ(countOf(sink, DiagnosticCode::HeaderMissing), 0U) << text;
    }
}

TEST(Vmstat, givesTheSameRecordsWhateverThePieces)
{
    const std::string text = std::string(kHeader)
        + " 1  0      0   2000   3000   4000    0    0     1     2  100   200  5 10 \n85  0\n"
          " 1  0      0   2000   3000   4000    0    0     1     2  100   200  5 11 84  0\n";
    for (size_t piece = 1; piece < 40; ++piece) {
        const RecordingSink sink = readVmstat(text, piece);
        ASSERT_EQ(sink.sections.size(), 1U);
        EXPECT_EQ(sumOf(sink.sections[0], 2), 21);
    }
    for (size_t length = 0; length < text.size(); ++length)
        readVmstat(std::string_view(text).substr(0, length)); // must end, whatever is cut
}

} // namespace
} // namespace whichlock::test
