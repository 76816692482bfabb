// SPDX-License-Identifier: GPL-3.0-or-later
// Which function of which kernel takes which lock, for profiles whose kernel image is not at hand. The table
// is searched where it lies: nothing is read before the first question, and then only the rows of one
// function.
#pragma once

#include "analyzer/locks/kernel_version.h"
#include "analyzer/locks/lock_take.h"
#include "parsers/result.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whichlock {

/// The locks that a call may take.
struct KernelLock {
    std::vector<std::string> locks{}; ///< by name; one, or a few between which the table cannot decide
    std::string kernels{};            ///< what it was read of: `6.1`; of neighbours `from 6.12 and 7.2`
    std::string_view where{};         ///< file or module of the function; empty: the kernel's image

    /// `A or B`.
    std::string text() const;
};

// MT: safe (immutable once built)
/// The table kernel_locks.tsv.
class KernelLocks {
public:
    /// The table that is linked in.
    static const KernelLocks& builtIn();
    /// Reads the head of a table; the text has to outlive it.
    static Result<KernelLocks> parse(std::string_view fileName, std::string_view text);

    /// What a function takes by a call of that kind. Kernels that the table lacks are answered from those
    /// before and behind, or from one of them if it is near; an era without ends by all. Nothing if these do
    /// not leave a few locks at most.
    std::optional<KernelLock> takenBy(std::string_view function, LockTake take, const Era& era) const;
    /// The same of a call that is one of several kinds.
    std::optional<KernelLock> takenBy(
        std::string_view function, std::span<const LockTake> takes, const Era& era) const;
    /// The lock of the innermost lock call in a chain of functions, innermost first: the first routine that
    /// takes one, and the function that called it.
    std::optional<KernelLock> takenIn(std::span<const std::string_view> chain, const Era& era) const;
    /// Each lock that a function takes itself, in whatever way, with the kernels that it was read of.
    std::vector<KernelLock> allOf(std::string_view function, const Era& era) const;
    /// The one lock that all spin loops of a file are for, by their symbol (`.text.lock.file_table`).
    std::optional<KernelLock> ofStub(std::string_view symbol, const Era& era) const;

private:
    struct Kernel {
        char letter;
        KernelVersion version;
    };
    struct Row;
    struct Choice {
        std::vector<const Kernel*> kernels{};
        bool exact = false;
    };

    Choice choose(const Era& era) const;
    std::vector<Row> rowsOf(std::string_view function) const;
    static std::vector<const Row*> rowsFor(
        const std::vector<Row>& rows, const Kernel& kernel, LockTake take, bool exact);
    std::string_view lineAt(size_t offset, size_t& start) const;

    std::vector<Kernel> kernels_;
    std::string_view body_;
};

} // namespace whichlock
