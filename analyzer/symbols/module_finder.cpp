// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/module_finder.h"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>

namespace whichlock {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path)
{
    struct stat info { };
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string withoutDeletedMark(const std::string& path)
{
    constexpr std::string_view kMark = " (deleted)";
    return path.ends_with(kMark) ? path.substr(0, path.size() - kMark.size()) : path;
}

std::string folderOf(const std::string& path)
{
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

/// A recorded path below a folder; empty if it could lead out of it, or is no path.
std::string below(const std::string& folder, const std::string& path)
{
    if (path.empty() || path.front() != '/' || path.find("/../") != std::string::npos
        || path.ends_with("/.."))
        return {};
    return folder + path;
}

/// Whether a path, with all links followed, is still in the folder.
bool staysBelow(const std::string& folder, const std::string& path)
{
    std::error_code error;
    const fs::path root = fs::weakly_canonical(folder, error);
    if (error)
        return false;
    const fs::path real = fs::weakly_canonical(path, error);
    return !error && std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
}

/// Names under which people keep the file of a module.
std::vector<std::string> namesOf(const MappedModule& module)
{
    const std::string base(baseNameOf(module.path));
    switch (module.kind) {
    case ModuleKind::File:
        return {base, base + ".debug"};
    case ModuleKind::Vdso:
        return {"[vdso]", "vdso.so", "vdso64.so", "linux-vdso.so.1", "vdso"};
    case ModuleKind::Kernel:
        return {"vmlinux", "vmlinux.debug"};
    case ModuleKind::KernelModule: {
        const std::string name = kernelModuleName(module.path);
        std::string dashed = name;
        std::ranges::replace(dashed, '_', '-');
        std::vector<std::string> names = {name + ".ko", name + ".ko.debug"};
        if (dashed != name)
            names.insert(names.end(), {dashed + ".ko", dashed + ".ko.debug"});
        return names;
    }
    case ModuleKind::KernelRange:
    case ModuleKind::Anonymous:
        return {};
    }
    return {};
}

/// How many whole parts at the end of two paths are equal.
size_t commonTail(const std::string& a, const std::string& b)
{
    size_t parts = 0;
    for (size_t i = 1; i <= std::min(a.size(), b.size()) && a[a.size() - i] == b[b.size() - i]; ++i)
        parts += a[a.size() - i] == '/';
    return parts;
}

} // namespace

/// One search with what it found so far.
struct ModuleFinder::Search {
    const MappedModule& module;
    ModuleFiles files{};
    BuildId buildId{}; ///< recorded, or of the file that was found
    std::optional<DebugLink> link{};
    std::string refused{}; ///< the first file with another build id
    BuildId refusedId{};
    std::vector<std::string> ambiguous{};

    bool complete() const { return !files.code.empty() && !files.debug.empty(); }
};

ModuleFiles ModuleFinder::find(const MappedModule& module)
{
    if (namesOf(module).empty())
        return {};
    Search search{.module = module, .buildId = module.buildId};
    search.files.verified = !module.buildId.empty();
    if (module.kind == ModuleKind::Kernel && !options_.vmlinux.empty() && !module.guest)
        consider(search, options_.vmlinux, true);
    searchById(search);
    searchByPath(search);
    searchByName(search);
    if (!search.buildId.empty() && module.buildId.empty())
        searchById(search); // the debug info of a file that was found by its name
    searchDebugLink(search);
    report(search);
    return search.files;
}

const std::vector<FileIndex>& ModuleFinder::indexes()
{
    if (!indexes_) {
        indexes_.emplace();
        for (const std::string& folder : options_.debugDirs)
            indexes_->push_back(FileIndex::ofFolder(folder, diagnostics_));
    }
    return *indexes_;
}

void ModuleFinder::searchById(Search& search)
{
    if (search.buildId.empty())
        return;
    for (const FileIndex& index : indexes())
        for (const IndexedFile* file : index.byId(search.buildId))
            consider(search, file->path, true);
    const std::string hex = search.buildId.hex();
    if (hex.size() < 4)
        return;
    const std::string tail = "/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2);
    for (const std::string& folder : options_.debugDirs)
        for (const char* suffix : {"", ".debug"})
            consider(search, folder + tail + suffix, true);
    for (const std::string& root :
        {options_.symfs.empty() ? std::string() : options_.symfs + options_.debugRoot, options_.debugRoot})
        if (!root.empty())
            consider(search, root + tail + ".debug", false);
    if (!options_.buildIdCache.empty())
        for (const char* name : {"/elf", "/debug", "/vdso", "/kernel"})
            consider(search, options_.buildIdCache + tail + name, false);
}

void ModuleFinder::searchByPath(Search& search)
{
    const std::string path = withoutDeletedMark(search.module.path);
    if (const std::string inside = below(options_.symfs, path); !options_.symfs.empty() && !inside.empty()) {
        // An absolute link in there leads to a file of this machine: only a build id could prove that one.
        if (!search.buildId.empty() || staysBelow(options_.symfs, inside))
            consider(search, inside, true);
    }
    // What has this path here is another file unless its build id says otherwise.
    if (!search.module.buildId.empty())
        consider(search, below("", path), false);
}

void ModuleFinder::searchByName(Search& search)
{
    if (search.complete())
        return;
    for (const std::string& name : namesOf(search.module)) {
        for (const FileIndex& index : indexes()) {
            std::vector<const IndexedFile*> files = index.byName(name);
            if (files.empty() || search.complete())
                continue;
            // Of several the one whose folders are called as the recorded ones; equal candidates are none.
            const auto rank = [&](const IndexedFile* file) {
                return commonTail(file->path, search.module.path);
            };
            std::ranges::stable_sort(files, [&](const auto* a, const auto* b) { return rank(a) > rank(b); });
            if (search.buildId.empty() && files.size() > 1 && rank(files[0]) == rank(files[1])) {
                search.ambiguous = {files[0]->path, files[1]->path};
                continue;
            }
            for (const IndexedFile* file : files)
                consider(search, file->path, true);
        }
    }
}

void ModuleFinder::searchDebugLink(Search& search)
{
    if (!search.link || !search.files.debug.empty())
        return;
    const std::string folder = folderOf(search.files.code);
    const std::string recorded = folderOf(withoutDeletedMark(search.module.path));
    std::vector<std::string> paths = {folder + "/" + search.link->name,
        folder + "/.debug/" + search.link->name, options_.debugRoot + folder + "/" + search.link->name};
    if (const std::string at = below(options_.symfs + options_.debugRoot, recorded); !at.empty())
        paths.push_back(at + "/" + search.link->name);
    for (const FileIndex& index : indexes())
        for (const IndexedFile* file : index.byName(search.link->name))
            paths.push_back(file->path);
    for (const std::string& path : paths) {
        if (path == search.files.code || !exists(path))
            continue;
        const auto file = ElfFile::open(path);
        if (!file)
            continue;
        const BuildId id = (*file)->buildId();
        const bool same = !search.buildId.empty() && !id.empty() ? id.matches(search.buildId)
                                                                 : contentCrc(path) == search.link->crc;
        if (!same)
            continue;
        search.files.debug = path;
        return;
    }
}

void ModuleFinder::consider(Search& search, const std::string& path, bool namedByUser)
{
    if (path.empty() || search.complete() || !exists(path))
        return;
    const auto file = ElfFile::open(path);
    if (!file)
        return;
    const BuildId id = (*file)->buildId();
    if (!search.buildId.empty() && !id.matches(search.buildId)) {
        if (namedByUser && search.refused.empty()) {
            search.refused = path;
            search.refusedId = id;
        }
        return;
    }
    if (search.buildId.empty() && !namedByUser)
        return;
    if (search.buildId.empty())
        search.buildId = id; // all further files have to belong to this one
    if (search.files.code.empty() && (*file)->hasCode()) {
        search.files.code = path;
        search.link = (*file)->debugLink();
    }
    const bool debugInfo = (*file)->hasSection(".debug_info") || (*file)->hasSection(".zdebug_info");
    if (search.files.debug.empty() && (debugInfo || !(*file)->hasCode()))
        search.files.debug = path;
}

void ModuleFinder::report(const Search& search)
{
    const std::string& path = search.module.path;
    if (search.files.found() && !search.files.verified) {
        diagnostics_.push_back(makeDiagnostic(DiagnosticCode::SymbolsUnverified,
            "no build id was recorded for " + path + ": its names are those of "
                + (search.files.code.empty() ? search.files.debug : search.files.code) + ", unverified"));
    } else if (!search.files.found() && !search.refused.empty()) {
        diagnostics_.push_back(makeDiagnostic(DiagnosticCode::BuildIdMismatch,
            search.refused + " was not used for " + path + ": its build id is "
                + (search.refusedId.empty() ? std::string("missing") : search.refusedId.hex())
                + ", recorded was " + search.module.buildId.hex()));
    } else if (!search.files.found() && !search.ambiguous.empty()) {
        diagnostics_.push_back(makeDiagnostic(DiagnosticCode::SymbolsAmbiguous,
            "no build id was recorded for " + path + ", and several files have its name: "
                + search.ambiguous[0] + " and " + search.ambiguous[1] + "; none was used"));
    }
}

} // namespace whichlock
