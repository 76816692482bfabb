// SPDX-License-Identifier: GPL-3.0-or-later
// Tables in which a tool has added up what it saw of locks: lock_stat, lockmeter, perf lock, klockstat.
#include "parsers/formats/lock_figures.h"
#include "tests/support/recording_sink.h"

#include <gtest/gtest.h>

namespace whichlock::test {
namespace {

RecordingSink readText(std::string_view text)
{
    RecordingSink sink;
    loadText(text, sink);
    return sink;
}

/// The only table of a text.
LockTableRecord tableOf(std::string_view text)
{
    const RecordingSink sink = readText(text);
    if (sink.sections.size() != 1 || !sink.sections[0].lockTable)
        return {};
    return *sink.sections[0].lockTable;
}

// --- figures ----------------------------------------------------------------------------------------------

TEST(LockFigures, areInNanosecondsWhateverTheirUnit)
{
    using locktable::timeNs;
    EXPECT_EQ(timeNs("900", "ns"), 900U);
    EXPECT_EQ(timeNs("15.86", "us"), 15'860U);
    EXPECT_EQ(timeNs("7.11", "ms"), 7'110'000U);
    EXPECT_EQ(timeNs("53.63", "s"), 53'630'000'000U);
    EXPECT_EQ(timeNs("5.00", "m"), 300'000'000'000U);
    EXPECT_EQ(timeNs("1.00", "h"), 3'600'000'000'000U);
    EXPECT_EQ(timeNs("5124095.5", "h"), 18'446'743'800'000'000'000U);
    EXPECT_FALSE(timeNs("5124096", "h")) << "2^64 ns are 5124095.58 h";
    EXPECT_FALSE(timeNs("-1", "us"));
    EXPECT_FALSE(timeNs("1", "parsecs"));
    EXPECT_EQ(locktable::gluedTimeNs("1015ms"), 1'015'000'000U);
    EXPECT_FALSE(locktable::gluedTimeNs("1015"));
}

// --- /proc/lock_stat --------------------------------------------------------------------------------------

TEST(LockStat, takesNamesWithBlanksAndColonsWhole)
{
    const LockTableRecord table = tableOf(
        "lock_stat version 0.4\n"
        "-----------------------------\n"
        "     class name    con-bounces    contentions   waittime-min   waittime-max waittime-total   "
        "waittime-avg    acq-bounces   acquisitions   holdtime-min   holdtime-max holdtime-total   "
        "holdtime-avg\n"
        "-----------------------------\n"
        "   (work: &x)->lock a:    1   2   0.10   3.00   4.50   2.25   5   6   0.20   7.00   8.00   1.33\n"
        "   &sb->s_type->i_mutex_key#3/1:  0   9   0.50   1.00   4.50   0.50   5   6   0.20   7.00   8.00   "
        "1.33\n");
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[0].name, "(work: &x)->lock a");
    EXPECT_EQ(table.rows[0].waitBounces, 1U);
    EXPECT_EQ(table.rows[0].contentions, 2U);
    EXPECT_EQ(table.rows[0].wait.totalNs, 4'500U);
    EXPECT_EQ(table.rows[0].wait.meanNs, 2'250U);
    EXPECT_EQ(table.rows[0].acquisitions, 6U);
    EXPECT_EQ(table.rows[0].hold.maxNs, 7'000U);
    EXPECT_EQ(table.rows[1].name, "&sb->s_type->i_mutex_key#3/1");
    EXPECT_EQ(table.rows[1].contentions, 9U);
}

TEST(LockStat, tellsTheVersionByTheNumberOfFigures)
{
    const LockTableRecord first =
        tableOf("lock_stat version 0.1\n dcache_lock:  7  0.10  2.00  9.90  100  0.20  3.00  44.00\n");
    ASSERT_EQ(first.rows.size(), 1U);
    EXPECT_EQ(first.rows[0].contentions, 7U);
    EXPECT_EQ(first.rows[0].wait.totalNs, 9'900U);
    EXPECT_EQ(first.rows[0].acquisitions, 100U);
    EXPECT_EQ(first.rows[0].hold.totalNs, 44'000U);
    EXPECT_FALSE(first.rows[0].waitBounces);
    const LockTableRecord third =
        tableOf("lock_stat version 0.3\n dcache_lock:  3 7  0.10  2.00  9.90  50 100  0.20  3.00  44.00\n");
    ASSERT_EQ(third.rows.size(), 1U);
    EXPECT_EQ(third.rows[0].contentions, 7U);
    EXPECT_EQ(third.rows[0].takeBounces, 50U);
    EXPECT_FALSE(third.rows[0].wait.meanNs);
}

TEST(LockStat, readsRowsThatWereCutOutWithGrep)
{
    const LockTableRecord table =
        tableOf("$ grep : /proc/lock_stat | head -1\n"
                "    &rq->lock:   3 7  0.10  2.00  9.90  1.41 50 100  0.20  3.00  44.00 0.44\n");
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(table.rows[0].name, "&rq->lock");
}

TEST(LockStat, keepsThePlacesOfWaitersAndHoldersApart)
{
    const LockTableRecord table =
        tableOf("lock_stat version 0.4\n"
                " &mm->mmap_sem-W:  1 2 0.10 3.00 4.50 2.25 5 6 0.20 7.00 8.00 1.33\n"
                " &mm->mmap_sem-R:  1 3 0.10 3.00 6.00 2.00 5 6 0.20 7.00 8.00 1.33\n"
                "   ---------------\n"
                "   &mm->mmap_sem   4   [<ffffffff811502a7>] dup_mmap+0x2a/0x3b\n"
                "   &mm->mmap_sem   1   [<0>] do_page_fault+0x1/0x2\n"
                "   ---------------\n"
                "   &mm->mmap_sem   5   [<ffffffff811502a7>] exit_mm+0x2a/0x3b\n"
                "\n"
                "...............................................................\n"
                "\n"
                " files_lock:  1 2 0.10 3.00 4.50 2.25 5 6 0.20 7.00 8.00 1.33\n");
    ASSERT_EQ(table.rows.size(), 3U);
    EXPECT_EQ(table.rows[0].side, "write");
    EXPECT_EQ(table.rows[1].side, "read");
    ASSERT_EQ(table.rows[1].sites.size(), 3U);
    EXPECT_EQ(table.rows[1].sites[0].function, "dup_mmap+0x2a");
    EXPECT_EQ(table.rows[1].sites[0].contentions, 4U);
    EXPECT_FALSE(table.rows[1].sites[1].holder);
    EXPECT_TRUE(table.rows[1].sites[2].holder);
    EXPECT_TRUE(table.rows[2].sites.empty());
}

TEST(LockStat, saysThatItsFiguresAreFrozen)
{
    const LockTableRecord table = tableOf(
        "lock_stat version 0.4\n*WARNING* lock debugging disabled!! - possibly due to a lockdep warning\n"
        " files_lock:  1 2 0.10 3.00 4.50 2.25 5 6 0.20 7.00 8.00 1.33\n");
    ASSERT_EQ(table.warnings.size(), 1U);
    EXPECT_EQ(table.rows.size(), 1U);
}

TEST(LockStat, isNoProseWithAColon)
{
    EXPECT_TRUE(readText("The times were: 1 2 3 4 5 6 7 8 9 10\nand contentions: many\n").sections.empty());
}

// --- lockmeter --------------------------------------------------------------------------------------------

TEST(Lockmeter, readsReadersAndWriters)
{
    const RecordingSink sink = readText(
        "RWLOCK READS   HOLD    MAX  RDR BUSY PERIOD      WAIT\n"
        "  UTIL  CON    MEAN   RDRS   MEAN(  MAX )   MEAN(  MAX )( %CPU)     TOTAL NOWAIT SPIN  NAME\n"
        "\n"
        "       0.10%                               1.2us( 1.5us)(0.25%)    229513 99.9% 0.10%  *TOTAL*\n"
        "\n"
        "  2.4% 0.10%   9.7us     4   10us(  33us)   2.0us( 1.5ms)(0.25%)    200000 99.9% 0.10%  "
        "tasklist_lock\n"
        "\n"
        "RWLOCK WRITES     HOLD           WAIT (ALL)           WAIT (WW)\n"
        "  UTIL  CON    MEAN(  MAX )   MEAN(  MAX )( %CPU)   MEAN(  MAX )     TOTAL NOWAIT SPIN(  WW )  "
        "NAME\n"
        "\n"
        " 36.6%   50%  9.0us(3880us)   40us( 2.0ms)( 7.0%)   10us(  20us)      1000   50%   40%(  10%)  "
        "hash_lock\n");
    ASSERT_EQ(sink.sections.size(), 2U);
    const LockTableRecord& reads = *sink.sections[0].lockTable;
    ASSERT_EQ(reads.rows.size(), 1U);
    EXPECT_EQ(reads.rows[0].name, "tasklist_lock");
    EXPECT_EQ(reads.rows[0].side, "read");
    EXPECT_EQ(reads.rows[0].acquisitions, 200'000U);
    EXPECT_EQ(reads.rows[0].contentions, 200U); // 0.10 %
    EXPECT_EQ(reads.rows[0].wait.totalNs, 400'000U);
    EXPECT_EQ(reads.rows[0].cpuShare, (Share{Share::kPercent / 4}));
    ASSERT_TRUE(reads.total);
    EXPECT_EQ(reads.total->cpuShare, (Share{Share::kPercent / 4}));
    const LockTableRecord& writes = *sink.sections[1].lockTable;
    ASSERT_EQ(writes.rows.size(), 1U);
    EXPECT_EQ(writes.rows[0].side, "write");
    EXPECT_EQ(writes.rows[0].contentions, 400U); // 40 %, not the 10 % that waited for other writers
    EXPECT_EQ(writes.rows[0].wait.meanNs, 40'000U);
    EXPECT_EQ(writes.rows[0].wait.maxNs, 2'000'000U);
    EXPECT_EQ(writes.rows[0].hold.meanNs, 9'000U);
    EXPECT_EQ(writes.rows[0].utilisation, (Share{366 * Share::kPercent / 10}));
}

TEST(Lockmeter, givesAPlaceOfItsOwnToALockWithoutAName)
{
    const LockTableRecord table =
        tableOf("SPINLOCKS         HOLD            WAIT\n"
                "  UTIL  CON    MEAN(  MAX )   MEAN(  MAX )(% CPU)     TOTAL NOWAIT SPIN RJECT  NAME\n"
                "  7.5% 52.0%  1.7us( 257us)  175us(  29ms)( 4.7%)   2666132 48.0% 19.0% 33.1%  "
                "net_device->queue_lock\n"
                "  1.2% 78.5%  0.7us( 125us)    0us                  1124063 21.5%    0% 78.5%    "
                "net_tx_action+0x240\n"
                "\n"
                " 14.3% 26.2%  5.5us( 333us)  268us(  36ms)( 5.7%)   1542071 73.8% 26.2%    0%    "
                "dev_queue_xmit+0x1a0\n");
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[0].name, "net_device->queue_lock");
    EXPECT_EQ(table.rows[0].rejected, 882'490U); // 33.1 % of 2,666,132
    ASSERT_EQ(table.rows[0].sites.size(), 1U);
    EXPECT_EQ(table.rows[0].sites[0].function, "net_tx_action+0x240");
    EXPECT_EQ(table.rows[1].name, "");
    EXPECT_EQ(table.rows[1].site, "dev_queue_xmit+0x1a0");
    EXPECT_EQ(table.rowsPrinted, 3U);
}

// --- perf lock --------------------------------------------------------------------------------------------

TEST(PerfLock, readsSeparatedValuesWithTheirStacks)
{
    const LockTableRecord table =
        tableOf("# output: contended, total wait, max wait, avg wait, type, caller, stacktrace\n"
                "3, 9000, 5000, 3000, rwsem:R, do_user_addr_fault+0x1, 0xffffffff81 down_read+0x2: "
                "0xffffffff82 f+0x3:\n"
                "1, 700, 700, 700, mutex, pipe_read+0x3\n"
                "# debug: total=4, bad=0\n");
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.key, LockTableKey::Site);
    EXPECT_EQ(table.rows[0].kind, "rwsem");
    EXPECT_EQ(table.rows[0].side, "read");
    EXPECT_EQ(table.rows[0].site, "do_user_addr_fault+0x1");
    EXPECT_EQ(table.rows[0].wait.totalNs, 9'000U);
    EXPECT_EQ(table.rows[1].site, "pipe_read+0x3");
}

TEST(PerfLock, readsOwnersAddressesAndGroups)
{
    const LockTableRecord owners = tableOf(
        "$ perf lock con -abo\n contended   total wait     max wait     avg wait          pid   comm\n\n"
        "        24    100.00 us     12.50 us      4.17 us           -1   Unknown\n");
    ASSERT_EQ(owners.rows.size(), 1U);
    EXPECT_TRUE(owners.holders);
    EXPECT_EQ(owners.key, LockTableKey::Thread);
    EXPECT_EQ(owners.rows[0].tid, -1);
    const LockTableRecord addresses =
        tableOf(" contended   total wait     max wait     avg wait            address   symbol\n\n"
                "        15      2.57 ms    187.89 us    171.09 us   ffffa64fdb3f11b8   mmap_lock (rwsem:W)\n"
                "         1       220 ns       220 ns       220 ns   ffff9f88cf9c53e0    (spinlock)\n");
    ASSERT_EQ(addresses.rows.size(), 2U);
    EXPECT_EQ(addresses.rows[0].name, "mmap_lock");
    EXPECT_EQ(addresses.rows[0].kind, "rwsem");
    EXPECT_EQ(addresses.rows[0].wait.totalNs, 2'570'000U);
    EXPECT_EQ(addresses.rows[1].name, "");
    EXPECT_EQ(addresses.rows[1].address, "ffff9f88cf9c53e0");
    EXPECT_EQ(addresses.rows[1].kind, "spinlock");
}

TEST(PerfLock, skipsADamagedRowAndSaysSo)
{
    const RecordingSink sink =
        readText(" contended   total wait     max wait     avg wait         type   caller\n\n"
                 "         2     27.49 us     15.86 us     13.74 us     spinlock   a+0x1\n"
                 "         2     24.58 us     xx     12.29 us     rwlock:W   b+0x2\n"
                 "         1     19.18 us     19.18 us     19.18 us     rwlock:W   c+0x3\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].lockTable->rows.size(), 2U);
    ASSERT_EQ(sink.diagnostics.size(), 1U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::RowUnreadable);
    EXPECT_EQ(sink.diagnostics[0].position.line, 4U);
}

// --- klockstat --------------------------------------------------------------------------------------------

TEST(Klockstat, readsTasksAndUnits)
{
    const LockTableRecord table =
        tableOf("                 Tid     Comm  Avg Wait    Count   Max Wait   Total Wait\n"
                "               12345     my sh     3.7 us       12    1.2 ms      44.4 us\n");
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(table.key, LockTableKey::Thread);
    EXPECT_EQ(table.rows[0].tid, 12'345);
    EXPECT_EQ(table.rows[0].name, "my sh");
    EXPECT_EQ(table.rows[0].wait.totalNs, 44'400U);
    EXPECT_EQ(table.rows[0].wait.maxNs, 1'200'000U);
}

TEST(Klockstat, keepsHoldingApartFromWaiting)
{
    const RecordingSink sink = readText("                 Caller   Avg Spin  Count   Max spin Total spin\n"
                                        "      pipe_read+0x3f        420     10      16872      4200\n"
                                        "      vfs_read+0x11\n"
                                        "\n"
                                        "                 Caller   Avg Hold  Count   Max hold Total hold\n"
                                        "      pipe_read+0x3f        473     10      20063      4730\n");
    ASSERT_EQ(sink.sections.size(), 2U);
    const LockTableRecord& waits = *sink.sections[0].lockTable;
    EXPECT_FALSE(waits.holdsOnly);
    EXPECT_EQ(waits.rows[0].wait.totalNs, 4'200U);
    EXPECT_EQ(waits.rows[0].stack, (std::vector<std::string>{"vfs_read+0x11"}));
    const LockTableRecord& holds = *sink.sections[1].lockTable;
    EXPECT_TRUE(holds.holdsOnly);
    EXPECT_FALSE(holds.rows[0].wait.totalNs);
    EXPECT_EQ(holds.rows[0].hold.totalNs, 4'730U);
}

TEST(Klockstat, takesTheLockThatLibbpfPrints)
{
    const LockTableRecord table = tableOf("                 Caller   Avg Wait  Count   Max Wait Total Wait\n"
                                          "      pipe_read+0x3f      1.0 us     10      2.0 us     10.0 us\n"
                                          "   Max PID 7, COMM cat, Lock jiffies_lock (0xffffffff92a06e00)\n");
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(table.rows[0].name, "jiffies_lock");
    EXPECT_EQ(table.rows[0].address, "0xffffffff92a06e00");
}

} // namespace
} // namespace whichlock::test
