// SPDX-License-Identifier: GPL-3.0-or-later
// What the source of a kernel says about a lock call: its first argument, and the lock that it stands for by
// the names of variables and members alone. Knows nothing of machine code, so that it can judge what does.
#pragma once

#include "analyzer/naming/lock_namer.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace whichlock::bench {

/// Source files below a folder.
class SourceTree {
public:
    explicit SourceTree(std::string root)
        : root_(std::move(root))
    {
    }

    /// The first argument of the call of a lock routine that begins in a line; nothing if none does.
    std::optional<std::string> lockArgument(const std::string& recordedPath, uint32_t line);
    /// A line as it stands there; empty if it is not there.
    std::string line(const std::string& recordedPath, uint32_t number);

private:
    const std::vector<std::string>& linesOf(const std::string& recordedPath);

    std::string root_;
    std::map<std::string, std::vector<std::string>> files_;
};

/// A place in the source with the function that it is of.
struct SourcePlace {
    std::string function{};
    std::string file{};
    uint32_t line = 0;
};

/// The places of an address, of the innermost inlined function first. Works for relocated modules, too.
std::vector<SourcePlace> placesOf(LockNamer& namer, uint64_t address);

/// The lock that an expression means at an address: `struct inode::i_lock`, or a global's name with members.
/// Nothing where the names do not tell, as for a local pointer to a lock.
std::optional<std::string> lockOfExpression(
    LockNamer& namer, uint64_t address, const std::string& expression);

/// How a name compares with the source's.
enum class Agreement { Exact, LargerOwner, OtherOwner, Differs };
Agreement compareLocks(const std::string& source, const std::string& named);

} // namespace whichlock::bench
