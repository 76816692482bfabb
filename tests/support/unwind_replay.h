// SPDX-License-Identifier: GPL-3.0-or-later
// Unwinds all samples of an uncompressed recording in the order of time, without the rest of the analyzer.
#pragma once

#include "analyzer/symbols/module_finder.h"
#include "analyzer/symbols/unwinder.h"
#include "parsers/input/mapped_file.h"
#include "parsers/perf_data/perf_data_reader.h"

#include <algorithm>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace whichlock::test {

/// Holds views into the file, which therefore stays mapped.
class UnwindReplay final : public PerfDataSink {
public:
    struct Unwound {
        const PerfSample& sample;
        const AddressSpace& space;
        const UnwindResult& result;
        const std::vector<UnwoundFrame>& frames;
    };

    UnwindReplay(const std::string& path, SymbolizerOptions symbols)
        : finder_(std::move(symbols))
        , file_(MappedFile::open(path))
    {
        if (file_)
            (void)readPerfData(file_->bytes(), path, *this);
        std::stable_sort(
            items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.time < b.time; });
    }

    void hostFacts(const PerfHostFacts& facts) override { arch_ = unwindArch(facts.arch); }
    void buildId(const PerfBuildId& id) override { buildIds_.push_back(id); }
    void mapping(const PerfRecord& record, const PerfMapping& mapping) override { add(record, mapping); }
    void comm(const PerfRecord& record, const PerfComm& comm) override { add(record, comm); }
    void fork(const PerfRecord& record, const PerfTask& task) override { add(record, task); }
    void sample(const PerfRecord&, const PerfSample& sample) override
    {
        items_.push_back({sample.time, sample});
    }

    bool readable() const { return file_.has_value() && arch_ != nullptr; }

    /// Replays everything once.
    void run(const std::function<void(const Unwound&)>& each)
    {
        AddressSpace space;
        Unwinder unwinder(*arch_, [this](const MappedModule& module) {
            return std::make_unique<CfiModule>(finder_.find(withId(module)));
        });
        std::vector<UnwoundFrame> frames;
        for (const Item& item : items_) {
            if (const auto* sample = std::get_if<PerfSample>(&item.record)) {
                const auto start = unwindStart(*arch_, sample->userRegisters);
                if (!start || sample->userStackUsed == 0)
                    continue;
                frames.clear();
                const StackCopy stack{.start = start->registers.values[arch_->stackPointer],
                    .bytes = sample->userStack.substr(0, sample->userStackUsed)};
                const UnwindResult result =
                    unwinder.unwind(space, static_cast<int32_t>(sample->pid), *start, stack, frames);
                each({*sample, space, result, frames});
            } else {
                apply(space, item);
            }
        }
        evaluated_ = unwinder.evaluatedAddresses();
        rows_ = unwinder.distinctRows();
    }

    size_t evaluatedAddresses() const { return evaluated_; }
    size_t distinctRows() const { return rows_; }

private:
    struct Item {
        uint64_t time = 0;
        std::variant<PerfSample, PerfMapping, PerfComm, PerfTask> record;
    };

    template <class Record> void add(const PerfRecord& record, const Record& what)
    {
        if (record.cpuMode() != PerfCpuMode::Kernel)
            items_.push_back({record.id.time, what});
    }

    MappedModule withId(MappedModule module) const
    {
        for (const PerfBuildId& id : buildIds_)
            if (module.buildId.empty() && id.fileName == module.path)
                module.buildId =
                    BuildId::fromBytes({reinterpret_cast<const uint8_t*>(id.id.data()), id.id.size()});
        return module;
    }

    static void apply(AddressSpace& space, const Item& item)
    {
        if (const auto* mapping = std::get_if<PerfMapping>(&item.record)) {
            constexpr uint32_t kExecutable = 4; // PROT_EXEC
            space.insert({.pid = static_cast<int32_t>(mapping->pid),
                .start = mapping->start,
                .length = mapping->length,
                .fileOffset = mapping->pageOffset,
                .path = mapping->fileName,
                .executable = !mapping->isData && (mapping->protection & kExecutable) != 0});
        } else if (const auto* comm = std::get_if<PerfComm>(&item.record)) {
            if (comm->exec)
                space.exec(static_cast<int32_t>(comm->pid));
        } else if (const auto* task = std::get_if<PerfTask>(&item.record)) {
            space.fork(static_cast<int32_t>(task->pid), static_cast<int32_t>(task->parentPid));
        }
    }

    ModuleFinder finder_;
    Result<MappedFile> file_;
    const UnwindArch* arch_ = nullptr;
    std::vector<PerfBuildId> buildIds_;
    std::vector<Item> items_;
    size_t evaluated_ = 0;
    size_t rows_ = 0;
};

} // namespace whichlock::test
