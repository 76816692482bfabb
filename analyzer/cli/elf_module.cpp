// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/cli/elf_module.h"

#include "analyzer/cli/print.h"
#include "analyzer/naming/lock_index_cache.h"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace whichlock::cli {

Result<ModuleFiles> moduleFiles(const std::string& path, const SymbolizerOptions& symbols)
{
    const auto file = ElfFile::open(path);
    if (!file)
        return tl::make_unexpected(file.error());
    ModuleFiles files{.code = path, .debug = path, .btf = symbols.btf, .verified = true};
    if ((*file)->hasSection(".debug_info") || (*file)->hasSection(".zdebug_info"))
        return files;
    MappedModule module{.path = path, .buildId = (*file)->buildId()};
    SymbolizerOptions options = symbols;
    options.symfs.clear();
    ModuleFinder finder(std::move(options));
    if (const ModuleFiles found = finder.find(module); !found.debug.empty())
        files.debug = found.debug;
    return files;
}

std::string cacheFolder()
{
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr && *cache == '/')
        return std::string(cache) + "/whichlock";
    const char* home = std::getenv("HOME");
    return home != nullptr && *home == '/' ? std::string(home) + "/.cache/whichlock" : std::string();
}

Result<LockIndex> lockIndexOf(
    const std::string& path, const SymbolizerOptions& symbols, const RoutineTable& routines, std::FILE* err)
{
    const auto files = moduleFiles(path, symbols);
    if (!files)
        return tl::make_unexpected(files.error());
    // Names by routines of the user are not those that others expect.
    const bool own = !routines.rows().empty() && routines.rows().front().fromUser;
    const LockIndexCache cache(own ? std::string() : cacheFolder());
    const auto file = ElfFile::open(files->code);
    const BuildId id = file ? (*file)->buildId() : BuildId();
    if (auto kept = cache.read(id))
        return std::move(*kept);
    const bool terminal = ::isatty(::fileno(err)) != 0;
    auto index =
        buildLockIndex(*files, LockEntries(routines), symbols.threads, [&](uint64_t done, uint64_t all) {
            if (terminal)
                print(err, "\rwhichlock: {} of {} call sites", done, all);
        });
    if (terminal)
        print(err, "\r\x1b[K");
    // A file with debug info may have the same build id, and tells more than BTF.
    if (index && std::ranges::none_of(index->rows, &LockIndexRow::btf))
        cache.write(id, *index);
    return index;
}

} // namespace whichlock::cli
