// SPDX-License-Identifier: GPL-3.0-or-later
// What the bytes of machine code say about calls: which function a return address returns from, and which
// slot of the linker a stub jumps through. Pure functions over bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace whichlock {

/// Processors whose code is understood here.
enum class CodeMachine : uint8_t { Other, X86_64, Aarch64 };

/// By the e_machine of an ELF header.
CodeMachine codeMachineOf(int elfMachine);

enum class CallKind : uint8_t {
    None,        ///< no call, or one whose target is in a register
    Direct,      ///< the target is in the instruction
    ThroughSlot, ///< the target is read from a slot that the dynamic linker fills
};

/// The call instruction that ends at a return address.
struct CallBefore {
    CallKind kind = CallKind::None;
    uint64_t address = 0; ///< of the function, or of the slot
};

/// The longest call that is looked for, in bytes.
inline constexpr uint64_t kMostCallBytes = 6;
/// Bytes of a stub of the procedure linkage table that slotOfStub() may need.
inline constexpr uint64_t kMostStubBytes = 16;

/// The call before `returnAddress`, whose preceding bytes `before` are, as many as there are. Instructions of
/// x86 have no marks where they begin, so that a direct call is to be believed only if a function begins at
/// its target.
CallBefore callBefore(CodeMachine machine, uint64_t returnAddress, std::span<const uint8_t> before);

/// The slot that the stub at `address` jumps through; nothing if it is no such stub.
std::optional<uint64_t> slotOfStub(CodeMachine machine, uint64_t address, std::span<const uint8_t> code);

} // namespace whichlock
