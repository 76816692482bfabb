// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the files that belong to a recorded module, and refuses those that do not. The rule: an equal build
// id is used, a different one is refused; where none was recorded only what the user named is used, and is
// marked.
#pragma once

#include "analyzer/symbols/elf_file.h"
#include "analyzer/symbols/file_index.h"
#include "analyzer/symbols/mapped_module.h"
#include "analyzer/symbols/symbolizer_options.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace whichlock {

/// The files of a module.
struct ModuleFiles {
    std::string code{};  ///< the file that was mapped; empty if only its debug info was found
    std::string debug{}; ///< the file with its debug info; empty if there is none
    std::string btf{}; ///< of kernels: BTF that counts where there is no debug info; empty if none was named
    bool verified = false;

    bool found() const { return !code.empty() || !debug.empty(); }
};

/// MT: one thread.
class ModuleFinder {
public:
    explicit ModuleFinder(SymbolizerOptions options)
        : options_(std::move(options))
    {
    }

    ModuleFiles find(const MappedModule& module);
    /// What was refused, is unverified, or could not be read, in the order of the look-ups.
    std::vector<Diagnostic> takeDiagnostics() { return std::exchange(diagnostics_, {}); }

private:
    struct Search;

    const std::vector<FileIndex>& indexes();
    void searchById(Search& search);
    void searchByPath(Search& search);
    void searchByName(Search& search);
    void searchDebugLink(Search& search);
    void consider(Search& search, const std::string& path, bool namedByUser);
    void report(const Search& search);

    SymbolizerOptions options_;
    std::optional<std::vector<FileIndex>> indexes_;
    std::vector<Diagnostic> diagnostics_;
};

} // namespace whichlock
