// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/file_index.h"

#include "analyzer/symbols/elf_file.h"

#include <algorithm>
#include <filesystem>

namespace whichlock {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 500'000;
constexpr int kMostDepth = 24;

/// Paths of all regular files, sorted, so that every run sees the same order.
std::vector<std::string> filesBelow(const std::string& folder, std::vector<Diagnostic>& diagnostics)
{
    std::vector<std::string> paths;
    std::error_code error;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
    if (error) {
        diagnostics.push_back(makeDiagnostic(DiagnosticCode::FileUnreadable,
            "this folder for symbols cannot be read: " + error.message(), {.chain = folder}));
        return paths;
    }
    for (const fs::recursive_directory_iterator end; at != end; at.increment(error)) {
        if (at.depth() >= kMostDepth)
            at.disable_recursion_pending();
        std::error_code status;
        if (at->is_regular_file(status) && !status)
            paths.push_back(at->path().string());
        if (paths.size() < kMostFiles)
            continue;
        diagnostics.push_back(makeDiagnostic(DiagnosticCode::LimitReached,
            "only the first " + std::to_string(kMostFiles)
                + " files of this folder for symbols were looked at",
            {.chain = folder}));
        break;
    }
    std::ranges::sort(paths);
    return paths;
}

} // namespace

FileIndex FileIndex::ofFolder(const std::string& folder, std::vector<Diagnostic>& diagnostics)
{
    FileIndex index;
    for (std::string& path : filesBelow(folder, diagnostics)) {
        const auto file = ElfFile::open(path);
        if (!file)
            continue; // folders hold sources and notes, too
        index.names_[fs::path(path).filename().string()].push_back(index.files_.size());
        index.files_.push_back({std::move(path), (*file)->buildId(), (*file)->hasCode()});
    }
    return index;
}

std::vector<const IndexedFile*> FileIndex::byId(const BuildId& id) const
{
    std::vector<const IndexedFile*> found;
    for (const IndexedFile& file : files_)
        if (file.buildId.matches(id))
            found.push_back(&file);
    return found;
}

std::vector<const IndexedFile*> FileIndex::byName(std::string_view baseName) const
{
    std::vector<const IndexedFile*> found;
    if (const auto at = names_.find(baseName); at != names_.end())
        for (const size_t i : at->second)
            found.push_back(&files_[i]);
    return found;
}

} // namespace whichlock
