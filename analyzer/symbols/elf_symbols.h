// SPDX-License-Identifier: GPL-3.0-or-later
// Symbols of an ELF file as a table: functions by address, and objects apart from them.
#pragma once

#include "analyzer/symbols/elf_file.h"
#include "analyzer/symbols/symbol_table.h"

namespace whichlock {

/// What kind of symbols a table is made of.
enum class SymbolChoice : uint8_t { Functions, Objects };

/// Adds the symbols of .symtab and .dynsym in the file's own addresses, without versions. The caller finishes
/// the table. Of loadable kernel modules functions count from the start of the code as the kernel lays it
/// out.
void addElfSymbols(const ElfFile& file, SymbolChoice choice, SymbolTable& table);

} // namespace whichlock
