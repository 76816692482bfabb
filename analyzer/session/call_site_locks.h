// SPDX-License-Identifier: GPL-3.0-or-later
// The locks that the calls of recorded stacks take, where the files of the modules tell them.
#pragma once

#include "analyzer/naming/lock_namer.h"
#include "analyzer/session/recorded_stacks.h"
#include "parsers/record.h"

#include <memory>
#include <string>
#include <unordered_map>

namespace whichlock {

/// MT: one thread.
class CallSiteLocks {
public:
    /// All three must outlive it.
    CallSiteLocks(const RecordedStacks& stacks, const AddressSpace& space, Symbolizer& symbolizer);
    ~CallSiteLocks();

    /// The lock that the innermost frame of this stack takes by its call; null if that cannot be told. Valid
    /// as long as this.
    const CalledLock* takenAt(AddressStackId stack);

private:
    struct Module {
        bool opened = false;
        bool verified = false;
        std::unique_ptr<LockNamer> namer{}; ///< null if the files do not allow it
    };
    struct Named {
        std::string name{};
        std::string expression{};
        CalledLock lock{}; ///< views into the texts
    };

    Module& moduleOf(ModuleId id);
    const Named* nameOf(AddressStackId stack);
    std::vector<uint64_t> callSites(AddressStackId stack, const LockNamer& namer);

    const RecordedStacks& stacks_;
    const AddressSpace& space_;
    Symbolizer& symbolizer_;
    std::unordered_map<uint32_t, Module> modules_;
    std::unordered_map<uint32_t, const Named*> byStack_; ///< null = none
    std::unordered_map<uint32_t, const Named*> byFrame_; ///< names that do not depend on further callers
    std::vector<std::unique_ptr<Named>> names_;
};

} // namespace whichlock
