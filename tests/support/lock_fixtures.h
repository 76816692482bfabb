// SPDX-License-Identifier: GPL-3.0-or-later
// The programs of tests/fixtures/locks/ and the names that their sources give each call.
#pragma once

#include "analyzer/naming/lock_namer.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace whichlock::test {

/// A program as it was built: folder `O0` ... of tests/fixtures/CMakeLists.txt.
std::string lockFixture(const std::string& folder, const std::string& program);
/// A file of the build's fixtures or of the source's by its path in there.
std::string fixturePath(const std::string& path);

std::unique_ptr<LockNamer> openNamer(const ModuleFiles& files, bool evidence = false);
inline std::unique_ptr<LockNamer> openNamer(const std::string& path)
{
    return openNamer(ModuleFiles{.code = path, .debug = path, .verified = true});
}

/// What stands behind `// MARK: ` in the lines of a source, by line.
std::map<uint32_t, std::string> marksOf(const std::string& program, const std::string& mark);

/// Whether a name is one of those that a mark allows; `[#]` in a mark stands for any index. Names that are
/// empty are right where the mark says FORWARDS.
bool isAllowed(const std::string& mark, const std::string& name);

/// A call with the line of the fixture's source that it stands in, maybe through inlined functions.
struct SourceCall {
    LockCall call{};
    uint32_t line = 0; ///< 0 if it is of no marked line
    std::string mark{};
};

/// All calls of lock routines with their marks.
std::vector<SourceCall> markedCalls(LockNamer& namer, const std::string& path, const std::string& program);

/// The addresses of the calls of a function, by the called function's name, in order.
std::vector<std::pair<std::string, uint64_t>> callsIn(const LockNamer& namer, const std::string& function);

std::string scratchPath(const std::string& name);
std::string readBytes(const std::string& path);
void writeBytes(const std::string& path, const std::string& bytes);

} // namespace whichlock::test
