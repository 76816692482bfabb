// SPDX-License-Identifier: GPL-3.0-or-later
// What lies in a folder that the user named: its ELF files by build id and by base name.
#pragma once

#include "analyzer/symbols/build_id.h"
#include "parsers/diagnostic.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// One ELF file of the folder.
struct IndexedFile {
    std::string path;
    BuildId buildId;
    bool hasCode = false;
};

/// Built by reading the folder once; links to folders are not followed. MT: safe once built.
class FileIndex {
public:
    /// Reads a folder and all below it. What cannot be read, or a limit that was reached, is told.
    static FileIndex ofFolder(const std::string& folder, std::vector<Diagnostic>& diagnostics);

    /// By path.
    std::vector<const IndexedFile*> byId(const BuildId& id) const;
    std::vector<const IndexedFile*> byName(std::string_view baseName) const;

private:
    std::vector<IndexedFile> files_;
    std::map<std::string, std::vector<size_t>, std::less<>> names_;
};

} // namespace whichlock
