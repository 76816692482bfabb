// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/module_data.h"

#include <algorithm>

namespace whichlock {

const SymbolTable& ModuleData::functions()
{
    std::call_once(functionsOnce_, [this] { readElf(SymbolChoice::Functions, functions_); });
    return functions_;
}

const SymbolTable& ModuleData::objects()
{
    std::call_once(objectsOnce_, [this] { readElf(SymbolChoice::Objects, objects_); });
    return objects_;
}

const PerfMap& ModuleData::perfMap()
{
    std::call_once(perfMapOnce_, [this] {
        if (perfMapDir_.empty() || module_.pid < 0)
            return;
        const std::string path = perfMapDir_ + "/perf-" + std::to_string(module_.pid) + ".map";
        auto map = PerfMap::readFile(path);
        if (!map)
            return; // most processes have none
        perfMap_ = std::move(*map);
        if (perfMap_.unreadableLines() != 0)
            report(makeDiagnostic(DiagnosticCode::SymbolsUnreadable,
                std::to_string(perfMap_.unreadableLines()) + " lines are no symbols", {.chain = path}));
        report(makeDiagnostic(DiagnosticCode::SymbolsUnverified,
            "nothing proves that these names are of the recorded process", {.chain = path}));
    });
    return perfMap_;
}

std::vector<Diagnostic> ModuleData::takeDiagnostics()
{
    const std::lock_guard lock(mutex_);
    return std::exchange(diagnostics_, {});
}

void ModuleData::readElf(SymbolChoice choice, SymbolTable& table)
{
    for (const std::string& path : {files_.code, files_.debug}) {
        if (path.empty() || (&path != &files_.code && files_.debug == files_.code && table.size() != 0))
            continue;
        if (const auto file = ElfFile::open(path)) {
            addElfSymbols(**file, choice, table);
            if (choice == SymbolChoice::Functions && (*file)->hasUnknownCompression())
                report(makeDiagnostic(DiagnosticCode::SymbolsUnreadable,
                    "some of its debug info is compressed in a way that cannot be undone here (zstd): lines "
                    "and "
                    "inlined functions may be missing",
                    {.chain = path}));
        }
    }
    table.finish();
    if (choice == SymbolChoice::Functions && module_.kind == ModuleKind::Kernel && files_.found()
        && !module_.reference.empty() && !table.referenceAddress(module_.reference))
        report(makeDiagnostic(DiagnosticCode::SymbolsUnreadable,
            "does not know " + module_.reference + ", which the recorded addresses are relative to",
            {.chain = files_.code.empty() ? files_.debug : files_.code}));
}

void ModuleData::report(Diagnostic diagnostic)
{
    const std::lock_guard lock(mutex_);
    diagnostics_.push_back(std::move(diagnostic));
}

} // namespace whichlock
