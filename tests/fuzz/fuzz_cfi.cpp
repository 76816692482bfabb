// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as call frame information, registers and stack: unwound twice, which must give the same.
//   flags, 2 bytes of stack size, 2 bytes of header size, 33 registers, stack, .eh_frame_hdr, section
#include "analyzer/symbols/unwinder.h"

#include <cstdint>
#include <cstdlib>

namespace whichlock {
namespace {

constexpr uint64_t kSectionAddress = 0x100000;
constexpr uint64_t kHeaderAddress = 0x90000;
constexpr uint64_t kBase = 0x400000;
constexpr int kPid = 1;

void unwindInput(std::string_view bytes)
{
    ByteReader reader(bytes, ByteOrder::Little);
    const unsigned flags = reader.u8();
    const uint16_t stackBytes = reader.u16();
    const uint16_t headerBytes = reader.u16();
    const UnwindArch& arch = *unwindArch((flags & 8U) != 0 ? "aarch64" : "x86_64");
    UnwindStart start{.pc = kBase + reader.u16()};
    for (size_t column = 0; column < kCfiRegisters; ++column)
        start.registers.set(column, reader.u64());
    const StackCopy stack{
        .start = start.registers.values[arch.stackPointer], .bytes = reader.bytes(stackBytes)};
    const std::string_view header = reader.bytes(headerBytes);
    const CfiSection section(reader.rest(), kSectionAddress,
        (flags & 1U) != 0 ? CfiKind::DebugFrame : CfiKind::EhFrame,
        (flags & 4U) != 0 ? ByteOrder::Big : ByteOrder::Little, (flags & 2U) != 0 ? 4 : 8);
    if (const auto entries = section.entriesByHeader(header, kHeaderAddress))
        for (const CfiSection::Entry& entry : *entries)
            section.rangeAt(entry.offset);
    AddressSpace space;
    space.insert({.pid = kPid, .start = kBase, .length = 0x10000, .path = "/bin/program"});
    Unwinder unwinder(arch, [&](const MappedModule&) { return std::make_unique<CfiModule>(section); });
    std::vector<UnwoundFrame> first;
    std::vector<UnwoundFrame> second;
    const UnwindResult result = unwinder.unwind(space, kPid, start, stack, first);
    const UnwindResult again = unwinder.unwind(space, kPid, start, stack, second);
    // Evaluated and cached rows are the same; a frame pointer or CFA never leads to endless chains.
    if (result.end != again.end || first != second || first.empty() || first.size() > Unwinder::kMostFrames)
        std::abort(); // the way in which a fuzzer is told
}

} // namespace
} // namespace whichlock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    whichlock::unwindInput({reinterpret_cast<const char*>(data), size});
    return 0;
}
