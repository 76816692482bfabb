// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/recorded_stacks.h"

#include "parsers/perf_data/perf_data_reader.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace whichlock::test {
namespace {

AddressMode modeOf(bool kernel)
{
    return kernel ? AddressMode::Kernel : AddressMode::User;
}

/// Keeps what it is told as work to be done in the order of time.
class Replay : public PerfDataSink {
public:
    void buildId(const PerfBuildId& id) override { space_.setBuildId(id.fileName, buildIdOf(id.id)); }
    void mapping(const PerfRecord& record, const PerfMapping& mapping) override
    {
        constexpr uint32_t kExecutable = 4; // PROT_EXEC
        MappingRecord row;
        row.mode = modeOf(record.cpuMode() == PerfCpuMode::Kernel);
        row.pid = static_cast<int32_t>(mapping.pid);
        row.start = mapping.start;
        row.length = mapping.length;
        row.fileOffset = mapping.pageOffset;
        row.buildId = buildIdOf(mapping.buildId);
        row.executable = !mapping.isData && (!mapping.hasDetails || (mapping.protection & kExecutable) != 0);
        at(record, [this, row, path = std::string(mapping.fileName)]() mutable {
            row.path = path;
            space_.insert(row);
        });
    }
    void comm(const PerfRecord& record, const PerfComm& comm) override
    {
        if (comm.exec)
            at(record, [this, pid = static_cast<int32_t>(comm.pid)] { space_.exec(pid); });
    }
    void fork(const PerfRecord& record, const PerfTask& task) override
    {
        if (task.pid != task.parentPid)
            at(record, [this, task] {
                space_.fork(static_cast<int32_t>(task.pid), static_cast<int32_t>(task.parentPid));
            });
    }
    void kernelSymbol(const PerfRecord& record, const PerfKernelSymbol& symbol) override
    {
        at(record, [this, symbol, name = std::string(symbol.name)] {
            if (symbol.unregistered)
                space_.removeKernelRange(symbol.start, symbol.length);
            else
                space_.insertKernelRange(symbol.start, symbol.length, name);
        });
    }
    void sample(const PerfRecord& record, const PerfSample& sample) override
    {
        std::vector<uint64_t> chain;
        for (size_t i = 0; i < sample.callchain.size(); ++i)
            chain.push_back(sample.callchain[i]);
        if (!sample.has(sample_bit::kCallchain))
            chain = {sample.ip};
        work_.emplace_back(sample.time,
            [this, chain, time = sample.time, pid = static_cast<int32_t>(sample.pid),
                tid = static_cast<int32_t>(sample.tid), kernel = record.cpuMode() == PerfCpuMode::Kernel] {
                samples_.push_back({time, tid, framesOf(chain, pid, kernel)});
            });
    }

    std::vector<RecordedSample> run(Symbolizer& symbolizer)
    {
        std::stable_sort(
            work_.begin(), work_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [time, work] : work_)
            work();
        for (RecordedSample& sample : samples_) {
            for (RecordedFrame& frame : sample.frames)
                name(frame, symbolizer);
        }
        return std::move(samples_);
    }

private:
    static BuildId buildIdOf(std::string_view bytes)
    {
        return BuildId::fromBytes(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
    }

    void at(const PerfRecord& record, std::function<void()> work)
    {
        if (record.id.has(sample_bit::kTime))
            lastTime_ = record.id.time;
        work_.emplace_back(lastTime_, std::move(work));
    }

    std::vector<RecordedFrame> framesOf(const std::vector<uint64_t>& chain, int32_t pid, bool kernel) const
    {
        std::vector<RecordedFrame> frames;
        bool first = true; // of the chain or of the user's part: no return addresses
        for (const uint64_t entry : chain) {
            if (entry >= kFirstContextMark) {
                kernel = entry == perf_context::kKernel || (kernel && entry != perf_context::kUser);
                first = true;
                continue;
            }
            RecordedFrame frame{.address = entry, .offset = entry, .isReturnAddress = !first};
            frame.object = "[unknown]";
            if (const auto location = space_.find(modeOf(kernel), pid, entry)) {
                frame.module = location->module;
                frame.offset = location->offset;
            }
            frames.push_back(std::move(frame));
            first = false;
        }
        return frames;
    }

    void name(RecordedFrame& frame, Symbolizer& symbolizer) const
    {
        if (!frame.module)
            return;
        const MappedModule& module = space_.module(frame.module);
        frame.object = module.kind == ModuleKind::Kernel ? "[kernel.kallsyms]" : module.path;
        frame.there = symbolizer.resolve(module, frame.offset, AddressKind::InstructionPointer);
        frame.name = frame.isReturnAddress
            ? symbolizer.resolve(module, frame.offset, AddressKind::ReturnAddress)
            : frame.there;
    }

    AddressSpace space_;
    uint64_t lastTime_ = 0;
    std::vector<std::pair<uint64_t, std::function<void()>>> work_;
    std::vector<RecordedSample> samples_;
};

} // namespace

std::vector<RecordedSample> recordedSamples(const std::string& path, const SymbolizerOptions& symbols)
{
    Replay replay;
    if (!readPerfData(path, replay))
        return {};
    Symbolizer symbolizer(symbols);
    return replay.run(symbolizer);
}

} // namespace whichlock::test
