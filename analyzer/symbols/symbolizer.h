// SPDX-License-Identifier: GPL-3.0-or-later
// From (module, offset) to names: the front of everything in this folder. Symbolizes only what is asked for,
// each module when its first address comes.
#pragma once

#include "analyzer/symbols/call_before.h"
#include "analyzer/symbols/call_gap.h"
#include "analyzer/symbols/kallsyms.h"
#include "analyzer/symbols/mapped_module.h"
#include "analyzer/symbols/source_frame.h"
#include "analyzer/symbols/symbolizer_options.h"
#include "parsers/diagnostic.h"

#include <future>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace whichlock {

/// What an address of a call chain is. The call of a return address lies before it, maybe in another line,
/// and after a call that does not return even in another function.
enum class AddressKind : uint8_t {
    InstructionPointer, ///< runs there
    ReturnAddress,      ///< where a call returns to: looked up at address - 1
    AlreadyAdjusted,    ///< inside the call instruction
};

struct SymbolRequest {
    uint32_t module = 0; ///< index into the modules that are given along
    uint64_t offset = 0; ///< see ModuleKind
    AddressKind kind = AddressKind::InstructionPointer;

    auto operator<=>(const SymbolRequest&) const = default;
};

/// What is known of an address; everything is empty if that is nothing.
struct ResolvedAddress {
    static constexpr uint64_t kNoOffset = UINT64_MAX;

    std::string function{};            ///< by the symbol table, else by the debug info; readable
    uint64_t symbolOffset = kNoOffset; ///< of the address as asked for, from the start of the symbol
    uint64_t symbolSize = 0;
    std::vector<SourceFrame> chain{}; ///< innermost first; the last one is `function`
    bool verified = false;            ///< the build ids say that the names are those of the recorded code

    bool operator==(const ResolvedAddress&) const = default;
};

/// A data symbol that covers an address.
struct ResolvedObject {
    std::string name{};
    uint64_t offset = 0; ///< from the start of the symbol
    uint64_t size = 0;
    bool verified = false;
};

/// The machine code of one function.
struct FunctionCode {
    CodeMachine machine = CodeMachine::Other;
    uint64_t address = 0; ///< in the file's own terms
    std::span<const uint8_t> bytes{};
};

struct KernelTable;
struct ModuleFiles;
class ModuleData;
class ModuleFinder;
class ModuleReader;

/// MT: one thread calls it; resolveAll() starts its own, and only plain structs leave them.
class Symbolizer {
public:
    explicit Symbolizer(SymbolizerOptions options);
    ~Symbolizer();
    Symbolizer(const Symbolizer&) = delete;
    Symbolizer& operator=(const Symbolizer&) = delete;

    /// Begins to read the text of kernel symbols on a thread of its own, if there is one and it will be
    /// asked.
    void readKernelTextAhead();
    /// One address; keeps the module open.
    ResolvedAddress resolve(const MappedModule& module, uint64_t offset, AddressKind kind);
    /// Many addresses by module, on several threads; results stand as the requests do, and are the same for
    /// any number of threads.
    std::vector<ResolvedAddress> resolveAll(
        std::span<const MappedModule> modules, std::span<const SymbolRequest> requests);
    /// The variable at a data address that is known by its distance from code: `address - codeAddress` of the
    /// process, where `codeOffset` is the file offset of codeAddress. False if no symbol covers it.
    bool resolveObject(
        const MappedModule& module, uint64_t codeOffset, int64_t distance, ResolvedObject& object);

    /// The variable of the kernel at an offset from its reference symbol. False if no symbol covers it.
    bool resolveKernelObject(const MappedModule& kernel, uint64_t offset, ResolvedObject& object);

    /// The function that a chain recorded by frame pointers lacks between its innermost frame in a process
    /// and the return address that follows.
    CallGap callGap(const MappedModule& leafModule, uint64_t leafOffset, const MappedModule& callerModule,
        uint64_t returnOffset);
    /// Whether the code at an offset is a loop that only waits (inPauseLoop); false where it is not at hand.
    bool isPauseLoop(const MappedModule& module, uint64_t offset);
    /// The code of the function around an offset, valid as long as this; empty where it is not at hand.
    FunctionCode codeAround(const MappedModule& module, uint64_t offset);
    /// The files that names of this module come from, by the same rule.
    const ModuleFiles& filesOf(const MappedModule& module);
    const SymbolizerOptions& options() const { return options_; }
    /// Where an offset of a module lies in its file's own addresses; nothing if no file is known.
    std::optional<uint64_t> addressOf(const MappedModule& module, uint64_t offset);

    /// What was refused, unverified or unreadable so far; sorted.
    std::vector<Diagnostic> takeDiagnostics();

private:
    ModuleData& dataOf(const MappedModule& module);
    ModuleReader& readerOf(const MappedModule& module);

    SymbolizerOptions options_;
    std::unique_ptr<ModuleFinder> finder_;
    std::future<Result<Kallsyms>> kernelText_; ///< as it is being read
    std::shared_ptr<const KernelTable> kernelTable_;
    bool kernelTableRead_ = false;
    std::vector<Diagnostic> diagnostics_;
    std::map<std::string, std::unique_ptr<ModuleData>> modules_;
    std::map<const ModuleData*, std::unique_ptr<ModuleReader>> readers_;
};

} // namespace whichlock
