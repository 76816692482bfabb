// SPDX-License-Identifier: GPL-3.0-or-later
// Which locks the functions of a kernel take, as somebody knows who has its code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// A lock that a function takes.
struct TakenLock {
    std::string lock{};
    std::string via{}; ///< the function that it calls for that; empty = it takes it itself
    size_t takers = 0; ///< functions of the kernel that take this lock
};

/// MT: one thread.
class LockUse {
public:
    virtual ~LockUse() = default;

    /// What a function takes itself, else what the functions take that it calls; each lock once.
    virtual std::vector<TakenLock> of(std::string_view function) const = 0;
    /// The version of the kernel, as `6.1.0`; empty if it is not known.
    virtual std::string version() const = 0;
    /// What that is known from: the name of a file.
    virtual std::string source() const = 0;
};

/// Whether a profile of a kernel may be read with the code of another one: not if the versions are known to
/// differ in their first two numbers.
bool mayBeOfKernel(const LockUse& use, std::string_view kernel);

} // namespace whichlock
