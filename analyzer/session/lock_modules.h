// SPDX-License-Identifier: GPL-3.0-or-later
// The modules of a recording that names of locks can be told from: each is opened when first asked for.
#pragma once

#include "analyzer/naming/evidence_log.h"
#include "analyzer/naming/lock_namer.h"
#include "analyzer/naming/object_namer.h"
#include "analyzer/symbols/address_space.h"
#include "analyzer/symbols/symbolizer.h"

#include <memory>
#include <unordered_map>

namespace whichlock {

/// MT: one thread.
class LockModules {
public:
    /// All must outlive it. `log` takes what names rest on, unless it is null.
    LockModules(const AddressSpace& space, Symbolizer& symbolizer,
        const LockEntries& entries = LockEntries::builtIn(), EvidenceLog* log = nullptr);
    ~LockModules();

    /// Names calls of a module; null if its files do not allow it.
    LockNamer* namerOf(ModuleId id);
    /// Names addresses of a module's variables; null under the same conditions.
    ObjectNamer* objectsOf(ModuleId id);
    bool isKernel(ModuleId id) const;
    /// Whether build ids prove that the files are those of the recording.
    bool isVerified(ModuleId id) const;
    /// What is known of the files of a module.
    ModuleEvidence evidenceOf(ModuleId id);
    /// The function around an offset, with the distance from its start.
    std::string functionAt(ModuleId id, uint64_t offset, AddressKind kind);
    /// Where evidence goes; null = nowhere.
    EvidenceLog* log() const { return log_; }
    /// Where an offset of the module lies in the addresses of its namer.
    std::optional<uint64_t> addressOf(ModuleId id, uint64_t offset);

private:
    struct Module {
        bool opened = false;
        bool verified = false;
        std::string problem{};
        std::unique_ptr<LockNamer> namer{};
        std::unique_ptr<ObjectNamer> objects{};
    };
    Module& moduleOf(ModuleId id);

    const AddressSpace& space_;
    Symbolizer& symbolizer_;
    const LockEntries& entries_;
    EvidenceLog* log_;
    std::unordered_map<uint32_t, Module> modules_;
};

} // namespace whichlock
