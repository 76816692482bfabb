// SPDX-License-Identifier: GPL-3.0-or-later
// The stacks of a recording by address, each kept once: memory goes by distinct stacks, symbolizing by
// distinct addresses. Used while the recording is replayed in the order of time.
#pragma once

#include "analyzer/model/interner.h"
#include "analyzer/session/chain_cache.h"
#include "analyzer/symbols/address_space.h"
#include "analyzer/symbols/symbolizer.h"
#include "parsers/diagnostic.h"
#include "parsers/perf_data/record_types.h"
#include "parsers/perf_data/sample.h"

namespace whichlock {

/// One frame of a stack by its address. The offset is the address itself where no mapping has it.
struct AddressFrame {
    ModuleId module{};
    uint64_t offset = 0;
    AddressKind kind = AddressKind::InstructionPointer;
    /// The innermost one of a process, whose callers were found by frame pointers: the next one may be
    /// missing.
    bool callerMayLack = false;

    bool operator==(const AddressFrame&) const = default;
};

inline uint64_t hashOf(const AddressFrame& frame)
{
    return mixBits(frame.offset
        ^ mixBits(static_cast<uint64_t>(frame.module.v) << 8 | static_cast<uint64_t>(frame.kind) << 1
            | static_cast<uint64_t>(frame.callerMayLack)));
}

using AddressFrameId = Id<struct AddressFrameTag>;

/// A frame and the stack that it was called from.
struct AddressStack {
    AddressStackId caller{};
    AddressFrameId frame{};

    bool operator==(const AddressStack&) const = default;
};

inline uint64_t hashOf(const AddressStack& stack)
{
    return mixBits(static_cast<uint64_t>(stack.caller.v) << 32 | stack.frame.v);
}

/// An address of user code on a stack.
struct UserAddress {
    uint64_t address = 0;
    AddressKind kind = AddressKind::ReturnAddress;
};

/// Finds the callers of user code where a sample has registers and a piece of the stack for that.
class UserUnwinder {
public:
    virtual ~UserUnwinder() = default;
    /// Appends the user part of the stack, innermost first. False when it cannot tell: then the recorded
    /// chain counts.
    virtual bool unwind(
        const PerfSample& sample, const AddressSpace& space, std::vector<UserAddress>& found) = 0;
    /// The machine as the recording calls it, where it does.
    virtual void setMachine(std::string_view) { }
    /// What is missing of the stacks so far.
    virtual std::vector<Diagnostic> takeDiagnostics(const AddressSpace&, const std::string& /*inputName*/)
    {
        return {};
    }
};

/// The mode in which addresses of this processor mode lie.
AddressMode addressModeOf(PerfCpuMode mode);

/// MT: one thread.
class RecordedStacks {
public:
    /// `space` must outlive it.
    explicit RecordedStacks(const AddressSpace& space);

    /// Asked for samples that have a piece of the user stack; null: nobody is. Must outlive its use.
    void setUnwinder(UserUnwinder* unwinder) { unwinder_ = unwinder; }

    /// The stack of a sample by the mappings of this moment. `mode`: where its processor was.
    AddressStackId stackOf(const PerfSample& sample, AddressMode mode);
    AddressFrameId frameAt(AddressMode mode, int32_t pid, uint64_t address, AddressKind kind);
    AddressStackId push(AddressStackId caller, AddressFrameId frame)
    {
        return stacks_.intern({.caller = caller, .frame = frame});
    }

    const AddressStack& stack(AddressStackId id) const { return stacks_[id]; }
    const AddressFrame& frame(AddressFrameId id) const { return frames_[id]; }
    /// All frames; that of id n stands at n - 1.
    const std::vector<AddressFrame>& frames() const { return frames_.rows(); }
    uint32_t stackCount() const { return stacks_.size(); }

private:
    /// A slot of the cache from address to frame: different stacks share most of their frames.
    struct CachedFrame {
        uint64_t address = 0;
        uint64_t version = 0;
        AddressKind kind{};
        bool callerMayLack = false;
        AddressFrameId frame{};
    };
    /// Whose addresses a piece of a chain has.
    struct Place {
        Place(const AddressSpace& space, AddressMode ofMode, int32_t ofPid)
            : mode(ofMode)
            , pid(ofPid)
            , version(space.version(ofMode, ofPid))
        {
        }

        AddressMode mode;
        int32_t pid;
        uint64_t version;
    };

    AddressFrameId frameIn(
        const Place& place, uint64_t address, AddressKind kind, bool callerMayLack = false);
    AddressStackId wholeChain(U64Span chain, AddressMode mode, int32_t pid);
    AddressStackId pushChain(AddressStackId caller, U64Span chain, AddressMode mode, int32_t pid);
    AddressStackId pushPiece(AddressStackId caller, U64Span piece, const Place& place);
    AddressStackId unwoundStack(const PerfSample& sample);

    const AddressSpace& space_;
    UserUnwinder* unwinder_ = nullptr;
    ChainCache wholeChains_;
    ChainCache chains_; ///< their pieces of one mode each
    std::vector<CachedFrame> cache_;
    Interner<AddressFrame, AddressFrameId> frames_;
    Interner<AddressStack, AddressStackId> stacks_;
    std::vector<UserAddress> unwound_; ///< of the sample at hand; kept for its storage
};

} // namespace whichlock
