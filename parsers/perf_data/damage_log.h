// SPDX-License-Identifier: GPL-3.0-or-later
// Collects what is wrong with a perf.data file: one diagnostic a code and record type, with the first place.
#pragma once

#include "parsers/diagnostic.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace whichlock {

/// MT: one thread.
class DamageLog {
public:
    /// Type of what belongs to no record.
    static constexpr uint32_t kNoRecord = UINT32_MAX;

    /// The name that positions carry from now on.
    void setInputName(std::string name) { inputName_ = std::move(name); }
    const std::string& inputName() const { return inputName_; }

    /// Counts one occurrence. `message` makes the sentence; it is called for the first one only.
    template <class Message>
    void note(DiagnosticCode code, uint32_t recordType, uint64_t offset, const Message& message)
    {
        const auto [found, isNew] = places_.try_emplace({code, recordType}, diagnostics_.size());
        if (isNew)
            diagnostics_.push_back(makeDiagnostic(code, message(), {.chain = inputName_, .offset = offset}));
        else
            ++diagnostics_[found->second].count;
    }

    const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

private:
    std::string inputName_;
    std::map<std::pair<DiagnosticCode, uint32_t>, size_t> places_;
    std::vector<Diagnostic> diagnostics_; ///< in the order of their first places
};

} // namespace whichlock
