// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/perf_report_rows.h"
#include "tests/support/recording_sink.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace whichlock::test {
namespace {

RecordingSink readPerfReport(std::string_view text)
{
    RecordingSink sink;
    loadText(text, sink, SIZE_MAX, {.onlyFormat = "perf-report"});
    return sink;
}

size_t countOf(const RecordingSink& sink, DiagnosticCode code)
{
    return static_cast<size_t>(std::count_if(sink.diagnostics.begin(), sink.diagnostics.end(),
        [&](const Diagnostic& diagnostic) { return diagnostic.code == code; }));
}

std::vector<std::string> rowsOf(const KeptSection& section)
{
    std::vector<std::string> rows;
    for (const KeptRow& row : section.rows) {
        std::string text = std::to_string(row.share->ppb / (Share::kPercent / 100)) + " " + row.symbol;
        for (const std::string& caller : row.callers)
            text += " < " + caller;
        rows.push_back(text + (row.furtherPart ? " (part)" : ""));
    }
    return rows;
}

using Rows = std::vector<std::string>;

// --- flat tables ------------------------------------------------------------------------------------------

TEST(PerfReport, readsTheColumnsThatTheHeaderNames)
{
    const RecordingSink sink = readPerfReport(
        "# Samples: 214K of event 'cycles:pp'\n"
        "# Event count (approx.): 8895026685\n"
        "#\n"
        "# Overhead  Samples  Pid:Command       Shared Object      Symbol\n"
        "# ........  .......  ................  .................  ...........\n"
        "#\n"
        "    38.12%   81000   1234:my sqld      [kernel.kallsyms]  [k] _raw_spin_lock\n"
        "     1.50%    3200   1234:my sqld      libc.so.6          [.] operator new(unsigned long)\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    const KeptSection& section = sink.sections[0];
    EXPECT_EQ(section.record.event, "cycles:pp");
    EXPECT_EQ(section.record.unit, Unit::Percent);
    EXPECT_EQ(section.record.quantity, QuantityKind::Cpu);
    EXPECT_EQ(rowsOf(section), (Rows{"3812 _raw_spin_lock", "150 operator new(unsigned long)"}));
    EXPECT_EQ(section.rows[0].comm, "my sqld");
    EXPECT_EQ(section.rows[0].image, "[kernel.kallsyms]");
    EXPECT_FALSE(section.rows[0].value);
    ASSERT_EQ(section.facts.size(), 1U);
    EXPECT_EQ(section.facts[0].value, "214K samples (rounded by perf)");
    EXPECT_TRUE(sink.diagnostics.empty());
}

TEST(PerfReport, takesOwnTimeAndNeverThatOfCallees)
{
    const RecordingSink sink = readPerfReport("+   57.15%  0.01%  execl   [kernel.kallsyms] [k] pcpu_alloc\n"
                                              "+   55.27% 54.51%  execl   [kernel.kallsyms] [k] osq_lock\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(rowsOf(sink.sections[0]), (Rows{"1 pcpu_alloc", "5451 osq_lock"}));
    EXPECT_EQ(sink.sections[0].rows[1].comm, "execl");
}

TEST(PerfReport, skipsARowWhoseOwnTimeIsMoreThanItsChildren)
{
    const RecordingSink sink = readPerfReport("  50.00%  10.00%  a  [kernel] [k] f\n"
                                              "  10.00%  20.00%  a  [kernel] [k] g\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(rowsOf(sink.sections[0]), (Rows{"1000 f"}));
    EXPECT_EQ(countOf(sink, DiagnosticCode::RowUnreadable), 1U);
}

TEST(PerfReport, givesEachEventOfAGroupItsSection)
{
    const RecordingSink sink =
        readPerfReport("# Samples: 10K of event 'anon group { cycles, cache-misses }'\n"
                       "#         Overhead  Command  Shared Object  Symbol\n"
                       "# ................  .......  .............  ......\n"
                       "    40.00%  10.00%  a        [kernel]       [k] f\n"
                       "    20.00%  30.00%  a        [kernel]       [k] g\n");
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[0].record.event, "cycles");
    EXPECT_EQ(sink.sections[1].record.event, "cache-misses");
    EXPECT_EQ(rowsOf(sink.sections[0]), (Rows{"4000 f", "2000 g"}));
    EXPECT_EQ(rowsOf(sink.sections[1]), (Rows{"1000 f", "3000 g"}));
}

TEST(PerfReport, keepsSeveralEventsApart)
{
    const RecordingSink sink = readPerfReport("# Samples: 10K of event 'cycles'\n#\n"
                                              "# Overhead  Symbol\n# ........  ......\n#\n"
                                              "    40.00%  [k] f\n\n\n"
                                              "# Samples: 3  of event 'context-switches'\n#\n"
                                              "# Overhead  Symbol\n# ........  ......\n#\n"
                                              "    30.00%  [k] schedule\n");
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(rowsOf(sink.sections[0]), (Rows{"4000 f"}));
    EXPECT_EQ(sink.sections[1].record.event, "context-switches");
    EXPECT_EQ(sink.sections[1].record.quantity, QuantityKind::Count); // sleeps are no CPU time
}

TEST(PerfReport, beginsANewTableWhereRowsRiseBehindABlankLine)
{
    const RecordingSink sink = readPerfReport("  40.00%  [kernel]  [k] f\n   2.00%  [kernel]  [k] g\n\n"
                                              "   1.00%  [kernel]  [k] h\n\n"
                                              "  60.00%  [kernel]  [k] f\n");
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[0].rows.size(), 3U);
    EXPECT_EQ(rowsOf(sink.sections[1]), (Rows{"6000 f"}));
}

TEST(PerfReport, joinsRowsThatWereWrapped)
{
    const RecordingSink sink = readPerfReport("  13.70%  sched-messaging  [kernel.vmlinux]      [k] \n"
                                              "native_queued_spin_lock_slowpath\n"
                                              "   2.45%  md0_raid5        [kernel.kallsyms]\n"
                                              "          [k] __get_priority_stripe    \xe2\x96\x92\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(rowsOf(sink.sections[0]),
        (Rows{"1370 native_queued_spin_lock_slowpath", "245 __get_priority_stripe"}));
    EXPECT_EQ(sink.sections[0].rows[1].image, "[kernel.kallsyms]");
    EXPECT_EQ(countOf(sink, DiagnosticCode::RowsRejoined), 1U);
}

TEST(PerfReport, readsTheScreenOfPerfTop)
{
    const RecordingSink sink = readPerfReport(
        "   PerfTop:    1234 irqs/sec  kernel:98.1%  exact: 100.0% [4000Hz cycles],  (all, 8 CPUs)\n"
        "-------------------------------------------------------------------------------\n"
        "\n"
        "             samples  pcnt function              DSO\n"
        "             _______ _____ _____________________ ________________\n"
        "\n"
        "            20266.00 12.3% _raw_spin_lock        [kernel.kallsyms]\n"
        "             1000.00  0.6% free                  /lib/libc.so.6\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(rowsOf(sink.sections[0]), (Rows{"1230 _raw_spin_lock", "60 free"}));
    EXPECT_EQ(sink.sections[0].rows[1].image, "/lib/libc.so.6");
}

TEST(PerfReport, saysThatAViewIsFiltered)
{
    EXPECT_EQ(
        countOf(readPerfReport(
                    "  60.01%  hhvm  [kernel]  [k] futex_wake\n  39.99%  hhvm  [kernel]  [k] futex_wait\n"),
            DiagnosticCode::ViewFiltered),
        1U);
    EXPECT_EQ(
        countOf(readPerfReport(
                    "  60.01%  hhvm  [kernel]  [k] futex_wake\n  39.99%  bash  [kernel]  [k] futex_wait\n"),
            DiagnosticCode::ViewFiltered),
        0U);
    EXPECT_EQ(countOf(readPerfReport(
                          "Samples: 9K of event 'cycles', Event count (approx.): 13, Thread: mysqld(12)\n"
                          "  60.01%  [kernel]  [k] futex_wake\n"),
                  DiagnosticCode::ViewFiltered),
        1U);
}

TEST(PerfReport, refusesComparisonsAndTablesWithoutSymbols)
{
    for (const std::string_view text : {"# Baseline    Delta  Shared Object  Symbol\n"
                                        "# ........  .......  .............  ......\n"
                                        "    40.00%   +1.20%  [kernel]       [k] f\n",
             "# Overhead  Command\n# ........  .......\n    40.00%  mysqld\n"}) {
        const RecordingSink sink = readPerfReport(text);
        EXPECT_TRUE(sink.sections.empty());
        EXPECT_EQ(countOf(sink, DiagnosticCode::ShapeUnread), 1U) << text;
    }
}

TEST(PerfReport, leavesProseAlone)
{
    EXPECT_TRUE(readPerfReport("12.3% of the time is\nspent in foo\n- 3.5% here\n").sections.empty());
}

// --- call graphs ------------------------------------------------------------------------------------------

TEST(PerfReport, splitsARowByItsPrintedCallers)
{
    const RecordingSink sink = readPerfReport("    12.00%  a  [kernel.kallsyms]  [k] _raw_spin_lock\n"
                                              "            |\n"
                                              "            ---_raw_spin_lock\n"
                                              "               |\n"
                                              "               |--7.50%--dput\n"
                                              "               |          path_put\n"
                                              "               |\n"
                                              "                --3.00%--iput\n"
                                              "\n"
                                              "     1.00%  a  [kernel.kallsyms]  [k] memcpy\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(rowsOf(sink.sections[0]),
        (Rows{"750 _raw_spin_lock < dput < path_put", "300 _raw_spin_lock < iput (part)",
            "150 _raw_spin_lock (part)", "100 memcpy"}));
}

TEST(PerfReport, keepsTheRowWholeWhereTheGraphIsRelative)
{
    const RecordingSink sink = readPerfReport("    12.00%  a  [kernel.kallsyms]  [k] _raw_spin_lock\n"
                                              "            |\n"
                                              "            ---_raw_spin_lock\n"
                                              "               |--95.00%-- dput\n"
                                              "                --5.00%-- iput\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(rowsOf(sink.sections[0]), (Rows{"1200 _raw_spin_lock"}));
    EXPECT_EQ(countOf(sink, DiagnosticCode::GraphNotUsed), 1U);
}

TEST(PerfReport, turnsAGraphThatBeginsOutsideAround)
{
    const RecordingSink sink = readPerfReport("-   55.27% 54.51%  execl   [kernel.kallsyms] [k] osq_lock\n"
                                              "   - 53.54% 0x654278696e552f34\n"
                                              "        main\n"
                                              "        mm_init\n"
                                              "        __percpu_counter_init\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(rowsOf(sink.sections[0]),
        (Rows{"5354 osq_lock < __percpu_counter_init < mm_init < main < 0x654278696e552f34",
            "97 osq_lock (part)"}));
}

TEST(PerfReport, takesNamesWithBlanksForFrames)
{
    const RecordingSink sink = readPerfReport("     0.76%  a  [kernel.kallsyms]  [k] clear_page\n"
                                              "            |\n"
                                              "            ---main\n"
                                              "               operator new\n"
                                              "               _int_malloc (inlined)\n"
                                              "               clear_page\n"
                                              "\n"
                                              "     0.70%  a  [kernel.kallsyms]  [k] memcpy\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(
        rowsOf(sink.sections[0]), (Rows{"76 clear_page < _int_malloc < operator new < main", "70 memcpy"}));
}

TEST(PerfReport, readsTheCalleesOfTheOnlyRow)
{
    const RecordingSink sink = readPerfReport("-   92.71%     0.05%  [kernel]      [k] worker\n"
                                              "   - 92.67% worker\n"
                                              "      - 85.55% xfs_buf_find\n"
                                              "         - 72.87% _raw_spin_lock\n"
                                              "            - do_raw_spin_lock\n"
                                              "                 71.86% slowpath\n"
                                              "         + 8.74% xfs_buf_rele\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(rowsOf(sink.sections[0]),
        (Rows{
            "5 worker", "7186 slowpath < do_raw_spin_lock < _raw_spin_lock < xfs_buf_find < worker (part)"}));
}

TEST(PerfReport, usesNoCalleesWhereSeveralRowsShowThem)
{
    const RecordingSink sink = readPerfReport("-   30.37%     0.02%  [kernel]      [k] check\n"
                                              "   - 17.98% check\n"
                                              "        14.17% slowpath\n"
                                              "-   16.22%     0.02%  [kernel]      [k] wake\n"
                                              "   - 9.83% wake\n"
                                              "        9.64% slowpath\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(rowsOf(sink.sections[0]), (Rows{"2 check", "2 wake"}));
    EXPECT_EQ(countOf(sink, DiagnosticCode::GraphNotUsed), 1U);
}

TEST(PerfReport, readsFoldedGraphsOfLeafFunctionsOnly)
{
    const RecordingSink sink =
        readPerfReport("# Children      Self  Shared Object      Symbol\n"
                       "# ........  ........  .................  ......\n"
                       "    82.61%     0.42%  [kernel.kallsyms]  [k] cpu_startup_entry\n"
                       "81.41% cpu_startup_entry;start_secondary\n"
                       "    73.96%    73.95%  [kernel.kallsyms]  [k] slowpath\n"
                       "50.00% slowpath;_raw_spin_lock;dput\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(rowsOf(sink.sections[0]),
        (Rows{"42 cpu_startup_entry", "5000 slowpath < _raw_spin_lock < dput", "2395 slowpath (part)"}));
}

} // namespace
} // namespace whichlock::test
