// SPDX-License-Identifier: GPL-3.0-or-later
// Names of C++ and Rust as people write them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace whichlock {

/// The readable form of a symbol; the symbol itself where it is not mangled, or too large in readable form.
/// Suffixes that compilers add to clones (`.isra.0`, `.cold`) stay as they are.
std::string demangle(std::string_view symbol);

/// Remembers what was demangled. MT: one thread.
class DemangleCache {
public:
    const std::string& of(std::string_view symbol);

private:
    std::unordered_map<std::string, std::string> names_;
};

} // namespace whichlock
