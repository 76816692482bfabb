// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/perf_data_samples.h"

namespace whichlock::test {
namespace {

constexpr unsigned kSampleIdAll = 18;

constexpr std::string_view kCommonFields =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

/// {pid 7, tid 8} time id stream cpu identifier.
Bytes& trailer(Bytes& payload, uint64_t time)
{
    return payload.u32(7).u32(8).u64(time).u64(501).u64(900).u32(3).u32(0).u64(501);
}

} // namespace

const std::string kSwitchFormat = "name: sched_switch\nID: 372\nformat:\n" + std::string(kCommonFields)
    + "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
      "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
      "\nprint fmt: \"prev_comm=%s\", REC->prev_comm\n";
const std::string kDynamicFormat = "name: mlock\nID: 1500\nformat:\n" + std::string(kCommonFields)
    + "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
      "\tfield:__data_loc char[] path;\toffset:16;\tsize:4;\tsigned:1;\n"
      "\tfield:__rel_loc char[] rel;\toffset:20;\tsize:4;\tsigned:0;\n"
      "\nprint fmt: \"(%lx)\", REC->__probe_ip\n";

PerfFileWriter allSampleFields(bool big)
{
    PerfFileWriter file(big);
    WrittenAttr attr;
    attr.sampleType = (uint64_t{1} << 25U) - 1 - (uint64_t{1} << 14U); // all, WEIGHT_STRUCT for WEIGHT
    attr.readFormat = 0x1f;
    attr.branchType = 1U << 17U | 1U << 19U;
    attr.userRegisters = 0b1011;
    attr.interruptRegisters = 0b100;
    attr.flags = {0, 8, 9, kSampleIdAll, 25};
    attr.precise = 2;
    attr.ids = {501};
    file.attr(attr);
    Bytes sample = file.bytes();
    sample.u64(501)
        .u64(0xffffffff81000010)
        .u32(1234)
        .u32(1235)
        .u64(5'000'000'001)
        .u64(0x7f00)
        .u64(501)
        .u64(900);
    sample.u32(3).u32(0).u64(77);
    sample.u64(2).u64(1000).u64(900).u64s({11, 501, 1, 22, 502, 2}); // read, a group
    sample.u64(4).u64s(
        {static_cast<uint64_t>(-128), 0xffffffff81000010, static_cast<uint64_t>(-512), 0x401000});
    sample.u32(12).raw("raw 12 bytes");                                         // with its size 16
    sample.u64(2).u64(5).u64s({0x10, 0x20});                                    // branches
    sample.u64(big ? uint64_t{1} << 62U : 2).u64s({0x30, 0x40});                // predicted
    sample.u64(big ? uint64_t{1} << 63U | uint64_t{300} << 44U : 1 | 300 << 4); // mispredicted, 300 cycles
    sample.u64s({0xc0, 0xc1});
    sample.u64(2).u64s({0xa, 0xb, 0xc});            // user registers
    sample.u64(16).raw("0123456789abcdef").u64(10); // user stack
    sample.u64(0x0003000200000001).u64(0xd5).u64(0x77);
    sample.u64(1).u64(0xbeef); // registers at the interrupt
    sample.u64s({0xabc000, 42, 4096, 2097152});
    sample.u64(8).raw("aux data");
    file.record(9, 0x4001, sample);
    return file;
}

PerfFileWriter allRecords(bool big)
{
    PerfFileWriter file(big);
    WrittenAttr attr;
    attr.sampleType = 1U << 1U | 1U << 2U | 1U << 6U | 1U << 7U | 1U << 9U | 1U << 16U;
    attr.flags = {kSampleIdAll};
    attr.readFormat = 4;
    attr.ids = {500, 501};
    file.attr(attr);
    uint64_t time = 100;
    const auto add = [&](uint32_t type, uint16_t misc, Bytes payload) {
        file.record(type, misc, trailer(payload, time++));
    };
    const auto bytes = [&] { return file.bytes(); };
    add(1, 0x2002, bytes().u32(7).u32(8).u64s({0x400000, 0x1000, 0x200}).text("/bin/a"));
    add(2, 0, bytes().u64s({501, 33}));
    add(3, 0x2000, bytes().u32(7).u32(8).text("worker"));
    add(4, 0, bytes().u32(7).u32(6).u32(8).u32(5).u64(99));
    add(5, 0, bytes().u64s({98, 501, 900}));
    add(6, 0, bytes().u64s({97, 501, 900}));
    add(7, 0x2000, bytes().u32(17).u32(7).u32(18).u32(8).u64(96));
    add(8, 0, bytes().u32(7).u32(8).u64s({1, 501}));
    file.record(9, 2, bytes().u64(501).u32(7).u32(8).u64(time++).u64(501).u64(900).u32(3).u32(0));
    add(10, 2,
        bytes()
            .u32(7)
            .u32(8)
            .u64s({0x500000, 0x2000, 0x1000})
            .u32(8)
            .u32(1)
            .u64s({4711, 2})
            .u32(5)
            .u32(2)
            .text("/lib/b.so"));
    add(10, 0x4002,
        bytes()
            .u32(7)
            .u32(8)
            .u64s({0x600000, 0x3000, 0})
            .u8(20)
            .u8(0)
            .u16(0)
            .raw("abcdefghijklmnopqrst")
            .u32(5)
            .u32(2)
            .text("/lib/c.so"));
    add(11, 0, bytes().u64s({0, 64, 0}));
    add(12, 0, bytes().u32(7).u32(8));
    add(13, 0, bytes().u64(44));
    add(13, 0x8000, bytes().u64(45));
    add(14, 0x6000, bytes());
    add(15, 0x2000, bytes().u32(70).u32(80));
    add(16, 0, bytes().u32(7).u32(8).u64(2).u64s({4, 0xf1, 4, 0xf2}));
    add(17, 0, bytes().u64(0xffffffffc0000000).u32(256).u16(1).u16(1).text("bpf_prog"));
    add(18, 0, bytes().u16(1).u16(0).u32(9).raw("taggtagg"));
    add(19, 0, bytes().u64(77).text("/user.slice"));
    add(20, 0, bytes().u64(0xffffffff81000000).u16(2).u16(2).raw("\x90\x91\xeb\x05").u32(0));
    add(21, 0, bytes().u64(5));
    add(22, 2, bytes().u64(66).u64(2).u64s({0x1000, 0x2000}));
    add(60, 0, bytes().u64(0)); // a kernel of the future
    file.record(67, 0x8002,
        bytes()
            .u32(static_cast<uint32_t>(-1))
            .raw("0123456789abcdef")
            .raw(std::string(4, 0))
            .u8(16)
            .u8(0)
            .u16(0)
            .text("/lib/d.so"));
    file.record(70, 0, bytes().u32(1).u32(0));
    file.record(71, 0, bytes().u64s({24, 0, 0}).u32(0).u32(1).u32(2).u32(0));
    file.loose("twenty-four bytes of aux");
    file.record(73, 0, bytes().u64(1).u64(55).text("watched", 16));
    file.record(79, 0, bytes().u64s({10, 20, 30}));
    file.record(68, 0, bytes());
    file.record(99, 0, bytes().u64(1));
    file.record(4000, 0, bytes().u64(1));
    file.record(82, 0, bytes());
    return file;
}

PerfFileWriter tracepoints(bool big)
{
    PerfFileWriter file(big);
    constexpr uint64_t kSampleType = 1U << 0U | 1U << 1U | 1U << 2U | 1U << 6U | 1U << 10U;
    file.attr({.type = 2,
        .config = 372,
        .period = 1,
        .sampleType = kSampleType,
        .flags = {kSampleIdAll},
        .ids = {11, 12}});
    file.attr({.type = 2,
        .config = 1500,
        .period = 1,
        .sampleType = kSampleType,
        .flags = {kSampleIdAll},
        .ids = {21, 22}});
    file.attr({.type = 1,
        .config = 0,
        .period = 999,
        .sampleType = kSampleType,
        .flags = {10, kSampleIdAll},
        .ids = {31}});
    const auto bytes = [&] { return file.bytes(); };
    const auto sample = [&](uint64_t time, uint64_t id, const Bytes& raw) {
        // The size of raw data and its 4 bytes are a multiple of 8.
        file.record(9, 1, bytes().u64(0x10).u32(5).u32(6).u64(time).u64(id).u32(raw.size()).raw(raw.str()));
    };
    sample(20, 12, bytes().u16(372).u16(0).u32(5).text("busy", 16).u32(static_cast<uint32_t>(-3)));
    // `path` has 5 bytes at 24, `rel` has 4 at 29, which is 5 behind the end of its own field.
    Bytes dynamic = bytes().u16(1500).u16(0).u32(5).u64(0x7777).u32(5U << 16U | 24).u32(4U << 16U | 5);
    sample(10, 21, dynamic.text("/tmp", 1).text("rel", 1).raw("pad"));
    sample(30, 31, bytes().u32(0));
    file.record(68, 0, bytes());
    file.feature(
        1, bytes().raw(tracingData(big, {{"sched", kSwitchFormat}, {"probe_libc", kDynamicFormat}})));
    file.feature(2,
        bytes()
            .u32(0)
            .u16(1)
            .u16(8 + 4 + 24 + 24)
            .u32(static_cast<uint32_t>(-1))
            .raw("ABCDEFGHIJKLMNOPQRST")
            .raw(std::string(4, 0))
            .text("[kernel.kallsyms]", 24));
    file.feature(3, bytes().sized("host-1"));
    file.feature(4, bytes().sized("6.18.44"));
    file.feature(6, bytes().sized("x86_64"));
    file.feature(7, bytes().u32(8).u32(6));
    file.feature(9, bytes().sized("GenuineIntel,6,143,8"));
    file.feature(10, bytes().u64(16384));
    file.feature(11, bytes().u32(3).sized("perf").sized("record").sized("-a"));
    file.feature(
        13, bytes().u32(1).sized("0-7").u32(2).sized("0-1").sized("2-3").u32(0).u32(1).u32(2).u32(3));
    file.feature(14, bytes().u32(1).u32(0).u64s({1000, 500}).sized("0-7"));
    file.feature(16, bytes().u32(2).u32(1).sized("software").u32(14).sized("msr"));
    file.feature(17, bytes().u32(1).sized("group").u32(0).u32(2));
    file.feature(21, bytes().u64s({10, 30}));
    file.feature(23, bytes().u64(1));
    file.feature(27, bytes().u32(1).u32(1).u32(1).u32(9).u32(4096));
    file.feature(29, bytes().u32(1).u32(1).u64s({1'700'000'000'000'000'000, 5'000}));
    file.feature(40, bytes().u64(1));
    return file;
}

PerfFileWriter compressed(bool second)
{
    PerfFileWriter file;
    file.attr({.sampleType = 1U << 0U | 1U << 2U, .ids = {1}});
    std::string inner;
    for (uint64_t i = 0; i < 6; ++i)
        inner += PerfFileWriter::recordBytes(false, 9, 2, file.bytes().u64s({0x1000 + i, 50 + i}).str());
    // The cut lies within the third record.
    const std::vector<std::string> pieces = zstdPieces({inner.substr(0, 59), inner.substr(59)});
    for (const std::string& piece : pieces) {
        if (second)
            file.record(83, 0,
                file.bytes().u64(piece.size()).raw(piece).raw(std::string((8 - piece.size() % 8) % 8, 0)));
        else
            file.record(81, 0, file.bytes().raw(piece));
    }
    file.record(3, 0, file.bytes().u32(1).u32(1).text("after"));
    file.record(82, 0, file.bytes());
    return file;
}

std::string version1(bool big)
{
    PerfFileWriter file(big);
    file.attr({.type = 2, .config = 42, .sampleType = 1U << 0U, .size = 64});
    file.eventType(41, "other:event").eventType(42, "sched:sched_switch");
    file.record(9, 1, file.bytes().u64(0xff10));
    file.feature(3, file.bytes().sized("old-host"));
    return file.fileOfVersion1();
}

std::vector<std::pair<std::string, std::string>> namedPerfData()
{
    std::vector<std::pair<std::string, std::string>> files;
    for (const bool big : {false, true}) {
        const std::string order = big ? "-big" : "-little";
        files.emplace_back("sample" + order, allSampleFields(big).file());
        files.emplace_back("sample-pipe" + order, allSampleFields(big).pipe());
        files.emplace_back("records" + order, allRecords(big).file());
        files.emplace_back("records-pipe" + order, allRecords(big).pipe());
        files.emplace_back("tracepoints" + order, tracepoints(big).file());
        files.emplace_back("tracepoints-pipe" + order, tracepoints(big).pipe());
        files.emplace_back("tracepoints-killed" + order, tracepoints(big).file(true));
        files.emplace_back("version1" + order, version1(big));
    }
    files.emplace_back("compressed", compressed(false).file());
    files.emplace_back("compressed-pipe", compressed(false).pipe());
    files.emplace_back("compressed2", compressed(true).file());
    return files;
}

} // namespace whichlock::test
