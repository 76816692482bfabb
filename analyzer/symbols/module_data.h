// SPDX-License-Identifier: GPL-3.0-or-later
// One module while it is symbolized: what all threads share (ModuleData), and what each has for itself
// (ModuleReader).
#pragma once

#include "analyzer/symbols/code_reader.h"
#include "analyzer/symbols/demangle.h"
#include "analyzer/symbols/dwarf_lines.h"
#include "analyzer/symbols/elf_symbols.h"
#include "analyzer/symbols/kallsyms.h"
#include "analyzer/symbols/module_finder.h"
#include "analyzer/symbols/perf_map.h"
#include "analyzer/symbols/symbolizer.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace whichlock {

/// Names of a kernel out of a text, with the place that they came from.
struct KernelTable {
    Kallsyms symbols;
    std::string path;
};

/// Symbol tables and the files they came from. MT: locked inside; the tables never change once they were
/// read.
class ModuleData {
public:
    ModuleData(MappedModule module, ModuleFiles files, std::shared_ptr<const KernelTable> kernelTable,
        const SymbolizerOptions& options)
        : module_(std::move(module))
        , files_(std::move(files))
        , kernelTable_(std::move(kernelTable))
        , inlines_(options.inlines && !isRuntimeLibrary(module_.path))
        , perfMapDir_(options.perfMapDir)
    {
    }

    const MappedModule& module() const { return module_; }
    const ModuleFiles& files() const { return files_; }
    const KernelTable* kernelTable() const { return kernelTable_.get(); }
    /// Not of the C runtime: what its functions have inside tells of no lock, and inflating its debug info
    /// would take longer than reading a recording of 50 MB.
    bool inlines() const { return inlines_; }
    const SymbolTable& functions();
    const SymbolTable& objects();
    const PerfMap& perfMap();
    std::vector<Diagnostic> takeDiagnostics();

private:
    void readElf(SymbolChoice choice, SymbolTable& table);
    void report(Diagnostic diagnostic);

    MappedModule module_;
    ModuleFiles files_;
    std::shared_ptr<const KernelTable> kernelTable_;
    bool inlines_ = true;
    std::string perfMapDir_;
    std::once_flag functionsOnce_;
    std::once_flag objectsOnce_;
    std::once_flag perfMapOnce_;
    SymbolTable functions_;
    SymbolTable objects_;
    PerfMap perfMap_;
    std::mutex mutex_; ///< guards diagnostics_
    std::vector<Diagnostic> diagnostics_;
};

/// The function that a call instruction calls.
struct CalledFunction {
    std::string symbol{};  ///< as the linker knows it, without its version
    uint64_t address = 0;  ///< in the file's own terms; 0 if imported
    bool imported = false; ///< called through the dynamic linker: most likely of another module
};

/// The open files of a module. MT: one thread.
class ModuleReader {
public:
    explicit ModuleReader(ModuleData& data);

    ResolvedAddress resolve(uint64_t offset, AddressKind kind);
    bool resolveObject(uint64_t codeOffset, int64_t distance, ResolvedObject& object);
    bool resolveKernelObject(uint64_t offset, ResolvedObject& object);
    /// An offset of the module in its file's own addresses.
    std::optional<uint64_t> addressOf(uint64_t offset) const;

    /// The function whose symbol covers an offset; the texts live as long as the module's data.
    std::optional<SymbolHit> functionAt(uint64_t offset) const;
    /// The code of the function around an offset; empty where it is not at hand.
    FunctionCode codeAround(uint64_t offset);
    /// What the call before a return address calls; nothing where the code is not at hand, or where the call
    /// does not tell its target.
    std::optional<CalledFunction> calledBefore(uint64_t returnOffset);
    /// The functions of this name that other modules may import.
    std::vector<ExportedFunction> exported(std::string_view symbol);
    /// Whether the code at an offset is a loop that only waits; false where it is not at hand.
    bool isPauseLoop(uint64_t offset);

private:
    void resolveAnonymous(uint64_t address, uint64_t adjustment, ResolvedAddress& resolved);
    void resolveInKernelText(uint64_t offset, uint64_t adjustment, ResolvedAddress& resolved);
    void resolveInFiles(uint64_t offset, uint64_t adjustment, ResolvedAddress& resolved);
    void addSymbol(const SymbolHit& hit, uint64_t address, ResolvedAddress& resolved);
    CodeReader* codeReader();
    DwarfLines* lines();

    ModuleData& data_;
    std::unique_ptr<ElfFile> code_;
    std::unique_ptr<ElfFile> debug_;    ///< null if it is the same file
    std::unique_ptr<DwarfLines> lines_; ///< opened when first asked for: its index takes time to build
    bool linesOpened_ = false;
    std::optional<CodeReader> codeReader_; ///< of code_; made when first asked for
    DemangleCache demangled_;
};

} // namespace whichlock
