// SPDX-License-Identifier: GPL-3.0-or-later
// Which locks functions of a kernel take, out of the index of its call sites and, for functions that take
// none, the calls in their code.
#pragma once

#include "analyzer/locks/lock_use.h"
#include "analyzer/naming/elf_image.h"
#include "analyzer/naming/lock_index.h"

#include <map>
#include <memory>
#include <unordered_map>

namespace whichlock {

/// MT: one thread.
class KernelLockUse final : public LockUse {
public:
    /// `path` is the file that the index was built of.
    static Result<std::shared_ptr<KernelLockUse>> open(const std::string& path, const LockIndex& index);

    std::vector<TakenLock> of(std::string_view function) const override;
    std::string version() const override { return version_; }
    std::string source() const override { return source_; }

private:
    KernelLockUse() = default;
    void readIndex(const LockIndex& index);
    void readSymbols();
    void addCalled(const ImageSymbol& function, std::vector<TakenLock>& taken) const;

    std::unique_ptr<ElfImage> image_;
    std::map<std::string, std::vector<std::string>, std::less<>> locks_; ///< by function
    std::map<std::string, size_t, std::less<>> takers_;                  ///< by lock
    std::vector<ImageSymbol> functions_;
    std::unordered_multimap<std::string_view, size_t> byName_;
    std::unordered_map<uint64_t, std::string_view> byAddress_; ///< of those that take locks
    std::string version_;
    std::string source_; ///< without its folder
};

} // namespace whichlock
