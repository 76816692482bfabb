// SPDX-License-Identifier: GPL-3.0-or-later
// Text of /proc/kallsyms (addresses of the running kernel, with modules) and of System.map (as linked).
#pragma once

#include "analyzer/symbols/symbol_table.h"
#include "parsers/result.h"

#include <string>

namespace whichlock {

/// The symbols of a kernel and its modules.
struct Kallsyms {
    SymbolTable functions;
    SymbolTable objects;
    uint64_t unreadableLines = 0;
};

/// Reads either text. KallsymsRestricted if all addresses are hidden, RowUnreadable if nothing is a symbol.
Result<Kallsyms> parseKallsyms(std::string_view text, const std::string& name);
/// The same from a regular file.
Result<Kallsyms> readKallsyms(const std::string& path);
/// The content of a regular file of at most `most` bytes.
Result<std::string> readSymbolText(const std::string& path, uint64_t most);

} // namespace whichlock
