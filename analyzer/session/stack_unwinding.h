// SPDX-License-Identifier: GPL-3.0-or-later
// The user stacks of `perf record --call-graph dwarf`: from the registers and the piece of the stack that a
// sample carries to its callers, and an account of what could not be found.
#pragma once

#include "analyzer/session/recorded_stacks.h"
#include "analyzer/symbols/unwinder.h"
#include "parsers/diagnostic.h"

#include <array>
#include <map>
#include <memory>

namespace whichlock {

/// For one recording. MT: one thread.
class StackUnwinding final : public UserUnwinder {
public:
    /// `symbolizer` knows the files of the modules; must outlive it.
    explicit StackUnwinding(Symbolizer& symbolizer)
        : symbolizer_(symbolizer)
    {
    }

    /// Without, the set of registers tells.
    void setMachine(std::string_view machine) override;

    bool unwind(
        const PerfSample& sample, const AddressSpace& space, std::vector<UserAddress>& found) override;

    std::vector<Diagnostic> takeDiagnostics(const AddressSpace& space, const std::string& inputName) override;

private:
    Unwinder* unwinderFor(const PerfRegisters& registers);
    std::string filesMissing(const AddressSpace& space) const;
    void account(const PerfSample& sample, const UnwindResult& result);

    static constexpr size_t kEnds = static_cast<size_t>(UnwindEnd::Broken) + 1;

    Symbolizer& symbolizer_;
    const UnwindArch* arch_ = nullptr;
    bool machineKnown_ = false;
    std::unique_ptr<Unwinder> unwinder_;
    std::vector<UnwoundFrame> frames_; ///< of the sample at hand; kept for its storage
    uint64_t stacks_ = 0;
    std::array<uint64_t, kEnds> ends_{};
    uint64_t cutBySize_ = 0;
    uint64_t largestCopyBytes_ = 0;
    uint64_t guessed_ = 0;
    uint64_t otherMachine_ = 0;                ///< samples of 32-bit tasks or of unknown processors
    std::map<uint32_t, uint64_t> withoutFile_; ///< stacks that end there, by module
};

} // namespace whichlock
