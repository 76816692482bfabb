// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/session/stack_unwinding.h"

#include <algorithm>
#include <fmt/format.h>

namespace whichlock {

void StackUnwinding::setMachine(std::string_view machine)
{
    if (machine.empty() || unwinder_ != nullptr)
        return;
    arch_ = unwindArch(machine);
    machineKnown_ = true;
}

Unwinder* StackUnwinding::unwinderFor(const PerfRegisters& registers)
{
    if (unwinder_ == nullptr) {
        if (!machineKnown_)
            arch_ = unwindArchOfMask(registers.mask);
        if (arch_ == nullptr)
            return nullptr;
        unwinder_ = std::make_unique<Unwinder>(*arch_, [this](const MappedModule& module) {
            return std::make_unique<CfiModule>(symbolizer_.filesOf(module));
        });
    }
    return unwinder_.get();
}

bool StackUnwinding::unwind(
    const PerfSample& sample, const AddressSpace& space, std::vector<UserAddress>& found)
{
    // Kernel threads have neither; while a process ends or begins its stack is not there.
    constexpr uint64_t kNoRegisters = 0;
    const auto usedBytes =
        static_cast<size_t>(std::min<uint64_t>(sample.userStackUsed, sample.userStack.size()));
    if (sample.userRegisters.abi == kNoRegisters || usedBytes == 0)
        return false;
    Unwinder* unwinder = unwinderFor(sample.userRegisters);
    const auto start = unwinder != nullptr ? unwindStart(*arch_, sample.userRegisters) : std::nullopt;
    if (!start) {
        ++otherMachine_;
        return false;
    }
    const StackCopy stack{.start = start->registers.values[arch_->stackPointer],
        .bytes = sample.userStack.substr(0, usedBytes),
        .order = ByteOrder::Little}; // as are all processors that are known
    frames_.clear();
    account(sample, unwinder->unwind(space, static_cast<int32_t>(sample.pid), *start, stack, frames_));
    for (const UnwoundFrame& frame : frames_)
        found.push_back({frame.address, frame.kind});
    return true;
}

void StackUnwinding::account(const PerfSample& sample, const UnwindResult& result)
{
    ++stacks_;
    ++ends_[static_cast<size_t>(result.end)];
    guessed_ += result.guessed ? 1 : 0;
    largestCopyBytes_ = std::max<uint64_t>(largestCopyBytes_, sample.userStack.size());
    if (result.end == UnwindEnd::StackCut && sample.userStackUsed == sample.userStack.size())
        ++cutBySize_;
    if (result.end == UnwindEnd::NoFile)
        ++withoutFile_[result.module.v];
}

/// The files that most stacks end in, worst first.
std::string StackUnwinding::filesMissing(const AddressSpace& space) const
{
    constexpr size_t kMostNamed = 4;
    std::map<std::string, uint64_t> byPath; // one file may have been mapped as several modules
    for (const auto& [module, count] : withoutFile_) {
        const MappedModule& mapped = space.module({module});
        byPath[mapped.kind == ModuleKind::Anonymous ? "memory without a file" : mapped.path] += count;
    }
    std::vector<std::pair<std::string, uint64_t>> worst(byPath.begin(), byPath.end());
    std::stable_sort(
        worst.begin(), worst.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    for (size_t i = 0; i < std::min(worst.size(), kMostNamed); ++i)
        text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", worst[i].first, worst[i].second);
    if (worst.size() > kMostNamed)
        text += fmt::format(" and {} more", worst.size() - kMostNamed);
    return text;
}

std::vector<Diagnostic> StackUnwinding::takeDiagnostics(
    const AddressSpace& space, const std::string& inputName)
{
    std::vector<Diagnostic> found;
    const auto add = [&](DiagnosticCode code, std::string message) {
        found.push_back(makeDiagnostic(code, std::move(message), {.chain = inputName}));
    };
    if (cutBySize_ != 0)
        add(DiagnosticCode::StacksCut,
            fmt::format(
                "{} of {} stacks were cut by the size of the stack copy ({} bytes): their outer callers "
                "are missing",
                cutBySize_, stacks_, largestCopyBytes_));
    if (const uint64_t ended = ends_[static_cast<size_t>(UnwindEnd::NoFile)]; ended != 0)
        add(DiagnosticCode::StacksNotUnwound,
            fmt::format("{} of {} stacks end in code whose frames nothing at hand describes: {}", ended,
                stacks_, filesMissing(space)));
    if (otherMachine_ != 0)
        add(DiagnosticCode::StacksNotUnwound,
            fmt::format(
                "{} stacks are of tasks of 32 bits or of another processor, which are not unwound: of those "
                "the innermost frame counts",
                otherMachine_));
    if (const uint64_t limited = ends_[static_cast<size_t>(UnwindEnd::FrameLimit)]; limited != 0)
        add(DiagnosticCode::StacksTooDeep,
            fmt::format("{} of {} stacks have more than {} frames: their outer callers are missing", limited,
                stacks_, Unwinder::kMostFrames));
    if (guessed_ != 0)
        add(DiagnosticCode::StacksGuessed,
            fmt::format(
                "{} of {} stacks pass through code that nothing describes: its callers were found by the "
                "frame pointer",
                guessed_, stacks_));
    return found;
}

} // namespace whichlock
