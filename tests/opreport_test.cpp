// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/recording_sink.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace whichlock::test {
namespace {

RecordingSink readOpreport(std::string_view text, size_t pieceBytes = SIZE_MAX)
{
    RecordingSink sink;
    loadText(text, sink, pieceBytes, {.onlyFormat = "opreport"});
    return sink;
}

size_t countOf(const RecordingSink& sink, DiagnosticCode code)
{
    return static_cast<size_t>(std::count_if(sink.diagnostics.begin(), sink.diagnostics.end(),
        [&](const Diagnostic& diagnostic) { return diagnostic.code == code; }));
}

std::string factOf(const KeptSection& section, FactKind kind)
{
    for (const KeptFact& fact : section.facts) {
        if (fact.kind == kind)
            return fact.value;
    }
    return {};
}

/// 8.6083 % is 86083000 parts per billion.
constexpr Share percent(int64_t tenThousandths)
{
    return {tenThousandths * 1000};
}

// --- with a header ----------------------------------------------------------------------------------------

TEST(Opreport, readsImageSymbolSamplesAndShare)
{
    const RecordingSink sink =
        readOpreport("Counted GLOBAL_POWER_EVENTS events (time during which processor is not\n"
                     "stopped) with a unit mask of 0x01 (mandatory) count 100000\n"
                     "samples  %        app name                 symbol name\n"
                     "985913    8.6083  vmlinux                  mark_offset_tsc\n"
                     "584473    5.1032  libc-2.3.2.so            getc\n"
                     "134145    1.1713  sendmail                 getc\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    const KeptSection& section = sink.sections[0];
    EXPECT_EQ(section.record.format, "opreport");
    EXPECT_EQ(section.record.kind, SectionKind::CpuProfile);
    EXPECT_EQ(section.record.unit, Unit::Samples);
    EXPECT_EQ(section.record.event, "GLOBAL_POWER_EVENTS");
    EXPECT_EQ(section.record.position.line, 1U);
    EXPECT_EQ(factOf(section, FactKind::EventDescription),
        "Counted GLOBAL_POWER_EVENTS events (time during which processor is not stopped) with a unit mask of "
        "0x01 (mandatory) count 100000");
    ASSERT_EQ(section.rows.size(), 3U);
    EXPECT_EQ(section.rows[0].value, 985913U);
    EXPECT_EQ(section.rows[0].share, percent(86083));
    EXPECT_EQ(section.rows[0].line, 4U);
    // The same name in two images is two symbols.
    EXPECT_EQ(section.rows[1].symbol, "getc");
    EXPECT_EQ(section.rows[1].image, "libc-2.3.2.so");
    EXPECT_EQ(section.rows[2].symbol, "getc");
    EXPECT_EQ(section.rows[2].image, "sendmail");
    EXPECT_FALSE(section.total); // 14.88 % are no whole
    EXPECT_TRUE(sink.diagnostics.empty());
}

TEST(Opreport, givesEachEventOfATableItsSection)
{
    const RecordingSink sink =
        readOpreport("CPU: P4 / Xeon, speed 2200.91 MHz (estimated)\n"
                     "Counted BSQ_CACHE_REFERENCE events (cache references seen by the bus\n"
                     "unit) with a unit mask of 0x3f (multiple flags) count 3000\n"
                     "Counted BSQ_CACHE_REFERENCE events (cache references seen by the bus\n"
                     "unit) with a unit mask of 0x200 (read 3rd level cache miss) count 3000\n"
                     "samples  %        samples  %        app name                 symbol name\n"
                     "120801    7.4379  37017    63.4603  vmlinux                  __copy_from_user_ll\n"
                     "66027     4.0654  656       1.1246  vmlinux                 \n"
                     "journal_add_journal_head\n"
                     "60032     3.6963  120       0.2057  vmlinux                 \n"
                     "journal_dirty_metadata\n"
                     "\n"
                     "words\n");
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[0].record.event, "BSQ_CACHE_REFERENCE, unit mask 0x3f");
    EXPECT_EQ(sink.sections[1].record.event, "BSQ_CACHE_REFERENCE, unit mask 0x200");
    EXPECT_EQ(factOf(sink.sections[1], FactKind::CpuType), "CPU: P4 / Xeon, speed 2200.91 MHz (estimated)");
    EXPECT_NE(factOf(sink.sections[1], FactKind::EventDescription).find("read 3rd level"), std::string::npos);
    ASSERT_EQ(sink.sections[0].rows.size(), 3U);
    ASSERT_EQ(sink.sections[1].rows.size(), 3U);
    EXPECT_EQ(sink.sections[0].rows[1].symbol, "journal_add_journal_head");
    EXPECT_EQ(sink.sections[0].rows[1].value, 66027U);
    EXPECT_EQ(sink.sections[1].rows[1].value, 656U);
    EXPECT_EQ(sink.sections[1].rows[0].share, percent(634603));
    EXPECT_EQ(countOf(sink, DiagnosticCode::SameEventTwice), 1U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::RowsRejoined), 1U);
}

TEST(Opreport, doesNotLendTheEventsOfOneTableToTheNext)
{
    const RecordingSink sink =
        readOpreport("Counted CYCLES events (x) with a unit mask of 0x00 (y) count 10\n"
                     "samples  %        app name                 symbol name\n"
                     "281538   15.2083  vmlinux                  _spin_lock\n"
                     "\n"
                     "Old kernel:\n"
                     "samples  %        app name                 symbol name\n"
                     "11439689 82.2135  cc1                  (no symbols)\n"
                     "...\n"
                     "8527      0.0613  vmlinux              __copy_from_user_ll\n");
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[0].record.event, "CYCLES");
    EXPECT_EQ(sink.sections[1].record.event, "");
    EXPECT_EQ(sink.sections[1].record.title, "Old kernel");
    ASSERT_EQ(sink.sections[1].rows.size(), 2U);
    EXPECT_EQ(sink.sections[1].rows[0].symbol, "(no symbols)");
    EXPECT_EQ(sink.sections[1].rows[0].image, "cc1");
    EXPECT_EQ(factOf(sink.sections[1], FactKind::CutMark), "...");
}

TEST(Opreport, namesSeparatedProfilesByTheirClass)
{
    const RecordingSink sink =
        readOpreport("CPU: Core 2, speed 2400 MHz (estimated)\n"
                     "Counted CYCLES events (c) with a unit mask of 0x00 (none) count 100000\n"
                     "Samples on CPU 0\n"
                     "Samples on CPU 1\n"
                     "samples  %        samples  %        image name               symbol name\n"
                     "10       66.6667  0             0  vmlinux                  default_idle\n"
                     "5        33.3333  11      100.000  vmlinux                  _spin_lock\n");
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[0].record.event, "CYCLES, CPU 0");
    EXPECT_EQ(sink.sections[1].record.event, "CYCLES, CPU 1");
    EXPECT_EQ(sink.sections[0].total, 15U);
    EXPECT_EQ(sink.sections[1].total, 11U);
    EXPECT_EQ(sink.sections[1].rows[0].value, 0U);
    EXPECT_EQ(sink.sections[1].rows[0].share, percent(0));
}

TEST(Opreport, readsAddressesLineInfoAndBothImages)
{
    const RecordingSink sink = readOpreport(
        "vma      samples  %        linenr info                 image name               app name          "
        "       symbol name\n"
        "c0114a80 985913    8.6083  timer_tsc.c:44              vmlinux-2.6.9            vmlinux-2.6.9     "
        "       mark_offset_tsc\n"
        "00000000 584473    5.1032  (no location information)   libc-2.3.2.so            sendmail          "
        "       getc\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].rows.size(), 2U);
    EXPECT_EQ(sink.sections[0].rows[0].value, 985913U);
    EXPECT_EQ(sink.sections[0].rows[0].symbol, "mark_offset_tsc");
    EXPECT_EQ(sink.sections[0].rows[1].image, "libc-2.3.2.so");
    EXPECT_EQ(sink.sections[0].rows[1].symbol, "getc");
    EXPECT_EQ(factOf(sink.sections[0], FactKind::Image), "vmlinux-2.6.9");
}

TEST(Opreport, passesOverAccumulatedColumns)
{
    const RecordingSink sink =
        readOpreport("samples  cum. samples  %        cum. %     image name               symbol name\n"
                     "985913   985913         8.6083   8.6083    vmlinux                  mark_offset_tsc\n"
                     "584473   1570386        5.1032  13.7115    libc-2.3.2.so            getc\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].rows.size(), 2U);
    EXPECT_EQ(sink.sections[0].rows[1].value, 584473U);
    EXPECT_EQ(sink.sections[0].rows[1].share, percent(51032));
    EXPECT_EQ(sink.sections[0].rows[1].image, "libc-2.3.2.so");
}

TEST(Opreport, readsDecimalCommasAndAllFormsOfPercentages)
{
    const RecordingSink sink = readOpreport("samples  %        image name               symbol name\n"
                                            "985913    8,6083  vmlinux                  a\n"
                                            "86       7.5e-04  vmlinux                  b\n"
                                            "0              0  vmlinux                  c\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].rows.size(), 3U);
    EXPECT_EQ(sink.sections[0].rows[0].share, percent(86083));
    EXPECT_EQ(sink.sections[0].rows[1].share, (Share{7500})); // 0.00075 %
    EXPECT_EQ(sink.sections[0].rows[2].share, percent(0));
}

TEST(Opreport, keepsNamesThatHaveBlanks)
{
    const RecordingSink sink = readOpreport(
        "    samples  %        linenr info                 app name                 symbol name\n"
        "    497      28.7117  instructions.cpp:82         rbx                      ns::run(ns::State*, "
        "ns::Frame*)\n"
        "    460      26.5742  (no location information)   anon (tgid:4118 range:0xb581c000-0xb589c000) anon "
        "(tgid:4118 range:0xb581c000-0xb589c000)\n"
        "      # => A remark between two rows\n"
        "    158       9.1277  jit_util.cpp:787            rbx                      rbx_set_local_depth\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    const auto& rows = sink.sections[0].rows;
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].symbol, "ns::run(ns::State*, ns::Frame*)");
    EXPECT_EQ(rows[0].image, "rbx");
    EXPECT_EQ(rows[1].image, "anon (tgid:4118 range:0xb581c000-0xb589c000)");
    EXPECT_EQ(rows[1].symbol, "anon (tgid:4118 range:0xb581c000-0xb589c000)");
    EXPECT_EQ(rows[2].symbol, "rbx_set_local_depth");
    EXPECT_EQ(countOf(sink, DiagnosticCode::RemarkInTable), 1U);
}

TEST(Opreport, saysThatATimerCounted)
{
    const RecordingSink sink = readOpreport("CPU: CPU with timer interrupt, speed 0 MHz (estimated)\n"
                                            "Profiling through timer interrupt\n"
                                            "samples  %        image name               symbol name\n"
                                            "10        50.0000  vmlinux                  default_idle\n"
                                            "9         45.0000  vmlinux                  _spin_lock\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(factOf(sink.sections[0], FactKind::EventDescription), "Profiling through timer interrupt");
}

TEST(Opreport, givesTheTotalOfAListThatIsWhole)
{
    // 99.8447 + 0.1494 + 0.0059 = 100; 34085 + 51 + 2 = 34138.
    const std::string whole = "samples  %        image name               symbol name\n"
                              "34085    99.8447  java                     a\n"
                              "51        0.1494  java                     b\n";
    const RecordingSink sink = readOpreport(whole + "2         0.0059  java                     c\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].total, 34138U);
    EXPECT_FALSE(readOpreport(whole).sections[0].total);
    EXPECT_FALSE(readOpreport(whole + "...\n2         0.0059  java    c\n").sections[0].total);
}

// --- wrapped rows -----------------------------------------------------------------------------------------

TEST(Opreport, joinsAPathThatIsBrokenInsideARow)
{
    const RecordingSink sink = readOpreport("samples  %        image name               symbol name\n"
                                            "60400     3.7189  /lib/modules/2.6.12.4/kernel/fs/a/long/ext\n"
                                            "3/ext3.ko  journal_x\n"
                                            "60000     3.6942  /lib/modules/2.6.12.4/kernel/fs/ext3/ext3.ko\n"
                                            "journal_y\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    const auto& rows = sink.sections[0].rows;
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].image, "/lib/modules/2.6.12.4/kernel/fs/a/long/ext3/ext3.ko");
    EXPECT_EQ(rows[0].symbol, "journal_x");
    EXPECT_EQ(rows[1].image, "/lib/modules/2.6.12.4/kernel/fs/ext3/ext3.ko");
    EXPECT_EQ(rows[1].symbol, "journal_y");
    EXPECT_EQ(countOf(sink, DiagnosticCode::RowsRejoined), 1U);
}

TEST(Opreport, joinsASignatureThatIsBrokenAtABlank)
{
    const RecordingSink sink = readOpreport("samples  %        image name               symbol name\n"
                                            "6000      3.6e-01  rbx     ns::f(int,\n"
                                            " char const*, std::pair<int, int>)\n"
                                            "5000      3.0e-01  rbx     cut_by_the_author(int, ...\n"
                                            "4000      2.4e-01  rbx     g\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    const auto& rows = sink.sections[0].rows;
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].symbol, "ns::f(int, char const*, std::pair<int, int>)");
    EXPECT_EQ(rows[1].symbol, "cut_by_the_author(int, ...");
    EXPECT_EQ(rows[2].symbol, "g");
}

TEST(Opreport, readsAHeaderThatIsWrapped)
{
    const RecordingSink sink = readOpreport("samples  %        samples  %        app name           symbol\n"
                                            "name\n"
                                            "84139     5.1806  885       1.5172  vmlinux       _spin_lock\n");
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[1].rows.at(0).value, 885U);
}

TEST(Opreport, goesOnOverBlankLinesOfADoubleSpacedMail)
{
    const RecordingSink sink = readOpreport("samples  %        image name               symbol name\n\n"
                                            "60400     3.7189  vmlinux   a\n\n"
                                            "60000     3.6942  vmlinux   b\n\n"
                                            "70000     1.0000  vmlinux   of_something_else\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].rows.size(), 2U);
}

TEST(Opreport, endsAQuotedListWhereTheQuoteEnds)
{
    const RecordingSink sink = readOpreport("> samples  %        image name               symbol name\n"
                                            "> 60400     3.7189  vmlinux   a\n"
                                            "60000     3.6942  vmlinux   b\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.quoteDepth, 1U);
    EXPECT_EQ(sink.sections[0].rows.size(), 1U);
}

// --- early layouts and rows without a header
// ----------------------------------------------------------------

TEST(Opreport, readsAddressSamplesPercentSymbolImageWithoutHeader)
{
    const RecordingSink sink =
        readOpreport("Some text before the table.\n\n"
                     "c0105340 3309367  51.0125     default_idle            /boot/vmlinux-2.5.28-3\n"
                     "c0135667 1095488  16.8865     .text.lock.page_alloc   /boot/vmlinux-2.5.28-3\n"
                     "00000fec 475107   7.32358     dump_one                /lib/modules/2.5.28-3/kern\n"
                     "el/arch/i386/oprofile/oprofile.o\n"
                     "c010fa60 41383    0.637902    smp_apic_timer_interrupt /boot/vmlinux-2.5.28-3\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    const KeptSection& section = sink.sections[0];
    ASSERT_EQ(section.rows.size(), 4U);
    EXPECT_EQ(section.rows[1].symbol, ".text.lock.page_alloc");
    EXPECT_EQ(section.rows[1].value, 1095488U);
    EXPECT_EQ(section.rows[1].share, percent(168865));
    EXPECT_EQ(section.rows[2].image, "/lib/modules/2.5.28-3/kernel/arch/i386/oprofile/oprofile.o");
    EXPECT_EQ(section.rows[2].share, (Share{73235800})); // 7.32358 %
    EXPECT_EQ(section.rows[3].symbol, "smp_apic_timer_interrupt");
    EXPECT_EQ(factOf(section, FactKind::Image), "vmlinux-2.5.28-3");
    EXPECT_EQ(countOf(sink, DiagnosticCode::HeaderMissing), 1U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::RowsRejoined), 1U);
}

TEST(Opreport, readsAddressSamplesPercentSymbolWithAndWithoutHeader)
{
    // 332946298 / 0.892647 and 13000000 / 0.0348540 are both 372.99 million.
    const std::string rows = "c01053ec 332946298 89.2647     poll_idle\n"
                             "c0105400 13000000  3.4854      schedule\n";
    for (const std::string& text : {rows, "vma      samples  %-age       symbol name\n" + rows}) {
        const RecordingSink sink = readOpreport(text);
        ASSERT_EQ(sink.sections.size(), 1U);
        ASSERT_EQ(sink.sections[0].rows.size(), 2U);
        EXPECT_EQ(sink.sections[0].rows[0].value, 332946298U);
        EXPECT_EQ(sink.sections[0].rows[0].symbol, "poll_idle");
        EXPECT_EQ(sink.sections[0].rows[0].image, "");
    }
}

TEST(Opreport, tellsTheColumnsFromWholeRowsWhenTheLastOneIsCut)
{
    const RecordingSink sink =
        readOpreport("c0105340 3309367  51.0125     default_idle            /boot/vmlinux-2.5.28-3\n"
                     "c0135667 1095488  16.8865     .text.lo");
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].rows.size(), 1U);
    EXPECT_EQ(sink.sections[0].rows[0].image, "/boot/vmlinux-2.5.28-3");
    EXPECT_EQ(countOf(sink, DiagnosticCode::RowUnreadable), 1U);
}

TEST(Opreport, readsRowsOfImageAndSymbolWithoutHeader)
{
    const RecordingSink sink = readOpreport("281538   15.2083  vmlinux                  __copy_from_user_ll\n"
                                            "81069     4.3792  vmlinux                  _spin_lock\n"
                                            "75523     4.0796  cc1                      (no symbols)\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].rows.size(), 3U);
    EXPECT_EQ(sink.sections[0].rows[2].image, "cc1");
    EXPECT_EQ(sink.sections[0].rows[2].symbol, "(no symbols)");
}

TEST(Opreport, leavesRowsAloneWhosePercentagesAreOfNoCommonWhole)
{
    for (const std::string_view text : {
             // As above, but the second percentage would belong to 8.1 million samples.
             "281538   15.2083  vmlinux    a\n81069     1.0000  vmlinux    b\n75523     4.0796  vmlinux    "
             "c\n",
             "c01053ec 332946298 89.2647   a\nc0105400 13000000  5.0000      b\n",
             // One row alone proves nothing.
             "c01053ec 332946298 89.2647   a\n",
             "12 3.4000 apples and pears\n11 3.1166 more apples\n10 2.8333 plums\n",
         }) {
        const RecordingSink sink = readOpreport(text);
        EXPECT_TRUE(sink.sections.empty()) << text;
        EXPECT_TRUE(sink.diagnostics.empty()) << text;
    }
}

// --- what is refused --------------------------------------------------------------------------------------

TEST(Opreport, refusesACallGraph)
{
    const RecordingSink sink =
        readOpreport("samples  %        image name               symbol name\n"
                     "  197       0.1548  cg                       main\n"
                     "  127036   99.8452  cg                       repeat\n"
                     "84590    42.5084  libc-2.3.2.so            strfry\n"
                     "  84590    66.4838  libc-2.3.2.so            strfry [self]\n"
                     "  39169    30.7850  libc-2.3.2.so            random_r\n"
                     "-------------------------------------------------------------------------------\n"
                     "\n"
                     "samples  %        image name               symbol name\n"
                     "860       7.4607  kallsyms                 avtab_search_node\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].rows.at(0).symbol, "avtab_search_node");
    ASSERT_EQ(countOf(sink, DiagnosticCode::ShapeUnread), 1U);
    EXPECT_NE(sink.diagnostics[0].message.find("call graph"), std::string::npos);
    EXPECT_EQ(sink.diagnostics[0].position.line, 1U);
}

TEST(Opreport, refusesACallGraphThatLostItsIndentsOrItsHeader)
{
    const RecordingSink flat = readOpreport("samples  %        image name               symbol name\n"
                                            "197       0.1548  cg                       main\n"
                                            "127036   99.8452  cg                       repeat\n"
                                            "84590    42.5084  libc-2.3.2.so            strfry\n"
                                            "39169    30.7850  libc-2.3.2.so            random_r\n");
    EXPECT_TRUE(flat.sections.empty());
    EXPECT_EQ(countOf(flat, DiagnosticCode::ShapeUnread), 1U);
    const RecordingSink headless = readOpreport(
        "  4         9.0909  libj9trc23.so            java.bin                 fillInUTInterfaces\n"
        "  37       84.0909  libj9trc23.so            java.bin                 twGetSequenceCounter\n"
        "8         0.0154  libj9prt23.so            java.bin                 j9time_hires_clock\n"
        "  9        20.4545  libc-2.4.so              java.bin                 gettimeofday\n"
        "-------------------------------------------------------------------------------\n");
    EXPECT_TRUE(headless.sections.empty());
    EXPECT_EQ(countOf(headless, DiagnosticCode::ShapeUnread), 1U);
}

TEST(Opreport, refusesADifferentialProfile)
{
    const RecordingSink sink = readOpreport("samples  %        diff %    symbol name\n"
                                            "92435    48.5366  +0.4999   a\n"
                                            "54226    ---      ---       c\n"
                                            "49222    25.8459  +++       d\n"
                                            "48787    25.6175  -2.2e-01  b\n");
    EXPECT_TRUE(sink.sections.empty());
    ASSERT_EQ(sink.diagnostics.size(), 1U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::ShapeUnread);
    EXPECT_NE(sink.diagnostics[0].message.find("4 lines"), std::string::npos);
}

TEST(Opreport, refusesSummariesByImage)
{
    const RecordingSink sink = readOpreport("CPU: Intel Sandy Bridge, speed 2401 MHz (estimated)\n"
                                            "Counted CPU_CLK_UNHALTED events (c) with a unit mask of 0x00 "
                                            "(No unit mask) count 100000\n"
                                            "CPU_CLK_UNHALT...|\n"
                                            "  samples|      %|\n"
                                            "------------------\n"
                                            "    22577 28.9011 /usr/bin/Xorg\n"
                                            "\tCPU_CLK_UNHALT...|\n"
                                            "\t  samples|      %|\n"
                                            "\t------------------\n"
                                            "\t    16846 74.6158 /proc/kallsyms\n"
                                            "\t     2126  9.4167 /usr/bin/Xorg\n"
                                            "    ...\n"
                                            "end\n");
    EXPECT_TRUE(sink.sections.empty());
    ASSERT_EQ(sink.diagnostics.size(), 1U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::ShapeUnread);
}

TEST(Opreport, passesOverTheAddressesBelowASymbol)
{
    const RecordingSink sink = readOpreport("vma      samples  %           symbol name\n"
                                            "00000000 129       25.0000     main\n"
                                            "  00000000 3         2.3256\n"
                                            "  00000004 126       97.6744\n"
                                            "c0105400 387      75.0000      foo\n"
                                            "  c0105400 387      100.000\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].rows.size(), 2U);
    EXPECT_EQ(sink.sections[0].total, 516U); // 129 + 387
    EXPECT_EQ(countOf(sink, DiagnosticCode::RemarkInTable), 1U);
}

// --- damage -----------------------------------------------------------------------------------------------

TEST(Opreport, skipsARowThatDoesNotFitAndKeepsTheOthers)
{
    const RecordingSink sink = readOpreport("samples  %        image name               symbol name\n"
                                            "99999999999999999999 50.0000  vmlinux   a\n"
                                            "60000     3,69,42  vmlinux   b\n"
                                            "60000     3.6942  vmlinux   c\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].rows.size(), 1U);
    EXPECT_EQ(sink.sections[0].rows[0].symbol, "c");
    EXPECT_EQ(countOf(sink, DiagnosticCode::NumberOverflow), 1U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::RowUnreadable), 1U);
}

TEST(Opreport, warnsOfARowThatContradictsTheOthers)
{
    const RecordingSink sink = readOpreport("samples  %        image name               symbol name\n"
                                            "281538   15.2083  vmlinux    a\n"
                                            "81069     4.3792  vmlinux    b\n"
                                            "75523     1.0000  vmlinux    c\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].rows.size(), 3U);
    ASSERT_EQ(sink.diagnostics.size(), 1U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::PrintedFigureDiffers);
    EXPECT_EQ(sink.diagnostics[0].position.line, 4U);
}

TEST(Opreport, leavesProseAndOtherTablesAlone)
{
    for (const std::string_view text : {
             "The samples % symbol name columns are explained below.\n12 of them.\n",
             "samples  %        app name                 symbol name\n\nwords follow\n",
             "CPU: the new one, speed 3 GHz\nwords\n",
             "Counted on my fingers, events were ten.\n",
             "2328901 total                                      1.4552\n1335226 default_idle 20862.9062\n",
             "@@ -1,2 +1,3 @@\n samples  %        app name                 symbol name\n"
             "+3709035  67.0087  java                     (no symbols)\n",
             " r  b   swpd   free   buff  cache   si   so    bi    bo   in    cs us sy id wa\n"
             " 9  0      0 3708656  43480 334772    0    0    31    10  135    14  0  3 96  1\n",
         })
        EXPECT_TRUE(readOpreport(text).sections.empty()) << text;
}

TEST(Opreport, givesTheSameRecordsWhateverThePieces)
{
    const std::string_view text = "Counted A events (long description of it\n"
                                  "goes on) with a unit mask of 0x00 (none) count 100000\n"
                                  "samples  %        image name               symbol name\n"
                                  "60400     3.7189  /lib/modules/2.6.12.4/kernel/fs/a/long/ext\n"
                                  "3/ext3.ko  journal_x\n"
                                  "60000     3.6942  vmlinux\n"
                                  "journal_y\n";
    for (size_t piece = 1; piece < 40; ++piece) {
        const RecordingSink sink = readOpreport(text, piece);
        ASSERT_EQ(sink.sections.size(), 1U);
        ASSERT_EQ(sink.sections[0].rows.size(), 2U);
        EXPECT_EQ(sink.sections[0].rows[1].symbol, "journal_y");
    }
    for (size_t length = 0; length < text.size(); ++length)
        readOpreport(text.substr(0, length)); // must end, whatever is cut
}

} // namespace
} // namespace whichlock::test
