// SPDX-License-Identifier: GPL-3.0-or-later
// What the user says about where symbols are, and how many are wanted.
#pragma once

#include <string>
#include <vector>

namespace whichlock {

/// Where symbols may come from. Everything but `debugRoot` and `buildIdCache` is named by the user.
struct SymbolizerOptions {
    std::string symfs{};                  ///< prefix of all recorded paths; empty = none
    std::vector<std::string> debugDirs{}; ///< any folders: by build id, else by base name
    std::string vmlinux{};
    std::string kallsyms{};   ///< /proc/kallsyms or System.map of the recorded kernel
    std::string btf{};        ///< BTF of the recorded kernel, for names where there is no debug info
    std::string perfMapDir{}; ///< holds perf-PID.map files; empty = none are read
    std::string debugRoot = "/usr/lib/debug";
    std::string buildIdCache{}; ///< `~/.debug` as perf fills it; empty = none
    bool inlines = true;        ///< false: no lines and no inlined functions, only symbols
    unsigned threads = 2;
};

} // namespace whichlock
