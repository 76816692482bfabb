// SPDX-License-Identifier: GPL-3.0-or-later
// `whichlock explain LOCK FILE...`: what a name rests on, in a profile or in code.
#include "analyzer/cli/commands.h"
#include "analyzer/cli/elf_module.h"
#include "analyzer/cli/print.h"
#include "analyzer/cli/report_inputs.h"
#include "analyzer/naming/lock_namer.h"
#include "analyzer/report/explanation.h"
#include "analyzer/report/value_format.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace whichlock::cli {
namespace {

constexpr size_t kMostCalls = 12;

bool isElf(const std::string& path)
{
    const auto source = Source::openFile(path);
    const auto head = source ? (*source)->head() : tl::make_unexpected(source.error());
    return head
        && head->starts_with("\x7f"
                             "ELF");
}

std::optional<uint64_t> addressIn(std::string_view text)
{
    if (!text.starts_with("0x"))
        return std::nullopt;
    text.remove_prefix(2);
    uint64_t address = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), address, 16);
    return end.ec == std::errc() && end.ptr == text.data() + text.size() ? std::optional(address)
                                                                         : std::nullopt;
}

/// The lock calls in the code of a function out of line.
std::vector<uint64_t> callsInFunction(LockNamer& namer, std::string_view function)
{
    std::vector<AddressRange> ranges;
    for (const ImageSymbol& symbol : namer.image().functions())
        if (symbol.name == function)
            ranges.push_back({symbol.address, symbol.address + symbol.size});
    std::vector<uint64_t> addresses;
    if (ranges.empty())
        return addresses;
    for (const LockCall& call : namer.findCalls())
        if (std::ranges::any_of(
                ranges, [&](const AddressRange& range) { return range.contains(call.address); }))
            addresses.push_back(call.address);
    return addresses;
}

/// The calls that a question is about: by address, function, or a part of a lock's name.
Result<std::vector<uint64_t>> callsOf(LockNamer& namer, const std::string& path, const std::string& which,
    const Options& options, const RoutineTable& routines, std::FILE* err)
{
    if (const auto address = addressIn(which))
        return std::vector{*address};
    std::vector<uint64_t> addresses = callsInFunction(namer, which);
    if (!addresses.empty())
        return addresses;
    // Names of locks and of inlined functions are known once all calls were looked at.
    const auto index = lockIndexOf(path, options.symbols, routines, err);
    if (!index)
        return tl::make_unexpected(index.error());
    for (const LockIndexFilter& filter : {LockIndexFilter{.function = which}, LockIndexFilter{.lock = which}})
        for (const LockIndexRow& row : index->rows)
            if (filter.takes(row) && std::ranges::find(addresses, row.callSite) == addresses.end())
                addresses.push_back(row.callSite);
    return addresses;
}

Result<LockExplanation> explainCode(
    const std::string& path, const std::string& which, const Options& options, std::FILE* err)
{
    const auto routines = lockTable(options.lockTable);
    if (!routines)
        return tl::make_unexpected(routines.error());
    const LockEntries entries(*routines);
    const auto files = moduleFiles(path, options.symbols);
    if (!files)
        return tl::make_unexpected(files.error());
    auto namer = LockNamer::open(*files, {.evidence = true, .entries = &entries});
    if (!namer)
        return tl::make_unexpected(namer.error());
    const auto addresses = callsOf(**namer, path, which, options, *routines, err);
    if (!addresses)
        return tl::make_unexpected(addresses.error());
    LockExplanation explanation{.inputs = {path}};
    for (const uint64_t address : *addresses) {
        if (explanation.calls.size() == kMostCalls) {
            ++explanation.callsLeftOut;
            continue;
        }
        CallEvidence call{.offset = address};
        call.module = {.recordedPath = path,
            .recordedBuildId = (*namer)->image().buildId().hex(),
            .code = files->code,
            .debug = files->debug,
            .verified = true};
        const std::vector<std::string> functions = (*namer)->functionsAt(address);
        call.function = functions.empty() ? fmt::format("{:#x}", address) : functions.back();
        call.name = (*namer)->nameAt(address);
        explanation.calls.push_back(std::move(call));
        (*namer)->trim();
    }
    return explanation;
}

tl::expected<LockExplanation, std::string> explainProfile(
    const Options& options, const std::string& which, std::FILE* err)
{
    const auto routines = lockTable(options.lockTable);
    if (!routines)
        return tl::make_unexpected(sentenceOf(routines.error()));
    EvidenceLog log;
    OpenedInputs opened = openInputs(options.files);
    RecordingOptions recording = selectionOf(options.query);
    recording.evidence = &log;
    recording.routines = &*routines;
    const Profile profile =
        loadSession(std::move(opened.sources), std::move(opened.errors), options.symbols, recording);
    const Report report =
        buildReport(profile, options.query, withKernel(*routines, profile, options.symbols, err));
    printProblems(report.diagnostics, err);
    return explainLock(report, log, which);
}

} // namespace

int explainCommand(const Options& options, std::FILE* out, std::FILE* err)
{
    Options inputs = options;
    const std::string which = inputs.files.front();
    inputs.files.erase(inputs.files.begin());
    if (inputs.files.empty()) {
        print(err, "whichlock: explain takes the name or number of a lock, and at least one file\n");
        return kUsage;
    }
    tl::expected<LockExplanation, std::string> explanation;
    if (inputs.files.size() == 1 && isElf(inputs.files.front())) {
        auto code = explainCode(inputs.files.front(), which, inputs, err);
        if (code && code->calls.empty())
            explanation = tl::make_unexpected(
                fmt::format("no lock call is at, in or of '{}' in {}", which, inputs.files.front()));
        else if (code)
            explanation = std::move(*code);
        else
            explanation = tl::make_unexpected(sentenceOf(code.error()));
    } else {
        explanation = explainProfile(inputs, which, err);
    }
    if (!explanation) {
        print(err, "whichlock: {}\n", explanation.error());
        return kUsage;
    }
    print(out, "{}",
        inputs.format == OutputFormat::Json ? renderExplanationJson(*explanation)
                                            : renderExplanation(*explanation));
    return kFine;
}

} // namespace whichlock::cli
