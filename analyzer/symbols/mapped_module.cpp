// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/symbols/mapped_module.h"

#include <algorithm>
#include <array>

namespace whichlock {
namespace {

constexpr std::string_view kDeletedMark = " (deleted)";
constexpr std::string_view kKernelPaths[] = {
    "[kernel.kallsyms]", "[guest.kernel.kallsyms", "[kernel.vmlinux]"};

} // namespace

ModuleKind userModuleKind(std::string_view path)
{
    if (path.starts_with("[vdso") || path.starts_with("[vsyscall"))
        return ModuleKind::Vdso;
    // perf names JIT memory by the map that would describe it.
    const std::string_view base = baseNameOf(path);
    const bool perfMap = base.starts_with("perf-") && base.ends_with(".map");
    if (path.empty() || path.starts_with("//") || path.starts_with('[') || path.starts_with("/memfd:")
        || path.starts_with("/dev/zero") || path.starts_with("/SYSV") || path.starts_with("/anon_hugepage")
        || path.starts_with("anon_inode:") || perfMap)
        return ModuleKind::Anonymous;
    return ModuleKind::File;
}

ModuleKind kernelModuleKind(std::string_view path)
{
    for (const std::string_view kernel : kKernelPaths)
        if (path.starts_with(kernel))
            return ModuleKind::Kernel;
    const std::string_view base = baseNameOf(path);
    if (base.starts_with("vmlinux") || base.starts_with("vmlinuz") || base == "kcore")
        return ModuleKind::Kernel;
    return ModuleKind::KernelModule;
}

std::string_view kernelReference(std::string_view path)
{
    const size_t end = path.rfind(']');
    if (end == std::string_view::npos || kernelModuleKind(path) != ModuleKind::Kernel)
        return {};
    return path.substr(end + 1);
}

std::string_view baseNameOf(std::string_view path)
{
    if (path.ends_with(kDeletedMark))
        path.remove_suffix(kDeletedMark.size());
    return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

std::string kernelModuleName(std::string_view path)
{
    std::string_view base = baseNameOf(path);
    if (base.size() > 2 && base.front() == '[' && base.back() == ']')
        base = base.substr(1, base.size() - 2);
    else if (const size_t suffix = base.find(".ko"); suffix != std::string_view::npos)
        base = base.substr(0, suffix);
    std::string name(base);
    std::ranges::replace(name, '-', '_');
    return name;
}

bool isRuntimeLibrary(std::string_view path)
{
    const std::string_view name = baseNameOf(path);
    if (name.find(".so") == std::string_view::npos)
        return false;
    const size_t end = name.find_first_of(".-");
    constexpr std::array<std::string_view, 6> kLibraries{
        "ld", "libc", "libm", "libpthread", "librt", "libdl"};
    return std::ranges::find(kLibraries, name.substr(0, end)) != kLibraries.end();
}

} // namespace whichlock
