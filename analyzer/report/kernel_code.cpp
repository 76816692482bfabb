// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/report/kernel_code.h"

#include "analyzer/locks/lock_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace whichlock {
namespace {

/// `vmlinux (Linux 6.1.0)`.
std::string codeText(const LockUse& use)
{
    return use.version().empty() ? use.source() + " (it does not tell its version)"
                                 : fmt::format("{} (Linux {})", use.source(), use.version());
}

Diagnostic refusal(const LockUse& use, const ReportSection& section)
{
    return makeDiagnostic(DiagnosticCode::KernelMismatch,
        fmt::format("{} was not used for a profile of Linux {} (by {}): no candidates come from its code",
            codeText(use), section.facts.kernel, section.facts.kernelSource),
        section.position);
}

Diagnostic doubt(const LockUse& use, const ReportSection& section)
{
    const std::string of = section.facts.kernel.empty()
        ? std::string("a profile that does not tell its kernel")
        : fmt::format("a profile of Linux {} (by {})", section.facts.kernel, section.facts.kernelSource);
    return makeDiagnostic(DiagnosticCode::SymbolsUnverified,
        fmt::format("candidates of {} come from the code of {}, unverified: texts have no build id", of,
            codeText(use)),
        section.position);
}

} // namespace

void addKernelCodeDiagnostics(const RoutineTable& routines, Report& report)
{
    const LockUse* use = routines.lockUse();
    if (use == nullptr)
        return;
    std::set<std::string> said;
    for (const ReportSection& section : report.sections) {
        if (section.kind != SectionKind::CpuProfile || section.format == "perf.data")
            continue;
        const bool refused = !mayBeOfKernel(*use, section.facts.kernel);
        const bool used = std::ranges::any_of(section.candidates, &Candidate::byCode);
        if ((refused || used) && said.insert(section.facts.kernel).second)
            report.diagnostics.push_back(refused ? refusal(*use, section) : doubt(*use, section));
    }
}

} // namespace whichlock
