// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as BTF, alone or on top of a base: read, written as DWARF, and walked to its end.
//   2 bytes: size of the base, 0 = none; the base; the BTF
#include "analyzer/naming/btf_dwarf.h"
#include "analyzer/naming/btf_types.h"
#include "analyzer/symbols/dwarf_units.h"

#include <array>
#include <cstdint>
#include <cstdlib>

namespace whichlock {
namespace {

constexpr std::array<ImageSymbol, 3> kSymbols = {{
    {.name = "iget", .address = 0x1000, .size = 0x40, .function = true},
    {.name = "do_unlinkat", .address = 0x1040, .size = 0x80, .function = true},
    {.name = "runqueues", .address = 0x1008, .size = 8, .object = true},
}};

void readInput(std::span<const uint8_t> bytes)
{
    if (bytes.size() < 2)
        return;
    const size_t baseBytes =
        std::min<size_t>(bytes[0] | static_cast<size_t>(bytes[1]) << 8U, bytes.size() - 2);
    const std::span<const uint8_t> base = bytes.subspan(2, baseBytes);
    const std::span<const uint8_t> btf = bytes.subspan(2 + baseBytes);
    auto content = dwarfFromBtf(btf, base, {.symbols = kSymbols});
    if (!content)
        return;
    const auto dwarf = MemoryDwarf::open(*std::move(content));
    if (dwarf == nullptr)
        std::abort(); // what was written here has to be readable
    constexpr uint64_t kMostEntries = 1000;
    DwarfUnits units;
    units.build(dwarf->dwarf(), kMostEntries);
}

} // namespace
} // namespace whichlock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    whichlock::readInput({data, size});
    return 0;
}
