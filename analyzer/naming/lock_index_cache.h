// SPDX-License-Identifier: GPL-3.0-or-later
// Lock indexes on disk, one file a build id. Files are checked when read; a damaged one is as good as none.
#pragma once

#include "analyzer/naming/lock_index.h"
#include "analyzer/symbols/build_id.h"

#include <optional>

namespace whichlock {

/// MT: safe; several processes may use one folder, as files appear whole or not at all.
class LockIndexCache {
public:
    /// An empty folder means that nothing is kept.
    explicit LockIndexCache(std::string folder)
        : folder_(std::move(folder))
    {
    }

    /// The index of a build; nothing if it is not there, of another version of this program, or damaged.
    std::optional<LockIndex> read(const BuildId& id) const;
    /// Keeps an index; false if that is not possible, which is no failure.
    bool write(const BuildId& id, const LockIndex& index) const;
    std::string pathOf(const BuildId& id) const;

private:
    std::string folder_;
};

/// The content of such a file.
std::string encodeLockIndex(const LockIndex& index);
/// Nothing unless the text is whole and of this version.
std::optional<LockIndex> decodeLockIndex(std::string_view text);

} // namespace whichlock
