// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/cli/report_inputs.h"

#include "analyzer/cli/elf_module.h"
#include "analyzer/cli/print.h"
#include "analyzer/naming/kernel_lock_use.h"
#include "analyzer/report/value_format.h"

#include <algorithm>

namespace whichlock::cli {

Result<RoutineTable> lockTable(const std::string& path)
{
    if (path.empty())
        return RoutineTable::builtIn();
    auto source = Source::openFile(path);
    if (!source)
        return tl::make_unexpected(source.error());
    std::string text;
    std::string piece(Source::kHeadBytes, '\0');
    for (;;) {
        const auto got = (*source)->read(piece);
        if (!got)
            return tl::make_unexpected(got.error());
        if (*got == 0)
            break;
        text.append(piece, 0, *got);
    }
    return RoutineTable::builtIn().withUserFile(path, text);
}

RoutineTable withKernel(
    const RoutineTable& routines, const Profile& profile, const SymbolizerOptions& symbols, std::FILE* err)
{
    const bool texts = std::ranges::any_of(profile.sections, [&](const Section& section) {
        return section.record.kind == SectionKind::CpuProfile && section.record.format != "perf.data";
    });
    if (symbols.vmlinux.empty() || !texts)
        return routines;
    const auto index = lockIndexOf(symbols.vmlinux, symbols, routines, err);
    const auto use =
        index ? KernelLockUse::open(symbols.vmlinux, *index) : tl::make_unexpected(index.error());
    if (!use) {
        print(err, "whichlock: no candidates come from {}: {}\n", printable(symbols.vmlinux),
            printable(use.error().message));
        return routines;
    }
    return routines.withLockUse(*use);
}

void printProblems(const std::vector<Diagnostic>& diagnostics, std::FILE* err)
{
    for (const Diagnostic& one : diagnostics) {
        if (one.severity != Severity::Error && one.severity != Severity::DataLoss)
            continue;
        const std::string_view advice = codeAdvice(one.code);
        print(err, "whichlock: {}{}{}\n", printable(sentenceOf(one)), advice.empty() ? "" : "; ", advice);
    }
}

} // namespace whichlock::cli
