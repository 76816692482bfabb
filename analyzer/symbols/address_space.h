// SPDX-License-Identifier: GPL-3.0-or-later
// Who had what mapped where, while a recording is replayed in the order of time: processes by (pid, epoch),
// the kernel, and the same once more for guests. Feed records and look addresses up in the order of their
// times.
#pragma once

#include "analyzer/symbols/mapping_tree.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace whichlock {

/// Whose memory an address lies in.
enum class AddressMode : uint8_t { User, Kernel, GuestUser, GuestKernel };

/// One life of a pid: a new epoch begins at exec and when the pid is used again.
struct ProcessKey {
    int32_t pid = -1;
    uint32_t epoch = 0;

    auto operator<=>(const ProcessKey&) const = default;
};

/// A mapping as it was recorded.
struct MappingRecord {
    AddressMode mode = AddressMode::User;
    int32_t pid = -1; ///< ignored for kernels
    uint64_t start = 0;
    uint64_t length = 0;
    uint64_t fileOffset = 0; ///< of the kernel: address of the reference symbol, 0 if unknown
    std::string_view path{};
    BuildId buildId{};
    bool executable = true;
};

/// Where an address lies. The pair (module, offset) means the same in every process and after every boot.
struct Location {
    ModuleId module{};
    uint64_t offset = 0;  ///< see ModuleKind
    ProcessKey process{}; ///< pid -1 for kernels
    bool executable = false;
};

/// MT: one thread. Trees taken by snapshot() may be read by any.
class AddressSpace {
public:
    AddressSpace() = default;
    AddressSpace(const AddressSpace&) = delete;
    AddressSpace& operator=(const AddressSpace&) = delete;

    /// Adds a mapping; overlapped ones are replaced. False if the record makes no sense (no length, wraps).
    bool insert(const MappingRecord& record);
    /// A named range of the kernel came or went (BPF programs, trampolines).
    bool insertKernelRange(uint64_t start, uint64_t length, std::string_view name);
    void removeKernelRange(uint64_t start, uint64_t length);
    /// A process begins: a new epoch with the mappings of its parent, or with none.
    void fork(int32_t pid, int32_t parent, bool copyMappings = true, AddressMode mode = AddressMode::User);
    /// A process replaces its program: a new epoch without mappings. The first exec of a pid that was not
    /// seen before begins nothing new.
    void exec(int32_t pid, AddressMode mode = AddressMode::User);
    /// A build id that was recorded apart from the mappings, by path, of those before and after; those that
    /// have one keep theirs, and the first one of a path stays.
    void setBuildId(std::string_view path, const BuildId& id, bool guest = false);

    std::optional<Location> find(AddressMode mode, int32_t pid, uint64_t address) const;
    ProcessKey processOf(int32_t pid, AddressMode mode = AddressMode::User) const;
    /// A number that stands for the mappings as they are now: whenever it is the same, for whatever process,
    /// find() gives the same module and offset. 0: there are none.
    uint64_t version(AddressMode mode, int32_t pid) const;
    /// The mappings of a process as they are now; stays valid and unchanged.
    MappingTree snapshot(AddressMode mode, int32_t pid) const;

    const MappedModule& module(ModuleId id) const { return modules_[id.v - 1]; }
    /// In the order in which they were first seen; the module of id n stands at n - 1.
    const std::vector<MappedModule>& modules() const { return modules_; }

private:
    struct Process {
        uint32_t epoch = 0;
        MappingTree mappings;
        uint64_t version = 0; ///< of the mappings; shared with the parent until one of them changes
    };
    using ModuleKey =
        std::tuple<ModuleKind, bool, std::string, BuildId, int32_t, uint32_t, std::string, uint64_t>;

    Process& processFor(AddressMode mode, int32_t pid);
    const Process* findProcess(AddressMode mode, int32_t pid) const;
    ModuleId moduleFor(MappedModule module);
    void setMappings(Process& process, MappingTree mappings);

    /// A process that was asked for: neighbouring samples are of few of them.
    struct Recent {
        int32_t pid = -1;
        const Process* process = nullptr; ///< stays where it is: processes are never taken out
    };
    static constexpr size_t kRecent = 64;

    std::unordered_map<int32_t, Process> processes_[2]; ///< host, guest
    mutable std::array<Recent, kRecent> recent_{};      ///< of the host, by pid
    Process kernels_[2];
    uint64_t lastVersion_ = 0;
    std::map<std::string, BuildId, std::less<>> buildIds_[2]; ///< recorded apart; host, guest
    std::vector<MappedModule> modules_;
    std::map<ModuleKey, ModuleId> moduleIds_;
};

} // namespace whichlock
