// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/perf_data_dump.h"

#include <fmt/core.h>

namespace whichlock::test {
namespace {

std::string hex(std::string_view bytes)
{
    std::string text;
    for (const char byte : bytes)
        text += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    return text;
}

std::string list(const U64Span& values)
{
    std::string text = "[";
    for (size_t i = 0; i < values.size(); ++i)
        text += fmt::format("{:x} ", values[i]);
    return text + "]";
}

std::string registers(const PerfRegisters& registers)
{
    return fmt::format("abi={} mask={:x} {}", registers.abi, registers.mask, list(registers.values));
}

} // namespace

void PerfDataDump::line(const PerfRecord& record, std::string_view what)
{
    text_ += fmt::format("{} {} misc={:x} size={}{} {}", record.offset, recordTypeName(record.type),
        record.misc, record.size, record.compressed ? " compressed" : "", what);
    const PerfSampleId& id = record.id;
    if (id.present != 0)
        text_ += fmt::format(" | present={:x} event={} {}/{} time={} id={} stream={} cpu={}", id.present,
            id.event, id.pid, id.tid, id.time, id.id, id.streamId, id.cpu);
    text_ += '\n';
}

void PerfDataDump::event(const PerfEvent& event)
{
    if (events_.size() <= event.index)
        events_.resize(event.index + size_t{1});
    events_[event.index] = event;
    const PerfAttr& attr = event.attr;
    text_ += fmt::format("event {} {} ({}) type={} config={:x} period={} sampleType={:x} flags={:x} ids={}",
        event.index, event.name, static_cast<int>(event.nameOrigin), attr.type, attr.config,
        attr.samplePeriod, attr.sampleType, attr.flags, event.ids.size());
    text_ += fmt::format(" regs={:x}/{:x} clock={} stack={} config1={:x} precise={}\n", attr.sampleRegsUser,
        attr.sampleRegsIntr, attr.clockId, attr.sampleStackUser, attr.config1, attr.preciseIp());
    if (event.format != nullptr) {
        for (const TracepointField& field : event.format->fields)
            text_ += fmt::format("  {} {} @{} {} {} {}\n", field.type, field.name, field.offset, field.size,
                field.isSigned, static_cast<int>(field.kind));
    }
}

void PerfDataDump::hostFacts(const PerfHostFacts& facts)
{
    text_ += fmt::format("host {} {} {} {} cpus={}/{} {} {} memory={}", facts.hostName, facts.osRelease,
        facts.perfVersion, facts.arch, facts.cpusOnline, facts.cpusAvailable, facts.cpuDescription,
        facts.cpuId, facts.totalMemoryKb);
    for (const std::string& word : facts.commandLine)
        text_ += " " + word;
    for (const PerfPmu& pmu : facts.pmus)
        text_ += fmt::format(" {}={}", pmu.type, pmu.name);
    for (const std::string& cpus : facts.coreSiblings)
        text_ += " cores " + cpus;
    for (const std::string& cpus : facts.threadSiblings)
        text_ += " threads " + cpus;
    for (const PerfNumaNode& node : facts.numaNodes)
        text_ += fmt::format(" node {} {} {} {}", node.node, node.totalKb, node.freeKb, node.cpus);
    for (const PerfEventGroup& group : facts.groups)
        text_ += fmt::format(" group {} {} {}", group.name, group.leader, group.members);
    if (facts.clock)
        text_ +=
            fmt::format(" clock {} {} {}", facts.clock->clockId, facts.clock->wallNs, facts.clock->clockNs);
    text_ += '\n';
}

void PerfDataDump::buildId(const PerfBuildId& buildId)
{
    text_ +=
        fmt::format("build id {} {:x} {} {}\n", buildId.pid, buildId.misc, hex(buildId.id), buildId.fileName);
}

void PerfDataDump::mapping(const PerfRecord& record, const PerfMapping& mapping)
{
    line(record,
        fmt::format("{}/{} {:x}+{:x} @{:x} prot={} flags={} {}:{} {} {} id={} data={} {}", mapping.pid,
            mapping.tid, mapping.start, mapping.length, mapping.pageOffset, mapping.protection, mapping.flags,
            mapping.deviceMajor, mapping.deviceMinor, mapping.inode, mapping.inodeGeneration,
            hex(mapping.buildId), mapping.isData, mapping.fileName));
}

void PerfDataDump::comm(const PerfRecord& record, const PerfComm& comm)
{
    line(record, fmt::format("{}/{} {} exec={}", comm.pid, comm.tid, comm.name, comm.exec));
}

void PerfDataDump::fork(const PerfRecord& record, const PerfTask& task)
{
    line(record,
        fmt::format("{}/{} of {}/{} at {}", task.pid, task.tid, task.parentPid, task.parentTid, task.time));
}

void PerfDataDump::exit(const PerfRecord& record, const PerfTask& task)
{
    fork(record, task);
}

void PerfDataDump::lost(const PerfRecord& record, const PerfLost& lost)
{
    line(record,
        fmt::format("{} id={} event={} samples={} rule={}", lost.count, lost.id, lost.event, lost.samplesOnly,
            lost.droppedByRule));
}

void PerfDataDump::contextSwitch(const PerfRecord& record, const PerfSwitch& change)
{
    line(record,
        fmt::format("out={} preempted={} other={} {}/{}", change.out, change.preempted, change.hasOther,
            change.otherPid, change.otherTid));
}

void PerfDataDump::throttle(const PerfRecord& record, const PerfThrottle& throttle)
{
    line(record, fmt::format("{} {} {} {}", throttle.begins, throttle.time, throttle.id, throttle.streamId));
}

void PerfDataDump::kernelSymbol(const PerfRecord& record, const PerfKernelSymbol& symbol)
{
    line(record,
        fmt::format("{:x}+{:x} type={} gone={} {}", symbol.start, symbol.length, symbol.type,
            symbol.unregistered, symbol.name));
}

void PerfDataDump::textPoke(const PerfRecord& record, const PerfTextPoke& poke)
{
    line(record, fmt::format("{:x} {} -> {}", poke.start, hex(poke.oldBytes), hex(poke.newBytes)));
}

void PerfDataDump::cgroup(const PerfRecord& record, const PerfCgroup& cgroup)
{
    line(record, fmt::format("{} {}", cgroup.id, cgroup.path));
}

void PerfDataDump::namespaces(const PerfRecord& record, const PerfNamespaces& spaces)
{
    line(record, fmt::format("{}/{} {}", spaces.pid, spaces.tid, list(spaces.deviceAndInode)));
}

void PerfDataDump::deferredCallchain(const PerfRecord& record, const PerfDeferredCallchain& chain)
{
    line(record, fmt::format("{} {}", chain.cookie, list(chain.addresses)));
}

void PerfDataDump::watchedTask(const PerfRecord& record, uint64_t pid, std::string_view comm)
{
    line(record, fmt::format("{} {}", pid, comm));
}

void PerfDataDump::sample(const PerfRecord& record, const PerfSample& sample)
{
    line(record,
        fmt::format("event={} present={:x} ip={:x} {}/{} time={} addr={:x} id={} stream={} cpu={} period={}",
            sample.event, sample.present, sample.ip, sample.pid, sample.tid, sample.time, sample.addr,
            sample.id, sample.streamId, sample.cpu, sample.period));
    if (sample.has(sample_bit::kRead)) {
        text_ += fmt::format("  read {} {}", sample.read.timeEnabled, sample.read.timeRunning);
        for (size_t i = 0; i < sample.read.size(); ++i) {
            const PerfReadValue value = sample.read[i];
            text_ += fmt::format(" {}/{}/{}", value.value, value.id, value.lost);
        }
        text_ += '\n';
    }
    text_ += fmt::format("  chain {} branches {:x}", list(sample.callchain), sample.branchHwIndex);
    for (size_t i = 0; i < sample.branches.size(); ++i) {
        const PerfBranch branch = sample.branches[i];
        text_ += fmt::format(" {:x}>{:x}/{:x}", branch.from, branch.to, branch.flags);
    }
    text_ += fmt::format(" {} user {} intr {} stack {} used {}", list(sample.branchCounters),
        registers(sample.userRegisters), registers(sample.interruptRegisters), hex(sample.userStack),
        sample.userStackUsed);
    text_ += fmt::format(" {:x} {:x} {:x} {:x} {} {} {} aux {} left {}\n", sample.weight, sample.dataSource,
        sample.transaction, sample.physicalAddress, sample.cgroup, sample.dataPageSize, sample.codePageSize,
        hex(sample.aux), sample.bytesLeft);
    rawFields(sample);
}

void PerfDataDump::rawFields(const PerfSample& sample)
{
    if (sample.event >= events_.size() || events_[sample.event].format == nullptr) {
        text_ += fmt::format("  raw {}\n", hex(sample.raw));
        return;
    }
    for (const TracepointField& field : events_[sample.event].format->fields) {
        if (const auto value = tracepointInteger(sample.raw, sample.rawOrder, field)) {
            text_ += fmt::format("  {}={:x}\n", field.name, *value);
        } else if (field.kind == TracepointFieldKind::Array && field.type.find("char") == std::string::npos) {
            text_ += fmt::format("  {}=", field.name);
            for (size_t i = 0;; ++i) {
                const auto element =
                    tracepointElement(sample.raw, sample.rawOrder, field, i, sizeof(uint64_t));
                if (!element)
                    break;
                text_ += fmt::format("{:x} ", *element);
            }
            text_ += '\n';
        } else {
            text_ +=
                fmt::format("  {}={}\n", field.name, hex(tracepointText(sample.raw, sample.rawOrder, field)));
        }
    }
}

void PerfDataDump::finishedRound(const PerfRecord& record)
{
    line(record, "");
}

void PerfDataDump::diagnostic(Diagnostic diagnostic)
{
    text_ += fmt::format("{}: {} {} x{}\n", codeName(diagnostic.code), diagnostic.message,
        toString(diagnostic.position), diagnostic.count);
}

} // namespace whichlock::test
