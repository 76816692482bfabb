// SPDX-License-Identifier: GPL-3.0-or-later
// The programs that the build made for symbols_test, and tools that know their symbols independently.
#pragma once

#include "analyzer/symbols/source_frame.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace whichlock::test {

/// Folder of a variant: `whole`, `whole-stripped`, `no-id`, `no-id-stripped`, `other-id`, `fixed`.
std::string fixtureFolder(const std::string& variant);
inline std::string fixture(const std::string& variant)
{
    return fixtureFolder(variant) + "/program";
}
/// An empty folder for one test.
std::string scratchFolder(const std::string& name);
void copyFile(const std::string& from, const std::string& to);
std::string readWhole(const std::string& path);
void writeWhole(const std::string& path, const std::string& bytes);

/// Line of the program's source that carries `// mark: NAME`.
uint32_t markedLine(const std::string& mark);

/// A function as `nm -S` prints it.
struct NmSymbol {
    uint64_t address = 0;
    uint64_t size = 0;
    char type = ' ';
};
/// Empty if nm is not installed. Names without versions.
std::map<std::string, NmSymbol> nmSymbols(const std::string& path);

/// What `addr2line -i -f` says of each address, innermost first; none if it is not installed. Unknown parts
/// are empty, as ours are.
std::optional<std::vector<std::vector<SourceFrame>>> addr2line(
    const std::string& path, const std::vector<uint64_t>& addresses);

/// Removes `.` and `..` parts and doubled slashes, as file names differ in them between tools.
std::string tidyPath(const std::string& path);

} // namespace whichlock::test
