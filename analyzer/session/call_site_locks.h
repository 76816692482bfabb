// SPDX-License-Identifier: GPL-3.0-or-later
// The locks that the calls of recorded stacks take, where the files of the modules tell them.
#pragma once

#include "analyzer/session/lock_modules.h"
#include "analyzer/session/recorded_stacks.h"
#include "parsers/record.h"

#include <memory>
#include <string>
#include <unordered_map>

namespace whichlock {

/// MT: one thread.
class CallSiteLocks {
public:
    /// Both must outlive it.
    CallSiteLocks(const RecordedStacks& stacks, LockModules& modules);
    ~CallSiteLocks();

    /// The lock that the innermost frame of this stack takes by its call; null if that cannot be told. Valid
    /// as long as this.
    const CalledLock* takenAt(AddressStackId stack);
    /// The calls of a stack from its innermost frame on, as far as their modules can be read.
    std::vector<ChainSite> callSites(AddressStackId stack);

private:
    struct Named {
        std::string name{};
        std::string expression{};
        CalledLock lock{}; ///< views into the texts
    };

    const Named* nameOf(AddressStackId stack);
    void writeDown(const AddressFrame& frame, const std::optional<LockName>& name);

    const RecordedStacks& stacks_;
    LockModules& modules_;
    std::unordered_map<uint32_t, const Named*> byStack_; ///< null = none
    std::unordered_map<uint32_t, const Named*> byFrame_; ///< names that do not depend on further callers
    std::vector<std::unique_ptr<Named>> names_;
};

} // namespace whichlock
