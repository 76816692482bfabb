// SPDX-License-Identifier: GPL-3.0-or-later
// A module as the naming of locks needs it: its code, its symbols, and its DWARF, which may lie in two files.
#pragma once

#include "analyzer/naming/btf_dwarf.h"
#include "analyzer/naming/control_flow.h"
#include "analyzer/naming/elf_image.h"
#include "analyzer/naming/lock_entries.h"
#include "analyzer/symbols/module_finder.h"

#include <map>
#include <unordered_map>

namespace whichlock {

/// MT: one thread.
class ModuleImage {
public:
    /// Fails where a file cannot be read, has no code, or no debug info; the message says which.
    /// `entries` say which routines take locks, and outlive it.
    static Result<std::unique_ptr<ModuleImage>> open(
        const ModuleFiles& files, const LockEntries& entries = LockEntries::builtIn());

    Dwarf* dwarf() const { return dwarf_; }
    /// Whether the types are those of BTF: there is no debug info.
    bool isFromBtf() const { return btf_ != nullptr; }
    bool isKernel() const { return kernel_; }
    /// Whether its addresses are those of relocate_object.h.
    bool isRelocated() const { return code_->isRelocated(); }
    /// Of the file with the code.
    const std::string& path() const { return code_->file().path(); }
    BuildId buildId() const { return code_->file().buildId(); }
    uint64_t sizeBytes() const
    {
        return code_->file().sizeBytes() + (debug_ ? debug_->file().sizeBytes() : 0);
    }
    const std::vector<ImageSection>& sections() const { return code_->sections(); }
    /// The bytes from an address to the end of its section, at most `most`.
    std::span<const uint8_t> bytesAt(uint64_t address, uint64_t most) const;
    /// The section around an address; null if there is none.
    const ImageSection* sectionAt(uint64_t address) const;

    /// The function or object around an address; null where none covers it.
    const ImageSymbol* functionAt(uint64_t address) const;
    const ImageSymbol* objectAt(uint64_t address) const;
    /// All functions by address; of several names for one address all.
    const std::vector<ImageSymbol>& functions() const { return functions_; }
    const std::vector<ImageSymbol>& objects() const { return objects_; }
    /// The address of a symbol by name, as `this_cpu_off`.
    std::optional<uint64_t> addressOf(std::string_view name) const;
    /// What a call or jump to an address enters: a function, or what a stub leads to.
    std::string_view targetName(uint64_t address) const;
    /// Whether a function at exactly that address has the name; several may be at one address.
    bool isNameOf(std::string_view name, uint64_t address) const;
    /// The undefined symbol of a relocated module that was put at an address.
    std::string_view importName(uint64_t address) const;
    /// What a call through a slot of memory enters.
    std::string_view slotName(uint64_t slot) const;
    /// The routines that take locks by the address that calls of them have.
    const std::unordered_map<uint64_t, LockEntry>& lockTargets() const { return lockTargets_; }
    const std::unordered_map<uint64_t, LockEntry>& lockSlots() const { return lockSlots_; }
    const LockEntries& entries() const { return *entries_; }
    const HiddenJumps& hiddenJumps() const { return hiddenJumps_; }
    /// Whether the address is a place in the image of each CPU's variables.
    bool isPerCpu(uint64_t address) const { return perCpu_.contains(address); }
    bool isData(uint64_t address) const;

private:
    ModuleImage() = default;
    void readSymbols();
    bool readBtf(const ModuleFiles& files);
    void readStubs();
    void readHiddenJumps();

    std::unique_ptr<ElfImage> code_;
    std::unique_ptr<ElfImage> debug_;  ///< null if it is the same file
    std::unique_ptr<MemoryDwarf> btf_; ///< null if there is debug info
    Dwarf* dwarf_ = nullptr;
    const LockEntries* entries_ = nullptr;
    bool kernel_ = false;
    AddressRange perCpu_{};
    std::vector<ImageSymbol> functions_; ///< by address; of several names for one all are here
    std::vector<ImageSymbol> objects_;
    std::unordered_map<std::string_view, uint64_t> byName_; ///< the few names that are asked for
    std::unordered_map<uint64_t, std::string_view> stubs_;
    std::unordered_map<uint64_t, std::string_view> slots_;
    std::unordered_map<uint64_t, std::string_view> imports_;
    std::unordered_map<uint64_t, LockEntry> lockTargets_;
    std::unordered_map<uint64_t, LockEntry> lockSlots_;
    HiddenJumps hiddenJumps_;
};

} // namespace whichlock
