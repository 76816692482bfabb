// SPDX-License-Identifier: GPL-3.0-or-later
// Makes a relocatable object, as kernel modules are, look as if it were linked.
#pragma once

#include <cstdint>
#include <span>

namespace whichlock {

/// Where the code of a relocated module begins. Recordings count from 0, but there DWARF keeps what linkers
/// removed.
inline constexpr uint64_t kModuleCodeBase = 0x1'0000;
/// Where its data sections begin.
inline constexpr uint64_t kModuleDataBase = 0x4000'0000;
/// Where the undefined symbols of a relocated module are put, one byte each.
inline constexpr uint64_t kModuleImportBase = 0x7000'0000;

/// Gives the sections of an x86-64 object addresses, and applies its relocations to the content, in place:
/// code first in the order of the file, then data. Undefined symbols get addresses behind all of them. False
/// if it is no such object, or its headers are damaged; damaged relocations are passed over.
bool relocateObject(std::span<uint8_t> content);

} // namespace whichlock
