// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/locks/record_command.h"

#include <gtest/gtest.h>

namespace whichlock {
namespace {

RecordedScope scopeOf(std::string_view command)
{
    return parseRecordCommand(command).scope;
}

TEST(RecordCommand, isOfTheMachineWhereAllProcessorsAreAskedFor)
{
    for (const char* command : {"perf record -a -g -- sleep 10", "/usr/bin/perf record -ag sleep 10",
             "perf record -e cycles --all-cpus sleep 1", "perf record -C 0-3 -- sleep 1",
             "perf record -F 99 -ga", "perf record",
             "perf record -e sched:sched_switch --filter prev_pid != 3 && cpu == 1 -a -- sleep 1",
             "perf sched record -o F ./prog"})
        EXPECT_EQ(scopeOf(command), RecordedScope::Machine) << command;
}

TEST(RecordCommand, isOfProcessesWhereAProgramOrAPidIsGiven)
{
    for (const char* command : {"/usr/bin/perf record -q -e cpu-clock -F 499 --call-graph dwarf,1024 -k "
                                "CLOCK_MONOTONIC -o f ./p 1 60",
             "perf record -p 4711 -- sleep 10", "perf record -gp4711", "perf record -t 17",
             "perf record -u joe", "perf lock record -o F ./prog mmap 4", "perf record ./prog -a",
             "perf record -- ./prog -a -C 1", "perf record --filter comm!=perf -e sched:sched_switch ./prog"})
        EXPECT_EQ(scopeOf(command), RecordedScope::Process) << command;
}

TEST(RecordCommand, tellsTheProgramThatWasRun)
{
    EXPECT_EQ(parseRecordCommand("perf record -q -e cpu-clock -g -o a.data ./bin/prog 40 -x").workload,
        "./bin/prog 40 -x");
    EXPECT_EQ(parseRecordCommand("perf record -I --user-regs=ip,sp -g -- ./prog").workload, "./prog");
    EXPECT_EQ(parseRecordCommand("perf record -p 1").workload, "");
}

TEST(RecordCommand, tellsWhetherStacksWereCopied)
{
    EXPECT_TRUE(parseRecordCommand("perf record --call-graph dwarf,1024 ./prog").copiesStacks);
    EXPECT_TRUE(parseRecordCommand("perf record --call-graph=dwarf ./prog").copiesStacks);
    EXPECT_FALSE(parseRecordCommand("perf record --call-graph fp ./prog").copiesStacks);
    EXPECT_FALSE(parseRecordCommand("perf record -g ./prog").copiesStacks);
}

TEST(RecordCommand, knowsNothingOfOtherTools)
{
    for (const char* command : {"", "opreport -l vmlinux", "readprofile -m System.map", "perf script", "perf",
             "perf lock contention -a", "record -a"}) {
        EXPECT_EQ(scopeOf(command), RecordedScope::Unknown) << command;
        EXPECT_EQ(parseRecordCommand(command).workload, "") << command;
    }
}

} // namespace
} // namespace whichlock
