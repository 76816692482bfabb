// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/symbolizer.h"

#include "analyzer/symbols/module_data.h"
#include "analyzer/symbols/module_finder.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

namespace whichlock {
namespace {

/// Opening a module costs as much as a few hundred addresses: smaller pieces would not pay.
constexpr size_t kLeastPieceRequests = 512;

/// Equal requests of one module, in ascending order, that one worker answers.
struct Piece {
    ModuleData* data = nullptr;
    size_t begin = 0; ///< into the order of requests
    size_t end = 0;
};

std::string keyOf(const MappedModule& module)
{
    std::string key;
    for (const std::string& part :
        {std::to_string(static_cast<int>(module.kind)), std::to_string(module.guest), module.buildId.hex(),
            std::to_string(module.pid), std::to_string(module.epoch), module.reference,
            std::to_string(module.referenceAddress), std::to_string(module.executableOffset), module.path})
        key += part + '\n';
    return key;
}

void work(std::span<const Piece> pieces, std::span<const size_t> order,
    std::span<const SymbolRequest> requests, std::atomic<size_t>& next, std::span<ResolvedAddress> results)
{
    std::unique_ptr<ModuleReader> reader;
    ModuleData* open = nullptr;
    for (size_t at = next++; at < pieces.size(); at = next++) {
        const Piece& piece = pieces[at];
        if (piece.data != open) {
            reader = std::make_unique<ModuleReader>(*piece.data);
            open = piece.data;
        }
        for (size_t i = piece.begin; i < piece.end; ++i) {
            const SymbolRequest& request = requests[order[i]];
            const bool same = i > piece.begin && requests[order[i - 1]] == request;
            results[order[i]] = same ? results[order[i - 1]] : reader->resolve(request.offset, request.kind);
        }
    }
}

} // namespace

Symbolizer::Symbolizer(SymbolizerOptions options)
    : options_(options)
    , finder_(std::make_unique<ModuleFinder>(std::move(options)))
{
}

Symbolizer::~Symbolizer() = default;

void Symbolizer::readKernelTextAhead()
{
    if (options_.kallsyms.empty() || !options_.vmlinux.empty() || options_.threads < 2 || kernelTableRead_
        || kernelText_.valid())
        return;
    kernelText_ = std::async(std::launch::async, readKallsyms, options_.kallsyms);
}

ModuleData& Symbolizer::dataOf(const MappedModule& module)
{
    std::unique_ptr<ModuleData>& data = modules_[keyOf(module)];
    if (data)
        return *data;
    const bool kernel = module.kind == ModuleKind::Kernel || module.kind == ModuleKind::KernelModule;
    ModuleFiles files = finder_->find(module);
    if (kernel && !module.guest && !files.found() && !options_.kallsyms.empty() && !kernelTableRead_) {
        kernelTableRead_ = true;
        if (auto table = kernelText_.valid() ? kernelText_.get() : readKallsyms(options_.kallsyms)) {
            kernelTable_ =
                std::make_shared<const KernelTable>(KernelTable{std::move(*table), options_.kallsyms});
            diagnostics_.push_back(makeDiagnostic(DiagnosticCode::SymbolsUnverified,
                "nothing in this text proves that it is of the recorded kernel",
                {.chain = options_.kallsyms}));
            if (kernelTable_->symbols.unreadableLines != 0)
                diagnostics_.push_back(makeDiagnostic(DiagnosticCode::SymbolsUnreadable,
                    std::to_string(kernelTable_->symbols.unreadableLines) + " lines are no symbols",
                    {.chain = options_.kallsyms}));
        } else {
            diagnostics_.push_back(std::move(table.error()));
        }
    }
    data = std::make_unique<ModuleData>(
        module, std::move(files), kernel && !module.guest ? kernelTable_ : nullptr, options_);
    return *data;
}

ModuleReader& Symbolizer::readerOf(const MappedModule& module)
{
    ModuleData& data = dataOf(module);
    std::unique_ptr<ModuleReader>& reader = readers_[&data];
    if (!reader)
        reader = std::make_unique<ModuleReader>(data);
    return *reader;
}

const ModuleFiles& Symbolizer::filesOf(const MappedModule& module)
{
    return dataOf(module).files();
}

ResolvedAddress Symbolizer::resolve(const MappedModule& module, uint64_t offset, AddressKind kind)
{
    return readerOf(module).resolve(offset, kind);
}

bool Symbolizer::resolveObject(
    const MappedModule& module, uint64_t codeOffset, int64_t distance, ResolvedObject& object)
{
    return readerOf(module).resolveObject(codeOffset, distance, object);
}

bool Symbolizer::resolveKernelObject(const MappedModule& kernel, uint64_t offset, ResolvedObject& object)
{
    return readerOf(kernel).resolveKernelObject(offset, object);
}

CallGap Symbolizer::callGap(const MappedModule& leafModule, uint64_t leafOffset,
    const MappedModule& callerModule, uint64_t returnOffset)
{
    ModuleReader& leaf = readerOf(leafModule);
    return whichlock::callGap(leaf, leafOffset, readerOf(callerModule), returnOffset);
}

bool Symbolizer::isPauseLoop(const MappedModule& module, uint64_t offset)
{
    return readerOf(module).isPauseLoop(offset);
}

FunctionCode Symbolizer::codeAround(const MappedModule& module, uint64_t offset)
{
    return readerOf(module).codeAround(offset);
}

std::optional<uint64_t> Symbolizer::addressOf(const MappedModule& module, uint64_t offset)
{
    return readerOf(module).addressOf(offset);
}

std::vector<ResolvedAddress> Symbolizer::resolveAll(
    std::span<const MappedModule> modules, std::span<const SymbolRequest> requests)
{
    std::vector<ResolvedAddress> results(requests.size());
    std::vector<size_t> order(requests.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::erase_if(order, [&](size_t i) { return requests[i].module >= modules.size(); });
    std::ranges::sort(order,
        [&](size_t a, size_t b) { return requests[a] != requests[b] ? requests[a] < requests[b] : a < b; });
    const unsigned threads = std::max(options_.threads, 1U);
    std::vector<Piece> pieces;
    for (size_t begin = 0; begin < order.size();) {
        const uint32_t module = requests[order[begin]].module;
        size_t end = begin;
        while (end < order.size() && requests[order[end]].module == module)
            ++end;
        const size_t step = std::max(kLeastPieceRequests, (end - begin + threads - 1) / threads);
        for (size_t at = begin; at < end; at += step)
            pieces.push_back({&dataOf(modules[module]), at, std::min(at + step, end)});
        begin = end;
    }
    std::atomic<size_t> next = 0;
    {
        std::vector<std::jthread> workers;
        for (size_t i = 1; i < std::min<size_t>(threads, pieces.size()); ++i)
            workers.emplace_back([&] { work(pieces, order, requests, next, results); });
        work(pieces, order, requests, next, results);
    }
    return results;
}

std::vector<Diagnostic> Symbolizer::takeDiagnostics()
{
    std::vector<Diagnostic> all = std::exchange(diagnostics_, {});
    const auto append = [&](std::vector<Diagnostic> more) {
        std::ranges::move(more, std::back_inserter(all));
    };
    append(finder_->takeDiagnostics());
    for (const auto& [key, data] : modules_)
        append(data->takeDiagnostics());
    std::ranges::sort(all, [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.code, a.position, a.message) < std::tie(b.code, b.position, b.message);
    });
    return all;
}

} // namespace whichlock
