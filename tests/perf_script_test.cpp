// SPDX-License-Identifier: GPL-3.0-or-later
#include "parsers/formats/perf_script_rows.h"
#include "tests/support/recording_sink.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace whichlock::test {
namespace {

using perfscript::EventClass;
using perfscript::FrameShape;

size_t countOf(const RecordingSink& sink, DiagnosticCode code)
{
    return static_cast<size_t>(std::count_if(sink.diagnostics.begin(), sink.diagnostics.end(),
        [&](const Diagnostic& diagnostic) { return diagnostic.code == code; }));
}

const Diagnostic* findCode(const RecordingSink& sink, DiagnosticCode code)
{
    for (const Diagnostic& diagnostic : sink.diagnostics) {
        if (diagnostic.code == code)
            return &diagnostic;
    }
    return nullptr;
}

std::optional<std::string> factOf(const RecordingSink& sink, FactKind kind)
{
    for (const KeptFact& fact : sink.inputFacts) {
        if (fact.kind == kind)
            return fact.value;
    }
    return std::nullopt;
}

TextFrame frameOf(std::string_view line, FrameShape shape = FrameShape::Whole)
{
    TextFrame frame;
    EXPECT_EQ(perfscript::parseFrame(line, frame), shape) << line;
    return frame;
}

// --- headers ---

TEST(PerfScriptHeader, readsAllColumns)
{
    const auto header =
        perfscript::parseHeader("iperf 27409/28744 [012] 441995.133575:     250000 cpu-clock:ppp:");
    ASSERT_TRUE(header);
    EXPECT_EQ(header->comm, "iperf");
    EXPECT_EQ(header->pid, 27409);
    EXPECT_EQ(header->tid, 28744);
    EXPECT_EQ(header->cpu, 12);
    EXPECT_EQ(header->timeNs, 441'995'133'575'000U);
    EXPECT_EQ(header->period, 250000U);
    EXPECT_EQ(header->event, "cpu-clock:ppp");
    EXPECT_TRUE(header->text.empty());
    EXPECT_TRUE(header->strong);
}

TEST(PerfScriptHeader, takesASingleNumberForTheThread)
{
    const auto header = perfscript::parseHeader("m 15155   670.698257123: cycles:");
    ASSERT_TRUE(header);
    EXPECT_EQ(header->pid, -1);
    EXPECT_EQ(header->tid, 15155);
    EXPECT_EQ(header->cpu, -1);
    EXPECT_EQ(header->timeNs, 670'698'257'123U);
    EXPECT_FALSE(header->period);
    EXPECT_EQ(header->event, "cycles");
}

TEST(PerfScriptHeader, findsTheEndOfCommsWithBlanksDigitsColonsAndBrackets)
{
    for (const std::string comm : {"Web Content", "kworker/u8:2", ":15484", "pool 3", "a [1] b", "1234",
             "[x]", "tokio: 5 12", "kworker/u16:2-events_unbound", "x-1", "C2 CompilerThre"}) {
        const std::string line = comm + " 77/78 [001] 1.000002: 5 cycles:u: ";
        const std::string bareLine = "   " + comm + " 78 1.000002: cycles:u: ";
        const auto header = perfscript::parseHeader(line);
        ASSERT_TRUE(header) << comm;
        EXPECT_EQ(header->comm, comm);
        EXPECT_EQ(header->pid, 77);
        EXPECT_EQ(header->event, "cycles:u");
        const auto bare = perfscript::parseHeader(bareLine);
        ASSERT_TRUE(bare) << comm;
        EXPECT_EQ(bare->comm, comm);
        EXPECT_EQ(bare->tid, 78);
    }
}

TEST(PerfScriptHeader, readsAnyChoiceOfColumns)
{
    const auto noPid = perfscript::parseHeader("m [003] 12.345678: cycles:");
    ASSERT_TRUE(noPid);
    EXPECT_EQ(noPid->comm, "m");
    EXPECT_EQ(noPid->cpu, 3);
    const auto noComm = perfscript::parseHeader("15155 12.345678: cycles:");
    ASSERT_TRUE(noComm);
    EXPECT_EQ(noComm->comm, "");
    EXPECT_EQ(noComm->tid, 15155);
    const auto noEvent = perfscript::parseHeader("m 15155 12.345678:");
    ASSERT_TRUE(noEvent);
    EXPECT_EQ(noEvent->event, "");
    const auto noTime = perfscript::parseHeader("m 15155 [001] 7 cycles:");
    ASSERT_TRUE(noTime);
    EXPECT_EQ(noTime->period, 7U);
    EXPECT_FALSE(noTime->timeNs);
    const auto misc = perfscript::parseHeader("m 15155 [001] U     12.345678: cycles:");
    ASSERT_TRUE(misc);
    EXPECT_EQ(misc->timeNs, 12'345'678'000U);
    const auto weak = perfscript::parseHeader("m 15155/15155 cycles:");
    ASSERT_TRUE(weak);
    EXPECT_FALSE(weak->strong);
}

TEST(PerfScriptHeader, keepsColonsSlashesAndOldNamesInEvents)
{
    for (const std::string event :
        {"cpu/event=0x3c,umask=0x1/uppp", "sched:sched_switch", "cpu_core/cycles/P", "L1-dcache-load-misses",
            "raw 0x1a8", "mem:0xffff8881:rw", "probe_libc:mlock_ret__return"}) {
        const std::string line = "m 1 [000] 1.000000: 3 " + event + ": ffff12 f+0x1 (x)";
        const auto header = perfscript::parseHeader(line);
        ASSERT_TRUE(header) << event;
        EXPECT_EQ(header->event, event);
        EXPECT_EQ(header->text, "ffff12 f+0x1 (x)");
    }
}

TEST(PerfScriptHeader, isNotSeenInProse)
{
    for (const char* line : {"", " ", "on 12 of 16 cpus: see below", "Jan 12 12:34:56 host kernel: foo",
             "[   12.345678] foo: bar", "took 12.345678 s: fine", "at 10:30 it was 1.5: high",
             "# m 1 1.000000: x:", "\tffffffff81 f+0x1 (x)", "r  b   swpd   free", "123 total 1.0",
             "foo 1 [1] x: y", "       15484.034556      task-clock (msec)         #    0.998 CPUs utilized"})
        EXPECT_FALSE(perfscript::parseHeader(line) && perfscript::parseHeader(line)->strong) << line;
}

TEST(PerfScriptHeader, reportsAPeriodThatDoesNotFit)
{
    const auto header = perfscript::parseHeader("m 1 1.000000: 99999999999999999999 cycles:");
    ASSERT_TRUE(header);
    EXPECT_TRUE(header->overflow);
}

TEST(PerfScriptHeader, leavesOutATimeThatDoesNotFit)
{
    const auto header = perfscript::parseHeader("m 1 99999999999.000000: 5 cycles:");
    ASSERT_TRUE(header);
    EXPECT_FALSE(header->timeNs);
    EXPECT_EQ(header->event, "cycles");
}

// --- frames ---

TEST(PerfScriptFrame, splitsSymbolOffsetAndObject)
{
    const TextFrame frame = frameOf("\tffffffffaee8017b fput+0xb ([kernel.kallsyms])");
    EXPECT_EQ(frame.symbol, "fput");
    EXPECT_EQ(frame.symbolOffset, 11U);
    EXPECT_EQ(frame.object, "[kernel.kallsyms]");
    EXPECT_FALSE(frame.inlined);
}

TEST(PerfScriptFrame, keepsNamesWithBlanksArrowsAndParentheses)
{
    const TextFrame cpp = frameOf("\t 561aa58d std::_Function_handler<int (int, int), "
                                  "main::{lambda(int, int)#1}>::_M_invoke(int) const (/home/user/a b)");
    EXPECT_EQ(cpp.symbol,
        "std::_Function_handler<int (int, int), main::{lambda(int, int)#1}>::_M_invoke(int) const");
    EXPECT_EQ(cpp.symbolOffset, TextFrame::kNoOffset);
    EXPECT_EQ(cpp.object, "/home/user/a b");
    const TextFrame java = frameOf("\t7f89 Ljava/io/A;::flush->Lsun/B$C;::write+0x4b (/tmp/perf-10487.map)");
    EXPECT_EQ(java.symbol, "Ljava/io/A;::flush->Lsun/B$C;::write");
    EXPECT_EQ(java.symbolOffset, 0x4bU);
    EXPECT_EQ(frameOf("\t53d165 regexp/syntax.(*parser).push+0x235 (/usr/bin/go)").symbol,
        "regexp/syntax.(*parser).push");
}

TEST(PerfScriptFrame, marksInlinedFrames)
{
    const TextFrame frame = frameOf("\t    7f443cc8af43 __mmap64 (inlined)");
    EXPECT_TRUE(frame.inlined);
    EXPECT_EQ(frame.object, "");
    EXPECT_EQ(frame.symbol, "__mmap64");
}

TEST(PerfScriptFrame, keepsParenthesesInObjects)
{
    EXPECT_EQ(frameOf("\t7f44 f+0x1 (/memfd:pool (deleted))").object, "/memfd:pool (deleted)");
    EXPECT_EQ(frameOf("\t7f44 f() (/opt/Tool (x86)/lib.so)").object, "/opt/Tool (x86)/lib.so");
}

TEST(PerfScriptFrame, readsUnknownSymbolsAndMissingColumns)
{
    EXPECT_EQ(frameOf("\t0 [unknown] ([unknown])").symbol, "[unknown]");
    EXPECT_EQ(frameOf("\t7f44 (/lib/x.so)").symbol, "[unknown]");
    EXPECT_EQ(frameOf("\t7f44 f+0x10", FrameShape::Open).symbol, "f");
    EXPECT_EQ(frameOf("\t7f44 f(int)", FrameShape::Open).symbol, "f(int)");
    EXPECT_EQ(frameOf("\t7f44", FrameShape::Open).symbol, "[unknown]");
}

TEST(PerfScriptFrame, leavesOtherLinesAlone)
{
    for (const char* line : {"", "\t", "\tTHIS_IS_A_WEIRD_LINE", "\t0x12 f (x)", "#0  0x12 in f () from x",
             "\t12345678901234567 f (x)", "    ([kernel.kallsyms])"})
        frameOf(line, FrameShape::None);
}

TEST(PerfScriptEvent, tellsTracepointsFromModifiers)
{
    EXPECT_EQ(perfscript::classOf("cycles:uppp"), EventClass::Hardware);
    EXPECT_EQ(perfscript::classOf("cpu/event=0x3c,umask=0x1/u"), EventClass::Hardware);
    EXPECT_EQ(perfscript::classOf("mem:0xffff8881:rw"), EventClass::Hardware);
    EXPECT_EQ(perfscript::classOf("instructions"), EventClass::Hardware);
    EXPECT_EQ(perfscript::classOf("cpu-clock:uhH"), EventClass::Clock);
    EXPECT_EQ(perfscript::classOf("task-clock"), EventClass::Clock);
    EXPECT_EQ(perfscript::classOf("context-switches"), EventClass::Happening);
    EXPECT_EQ(perfscript::classOf("lock:contention_begin"), EventClass::Tracepoint);
    EXPECT_EQ(perfscript::classOf("sched:sched_switch:u"), EventClass::Tracepoint);
    EXPECT_EQ(perfscript::classOf("offcpu-time"), EventClass::OffCpu);
}

// --- whole texts ---

TEST(PerfScript, readsSamplesWithFramesBelow)
{
    RecordingSink sink;
    const LoadedInput loaded = loadText("java 10488  9962.502413:   10101010 cpu-clock: \n"
                                        "\tffffffffaee8017b fput+0xb ([kernel.kallsyms])\n"
                                        "\t    7f89e341d84f __GI___libc_write+0x4f (/usr/lib/libc-2.28.so)\n"
                                        "\t5966605dd52f8e00 [unknown] ([unknown])\n"
                                        "\n"
                                        "java 10489  9962.513682:   10101010 cpu-clock: \n"
                                        "\t    7f89e341d84f __GI___libc_write+0x4f (/usr/lib/libc-2.28.so)\n"
                                        "\n",
        sink);
    EXPECT_EQ(loaded.format, "perf-script");
    EXPECT_EQ(loaded.confidence, Confidence::Certain);
    ASSERT_EQ(sink.sections.size(), 1U);
    const KeptSection& section = sink.sections[0];
    EXPECT_EQ(section.record.event, "cpu-clock");
    EXPECT_EQ(section.record.kind, SectionKind::CpuProfile);
    EXPECT_EQ(section.record.quantity, QuantityKind::Cpu);
    EXPECT_EQ(section.record.unit, Unit::Nanoseconds);
    ASSERT_EQ(section.samples.size(), 2U);
    EXPECT_EQ(section.samples[0].comm, "java");
    EXPECT_EQ(section.samples[0].weight, 10101010U);
    ASSERT_EQ(section.samples[0].frames.size(), 3U);
    EXPECT_EQ(section.samples[0].frames[0].symbol, "fput");
    EXPECT_EQ(section.samples[0].frames[2].symbol, "[unknown]");
    EXPECT_EQ(section.samples[1].tid, 10489);
    EXPECT_EQ(section.samples[1].frames.size(), 1U);
    EXPECT_TRUE(sink.diagnostics.empty());
    EXPECT_TRUE(loaded.diagnostics.empty());
}

TEST(PerfScript, readsTheAddressOnTheHeaderLineAndKeepsModifiersApart)
{
    RecordingSink sink;
    loadText(
        "           false 39654 19115.489713:          1 cycles:u:  ffffffff9b201293 [unknown] ([unknown])\n"
        "           false 39654 19115.489719:          1 cycles:      7fa68b1f2d84 _dl_start+0x4 "
        "(/usr/lib/ld-2.31.so)\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[0].record.event, "cycles:u");
    EXPECT_EQ(sink.sections[1].record.event, "cycles");
    EXPECT_EQ(sink.sections[1].record.unit, Unit::Events);
    ASSERT_EQ(sink.sections[1].samples.size(), 1U);
    ASSERT_EQ(sink.sections[1].samples[0].frames.size(), 1U);
    EXPECT_EQ(sink.sections[1].samples[0].frames[0].symbol, "_dl_start");
    EXPECT_EQ(sink.sections[1].samples[0].frames[0].symbolOffset, 4U);
}

TEST(PerfScript, takesRightAlignedCommsOfHexDigitsForNoAddress)
{
    RecordingSink sink;
    loadText("            cafe 39654 19115.489713:          1 cycles:  ffffffff9b201293 f ([k])\n"
             "            cafe 39654 19115.489719:          1 cycles:  ffffffff9b201294 g ([k])\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].samples.size(), 2U);
}

TEST(PerfScript, passesTheDataAddressInFrontOfTheInstruction)
{
    RecordingSink sink;
    loadText("m 1 [000] 1.000001: 1 cycles:  7ffd12345678  ffffffff9b201293 copy+0x2 ([k])\n", sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].samples[0].frames[0].symbol, "copy");
}

TEST(PerfScript, keepsTheSampleOfAFrameThatCannotBeRead)
{
    RecordingSink sink;
    loadText("inline-counter 26037  8801.193547:     250000 cpu-clock:uhH: \n"
             "\t          401b97 main+0x1f (./inline-counter)\n"
             "\n"
             "inline-counter 26037  8801.194312:     250000 cpu-clock:uhH: \n"
             "\t          THIS_IS_A_WEIRD_LINE\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.event, "cpu-clock:uhH");
    ASSERT_EQ(sink.sections[0].samples.size(), 2U);
    EXPECT_EQ(sink.sections[0].samples[0].frames.size(), 1U);
    EXPECT_EQ(sink.sections[0].samples[1].frames.size(), 0U);
    ASSERT_EQ(sink.diagnostics.size(), 1U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::FrameUnreadable);
    EXPECT_EQ(sink.diagnostics[0].position.line, 5U);
}

TEST(PerfScript, countsTracepointsAndSaysSoOnce)
{
    RecordingSink sink;
    loadText("m 15484 [001]   689.584681: lock:contention_begin: 0xffff8881043488c4 (flags=SPIN)\n"
             "\tffffffff8157ab06 native_queued_spin_lock_slowpath+0x8 ([kernel.kallsyms])\n"
             "\n"
             "m 15484 [001]   689.584690: lock:contention_end: 0xffff8881043488c4 (ret=0)\n"
             "\n"
             "swapper 0 [000]   689.584699: sched:sched_switch: swapper/0:0 [120] R ==> m:15484 [120]\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 3U);
    for (const KeptSection& section : sink.sections) {
        EXPECT_EQ(section.record.kind, SectionKind::LockTrace);
        EXPECT_EQ(section.record.quantity, QuantityKind::Count);
        EXPECT_EQ(section.record.unit, Unit::Events);
        ASSERT_EQ(section.samples.size(), 1U);
        EXPECT_EQ(section.samples[0].weight, 1U);
    }
    EXPECT_EQ(sink.sections[0].samples[0].frames.size(), 1U);
    EXPECT_EQ(sink.sections[2].record.event, "sched:sched_switch");
    ASSERT_EQ(sink.diagnostics.size(), 1U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::EventsNotTimed);
    EXPECT_EQ(sink.diagnostics[0].count, 3U);
}

TEST(PerfScript, countsRecordsAndLostEvents)
{
    RecordingSink sink;
    loadText("m 5360/5360 1623.464512: PERF_RECORD_COMM exec: m:5360/5360\n"
             "m 5360/5360 1623.464513: PERF_RECORD_MMAP2 5360/5360: [0x55d0(0x1000) @ 0x1000 fe:00 63 16]: "
             "r-xp /m\n"
             "m 5360/5360 1623.464600:          1 cycles:u:  55d012 main+0x2 (/m)\n"
             "m 5360/5360 1623.464700: PERF_RECORD_LOST lost 25\n"
             "m 5360/5360 1623.464800:          1 cycles:u:  55d016 main+0x6 (/m)\n"
             "m 5360/5360 1623.464900: PERF_RECORD_LOST lost 7\n"
             "m 5360/5360 1623.465000: PERF_RECORD_EXIT(5360:5360):(5350:5350)\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].samples.size(), 2U);
    ASSERT_EQ(sink.diagnostics.size(), 2U);
    EXPECT_EQ(sink.diagnostics[0].code, DiagnosticCode::RecordsSkipped);
    EXPECT_EQ(sink.diagnostics[0].severity, Severity::Note);
    EXPECT_EQ(sink.diagnostics[0].count, 5U);
    EXPECT_EQ(sink.diagnostics[1].code, DiagnosticCode::EventsLost);
    EXPECT_EQ(sink.diagnostics[1].count, 32U); // 25 + 7
    EXPECT_EQ(sink.diagnostics[1].position.line, 4U);
    EXPECT_EQ(factOf(sink, FactKind::Lost), "32");
}

TEST(PerfScript, takesFactsFromTheHeaderBlock)
{
    RecordingSink sink;
    loadText(
        "# ========\n# captured on: Thu Aug 17 14:14:43 2017\n# hostname : host1\n# os release : 4.13.0-rc1\n"
        "# perf version : 4.13.0-rc1\n# arch : x86_64\n# nrcpus online : 8\n# nrcpus avail : 16\n"
        "# cmdline : /usr/bin/perf record -a -- sleep 1 \n# ========\n#\n"
        "noploop 21796 [001] 1410597.984841: instructions: \n\t             993 main (/root/noploop)\n\n",
        sink);
    EXPECT_EQ(factOf(sink, FactKind::Host), "host1");
    EXPECT_EQ(factOf(sink, FactKind::Kernel), "4.13.0-rc1");
    EXPECT_EQ(factOf(sink, FactKind::Arch), "x86_64");
    EXPECT_EQ(factOf(sink, FactKind::Cpus), "8");
    EXPECT_EQ(factOf(sink, FactKind::Command), "/usr/bin/perf record -a -- sleep 1");
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.command, "/usr/bin/perf record -a -- sleep 1");
    EXPECT_EQ(sink.sections[0].record.unit, Unit::Samples); // no period is printed
    EXPECT_TRUE(sink.diagnostics.empty());
}

TEST(PerfScript, leavesTheHeaderBlockOfOtherReportsAlone)
{
    RecordingSink sink;
    loadText(
        "# ========\n# captured on: Thu Aug 17 14:14:43 2017\n# hostname : host1\n# ========\n#\n"
        "# Overhead  Command  Shared Object      Symbol\n    12.34%  m        [kernel.kallsyms]  [k] f\n",
        sink, SIZE_MAX, {.onlyFormat = "perf-script"});
    EXPECT_TRUE(sink.sections.empty());
    EXPECT_FALSE(factOf(sink, FactKind::Host));
}

TEST(PerfScript, joinsFramesThatAMailProgramWrapped)
{
    RecordingSink sink;
    loadText("m 1 [000] 1.000001: 1 cycles: \n"
             "\tffffffff8157ab06 native_queued_spin_lock_slowpath+0x12c\n"
             "    ([kernel.kallsyms])\n"
             "\t    7f44 std::map<int, std::string>::find(int,\n"
             "   int)+0x4\n"
             "  (/usr/lib/libx.so)\n"
             "\t    7f45 main+0x1 (/m)\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].samples.size(), 1U);
    const auto& frames = sink.sections[0].samples[0].frames;
    ASSERT_EQ(frames.size(), 3U);
    EXPECT_EQ(frames[0].symbol, "native_queued_spin_lock_slowpath");
    EXPECT_EQ(frames[0].symbolOffset, 0x12cU);
    EXPECT_EQ(frames[0].object, "[kernel.kallsyms]");
    EXPECT_EQ(frames[1].symbol, "std::map<int, std::string>::find(int, int)");
    EXPECT_EQ(frames[1].object, "/usr/lib/libx.so");
    EXPECT_TRUE(sink.diagnostics.empty());
}

TEST(PerfScript, readsFramesWithoutObjects)
{
    RecordingSink sink;
    loadText(
        "m 1 [000] 1.000001: sched:sched_switch: m:1 [120] S ==> n:2 [120]\n"
        "\t    7fffffff81 __schedule+0x3\n\t    7fffffff82 schedule+0x4\n\n"
        "m 1 [000] 1.000002: sched:sched_switch: m:1 [120] S ==> n:2 [120]\n"
        "\t    7fffffff81 __schedule+0x3\n\n"
        "m 1 [000] 1.000003: sched:sched_switch: m:1 [120] S ==> n:2 [120]\n\t    7fffffff81 __schedule\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].samples.size(), 3U);
    ASSERT_EQ(sink.sections[0].samples[0].frames.size(), 2U);
    EXPECT_EQ(sink.sections[0].samples[0].frames[1].symbol, "schedule");
    EXPECT_EQ(sink.sections[0].samples[0].frames[1].object, "");
}

TEST(PerfScript, goesOnBehindLinesThatBelongToNoSample)
{
    RecordingSink sink;
    loadText("m 1 [000] 1.000001: 1 cycles: \n\t7f45 main+0x1 (/m)\n\n"
             "Warning: something the tool said\n\n"
             "m 1 [000] 1.000002: 1 cycles: \n\t7f45 main+0x1 (/m)\n\n"
             "m 1 [00\n\t7f45 main+0x1 (/m)\n\n"
             "m 1 [000] 1.000003: 1 cycles: \n\t7f45 main+0x1 (/m)\n\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].samples.size(), 3U);
    ASSERT_TRUE(findCode(sink, DiagnosticCode::RemarkInTable));
    EXPECT_EQ(findCode(sink, DiagnosticCode::RemarkInTable)->position.line, 4U);
    ASSERT_TRUE(findCode(sink, DiagnosticCode::RowUnreadable));
    EXPECT_EQ(findCode(sink, DiagnosticCode::RowUnreadable)->position.line, 9U);
}

TEST(PerfScript, endsBeforeProseAndBeginsAnewBehindIt)
{
    const std::string script = "m 1 [000] 1.000001: 1 cycles: \n\t7f45 main+0x1 (/m)\n\n";
    RecordingSink apart;
    loadText(script + "a\nb\nc\nd\ne\nf\ng\n" + script, apart);
    EXPECT_EQ(apart.sections.size(), 2U);
    EXPECT_TRUE(apart.diagnostics.empty());
    RecordingSink captioned;
    loadText("Before:\n\n" + script + "After:\n\n" + script, captioned);
    ASSERT_EQ(captioned.sections.size(), 2U);
    EXPECT_EQ(captioned.sections[0].record.title, "Before");
    EXPECT_EQ(captioned.sections[1].record.title, "After");
    EXPECT_TRUE(captioned.diagnostics.empty());
}

TEST(PerfScript, readsPastesWithAnEmptyLineBehindEachLine)
{
    RecordingSink sink;
    loadText("m 1 [000] 1.000001: 1 cycles: \n\n\t7f45 f+0x1 (/m)\n\n\t7f46 main+0x1 (/m)\n\n\n"
             "m 1 [000] 1.000002: 1 cycles: \n\n\t7f45 f+0x1 (/m)\n\n\t7f46 main+0x1 (/m)\n\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    ASSERT_EQ(sink.sections[0].samples.size(), 2U);
    EXPECT_EQ(sink.sections[0].samples[1].frames.size(), 2U);
}

TEST(PerfScript, readsQuotedScriptsWithBlanksForTabs)
{
    RecordingSink sink;
    loadText("> m 1 [000] 1.000001: 1 cycles:\n>         7f45abcd f+0x1 (/m)\n>\n"
             "> m 1 [000] 1.000002: 1 cycles:\n>         7f45abcd f+0x1 (/m)\nno more\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].record.quoteDepth, 1U);
    ASSERT_EQ(sink.sections[0].samples.size(), 2U);
    EXPECT_EQ(sink.sections[0].samples[1].frames.size(), 1U);
}

TEST(PerfScript, keepsSamplesWithAndWithoutPeriodApart)
{
    RecordingSink sink;
    loadText(
        "m 1 [000] 1.000001: 700 cycles: \n\t7f45 f (/m)\n\nm 1 [000] 1.000002: cycles: \n\t7f45 f (/m)\n\n"
        "m 1 [000] 1.000003: 300 cycles: \n\t7f45 f (/m)\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 2U);
    EXPECT_EQ(sink.sections[0].record.unit, Unit::Events);
    EXPECT_EQ(sink.sections[0].samples.size(), 2U);
    EXPECT_EQ(sink.sections[1].record.unit, Unit::Samples);
    EXPECT_EQ(sink.sections[1].samples.size(), 1U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::PeriodsMixed), 1U);
}

TEST(PerfScript, skipsASampleWhosePeriodDoesNotFit)
{
    RecordingSink sink;
    loadText("m 1 [000] 1.000001: 99999999999999999999 cycles: \n\t7f45 f (/m)\n\n"
             "m 1 [000] 1.000003: 300 cycles: \n\t7f45 f (/m)\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].samples.size(), 1U);
    EXPECT_EQ(countOf(sink, DiagnosticCode::NumberOverflow), 1U);
}

TEST(PerfScript, passesSourceLinesBelowFrames)
{
    RecordingSink sink;
    loadText("m 1 [000] 1.000001: 1 cycles: \n\t7f45 f+0x1 (/m)\n  m.c:12\n"
             "\t7f46 main+0x1 (/m)\n  libm.so[7f46]\n"
             "\t7f47 _start (/memfd:x (deleted))\n  memfd:x (deleted)[7f47]\n\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].samples[0].frames.size(), 3U);
    EXPECT_TRUE(sink.diagnostics.empty());
}

TEST(PerfScript, keepsSamplesWithoutFramesWhereNoTimeIsPrinted)
{
    RecordingSink sink;
    loadText("m 12/12 cycles: \n\t7f45abcd f+0x1 (/m)\n\nm 12/13 cycles: \n\n"
             "m 12/14 cycles: \n\t7f45abcd f+0x1 (/m)\n\n",
        sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].samples.size(), 3U);
    EXPECT_TRUE(sink.diagnostics.empty());
}

TEST(PerfScript, readsChoicesOfColumnsWithoutTimeWhereFramesFollow)
{
    RecordingSink sink;
    const LoadedInput loaded = loadText(
        "m 12/12 cycles: \n\t7f45abcd f+0x1 (/m)\n\nm 12/13 cycles: \n\t7f45abcd f+0x1 (/m)\n\n", sink);
    EXPECT_EQ(loaded.confidence, Confidence::Likely);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].samples.size(), 2U);
}

TEST(PerfScript, isNotFoundInProseOrBacktraces)
{
    RecordingSink sink;
    const LoadedInput loaded = loadText(
        "I ran it on 12 cpus: see below\nJan 12 12:34:56 host kernel: foo\n[   12.345678] Call Trace:\n"
        " [<ffffffff8157ab06>] f+0x1/0x20\n ffffffff8157ab06 00000000 deadbeef\n"
        "bash-4003  [001]   123.638713: finish_task_switch <-schedule\n"
        "m 15 12.345678: one line alone: is no profile\n#0  0x00007f in f () from /lib/x.so\n",
        sink, SIZE_MAX, {.onlyFormat = "perf-script"});
    EXPECT_TRUE(sink.sections.empty());
    EXPECT_TRUE(loaded.failed);
}

TEST(PerfScript, reportsFewDiagnosticsForMuchDamage)
{
    std::string text;
    constexpr size_t kSamples = 5000;
    for (size_t i = 0; i < kSamples; ++i)
        text += "m 1 [000] 1.000001: 1 cycles: \n\tnot a frame\n\t7f45 f (/m)\n\n";
    RecordingSink sink;
    loadText(text, sink);
    ASSERT_EQ(sink.sections.size(), 1U);
    EXPECT_EQ(sink.sections[0].samples.size(), kSamples);
    EXPECT_LT(sink.diagnostics.size(), 30U);
    uint64_t sum = 0;
    for (const Diagnostic& diagnostic : sink.diagnostics)
        sum += diagnostic.count;
    EXPECT_EQ(sum, kSamples);
}

TEST(PerfScript, limitsTheNumberOfEvents)
{
    std::string text;
    for (int i = 0; i < 1000; ++i)
        text += "m 1 [000] 1.000001: 1 event" + std::to_string(i) + ": \n\t7f45 f (/m)\n\n";
    RecordingSink sink;
    loadText(text, sink);
    EXPECT_EQ(sink.sections.size(), 256U);
    ASSERT_TRUE(findCode(sink, DiagnosticCode::LimitReached));
    EXPECT_EQ(findCode(sink, DiagnosticCode::LimitReached)->count, 744U); // 1000 - 256
}

TEST(PerfScript, readsToTheEndHoweverLongLinesAre)
{
    const std::string header = "m 1 [000] 1.000001: 1 cycles: \n";
    const std::string frame = "\t7f45 f (/m)\n\n";
    constexpr size_t kLong = 900'000;
    std::string digits(kLong, '1');
    std::string parentheses(kLong, '(');
    std::string blanks(kLong, ' ');
    RecordingSink sink;
    loadText(header + frame + digits + '\n' + header + "\t7f45 " + parentheses + ")\n" + header + "\t7f45 f"
            + std::string(kLong, ')') + '\n' + blanks + "x\n" + header + frame + "m " + digits + ": x:\n"
            + header + frame,
        sink);
    ASSERT_GE(sink.sections.size(), 1U);
    size_t samples = 0;
    for (const KeptSection& section : sink.sections)
        samples += section.samples.size();
    EXPECT_EQ(samples, 5U);
}

TEST(PerfScript, survivesACutAtAnyByte)
{
    const std::string text =
        "# ========\n# hostname : h\n# ========\n"
        "Web Content 1/2 [000] 1.000001: 1 cycles:u: \n\t7f45 f(int)+0x1 (/m (deleted))\n"
        "\t7f46 g (inlined)\n\nm 2 [001] 1.000002: PERF_RECORD_LOST lost 3\n"
        "m 2 [001] 1.000003: lock:contention_begin: 0xff (flags=SPIN)\n\n";
    size_t last = 0;
    for (size_t length = 0; length <= text.size(); ++length) {
        RecordingSink sink;
        loadText(std::string_view(text).substr(0, length), sink);
        size_t samples = 0;
        for (const KeptSection& section : sink.sections)
            samples += section.samples.size();
        EXPECT_LE(samples, 2U);
        last = samples;
    }
    EXPECT_EQ(last, 2U);
}

} // namespace
} // namespace whichlock::test
