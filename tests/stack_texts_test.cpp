// SPDX-License-Identifier: GPL-3.0-or-later
// Texts with a value a stack: folded stacks, bcc's offcputime and its kin, maps of bpftrace.
#include "parsers/formats/folded_rows.h"
#include "parsers/formats/stack_lines.h"
#include "tests/support/recording_sink.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace whichlock::test {
namespace {

RecordingSink readText(std::string_view text)
{
    RecordingSink sink;
    loadText(text, sink);
    return sink;
}

std::vector<std::string> framesOf(const KeptRow& row)
{
    std::vector<std::string> frames{row.symbol};
    frames.insert(frames.end(), row.callers.begin(), row.callers.end());
    return frames;
}

using Frames = std::vector<std::string>;

Frames splitOf(std::string_view stack)
{
    std::vector<std::string_view> frames;
    if (!folded::splitFrames(stack, frames))
        return {};
    return {frames.begin(), frames.end()};
}

bool hasCode(const RecordingSink& sink, DiagnosticCode code)
{
    return std::any_of(sink.diagnostics.begin(), sink.diagnostics.end(),
        [&](const Diagnostic& one) { return one.code == code; });
}

// --- folded -----------------------------------------------------------------------------------------------

TEST(FoldedRows, leaveSeparatorsInsideOfNamesAlone)
{
    EXPECT_EQ(splitOf("a;b;c"), (Frames{"a", "b", "c"}));
    EXPECT_EQ(splitOf("a;<impl Default for [T; _]>::default;b"),
        (Frames{"a", "<impl Default for [T; _]>::default", "b"}));
    EXPECT_EQ(splitOf("Lorg/app/Pool;::take;f(Ljava/lang/String;I)V;g"),
        (Frames{"Lorg/app/Pool;::take", "f(Ljava/lang/String;I)V", "g"}));
    EXPECT_EQ(splitOf("cut(bar;baz(int);end"), (Frames{"cut(bar", "baz(int)", "end"}))
        << "a bracket that is never closed opens nothing";
    EXPECT_TRUE(splitOf("for (i = 0; i < n").empty()) << "a blank follows separators in prose and code only";
}

TEST(FoldedRows, readTheValueFromTheEndOfTheLine)
{
    const auto plain = folded::lineOf("a b;c 12");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->stack, "a b;c");
    EXPECT_EQ(plain->value, "12");
    EXPECT_TRUE(plain->first.empty());
    const auto two = folded::lineOf("a;b 3 12");
    ASSERT_TRUE(two);
    EXPECT_EQ(two->stackOfTwo, "a;b");
    EXPECT_EQ(two->first, "3");
    EXPECT_FALSE(folded::lineOf("THIS IS A BAD LINE 12V.43"));
    EXPECT_FALSE(folded::lineOf("two words 12")) << "a stack without separators is one word";
    EXPECT_TRUE(folded::lineOf("swapper 12"));
}

TEST(FoldedRows, leaveOutTheStackOfTheWaker)
{
    std::vector<TextFrame> frames;
    folded::framesOf({"main", "-", "sys_read", "schedule", "--", "try_to_wake_up", "dd"}, frames);
    ASSERT_EQ(frames.size(), 3U);
    EXPECT_EQ(frames[0].symbol, "schedule");
    EXPECT_EQ(frames[0].object, stackvalues::kKernelObject);
    EXPECT_EQ(frames[2].symbol, "main");
    EXPECT_EQ(frames[2].object, "");
    folded::framesOf({"main", "schedule", "-", "wake_up"}, frames);
    EXPECT_EQ(frames.size(), 2U) << "early versions had one dash between both threads";
}

TEST(Folded, takesTheNameOfTheThreadWhereProgramsBeginBehindIt)
{
    const RecordingSink sink = readText("dd;main;f_[k] 7\ndd;read 5\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    const KeptSection& section = sink.sections[0];
    ASSERT_EQ(section.rows.size(), 2U);
    EXPECT_EQ(section.rows[0].comm, "dd");
    EXPECT_EQ(framesOf(section.rows[0]), (Frames{"f", "main"}));
    EXPECT_EQ(section.rows[0].image, stackvalues::kKernelObject);
    EXPECT_EQ(section.record.kind, SectionKind::CpuProfile);
    EXPECT_EQ(section.record.unit, Unit::Count);
    const RecordingSink without = readText("dd;pool;f 7\ndd;read 5\n");
    EXPECT_EQ(without.sections.at(0).rows.at(0).comm, "") << "nothing says that dd is no function";
}

TEST(Folded, keepsDecimalsAndRoundsThoseThatComeLate)
{
    const RecordingSink early = readText("a;b;c 1.25\na;b;d 3\n");
    EXPECT_EQ(early.sections.at(0).record.unit, Unit::Millionths);
    EXPECT_EQ(early.sections.at(0).rows.at(0).value, 1'250'000U);
    EXPECT_EQ(early.sections.at(0).rows.at(1).value, 3'000'000U);
    std::string text;
    for (int i = 0; i < 400; ++i)
        text += "a;b;c 1\n";
    const RecordingSink late = readText(text + "a;b;c 2.6\n");
    EXPECT_EQ(late.sections.at(0).record.unit, Unit::Count);
    EXPECT_EQ(late.sections.at(0).rows.back().value, 3U);
    EXPECT_TRUE(hasCode(late, DiagnosticCode::ValuesRounded));
}

TEST(Folded, saysWhichLinesItSkipped)
{
    const RecordingSink sink =
        readText("a;b;c 1\nno stack\na;b;d 2\na;b;e 99999999999999999999999\na;b;f 4\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].rows.size(), 3U);
    EXPECT_TRUE(hasCode(sink, DiagnosticCode::RowUnreadable));
    EXPECT_TRUE(hasCode(sink, DiagnosticCode::NumberOverflow));
}

TEST(Folded, areTimesOffTheProcessorOnlyWhereTheTextSaysSo)
{
    const RecordingSink told =
        readText("# offcputime -df 5\ndd;main;-;schedule 12\ndd;main;-;__schedule 1\n");
    ASSERT_EQ(told.sections.size(), 1U);
    EXPECT_EQ(told.sections[0].record.kind, SectionKind::WaitProfile);
    EXPECT_EQ(told.sections[0].record.unit, Unit::Nanoseconds);
    EXPECT_EQ(told.sections[0].rows.at(0).value, 12'000U) << "it prints microseconds";
    const RecordingSink silent = readText("dd;main;schedule 12\ndd;main;__schedule 1\n");
    EXPECT_EQ(silent.sections.at(0).record.kind, SectionKind::CpuProfile);
    const RecordingSink unit =
        readText("Off-CPU time in nanoseconds:\ndd;main;schedule 12\ndd;main;__schedule 1\n");
    EXPECT_EQ(unit.sections.at(0).rows.at(0).value, 12U);
    EXPECT_FALSE(hasCode(unit, DiagnosticCode::UnitAssumed));
    const RecordingSink noUnit = readText("Off-CPU time:\ndd;main;schedule 12\ndd;main;__schedule 1\n");
    EXPECT_TRUE(hasCode(noUnit, DiagnosticCode::UnitAssumed));
}

TEST(Folded, readsADifferentialProfileAsTwo)
{
    const RecordingSink sink = readText("a;b;c 1 10\na;b;d 0 20\n");
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[0].rows.at(0).value, 1U);
    EXPECT_EQ(sink.sections[1].rows.at(0).value, 10U);
    EXPECT_EQ(sink.sections[1].rows.at(1).value, 20U);
}

TEST(Folded, claimsNeitherProseNorCode)
{
    EXPECT_TRUE(readText("for (i = 0; i < 10; ++i) x += 5\nwhile (a; b) c 7\n").sections.empty());
    EXPECT_TRUE(readText("We saw this; and that 5\nand more; of it 7\n").sections.empty());
    EXPECT_TRUE(readText("a;b 5\n").sections.empty()) << "one short line is no profile";
}

// --- bcc --------------------------------------------------------------------------------------------------

TEST(BccStacks, haveTheThreadBelowTheFramesAndTheValueDeeper)
{
    const RecordingSink sink =
        readText("Tracing off-CPU time (us) of all threads by kernel stack...\n\n"
                 "    schedule\n    rwsem_down_read_failed\n    do_exit\n    Web Content\n"
                 "        12\n\n[...]\n\n    schedule\n    do_wait\n    bash\n        30\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    const KeptSection& section = sink.sections[0];
    EXPECT_EQ(section.record.kind, SectionKind::WaitProfile);
    ASSERT_EQ(section.rows.size(), 2U);
    EXPECT_EQ(section.rows[0].comm, "Web Content");
    EXPECT_EQ(section.rows[0].value, 12'000U);
    EXPECT_EQ(framesOf(section.rows[0]), (Frames{"schedule", "rwsem_down_read_failed", "do_exit"}));
    EXPECT_EQ(section.facts.size(), 1U) << "the author cut the list";
}

TEST(BccStacks, knowNewerFormsWithDelimitersAndPids)
{
    const RecordingSink sink =
        readText("Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to end.\n\n"
                 "    b'finish_task_switch'\n    b'futex_wait'\n    --\n    b'pthread_mutex_lock'\n"
                 "    worker(int)\n    -                mysqld (4711)\n        99\n\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].rows.size(), 1U);
    const KeptRow& row = sink.sections[0].rows[0];
    EXPECT_EQ(row.comm, "mysqld");
    EXPECT_EQ(
        framesOf(row), (Frames{"finish_task_switch", "futex_wait", "pthread_mutex_lock", "worker(int)"}));
    EXPECT_EQ(row.image, stackvalues::kKernelObject);
}

TEST(BccStacks, leaveOutTheStackOfTheWaker)
{
    const RecordingSink sink =
        readText("Tracing blocked time (us) by kernel off-CPU and waker stack for 5 secs.\n\n"
                 "    waker:           swapper/1\n    ffffffff810dfba8 hrtimer_interrupt\n"
                 "    ffffffff810df082 hrtimer_wakeup\n    -                -\n"
                 "    ffffffff81785085 schedule\n    ffffffff817880bf do_nanosleep\n"
                 "    target:          vmstat\n        3000331\n\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].rows.size(), 1U);
    EXPECT_EQ(sink.sections[0].rows[0].comm, "vmstat");
    EXPECT_EQ(framesOf(sink.sections[0].rows[0]), (Frames{"schedule", "do_nanosleep"}));
    EXPECT_EQ(sink.sections[0].rows[0].value, 3'000'331'000U);
}

TEST(BccStacks, sayThatTheLastOneWasCut)
{
    const RecordingSink sink = readText("Tracing off-CPU time (us)\n\n    schedule\n    do_wait\n    bash\n"
                                        "        30\n\n    schedule\n    do_exit\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].rows.size(), 1U);
    EXPECT_TRUE(hasCode(sink, DiagnosticCode::TableTruncated));
}

TEST(BccStacks, claimNoIndentedProse)
{
    EXPECT_TRUE(readText("Results:\n    first\n    second\n    12\n").sections.empty())
        << "the number is not indented deeper";
    EXPECT_TRUE(readText("    int a;\n    return f(a);\n        5\n").sections.empty());
}

// --- bpftrace ---------------------------------------------------------------------------------------------

TEST(Bpftrace, joinsTheStacksOfAKeyAndFindsTheThread)
{
    const RecordingSink sink =
        readText("Tracing nanosecond time in off-CPU stacks. Ctrl-C to end.\n\n"
                 "@[\n    schedule+35\n    do_syscall_64+113\n, \n    sem_wait+0x1f\n"
                 "    0x7fc9596d44a3\n, dd, 4711]: 42\n@[\n    schedule+35\n, , cat]: 1\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    const KeptSection& section = sink.sections[0];
    EXPECT_EQ(section.record.kind, SectionKind::WaitProfile);
    ASSERT_EQ(section.rows.size(), 2U);
    EXPECT_EQ(section.rows[0].comm, "dd");
    EXPECT_EQ(section.rows[0].value, 42U);
    EXPECT_EQ(framesOf(section.rows[0]), (Frames{"schedule", "do_syscall_64", "sem_wait", "0x7fc9596d44a3"}));
    EXPECT_EQ(section.rows[1].comm, "cat");
}

TEST(Bpftrace, keepsMapsApartAndLeavesOutWhatHasNoStack)
{
    const RecordingSink sink = readText("@a[\n    f+1\n    g+2\n]: 3\n@a[\n    f+1\n]: oops\n@plain[dd]: 9\n"
                                        "@b[\n    f+1\n    h+2\n]: 4\n");
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[0].record.event, "@a");
    EXPECT_EQ(sink.sections[1].record.event, "@b");
    EXPECT_EQ(sink.sections[0].rows.size(), 1U);
    EXPECT_TRUE(hasCode(sink, DiagnosticCode::RowUnreadable));
    EXPECT_EQ(sink.sections[0].record.unit, Unit::Count);
}

TEST(Bpftrace, countsSamplesWhereTheProgramSaysSo)
{
    const RecordingSink sink =
        readText("$ bpftrace -e 'profile:hz:99 { @[kstack] = count(); }'\n@[\n    f+1\n    g+2\n]: 3\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.unit, Unit::Samples);
}

TEST(StackLines, takeFramesAndNothingElse)
{
    using stacklines::frameOf;
    const auto plain = frameOf("    schedule+92");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->symbol, "schedule");
    EXPECT_EQ(plain->symbolOffset, 92U);
    const auto perf = frameOf("\t7f12ab34cd56 sem_wait+0x1f (libc.so.6)");
    ASSERT_TRUE(perf);
    EXPECT_EQ(perf->symbol, "sem_wait");
    EXPECT_EQ(perf->symbolOffset, 31U);
    EXPECT_EQ(perf->object, "libc.so.6");
    EXPECT_EQ(frameOf("    b'mutex_lock'")->symbol, "mutex_lock");
    EXPECT_EQ(frameOf("    0x7fc9596d44a3")->symbol, "0x7fc9596d44a3");
    EXPECT_FALSE(frameOf("schedule+92")) << "frames are indented";
    EXPECT_FALSE(frameOf("    12"));
    EXPECT_FALSE(frameOf("    some words of prose"));
    EXPECT_FALSE(frameOf("    return f(a);"));
}

// --- pprof ------------------------------------------------------------------------------------------------

TEST(PprofContention, turnsCyclesIntoTimeAndSamplesIntoWaits)
{
    const RecordingSink sink = readText("--- contentionz 1 ---\ncycles/second = 2000000000\n"
                                        "sampling period = 10\n  400 3 @ 0xa 0xb\n  600 1 @ 0xa 0xc\n"
                                        "--- Memory map: ---\n  00400000-00fcb000: server\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    const KeptSection& section = sink.sections[0];
    EXPECT_EQ(section.record.waits, WaitStacks::Waiters);
    ASSERT_EQ(section.samples.size(), 2U);
    EXPECT_EQ(section.samples[0].weight, 2'000U) << "400 cycles of half a ns, one in ten";
    EXPECT_EQ(section.samples[0].frames.at(1).symbol, "0xb");
}

TEST(PprofContention, readsTheNamesThatGoPrintsBelowARow)
{
    const RecordingSink sink =
        readText("--- mutex:\ncycles/second=1000000000\nsampling period=1\n5000 2 @ 0x4a9b0f 0x4b1234\n"
                 "#\t0x4a9b0e\tsync.(*Mutex).Unlock+0x4e\t/src/sync/mutex.go:223\n"
                 "#\t0x4b1233\tmain.(*pool).put+0x33\t/app/pool.go:17\n\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.waits, WaitStacks::Holders) << "Go charges whoever unlocks";
    ASSERT_EQ(sink.sections[0].samples.size(), 1U);
    EXPECT_EQ(sink.sections[0].samples[0].frames.at(0).symbol, "sync.(*Mutex).Unlock");
    EXPECT_EQ(sink.sections[0].samples[0].frames.at(1).symbol, "main.(*pool).put");
    EXPECT_EQ(sink.sections[0].samples[0].weight, 5'000U);
}

TEST(PprofContention, keepsRowsBesideBadOnes)
{
    const RecordingSink sink =
        readText("--- contentionz 1 ---\ncycles/second = 1000\n 7 1 @ 0xa 0xb\n 7 x @ 0xa\n"
                 " 18446744073709551615 1 @ 0xa 0xb\n 9 1 @ 0xa 0xc\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].samples.size(), 2U);
    EXPECT_TRUE(hasCode(sink, DiagnosticCode::RowUnreadable));
    EXPECT_TRUE(hasCode(sink, DiagnosticCode::NumberOverflow));
}

TEST(PprofText, takesATopOfUnlocksAsPlacesOfHolders)
{
    const RecordingSink sink = readText("Type: delay\nShowing nodes accounting for 3s, 100% of 4s total\n"
                                        "      flat  flat%   sum%        cum   cum%\n"
                                        "        3s   100%   100%         3s   100%  sync.(*Mutex).Unlock\n"
                                        "         0     0%   100%      2.5s 83.33%  main.put (inline)\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_TRUE(sink.sections[0].lockTable);
    const LockTableRecord& table = *sink.sections[0].lockTable;
    EXPECT_TRUE(table.givenBack);
    EXPECT_EQ(table.total->wait.totalNs, 4'000'000'000U);
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(table.rows[0].wait.totalNs, 3'000'000'000U);
    ASSERT_EQ(table.rows[0].sites.size(), 1U);
    EXPECT_EQ(table.rows[0].sites[0].function, "main.put");
    EXPECT_EQ(table.rows[0].sites[0].wait.totalNs, 2'500'000'000U);
    EXPECT_TRUE(table.rows[0].sites[0].holder);
}

TEST(PprofText, takesOtherTopsAsTimeOfTheProcessor)
{
    const RecordingSink sink = readText("File: app\nType: cpu\nDuration: 5s, Total samples = 900ms (18%)\n"
                                        "Showing nodes accounting for 880ms, 97.78% of 900ms total\n"
                                        "      flat  flat%   sum%        cum   cum%\n"
                                        "     480ms 53.33% 53.33%      480ms 53.33%  runtime.procyield\n"
                                        "     400ms 44.44% 97.78%      880ms 97.78%  main.work\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.kind, SectionKind::CpuProfile);
    EXPECT_EQ(sink.sections[0].total, 900'000'000U);
    ASSERT_EQ(sink.sections[0].rows.size(), 2U);
    EXPECT_EQ(sink.sections[0].rows[0].value, 480'000'000U);
}

TEST(PprofText, readsTraces)
{
    const RecordingSink sink = readText("Type: delay\n-----------+-----------------------------\n"
                                        "     1.20s   sync.(*Mutex).Lock\n             main.get\n"
                                        "             main.main\n-----------+-----------------------------\n"
                                        "     300ms   runtime.chanrecv1\n             main.loop\n"
                                        "-----------+-----------------------------\n");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.kind, SectionKind::WaitProfile);
    EXPECT_EQ(sink.sections[0].record.waits, WaitStacks::OffCpu) << "not all of it is for locks";
    ASSERT_EQ(sink.sections[0].rows.size(), 2U);
    EXPECT_EQ(sink.sections[0].rows[0].value, 1'200'000'000U);
    EXPECT_EQ(framesOf(sink.sections[0].rows[0]), (Frames{"sync.(*Mutex).Lock", "main.get", "main.main"}));
}

} // namespace
} // namespace whichlock::test
