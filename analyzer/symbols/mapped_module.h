// SPDX-License-Identifier: GPL-3.0-or-later
// What a recording says about a piece of code that was mapped: enough to find its file again, or to refuse
// to.
#pragma once

#include "analyzer/model/ids.h"
#include "analyzer/symbols/build_id.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace whichlock {

using ModuleId = Id<struct ModuleTag>;

enum class ModuleKind : uint8_t {
    File,         ///< an ELF file mapped by a process; offsets are file offsets
    Vdso,         ///< the kernel's library for processes; offsets are file offsets
    Kernel,       ///< the kernel; offsets count from the reference symbol (from 0 if there is none)
    KernelModule, ///< a loadable module; offsets count from its first mapped byte
    KernelRange,  ///< a named range of the kernel (BPF programs, trampolines); the path is the name
    Anonymous,    ///< memory without a file (JIT code); offsets are addresses of the process `pid`
};

/// The key of a module. Two mappings of the same file by the same build id are one module.
struct MappedModule {
    static constexpr uint64_t kUnknownOffset = UINT64_MAX;

    ModuleKind kind = ModuleKind::File;
    bool guest = false;      ///< of a virtual machine; never mixed with the host's
    std::string path{};      ///< as recorded
    BuildId buildId{};       ///< empty if none was recorded
    int32_t pid = -1;        ///< of Anonymous: the owner
    uint32_t epoch = 0;      ///< of Anonymous: which life of that pid
    std::string reference{}; ///< of Kernel: the symbol that offsets count from, `_text` or `_stext`
    /// Of Kernel: where that symbol was; of KernelModule: where offset 0 was. Means something within one boot
    /// only; who compares recordings leaves it out.
    uint64_t referenceAddress = 0;
    /// Lowest file offset of an executable mapping: where the text segment starts. No part of the key.
    uint64_t executableOffset = kUnknownOffset;
};

/// The kind that a recorded path stands for in the memory of a process.
ModuleKind userModuleKind(std::string_view path);
/// The kind of a recorded path in the memory of a kernel.
ModuleKind kernelModuleKind(std::string_view path);
/// Whether this is the path of a library of the C runtime: libc, its parts of old, or its loader.
bool isRuntimeLibrary(std::string_view path);
/// The symbol that a recorded kernel path names: `_text` of `[kernel.kallsyms]_text`; empty if it names none.
std::string_view kernelReference(std::string_view path);
/// Last part of a path, without the mark of deleted files.
std::string_view baseNameOf(std::string_view path);
/// The name of a kernel module as the kernel lists it: `nf_nat` of `/lib/.../nf-nat.ko.xz` and of `[nf_nat]`.
std::string kernelModuleName(std::string_view path);

} // namespace whichlock
