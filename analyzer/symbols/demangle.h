// SPDX-License-Identifier: GPL-3.0-or-later
// Names of C++ and Rust as people write them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace whichlock {

/// The readable form of a symbol, as perf prints it: without parameters, return types and the suffixes of
/// clones. The symbol itself where it is not mangled, or where it would be too long.
std::string demangle(std::string_view symbol);

/// Remembers what was demangled. MT: one thread.
class DemangleCache {
public:
    const std::string& of(std::string_view symbol);

private:
    std::unordered_map<std::string, std::string> names_;
};

} // namespace whichlock
